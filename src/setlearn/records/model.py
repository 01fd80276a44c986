"""A fitted set predictor that reads records and answers in sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from setlearn.files import Row
from setlearn.records.other_targets import other_targets, spelled_as_labels
from setlearn.records.readers import FeatureReader, RecordReader, TextReader
from setlearn.records.rows import as_rows
from setlearn.records.targets import TargetReader, Task
from setlearn.rules import Rule
from setlearn.savable import savable
from setlearn.vocabulary import read_elements

if TYPE_CHECKING:
    from setlearn.estimators.base import Ranking, Trace, Unknown
    from setlearn.estimators.sequence_set_generator import SequenceSetGenerator
    from setlearn.estimators.set_classifier import SetClassifier

__all__ = ["RecordModel"]


@savable(
    is_model=True,
    parts={
        "reader": (FeatureReader, TextReader),
        "targets": (TargetReader,),
        "model": (
            "setlearn.estimators.set_classifier:SetClassifier",
            "setlearn.estimators.sequence_set_generator:SequenceSetGenerator",
        ),
    },
)
@dataclass(frozen=True, slots=True, eq=False)
class RecordModel:
    """Reads records, and predicts the set of each.

    A record is a row of a file, a dict, or, where the model reads one column alone, a bare value
    such as a text. Columns that it does not read may be there or not.

    Attributes
    ----------
    reader : FeatureReader or TextReader
        From records to the model's inputs.
    targets : TargetReader
        How the sets of records are written.
    model : SetClassifier or SequenceSetGenerator
        The fitted model itself.

    Examples
    --------
    >>> from setlearn import SetClassifier
    >>> from setlearn.records import plan_records
    >>> texts = ["sun over the sea", "a city at night", "sun on the city", "the night sea"] * 5
    >>> tags = ["sun;sea", "city", "sun;city", "sea"] * 5
    >>> records = [{"text": x, "tags": y} for x, y in zip(texts, tags, strict=True)]
    >>> plan = plan_records(records, target="tags")
    >>> model = plan.fit(records, SetClassifier(random_state=0))
    >>> sorted(model.predict(["sun over the sea"])[0])
    ['sea', 'sun']
    """

    reader: RecordReader
    targets: TargetReader
    model: SetClassifier | SequenceSetGenerator

    @property
    def task(self) -> Task:
        """Whether elements are labels or sequences."""
        return self.targets.task

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, if elements are labels."""
        classes: NDArray[Any] = self.model.classes_
        return classes

    @property
    def rule_(self) -> Rule:
        """The fitted rule."""
        rule: Rule = self.model.rule_
        return rule

    def predict(self, records: Any) -> list[frozenset[Hashable]]:
        """Predict the set of each record."""
        return self.model.predict_sets(self._inputs(records))

    def predict_ranked(self, records: Any, *, top: int | None = None) -> list[Ranking]:
        """List the elements of each predicted set with their scores, best first.

        With ``top``, list that many of the best elements instead.
        """
        return self.model.predict_ranked(self._inputs(records), top=top)

    def facts(self) -> dict[str, Any]:
        """Describe the fitted model in a few words and numbers."""
        return self.model.facts()

    def complete(
        self, records: Any, known: Any, *, unknown: Unknown = "error"
    ) -> list[frozenset[Hashable]]:
        """Given these elements, what else? One set of known elements per record."""
        return self._as_sets(self.model.complete(self._inputs(records), known, unknown=unknown))

    def trace(self, record: Any, known: Any = (), *, unknown: Unknown = "error") -> Trace:
        """Show step by step how the set of one record is built."""
        return self.model.trace(self._inputs([record])[0], known, unknown=unknown)

    def true_sets(self, records: Any) -> list[frozenset[Hashable]]:
        """The sets that records are labelled with, spelled as predicted ones are."""
        sets = [self.targets.read(row) for row in as_rows(records, self.reader.columns)]
        if self.task == "labels":
            return spelled_as_labels(sets, self._labels())
        return read_elements(sets, self.model.vocabulary_.tokeniser, "the targets")

    def known_sets(self, records: Any, column: str) -> list[frozenset[Hashable]]:
        """The sets that stand in a column and are written like targets, to be completed."""
        rows = as_rows(records, self.reader.columns)
        sets = [self.targets.read_column(row, column) for row in rows]
        return spelled_as_labels(sets, self._labels())

    def elements_named(self, names: Iterable[Hashable]) -> frozenset[Hashable]:
        """Elements by how people spell them: for "3", the label 3 if there is one."""
        return spelled_as_labels([names], self._labels())[0]

    def reading_targets(
        self, row: Row, target: Sequence[str] | None, separator: str | None
    ) -> RecordModel:
        """The same model, for rows like this one whose sets stand elsewhere or are written so.

        Parameters
        ----------
        row : Row
        target : names or patterns, or None for the columns of training
            Several columns are one a label.
        separator : str or None
            What stands between the elements of a text; "" keeps texts whole, None is as before.
        """
        targets = other_targets(self.targets, self._labels(), row, target, separator)
        return replace(self, targets=targets)

    def _labels(self) -> list[Hashable]:
        """The labels; none if elements are sequences."""
        return self.classes_.tolist() if self.task == "labels" else []

    def _inputs(self, records: Any) -> Any:
        return self.reader.read(as_rows(records, self.reader.columns))

    def _as_sets(self, answer: Any) -> list[frozenset[Hashable]]:
        """Answers as sets, also of an estimator that was fitted on an indicator or on classes."""
        if isinstance(answer, list):
            return answer
        from scipy import sparse

        return self.model.space_.answer_sets(sparse.csr_array(answer != 0))
