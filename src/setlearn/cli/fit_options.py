"""The options of ``setlearn fit`` that say how to read rows, and what to save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from setlearn.files import Row
    from setlearn.records import RecordPlan

__all__ = ["PlanningOptions", "SavingOptions"]


class Task(Enum):
    """What the elements of the sets are."""

    labels = "labels"
    sequences = "sequences"
    candidates = "candidates"


class TextFeatures(Enum):
    """How texts become features."""

    subwords = "subwords"
    tfidf = "tfidf"
    words = "words"
    chars = "chars"


@dataclass(frozen=True)
class PlanningOptions:
    """How to read the rows; what is not given is guessed."""

    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the sets. Repeated, or as a pattern such as 'tag_*': one column "
            "per label. [one with a usual name, such as labels, tags or y]",
        ),
    ] = None
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            help="A column to predict from; may be repeated. [all but the target]",
        ),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with lists of candidates, if each set is chosen from the list of its "
            "row. [a column whose lists hold all chosen elements]",
        ),
    ] = None
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COLUMN=KIND",
            help="How to read a column, as in --kind zip=category: number, category, text, "
            "date, vector, bag, tokens or ignored; may be repeated. [by its values]",
        ),
    ] = None
    task: Annotated[
        Task | None, typer.Option(help="What the elements are. [by how often they repeat]")
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What separates the elements in a cell; '' for one element per cell. "
            "[by the data]",
        ),
    ] = None
    text: Annotated[
        TextFeatures | None,
        typer.Option(
            metavar="FEATURES",
            help="For labels: how texts become features: subwords, tfidf, words or chars. "
            "[by the texts]",
        ),
    ] = None
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="For sequences: how texts are split into tokens: char (by characters), word (at "
            "spaces) or text (words and punctuation); a pair such as char,word is for inputs and "
            "elements. [by which words recur]",
        ),
    ] = None

    def plan(
        self, records: Sequence[Row], target: Sequence[str] | None, categories: Sequence[str]
    ) -> RecordPlan:
        """Decide how records are read.

        Parameters
        ----------
        records : sequence of Row
        target : sequence of names or patterns, or None
        categories : sequence of str
            Columns that the file declares as categories.

        Returns
        -------
        RecordPlan

        Raises
        ------
        ParameterError
            If there is a separator but no column that it could split.
        """
        from setlearn.errors import ParameterError
        from setlearn.records import plan_records

        plan = plan_records(
            records,
            target=target,
            inputs=self.inputs,
            kinds=_kinds(self.kinds or []),
            declared=categories,
            separator=self.separator,
            task=None if self.task is None else self.task.value,
            text=None if self.text is None else self.text.value,
            tokens=_tokens(self.tokens),
            candidates=self.candidates,
        )
        if self.separator is not None and plan.targets.reads_flags:
            raise ParameterError(
                f"--separator {self.separator!r} is for a column that holds sets, but there is "
                f"one column per label ({', '.join(plan.targets.columns)}); leave it out"
            )
        return plan


@dataclass(frozen=True)
class SavingOptions:
    """What to save of the fit, and where."""

    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the model.")
    ] = Path("model")
    validation: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.9,
            metavar="SHARE",
            help="Share of the rows to hold out, and to evaluate the model on.",
        ),
    ] = 0.0
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For sequences: folder for the state of training. [OUT.checkpoint]",
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="For sequences: finish a fit that was interrupted."),
    ] = False
    examples: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Keep the inputs of this number of rows in the model, as examples.",
        ),
    ] = 0


def _kinds(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``--kind column=kind``."""
    from setlearn.errors import ParameterError

    pairs = [text.rpartition("=") for text in texts]
    for text, (name, equals, _) in zip(texts, pairs, strict=True):
        if not (name and equals):
            raise ParameterError(f"--kind is written column=kind, got {text!r}")
    return {name: kind for name, _, kind in pairs}


def _tokens(text: str | None) -> Any:
    """Read ``--tokens``: one way to split, or a pair."""
    from setlearn.errors import ParameterError

    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    if len(parts) > 2 or not {"char", "word", "text"}.issuperset(parts):
        raise ParameterError(
            f"--tokens is char, word or text, or a pair such as char,word; got {text!r}"
        )
    return parts[0] if len(parts) == 1 else parts
