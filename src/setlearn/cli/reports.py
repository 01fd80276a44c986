"""What `evaluate` and `fit --validation` tell of predictions on rows whose sets are known."""

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

__all__ = ["Evaluation", "evaluate_sets", "shown_input"]

SHOWN_LABELS = 30
LINES_OF_MEANS = 3  # at the end of a table of labels: an empty one, macro and micro
LONGEST_INPUT = 70

Sets = Sequence[frozenset[Hashable]]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All figures of some predictions; ``str()`` is for people, ``to_dict()`` for JSON."""

    report: SetReport
    labels: LabelReport | None
    sizes: SizeTable
    worst: list[tuple[str, str, WorstSample]]
    unseen: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "report": self.report.to_dict(),
            "labels": None if self.labels is None else self.labels.to_dict(),
            "sizes": self.sizes.to_dict(),
            "worst": [
                {"place": place, "input": shown, **plain(sample.to_dict())}
                for place, shown, sample in self.worst
            ],
            "never_seen_in_training": self.unseen,
        }

    def __str__(self) -> str:
        parts = [str(self.report)]
        if self.labels is not None:
            parts.append(f"each label\n{_cut_table(self.labels)}")
        parts.append(f"sizes of sets\n{self.sizes}")
        if self.worst:
            parts.append("\n".join(["worst answers", *(_worst_answer(*one) for one in self.worst)]))
        if self.unseen:
            parts.append(
                f"never seen in training, so never found: {', '.join(self.unseen[:10])}"
                + (f" and {len(self.unseen) - 10} more" if len(self.unseen) > 10 else "")
            )
        return "\n\n".join(parts)


def evaluate_sets(
    model: RecordModel, rows: Sequence[tuple[str, str]], true: Sets, predicted: Sets, n_worst: int
) -> Evaluation:
    """Compare sets; ``rows`` are the place and the shown input of each."""
    of_labels = model.task == "labels"
    classes = set(model.classes_.tolist()) if of_labels else set()
    unseen = set().union(*true) - classes if of_labels else set()
    return Evaluation(
        set_report(true, predicted, sequences=not of_labels),
        label_report(true, predicted) if of_labels else None,
        size_table(true, predicted),
        [(*rows[sample.index], sample) for sample in worst_samples(true, predicted, n_worst)]
        if n_worst
        else [],
        sorted(str(label) for label in unseen),
    )


def shown_input(model: RecordModel, row: Row) -> str:
    """What a row says, as short as people need it to recognise it."""
    names = [column.name for column in model.reader.columns]
    values = [str(row.record.get(name, "")) for name in names[:5]]
    if len(names) > 1:
        values = [f"{name}={value}" for name, value in zip(names, values, strict=False)]
    text = ", ".join(values).replace("\n", " ")
    return text if len(text) <= LONGEST_INPUT else text[: LONGEST_INPUT - 1] + "…"


def _cut_table(labels: LabelReport) -> str:
    """The table without most of its labels, if there are many; the means of all stay."""
    hidden = len(labels.labels) - SHOWN_LABELS
    if hidden <= 0:
        return str(labels)
    lines = str(labels).split("\n")
    more = f"… {hidden} more labels; --json has all"
    return "\n".join([*lines[: 1 + SHOWN_LABELS], more, *lines[-LINES_OF_MEANS:]])


def _worst_answer(place: str, shown: str, sample: WorstSample) -> str:
    missed, wrong = (
        ", ".join(map(str, plain(part))) or "–" for part in (sample.missed, sample.wrong)
    )
    return f"  F1 {sample.f1:.2f}  {place}: {shown}\n           missed {missed}; wrong {wrong}"
