"""Which classes a file may name, and where older files look for them."""

import importlib
import json
import pkgutil
import zipfile
from pathlib import Path

import pytest

import setlearn
from setlearn.errors import ModelError, UntrustedModelError
from setlearn.persistence.classes import (
    NO_SAVED_CLASSES,
    class_at,
    new_object,
    place_of,
    spec_of,
)
from setlearn.persistence.manifest import FORMAT
from setlearn.persistence.older_formats import (
    MOVED,
    PLACES,
    UPGRADES,
    upgraded_config,
    upgraded_skops,
)
from setlearn.persistence.skops_file import dump_parts, load_parts
from setlearn.rules import Margin, Threshold
from setlearn.rules.candidate_score import CandidateScore
from setlearn.savable import savable, saved_spec
from tests.persistence.forged_files import unzipped, zipped


def all_marked():
    """Every class of the installed package that is marked, by its name."""
    marked = {}
    for module in pkgutil.walk_packages(setlearn.__path__, "setlearn."):
        package = module.name.split(".")[1]
        if package in NO_SAVED_CLASSES or package.startswith("_"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and kind.__module__ == module.name and saved_spec(kind):
                marked[kind.__name__] = f"{module.name}:{kind.__qualname__}"
    return marked


def test_every_marked_class_is_found_by_its_place():
    marked = all_marked()
    assert len(marked) >= 43
    for place in marked.values():
        kind = class_at(place)
        assert f"{kind.__module__}:{kind.__qualname__}" == place


def test_names_of_format_1_lead_to_where_the_classes_are_today():
    """If this fails because a class has moved: correct `PLACES` in older_formats."""
    marked = all_marked()
    places = {f"{module}:{name}" for name, module in PLACES.items() if name != "Pipeline"}
    assert {MOVED.get(place, place) for place in places} <= set(marked.values())


def test_places_that_have_moved_lead_to_marked_classes():
    for place in MOVED.values():
        assert spec_of(class_at(place)) is not None


def test_the_mark_is_not_inherited():
    class Own(Margin):
        """A rule of the user's own."""

    assert saved_spec(Margin) is not None
    assert saved_spec(Own) is None
    assert place_of(Own()) is None


def test_a_mark_outside_of_setlearn_does_not_count():
    @savable()
    class Own:
        """Marked, but not in one of setlearn's modules."""

    assert saved_spec(Own) is not None
    assert place_of(Own()) is None
    with pytest.raises(ModelError, match="does not know"):
        class_at(f"{Own.__module__}:Own")


def test_no_module_is_imported_by_a_name_in_a_file(monkeypatch):
    def refuse(name):
        raise AssertionError(f"{name} was imported")

    monkeypatch.setattr("setlearn.persistence.classes.import_module", refuse)
    for place in ("this:s", "antigravity:x", "setlearn.cli.app:app", "setlearn.no.module:X"):
        with pytest.raises(ModelError, match="does not know"):
            class_at(place)


def test_persistence_lists_no_class_of_setlearn():
    """Each part declares itself; only the names of format 1 are written down, in one table."""
    folder = Path(setlearn.__path__[0]) / "persistence"
    for path in folder.rglob("*.py"):
        if path.name != "older_formats.py":
            code = path.read_text()
            assert not [name for name in PLACES if f'"{name}"' in code], path


OLD_GENERATOR = {
    "!object": "SequenceSetGenerator",
    "network": "transformer",
    "rule": None,
    "loss": None,
    "batch_size": None,
    "learning_rate": 0.01,
    "weight_decay": None,
    "clip": 1.0,
    "max_steps": 5,
    "patience": 10,
    "validation": None,
    "unknown": "ignore",
    "device": "auto",
    "verbose": True,
    "reader_": {"!object": "TokenReader", "tokens": {"!vocabulary": "reader"}},
    "vocabulary_": {"!object": "Vocabulary", "tokens": {"!vocabulary": "vocabulary"}},
    "network_": {"!network": "SequenceSetGenerator.network_"},
    "scorer_": {
        "!object": "SequenceScorer",
        "network": {"!network": "SequenceSetGenerator.network_"},
        "loss": "node",
    },
}


def place(name):
    return f"{PLACES[name]}:{name}"


def test_scores_of_rules_from_before_they_had_spreads():
    old = {"!object": "setlearn.rules.auto:MeanF1", "mean": 0.6, "error": 0.01}
    for node, file_format in ((old, 2), ({**old, "!object": "MeanF1"}, 1)):
        upgraded = upgraded_config(node, file_format)
        kind = class_at(upgraded.pop("!object"))
        assert new_object(kind, upgraded) == CandidateScore(0.6, 0.01)
        assert new_object(kind, upgraded).learned == {}


def test_a_generator_of_format_1():
    node = upgraded_config(OLD_GENERATOR, 1)
    training = node.pop("training")
    assert training.pop("!object").endswith(":Training")
    assert training == {"learning_rate": 0.01, "max_steps": 5}
    assert node == {
        "!object": place("SequenceSetGenerator"),
        "network": "transformer",
        "rule": None,
        "rule_scores_": None,
        "scorer_": {
            "!object": place("SequenceScorer"),
            "recipe": {"!object": place("Transformer"), "match_tokens": False, "loss": "node"},
            "reader": {"!object": place("TokenReader"), "tokens": {"!vocabulary": "reader"}},
            "vocabulary": {
                "!object": place("Vocabulary"),
                "tokens": {"!vocabulary": "vocabulary"},
            },
            "network": {"!network": "SequenceSetGenerator.network_"},
        },
    }


def test_parameters_that_a_file_lacks_keep_its_answers():
    old = {"!object": place("Transformer"), "width": 8}
    assert upgraded_config([old], 2) == [{**old, "match_tokens": False}]
    new = {**old, "match_tokens": True}
    assert upgraded_config(new, 2) == new


@pytest.mark.parametrize(
    ("network", "loss", "wanted"),
    [
        ("lstm", None, "lstm"),
        ("lstm", "sequence", "lstm"),
        ("lstm", "node", {"!object": place("LSTM"), "loss": "node"}),
        ("transformer", "node", "transformer"),
        (
            {"!object": "LSTM", "embedding": 3},
            "node",
            {"!object": place("LSTM"), "embedding": 3, "loss": "node"},
        ),
        ({"!object": "LSTM", "embedding": 3}, None, {"!object": place("LSTM"), "embedding": 3}),
        ({"!sklearn": 0, "type": "Own"}, None, {"!sklearn": 0, "type": "Own"}),
    ],
)
def test_the_loss_is_now_a_parameter_of_the_recipe(network, loss, wanted):
    node = upgraded_config({**OLD_GENERATOR, "network": network, "loss": loss}, 1)
    assert node["network"] == wanted


def test_defaults_of_training_are_left_open():
    rest = {"learning_rate": None, "max_steps": None}
    assert upgraded_config({**OLD_GENERATOR, **rest}, 1)["training"] is None


def test_classes_of_format_1_in_a_skops_file():
    old = dump_parts([Threshold(0.3), {"__module__": "setlearn.rules.threshold"}], [])
    members = unzipped(old)
    schema = json.loads(members["schema.json"])
    assert schema["content"][0]["__module__"] == "setlearn.rules.threshold"
    schema["content"][0]["__module__"] = "setlearn.before.it_moved"
    old = zipped({**members, "schema.json": json.dumps(schema)}, zipfile.ZIP_STORED)
    with pytest.raises(UntrustedModelError, match="it_moved"):
        load_parts(old, [])
    rule, names = load_parts(upgraded_skops(old, 1), [])
    assert rule.cut == 0.3
    assert names == {"__module__": "setlearn.rules.threshold"}
    assert upgraded_skops(old, FORMAT) == old


def test_training_of_rules_and_learners():
    rule = {"!object": "LambdaSet", "hidden": 3, "batch_size": 128, "max_steps": 9, "verbose": True}
    upgraded = UPGRADES["LambdaSet"](rule)
    training = {"!object": upgraded["training"]["!object"], "max_steps": 9, "verbose": True}
    assert upgraded == {"!object": "LambdaSet", "hidden": 3, "training": training}
    learner = {"!object": "SigmoidNetwork", "validation": 0.1, "weight_decay": 0.0, "classes_": []}
    assert UPGRADES["SigmoidNetwork"](learner) == {
        "!object": "SigmoidNetwork",
        "classes_": [],
        "training": None,
    }


@pytest.mark.parametrize("node", [None, 1, "x", [], {}, {"!object": "os.system"}, {"!object": []}])
def test_what_is_nothing_of_format_1(node):
    upgraded = upgraded_config([node], 1)[0]
    assert upgraded == ({**node, "!object": None} if node and isinstance(node, dict) else node)
    assert json.dumps(upgraded)
