"""Saving and loading: the files of a model's folder, and the card for people."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from setlearn.errors import ModelError, NotFittedError
from setlearn.persistence.classes import class_at, spec_of
from setlearn.persistence.decoding import decode
from setlearn.persistence.encoding import Encoded, encode
from setlearn.persistence.folder import read_folder, write_folder
from setlearn.persistence.manifest import FORMAT, Manifest, parse_json
from setlearn.persistence.older_formats import upgraded_config, upgraded_skops
from setlearn.persistence.skops_file import check_trusted, dump_parts, load_parts

__all__ = [
    "SavedModel",
    "check_can_save",
    "load",
    "model_card",
    "model_of_files",
    "read_model",
    "rescue_model",
    "save",
]

CONFIG, VOCABULARY, CARD = "config.json", "vocabulary.json", "README.md"
WEIGHTS, SKLEARN = "weights.safetensors", "sklearn.skops"
RESCUED = "model.joblib"


@dataclass(frozen=True, slots=True, eq=False)
class SavedModel:
    """A model from a folder, with everything that the folder says about it.

    ``about`` is what was passed to ``save``: data, figures, guesses. ``facts`` is what the model
    says about itself.
    """

    model: Any
    manifest: Manifest
    facts: Mapping[str, Any]
    about: Mapping[str, Any]
    card: str


def save(
    model: Any,
    path: str | Path,
    *,
    about: Mapping[str, Any] | None = None,
    trusted: Iterable[str] = (),
) -> None:
    """Save a fitted model as a folder that holds no code.

    If it fails, what was there before stays as it was.

    Parameters
    ----------
    model : fitted SetClassifier or SequenceSetGenerator, or what ``load`` returned
    path : str or Path
        The folder. A model that is already there is replaced once the new one is complete. A
        folder with anything else in it is refused.
    about : dict, optional
        What people should know about the model, such as ``{"data": {"rows": 500}, "figures":
        {"mean F1": 0.71}}``. It is kept in the folder and shown in its card, ``README.md``.
    trusted : list of str, default=()
        Full names of types, such as ``"mypackage.MyTransformer"``, that the model may hold besides
        those known to be safe. They are not recorded: pass them to ``load`` too.

    Raises
    ------
    UntrustedModelError
        If the model holds types that are neither known nor named; the message lists them.
    ModelError
        If the model cannot be saved or the folder cannot be written.
    NotFittedError
        If the model is not fitted.

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
    names = check_trusted(trusted)
    _check_kind(model)
    if not hasattr(model, "rule_"):
        raise NotFittedError(f"this {type(model).__name__} is not fitted; call fit(X, y) first")
    facts, about = model.facts(), dict(about or {})
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
        files[SKLEARN] = dump_parts(data.sklearn, names)
    try:
        # What could not be loaded again must not replace a model that can.
        _put_together(files, FORMAT, names)
    except ModelError as error:
        raise ModelError(
            f"the model cannot be saved, because it could not be loaded again: {error}"
        ) from error
    write_folder(Path(path), files)


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> Any:
    """Load a model that ``save`` or ``setlearn fit`` wrote. Nothing in the folder is ever run.

    Parameters
    ----------
    path : str or Path
        The folder.
    trusted : list of str, default=()
        Full names of types, such as ``"mypackage.MyTransformer"``, that the model may hold besides
        those known to be safe. Name only types that you know.

    Returns
    -------
    SetClassifier, SequenceSetGenerator or RecordModel

    Raises
    ------
    ModelError
        If the folder is damaged, changed, or of a later format.
    UntrustedModelError
        If the model holds types that are neither known nor named; the message lists them.

    Examples
    --------
    >>> import setlearn
    >>> setlearn.load("nowhere")
    Traceback (most recent call last):
    setlearn.errors.ModelError: the model nowhere does not exist; pass the folder of a saved model
    """
    return read_model(path, trusted=trusted).model


def read_model(path: str | Path, *, trusted: Iterable[str] = ()) -> SavedModel:
    """Load a model with its manifest, its card, its facts, and what was passed as ``about``.

    Parameters
    ----------
    path : str or Path
        The folder.
    trusted : list of str, default=()
        As in `load`.

    Returns
    -------
    SavedModel

    Raises
    ------
    ModelError, UntrustedModelError
        As in `load`.
    """
    names = check_trusted(trusted)
    try:
        manifest, files = read_folder(Path(path))
        model, facts, about = _put_together(files, manifest.format, names)
    except MemoryError as error:
        raise ModelError(
            f"the model {path} does not fit in memory; if you trust where it comes from, load it "
            "on a machine with more memory"
        ) from error
    return SavedModel(model, manifest, facts, about, files[CARD].decode(errors="replace"))


def model_of_files(
    manifest: Manifest, files: Mapping[str, bytes], *, trusted: Iterable[str] = ()
) -> Any:
    """Put a model together from the files of its folder, as `load` does.

    Parameters
    ----------
    manifest : Manifest
    files : mapping from str to bytes
        What `read_folder` has read, perhaps on another machine.
    trusted : list of str, default=()
        As in `load`.

    Returns
    -------
    SetClassifier, SequenceSetGenerator or RecordModel
    """
    model, _, _ = _put_together(files, manifest.format, check_trusted(trusted))
    return model


def check_can_save(model: Any, *, trusted: Iterable[str] = ()) -> None:
    """Raise an error if a model, fitted or not, holds something that cannot be saved.

    Call it before a long training: most of what cannot be saved is among the parameters.

    Parameters
    ----------
    model : SetClassifier or SequenceSetGenerator
    trusted : list of str, default=()
        As in `save`.

    Raises
    ------
    ModelError, UntrustedModelError
        As in `save`.
    """
    names = check_trusted(trusted)
    _check_kind(model)
    data = encode(model)
    if data.sklearn:
        dump_parts(data.sklearn, names)


def rescue_model(model: Any, path: Path) -> Path:
    """Write a fitted model that cannot be saved as a joblib file into a new folder.

    The file is a pickle, for the person who fitted the model: ``joblib.load`` reads it, and
    `load` never does.

    Parameters
    ----------
    model : fitted model
    path : Path
        Where the model should have been saved. The new folder is beside it, or among the system's
        temporary files if there is no space.

    Returns
    -------
    Path
        The file.
    """
    try:
        return _pickled(model, path, path.absolute().parent)
    except OSError:
        return _pickled(model, path, None)


def _pickled(model: Any, path: Path, parent: Path | None) -> Path:
    import joblib

    folder = Path(tempfile.mkdtemp(prefix=f"{path.name}.rescue-", dir=parent))
    try:
        joblib.dump(model, folder / RESCUED)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # half a pickle helps nobody
        raise
    return folder / RESCUED


def _put_together(
    files: Mapping[str, bytes], file_format: int, trusted: list[str]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The model, its facts, and what was passed to ``save`` as ``about``."""
    for name in (CONFIG, VOCABULARY, CARD):
        if name not in files:
            raise ModelError(f"the model has no {name}; it is incomplete")
    others = sorted(set(files) - {CONFIG, VOCABULARY, CARD, WEIGHTS, SKLEARN})
    if others:
        raise ModelError(
            f"the model holds {others[0]}, which this version does not know; it was written by a "
            "later version, or not by setlearn"
        )
    config, vocabulary = (parse_json(files[name], name) for name in (CONFIG, VOCABULARY))
    is_complete = isinstance(config, dict) and all(
        isinstance(config.get(part), dict) for part in ("about", "model")
    )
    if not is_complete or not isinstance(vocabulary, dict):
        raise ModelError(f"{CONFIG} or {VOCABULARY} does not hold what it should; it is damaged")
    coded, skops = _upgraded(config["model"], files.get(SKLEARN), file_format)
    if not _is_model(class_at(coded.get("!object"))):
        raise ModelError(f"{CONFIG} does not describe a model of setlearn; it is damaged")
    parts = load_parts(skops, trusted) if skops is not None else []
    tensors = _tensors(files[WEIGHTS]) if WEIGHTS in files else {}
    model = decode(Encoded(coded, vocabulary, tensors, parts))
    return model, _plain_facts(model), config["about"]


def _upgraded(coded: Any, skops: bytes | None, file_format: int) -> tuple[Any, bytes | None]:
    try:
        coded = upgraded_config(coded, file_format)
        return coded, None if skops is None else upgraded_skops(skops, file_format)
    except ModelError:
        raise
    except Exception as error:  # a damaged model may lack anything
        raise ModelError(
            f"the model of format {file_format} cannot be read ({type(error).__name__}: "
            f"{error!s:.120}); it is damaged, or was not written by setlearn"
        ) from error


def _plain_facts(model: Any) -> dict[str, Any]:
    """What a model says about itself, computed from the model and checked to be JSON."""
    try:
        facts: dict[str, Any] = model.facts()
        json.dumps(facts, allow_nan=False)
    except Exception as error:  # missing or wrong parts may fail anywhere
        raise ModelError(
            f"the model is incomplete ({type(error).__name__}: {error!s:.120}); it is damaged, or "
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


def _is_model(kind: type[Any]) -> bool:
    spec = spec_of(kind)
    return spec is not None and spec.is_model


def _check_kind(model: Any) -> None:
    *before, last = [step for _, step in getattr(model, "steps", [])] or [None]
    if _is_model(type(last)) and hasattr(last, "estimator"):  # a pipeline around it
        name, steps = type(last).__name__, ", ".join(" ".join(repr(s).split()) for s in before)
        raise ModelError(
            f"a {type(model).__name__} around a {name} cannot be saved, only the {name} itself; "
            f"fit and save {name}(make_pipeline({steps}, learner)), with all steps inside. Its "
            "default learner is setlearn.learners.SetMixture()"
        )
    if not _is_model(type(model)):
        raise ModelError(
            f"a {type(model).__name__} cannot be saved; pass a fitted SetClassifier or "
            "SequenceSetGenerator. Of a search, pass the best_estimator_. To save preparation "
            "with the model, put it inside: SetClassifier(make_pipeline(preparation, learner))"
        )


def _to_json(value: Any) -> bytes:
    try:
        return json.dumps(value, indent=1, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"about is not plain JSON ({error}); pass plain texts and numbers"
        ) from error


def model_card(facts: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Write the card of a model.

    Parameters
    ----------
    facts : mapping
        What the model says about itself.
    about : mapping
        What was passed to ``save`` as ``about``. "name" is the title, mappings become tables and
        lists become lists.

    Returns
    -------
    str
        Markdown.
    """
    lines = [
        f"# {about.get('name', 'A setlearn model')}",
        "",
        f"Predicts {facts['task']}. Saved by [setlearn](https://pypi.org/project/setlearn/).",
        "",
        "```python",
        "import setlearn",
        "",
        'model = setlearn.load("PATH OF THIS FOLDER")',
        "```",
        "",
        "On the command line: `setlearn inspect PATH`, `setlearn predict PATH FILE`.",
        "",
        *_table("The model", {k: v for k, v in facts.items() if not isinstance(v, Mapping)}),
    ]
    tables = {title: content for title, content in facts.items() if isinstance(content, Mapping)}
    for title, content in {**tables, **about}.items():
        if isinstance(content, Mapping):
            lines += _table(title.capitalize(), content)
        elif isinstance(content, list | tuple):
            items = [f"- {_cell(item)}" for item in content]
            lines += [f"## {title.capitalize()}", "", *items, ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(title: str, facts: Mapping[str, Any]) -> list[str]:
    rows = [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts.items()]
    return [f"## {title}", "", "| | |", "|---|---|", *rows, ""]


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    if len(text) > 300:
        text = f"{text[:300]} …"
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
