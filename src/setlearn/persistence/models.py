"""Saving and loading: what the files of a model's folder are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from setlearn.errors import ModelError, NotFittedError
from setlearn.persistence.card import facts_of, model_card
from setlearn.persistence.decoding import decode
from setlearn.persistence.encoding import Encoded, encode
from setlearn.persistence.folder import read_folder, write_folder
from setlearn.persistence.manifest import Manifest, parse_json
from setlearn.persistence.registry import name_of
from setlearn.persistence.sklearn_parts import check_trusted, dump_parts, load_parts, unknown_types

__all__ = ["SavedModel", "check_can_save", "load", "read_model", "save"]

CONFIG, VOCABULARY, CARD = "config.json", "vocabulary.json", "README.md"
WEIGHTS, SKLEARN = "weights.safetensors", "sklearn.skops"

SAVABLE = ("SetClassifier", "SequenceSetGenerator", "RecordModel")


@dataclass(frozen=True, slots=True, eq=False)
class SavedModel:
    """A model from a folder, with all that the folder says of it.

    ``about`` is what was told when it was saved: data, figures, guesses.
    """

    model: Any
    manifest: Manifest
    facts: Mapping[str, Any]
    about: Mapping[str, Any]
    card: str


def save(model: Any, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Save a fitted model as a folder that holds no code, or leave what is there as it was.

    Parameters
    ----------
    model : fitted SetClassifier or SequenceSetGenerator, or what ``load`` gave
    path : name of the folder
        A model that is already there is replaced once the new one is whole. A folder with other
        things in it is refused.
    about : dict, optional
        What people should know of the model, such as ``{"data": {"rows": 500}, "figures":
        {"mean F1": 0.71}}``: it is kept in the folder and shown in its card, ``README.md``.

    Examples
    --------
    >>> import tempfile, setlearn
    >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [{"low"}, {"low"}, {"high"}, {"high", "top"}]
    >>> model = setlearn.SetClassifier(rule=setlearn.rules.TopK(1), random_state=0).fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     setlearn.save(model, f"{folder}/model")
    ...     setlearn.load(f"{folder}/model").predict([[1.5]])
    [frozenset({'low'})]
    """
    _check_savable(model)
    facts, about = facts_of(model), dict(about or {})
    data = encode(model)
    files = {
        CONFIG: _to_json({"about": about, "model": data.config}),
        VOCABULARY: _to_json(data.vocabulary),
        CARD: model_card(facts, about).encode(errors="backslashreplace"),
    }
    if data.tensors:
        from safetensors.numpy import save as save_tensors

        files[WEIGHTS] = save_tensors(data.tensors)
    if data.sklearn:
        files[SKLEARN] = dump_parts(data.sklearn)
    _check_readable(files)
    write_folder(Path(path), files)


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> Any:
    """Load a model that ``save`` or ``setlearn fit`` wrote. Nothing in the folder is ever run.

    Parameters
    ----------
    path : the folder
    trusted : list of str, default=()
        Full names of types, such as ``"mypackage.MyTransformer"``, that the model may hold beyond
        those known to be safe. Name only what you know.

    Raises
    ------
    ModelError
        If the folder is damaged, changed, or of a later format.
    UntrustedModelError
        If it holds types that are neither known nor named; the message lists them.

    Examples
    --------
    >>> import setlearn
    >>> setlearn.load("nowhere")
    Traceback (most recent call last):
    setlearn.errors.ModelError: the model nowhere is not there; give the folder that save wrote
    """
    return read_model(path, trusted=trusted).model


def read_model(path: str | Path, *, trusted: Iterable[str] = ()) -> SavedModel:
    """Load a model with its manifest, its card, and what was told about it."""
    names = check_trusted(trusted)
    try:
        manifest, files = read_folder(Path(path))
        model, facts, about = _put_together(files, names)
    except MemoryError as error:
        raise ModelError(
            f"the model {path} does not fit in memory; if you trust where it is from, read it on "
            "a larger machine"
        ) from error
    return SavedModel(model, manifest, facts, about, files[CARD].decode(errors="replace"))


def check_can_save(model: Any) -> None:
    """Raise a ModelError if a model, fitted or not, holds something that no file can hold.

    Call it before a long training: what the parameters hold is known by then.

    Parameters
    ----------
    model : SetClassifier or SequenceSetGenerator
    """
    _check_kind(model)
    data = encode(model)
    if data.sklearn:
        dump_parts(data.sklearn)


def _put_together(
    files: Mapping[str, bytes], trusted: list[str]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The model, the facts of it, and what was told about it."""
    for name in (CONFIG, VOCABULARY, CARD):
        if name not in files:
            raise ModelError(f"the model has no {name}; it is not whole")
    others = sorted(set(files) - {CONFIG, VOCABULARY, CARD, WEIGHTS, SKLEARN})
    if others:
        raise ModelError(
            f"the model holds {others[0]}, which this version does not know; it was written by a "
            "later version, or not by setlearn"
        )
    config, vocabulary = (parse_json(files[name], name) for name in (CONFIG, VOCABULARY))
    told = isinstance(config, dict) and all(
        isinstance(config.get(part), dict) for part in ("about", "model")
    )
    if not told or not isinstance(vocabulary, dict):
        raise ModelError(f"{CONFIG} or {VOCABULARY} does not hold what it should; it is damaged")
    if config["model"].get("!object") not in SAVABLE:
        raise ModelError(f"{CONFIG} describes no model that setlearn knows; it is damaged")
    parts = load_parts(files[SKLEARN], trusted) if SKLEARN in files else []
    tensors = _tensors(files[WEIGHTS]) if WEIGHTS in files else {}
    model = decode(Encoded(config["model"], vocabulary, tensors, parts))
    return model, _plain_facts(model), config["about"]


def _plain_facts(model: Any) -> dict[str, Any]:
    """The facts of a model that was read: not as a file tells them, and all of them JSON."""
    try:
        facts = facts_of(model)
        json.dumps(facts, allow_nan=False)
    except Exception as error:  # parts that are missing or strange may fail anywhere
        raise ModelError(
            f"the model is not whole ({type(error).__name__}: {error!s:.120}); it is damaged, or "
            "was not written by setlearn"
        ) from error
    return facts


def _tensors(content: bytes) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as load_tensors

    try:
        return load_tensors(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelError(f"{WEIGHTS} cannot be read ({error!s:.120}); it is damaged") from error


def _check_savable(model: Any) -> None:
    _check_kind(model)
    if not hasattr(model, "rule_"):
        raise NotFittedError(f"this {type(model).__name__} is not fitted; call fit(X, y) first")


def _check_kind(model: Any) -> None:
    if name_of(model) not in SAVABLE:
        raise ModelError(
            f"a {type(model).__name__} cannot be saved; give a fitted SetClassifier or "
            "SequenceSetGenerator (one inside a Pipeline or a search: its best_estimator_)"
        )


def _check_readable(files: Mapping[str, bytes]) -> None:
    """Raise where a model could not be loaded again: it must not take the place of one that can."""
    unknown = unknown_types(files[SKLEARN]) if SKLEARN in files else []
    try:
        _put_together(files, unknown)
    except ModelError as error:
        raise ModelError(
            f"the model cannot be saved, for it could not be loaded again: {error}"
        ) from error


def _to_json(value: Any) -> bytes:
    try:
        return json.dumps(value, indent=1, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"what is told about the model is not JSON ({error}); give plain texts and numbers"
        ) from error
