"""How good predictions are on rows whose sets are known, for `evaluate` and `fit`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setlearn.files import Row
from setlearn.files.plain_values import plain
from setlearn.metrics import (
    LabelReport,
    SetReport,
    SizeTable,
    WorstSample,
    label_report,
    set_report,
    size_table,
    worst_samples,
)

if TYPE_CHECKING:
    from setlearn.records import RecordModel

__all__ = ["Evaluation", "evaluate_sets", "short_input"]

MOST_LABELS = 30
LINES_OF_MEANS = 3
"""Lines at the end of a table of labels: an empty one, the macro and the micro mean."""
MOST_UNSEEN = 10
LONGEST_TEXT = 70

Sets = Sequence[frozenset[Hashable]]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All figures for some predictions; ``str()`` is for people, ``to_dict()`` for JSON."""

    report: SetReport
    labels: LabelReport | None
    sizes: SizeTable
    worst: list[tuple[str, str, WorstSample]]
    unseen: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "report": self.report.to_dict(),
            "labels": None if self.labels is None else self.labels.to_dict(),
            "sizes": self.sizes.to_dict(),
            "worst": [
                {"place": place, "input": text, **plain(sample.to_dict())}
                for place, text, sample in self.worst
            ],
            "never_seen_in_training": self.unseen,
        }

    def __str__(self) -> str:
        parts = [str(self.report)]
        if self.labels is not None:
            parts.append(f"each label\n{_cut_table(self.labels)}")
        parts.append(f"sizes of sets\n{self.sizes}")
        if self.worst:
            lines = [_worst_answer(*sample) for sample in self.worst]
            parts.append("\n".join(["worst answers", *lines]))
        if self.unseen:
            n_more = len(self.unseen) - MOST_UNSEEN
            parts.append(
                f"never seen in training, so never predicted: "
                f"{', '.join(map(repr, self.unseen[:MOST_UNSEEN]))}"
                + (f" and {n_more} more" if n_more > 0 else "")
            )
        return "\n\n".join(parts)


def evaluate_sets(
    model: RecordModel, rows: Sequence[tuple[str, str]], true: Sets, predicted: Sets, n_worst: int
) -> Evaluation:
    """Compare predicted sets with true ones.

    Parameters
    ----------
    model : RecordModel
    rows : sequence of pairs
        The place and a short form of the input of each row.
    true, predicted : sequences of frozenset
    n_worst : int
        How many of the worst predictions to keep.

    Returns
    -------
    Evaluation
        With figures per label if the elements can be listed.
    """
    labels = model.elements_
    unseen = set() if labels is None else set().union(*true) - set(labels)
    sequences = model.task == "sequences"
    return Evaluation(
        set_report(true, predicted, sequences=sequences, tokens=model.element_split),
        None if labels is None else label_report(true, predicted),
        size_table(true, predicted),
        [(*rows[sample.index], sample) for sample in worst_samples(true, predicted, n_worst)]
        if n_worst
        else [],
        sorted(str(label) for label in unseen),
    )


def short_input(model: RecordModel, row: Row) -> str:
    """Show the input of a row in one line, by which people recognise it.

    Parameters
    ----------
    model : RecordModel
        Only the first five columns that it reads are shown.
    row : Row

    Returns
    -------
    str
    """
    names = [column.name for column in model.reader.columns]
    values = [str(row.record.get(name, "")) for name in names[:5]]
    if len(names) > 1:
        values = [f"{name}={value}" for name, value in zip(names, values, strict=False)]
    return _cut_text(", ".join(values))


def _cut_text(text: str) -> str:
    """A text in one line, cut off if it is long."""
    text = text.replace("\n", " ")
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _cut_table(labels: LabelReport) -> str:
    """Return the table with at most 30 labels, and the means over all of them."""
    n_more = len(labels.labels) - MOST_LABELS
    if n_more <= 0:
        return str(labels)
    lines = str(labels).split("\n")
    more = f"… {n_more} more labels; --json has all"
    return "\n".join([*lines[: 1 + MOST_LABELS], more, *lines[-LINES_OF_MEANS:]])


def _worst_answer(place: str, text: str, sample: WorstSample) -> str:
    missed, wrong = (
        ", ".join(_cut_text(str(element)) for element in plain(part)) or "–"
        for part in (sample.missed, sample.wrong)
    )
    return f"  F1 {sample.f1:.2f}  {place}: {text}\n           missed {missed}; wrong {wrong}"
