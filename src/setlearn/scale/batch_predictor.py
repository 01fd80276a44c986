"""Predicts batches of rows in any process: under Ray, Dask or Spark, or in a plain process pool."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from setlearn.errors import KindError, ParameterError
from setlearn.files import Row
from setlearn.files.plain_values import plain
from setlearn.persistence import save
from setlearn.persistence.folder import read_folder
from setlearn.persistence.manifest import Manifest
from setlearn.persistence.models import model_of_files
from setlearn.records import RecordModel, record_model_for
from setlearn.records.answers import PredictionForm
from setlearn.rules import Rule

__all__ = ["BatchPredictor"]

OWN_COLUMN = "prediction"

_loaded: dict[str, Any] = {}
"""The model of this process, by its digest. Predictors that come with each task share it."""


class BatchPredictor:
    """Predicts the sets of batches, in this process or in another one.

    It holds the files of the model, so it can be sent to a machine that does not have them. There
    the model is loaded when the first batch comes, with all checks of `setlearn.load`, and is kept
    for all later ones.

    Parameters
    ----------
    model : str, Path or fitted predictor
        The folder of a model, or a fitted model.
    scores : bool, default=False
        Give the score of each element too, best first.
    top : int, optional
        Give this number of the best elements, whether the rule keeps them or not, with scores.
    rule : Rule, optional
        Another rule that needs no fit. By default the rule of the model.
    inputs : sequence of names, optional
        For models without columns: the columns to predict from.
    trusted : sequence of str, default=()
        As for `setlearn.load`.

    Attributes
    ----------
    digest : str
        The same for all predictors of the same model.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.rules import TopK
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> model = SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}, {"b"}, {"a"}])
    >>> predict = BatchPredictor(model)
    >>> predict({"height": [1.0, 0.0], "width": [0.0, 0.5]})["prediction"]
    [['b'], ['a']]
    """

    def __init__(
        self,
        model: Any,
        *,
        scores: bool = False,
        top: int | None = None,
        rule: Rule | None = None,
        inputs: Iterable[str] | None = None,
        trusted: Iterable[str] = (),
    ) -> None:
        self.form = PredictionForm(scores=scores, top=top)
        self.rule = rule
        self.inputs = None if inputs is None else list(inputs)
        self.trusted = list(trusted)
        self.manifest, self.files = _files_of(model, self.trusted)
        self.digest = hashlib.sha256(self.manifest.to_json()).hexdigest()

    def __call__(self, batch: Any) -> Any:
        """Predict the sets of a batch.

        Parameters
        ----------
        batch : pyarrow.Table or mapping from str to sequence
            Columns by name, all equally long.

        Returns
        -------
        pyarrow.Table or dict
            The batch with the column "prediction": one list of elements per row, or of
            (element, score) pairs.
        """
        names = _column_names(batch)
        if OWN_COLUMN in names:
            raise ParameterError(
                f"there is a column {OWN_COLUMN!r} already, but the answers need that name; rename "
                "the column"
            )
        is_arrow = hasattr(batch, "to_pylist")
        records = batch.to_pylist() if is_arrow else _records(batch)
        rows = [
            Row(f"row {number} of the batch", record) for number, record in enumerate(records, 1)
        ]
        model = self.model_for(rows[0] if rows else Row("an empty batch", dict.fromkeys(names)))
        answers = [plain(answer) for answer in self.form.answers(model, rows)] if rows else []
        if is_arrow:
            return batch.append_column(OWN_COLUMN, _arrow_column(answers, model, self.form))
        return {**batch, OWN_COLUMN: answers}

    def model_for(self, row: Row) -> RecordModel:
        """Return the model, which is loaded if this process does not have it yet.

        Parameters
        ----------
        row : Row
            A row like those to predict. A model that was saved from Python has no columns; they
            are chosen by this row.

        Returns
        -------
        RecordModel
        """
        model, _ = record_model_for(self._saved(), row, self.inputs)
        return model if self.rule is None else model.with_rule(self.rule)

    def choose_columns(self, row: Row) -> list[str]:
        """Choose the columns of a model without columns now, so that all processes read the same.

        Parameters
        ----------
        row : Row
            The first of all rows to predict.

        Returns
        -------
        list of str
            Which columns are read, for people.
        """
        saved = self._saved()
        model, notes = record_model_for(saved, row, self.inputs)
        if model is not saved:
            self.inputs = [column.name for column in model.reader.columns]
        return notes

    def settings(self) -> dict[str, Any]:
        """What the answers depend on, as JSON."""
        rule = None if self.rule is None else repr(self.rule)
        return {"model": self.digest, "rule": rule, "inputs": self.inputs}

    def _saved(self) -> Any:
        if self.digest not in _loaded:
            model = model_of_files(self.manifest, self.files, trusted=self.trusted)
            _loaded.clear()  # there is space for one
            _loaded[self.digest] = model
        return _loaded[self.digest]


def _files_of(model: Any, trusted: Iterable[str]) -> tuple[Manifest, dict[str, bytes]]:
    """The files of a model's folder, checked to be as they were saved."""
    if not isinstance(model, str | Path):
        with tempfile.TemporaryDirectory(prefix="setlearn-model-") as folder:
            save(model, Path(folder, "model"), trusted=trusted)
            return _files_of(Path(folder, "model"), trusted)
    return read_folder(Path(model))


def _column_names(batch: Any) -> list[str]:
    if hasattr(batch, "column_names"):
        return list(batch.column_names)
    if isinstance(batch, Mapping):
        return list(batch)
    raise KindError(
        f"a batch is a table of pyarrow or a dict of columns, got a {type(batch).__name__}; "
        "convert it, for instance by pyarrow.Table.from_pandas"
    )


def _records(batch: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]


def _arrow_column(answers: list[Any], model: RecordModel, form: PredictionForm) -> Any:
    """The answers as a column whose type does not depend on what is in the batch."""
    import pyarrow

    if form.with_scores:
        element = _element_type([name for answer in answers for name, _ in answer], model)
        pair = pyarrow.struct([("element", element), ("score", pyarrow.float64())])
        pairs = [[{"element": name, "score": score} for name, score in each] for each in answers]
        return pyarrow.array(pairs, pyarrow.list_(pair))
    element = _element_type([name for answer in answers for name in answer], model)
    return pyarrow.array(answers, pyarrow.list_(element))


def _element_type(elements: list[Any], model: RecordModel) -> Any:
    import pyarrow

    if model.elements_ is not None:
        return pyarrow.array(plain(model.elements_)).type
    if elements:
        return pyarrow.array(elements[:1]).type
    is_text = model.task != "sequences" or model.element_split is not None
    return pyarrow.string() if is_text else pyarrow.list_(pyarrow.string())
