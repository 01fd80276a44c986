"""Models of older formats, turned into the present one before they are read.

Format 1 named classes by their bare names. `PLACES` says where these classes are today; when a
class moves, its entry here follows it, and `MOVED` gets one for the files of format 2. Parameters
that have changed since are renamed by one small function per class, in `UPGRADES`. `ADDED` has
those that are new and would otherwise change the answers.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from setlearn.persistence.audit.archive import SCHEMA, Node, read_archive
from setlearn.persistence.classes import class_at, fits

__all__ = ["upgraded_config", "upgraded_skops"]

PLACES: Mapping[str, str] = {
    "Auto": "setlearn.rules.auto",
    "Bounds": "setlearn.generate",
    "CityBlock": "setlearn.learners.similarity",
    "Column": "setlearn.features.columns",
    "Completion": "setlearn.estimators.completion",
    "ConditionalScores": "setlearn.estimators.completion",
    "Cosine": "setlearn.learners.similarity",
    "ExpectedF": "setlearn.rules.expected_f",
    "FeatureReader": "setlearn.features.feature_reader",
    "KernelLabels": "setlearn.learners.ridge_labels",
    "KeyEncoder": "setlearn.features.encoders",
    "LSTM": "setlearn.networks.lstm",
    "LabelSpace": "setlearn.estimators.label_space",
    "LambdaCNN": "setlearn.rules.lambda_cnn",
    "LambdaRNN": "setlearn.rules.lambda_rnn",
    "LambdaSet": "setlearn.rules.lambda_set",
    "LinearLabels": "setlearn.learners.linear_labels",
    "Margin": "setlearn.rules.margin",
    "MarginalScorer": "setlearn.scorers.labels",
    "MeanF1": "setlearn.rules.auto",
    "NumericEncoder": "setlearn.features.encoders",
    "NumericReader": "setlearn.sequence_inputs",
    "Pipeline": "sklearn.pipeline",
    "Platt": "setlearn.learners.platt",
    "RecordModel": "setlearn.records.model",
    "RiskControl": "setlearn.rules.risk_control",
    "SequenceScorer": "setlearn.scorers.sequences",
    "SequenceSetGenerator": "setlearn.estimators.sequence_set_generator",
    "SequenceSigmoidNetwork": "setlearn.learners.sequence_sigmoid_network",
    "SetClassifier": "setlearn.estimators.set_classifier",
    "SetForest": "setlearn.learners.set_forest",
    "SetMixture": "setlearn.learners.set_mixture",
    "SigmoidNetwork": "setlearn.learners.sigmoid_network",
    "SoftmaxScorer": "setlearn.scorers.labels",
    "TargetReader": "setlearn.records.targets",
    "TextEncoder": "setlearn.features.encoders",
    "TextReader": "setlearn.records.readers",
    "Threshold": "setlearn.rules.threshold",
    "TokenReader": "setlearn.sequence_inputs",
    "Tokeniser": "setlearn.vocabulary",
    "TopK": "setlearn.rules.top_k",
    "Transformer": "setlearn.networks.transformer",
    "Vocabulary": "setlearn.vocabulary",
}
"""The modules in which the classes of format 1 are today."""

MOVED: Mapping[str, str] = {
    "setlearn.learners.kernel_ridge:CityBlock": "setlearn.learners.similarity:CityBlock",
    "setlearn.learners.kernel_ridge:Cosine": "setlearn.learners.similarity:Cosine",
    "setlearn.learners.kernel_ridge:KernelLabels": "setlearn.learners.ridge_labels:KernelLabels",
    "setlearn.learners.kernel_ridge:Platt": "setlearn.learners.platt:Platt",
    "setlearn.learners.set_mixture:LinearLabels": "setlearn.learners.linear_labels:LinearLabels",
    "setlearn.rules.auto:MeanF1": "setlearn.rules.candidate_score:CandidateScore",
    "setlearn.records.columns:Column": "setlearn.features.columns:Column",
    "setlearn.records.readers:FeatureReader": "setlearn.features.feature_reader:FeatureReader",
    "setlearn.records.readers:KeyEncoder": "setlearn.features.encoders:KeyEncoder",
    "setlearn.records.readers:NumericEncoder": "setlearn.features.encoders:NumericEncoder",
    "setlearn.records.readers:TextEncoder": "setlearn.features.encoders:TextEncoder",
    "setlearn.scorers.log_odds_pool:LogOddsPool": "setlearn.learners.log_odds_pool:LogOddsPool",
    "setlearn.scorers.base:InjectedScorer": "setlearn.scorers.injected:InjectedScorer",
}
"""Classes that have moved since format 2, or have another name: from "module:Name" to
"module:Name"."""

CONDITIONAL_SCORES = "setlearn.estimators.completion:ConditionalScores"

ADDED: Mapping[str, Mapping[str, Any]] = {
    CONDITIONAL_SCORES: {"pool_": None},
    "setlearn.estimators.set_classifier:SetClassifier": {
        "features_": None,
        "hierarchy_": None,
        "n_unknown_": 0,
    },
    "setlearn.features.encoders:TextEncoder": {"had_numbers": True},
    "setlearn.learners.linear_labels:LinearLabels": {"platt_": None},
    "setlearn.learners.set_forest:SetForest": {"known_": None},
    "setlearn.learners.set_mixture:SetMixture": {
        "boosted_": None,
        "dense_features": None,
        "frequencies_": None,
        "linear_": None,
        "medians_": None,
        "pool_": None,
        "prior_": None,
        "sparse_": None,
        "view_": None,
    },
    "setlearn.learners.similarity:CityBlock": {"relevance": None},
    "setlearn.networks.transformer:Transformer": {"match_tokens": False},
    "setlearn.rules.candidate_score:CandidateScore": {"learned": {}},
}
"""Attributes that are newer than some files, by "module:Name" of their classes, with the values
under which models from these files answer as they did."""

EMPTY_SETS = "setlearn.scorers.empty_sets:EmptySets"
TREES = "setlearn.learners.packed_trees:ScikitTrees"
TRAINING = "setlearn.networks.training_settings:Training"


def upgraded_config(config: Any, file_format: int) -> Any:
    """The JSON of a model in the present format.

    Parameters
    ----------
    config : JSON value
        What the file holds.
    file_format : int
        The number of its format.

    Returns
    -------
    JSON value
    """
    if isinstance(config, list):
        return [upgraded_config(part, file_format) for part in config]
    if not isinstance(config, dict):
        return config
    node = {name: upgraded_config(part, file_format) for name, part in config.items()}
    if "!object" not in node:
        return node
    name = node["!object"]
    if file_format == 1:
        # What is no name of format 1 is refused later, as is every class that is not known.
        if not (isinstance(name, str) and name in PLACES):
            return {**node, "!object": None}
        node, place = _upgraded(name, node), f"{PLACES[name]}:{name}"
    elif isinstance(name, str):
        place = name
    else:
        return node
    place = MOVED.get(place, place)
    if "empty_share_" in node:
        node = _with_empty_sets(node)
    if "first_leaf_" in node:
        node = _with_scikit_trees(node)
    if "forest_" in node and place == CONDITIONAL_SCORES:
        node = _with_forests(node)
    return _with_added(place, _without(node, "!object"))


def _with_empty_sets(node: Node) -> Node:
    """Trees and n-grams once gave all inputs the same probability of an empty set."""
    empty = {"!object": EMPTY_SETS, "share": node["empty_share_"]}
    return {**_without(node, "empty_share_"), "empty_": empty}


def _with_scikit_trees(node: Node) -> Node:
    """Forests once kept the trees of scikit-learn themselves."""
    trees = {"!object": TREES, "forest": node["trees_"], "first": node["first_leaf_"]}
    return {**_without(node, "first_leaf_"), "trees_": trees}


def _with_forests(node: Node) -> Node:
    """Scores given known labels once came from one forest, trained on all samples."""
    return {**_without(node, "forest_"), "forests_": [node["forest_"]]}


def _with_added(place: str, attributes: Node) -> Node:
    """An object of the class at that place, with the parameters that its file lacks."""
    return {"!object": place, **ADDED.get(place, {}), **attributes}


def _upgraded(name: str, node: Node) -> Node:
    """The attributes as the class has them today, if it has changed at all."""
    if name not in UPGRADES or fits(class_at(f"{PLACES[name]}:{name}"), _without(node, "!object")):
        return node
    return UPGRADES[name](node)


def upgraded_skops(content: bytes, file_format: int) -> bytes:
    """A skops file in which classes of setlearn are named by their present modules.

    Parameters
    ----------
    content : bytes
    file_format : int
        The number of the model's format.

    Returns
    -------
    bytes
    """
    # Reading all nodes takes time, and names stand in the file as they are.
    if file_format > 1 and not any(place.partition(":")[0].encode() in content for place in MOVED):
        return content
    schema, nodes = read_archive(content)
    moved = [(node, place) for node in nodes if (place := _new_place(node, file_format))]
    if not moved:
        return content
    for node, place in moved:
        node["__module__"], _, node["__class__"] = place.partition(":")
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, json.dumps(schema) if name == SCHEMA else old.read(name))
    return file.getvalue()


def _new_place(node: Node, file_format: int) -> str | None:
    module, name = node["__module__"], node["__class__"]
    if not module.startswith("setlearn."):
        return None
    if file_format > 1:
        return MOVED.get(f"{module}:{name}")
    # Format 1 had no two classes of the same name.
    is_elsewhere = name in PLACES and module != PLACES[name]
    return f"{PLACES[name]}:{name}" if is_elsewhere else None


def _without_unknown(node: Node) -> Node:
    """How unknown elements are treated is now an argument of ``complete``."""
    return _without(node, "unknown")


def _without_examples(node: Node) -> Node:
    """Whether a rule looks at training sets is now asked of the rule."""
    return _without(node, "with_examples")


def _with_training(node: Node) -> Node:
    """The parameters of training are now in a `Training`, which leaves out those with defaults."""
    defaults = TRAINING_DEFAULTS[node["!object"]]
    given = {name: node[name] for name in defaults if name in node and node[name] != defaults[name]}
    training = {"!object": TRAINING, **given} if given else None
    return {**_without(node, *defaults), "training": training}


def _sequence_set_generator(node: Node) -> Node:
    """The scorer now holds the reader, the vocabulary, the network and its recipe with the loss."""
    network, loss = node["network"], node.get("loss")
    named = "LSTM" if network == "lstm" else "Transformer"
    is_named = isinstance(network, str)
    recipe = _with_added(f"{PLACES[named]}:{named}", {}) if is_named else network
    scorer = {
        "!object": node["scorer_"]["!object"],
        "recipe": _with_loss(recipe, node["scorer_"]["loss"]),
        "reader": node["reader_"],
        "vocabulary": node["vocabulary_"],
        "network": node["network_"],
    }
    upgraded = _without(
        _with_training(node), "loss", "network_", "reader_", "unknown", "vocabulary_"
    )
    if loss not in (None, NAMED_LOSSES.get(network) if is_named else None):
        upgraded["network"] = _with_loss(recipe, loss)
    return {**upgraded, "scorer_": scorer, "rule_scores_": None}


def _with_loss(recipe: Any, loss: Any) -> Any:
    """A recipe of setlearn with that loss; one of the user's own has its loss itself."""
    return {**recipe, "loss": loss} if "!object" in recipe else recipe


def _without(node: Node, *names: str) -> Node:
    return {name: part for name, part in node.items() if name not in names}


NAMED_LOSSES = {"lstm": "sequence", "transformer": "node"}

_RULE = {"learning_rate": 1e-3, "batch_size": 64, "max_steps": 4000, "patience": 10}
_RULE |= {"validation": 0.2, "verbose": False}
_LEARNER = {**_RULE, "validation": 0.1, "weight_decay": 0.0, "device": "auto"}

TRAINING_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "LambdaCNN": _RULE,
    "LambdaRNN": _RULE,
    "LambdaSet": {**_RULE, "learning_rate": 3e-3, "batch_size": 128, "max_steps": 1000},
    "SequenceSetGenerator": {
        **dict.fromkeys(("learning_rate", "batch_size", "max_steps", "validation"), None),
        "weight_decay": None,
        "clip": 1.0,
        "patience": 10,
        "device": "auto",
        "verbose": True,
    },
    "SequenceSigmoidNetwork": {**_LEARNER, "batch_size": 15, "max_steps": 6000},
    "SigmoidNetwork": _LEARNER,
}
"""The parameters of training that classes had in format 1, with their defaults then."""

UPGRADES: Mapping[str, Callable[[Node], Node]] = {
    "LambdaCNN": _with_training,
    "LambdaRNN": _with_training,
    "LambdaSet": _with_training,
    "MarginalScorer": _without_examples,
    "SequenceSetGenerator": _sequence_set_generator,
    "SequenceSigmoidNetwork": _with_training,
    "SetClassifier": _without_unknown,
    "SigmoidNetwork": _with_training,
    "SoftmaxScorer": _without_examples,
}
"""For classes that have changed since format 1, by their names in it."""
