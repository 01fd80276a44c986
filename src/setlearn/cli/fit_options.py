"""The options of ``setlearn fit``: how to read the rows, how to learn, and what to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from setlearn.files import Row
    from setlearn.records import RecordPlan

__all__ = ["Keeping", "Learner", "Learning", "Network", "Planning", "Task", "Text"]


class Task(Enum):
    """What the elements of the sets are."""

    labels = "labels"
    sequences = "sequences"


class Text(Enum):
    """How texts become features."""

    tfidf = "tfidf"
    words = "words"
    chars = "chars"


class Learner(Enum):
    """What scores labels."""

    mixture = "mixture"
    logistic = "logistic"
    forest = "forest"
    neighbours = "neighbours"
    network = "network"


class Network(Enum):
    """Which network scores sequences."""

    transformer = "transformer"
    lstm = "lstm"


@dataclass(frozen=True)
class Planning:
    """How to read the rows; what is not given is guessed."""

    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the sets; given again or as a pattern such as 'tag_*': one "
            "column a label. [one with a usual name, such as labels, tags or y]",
        ),
    ] = None
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            help="A column to predict from; may be given again. [all but the target]",
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="How to read a column, as in --kind zip=category: number, category, text, "
            "vector, bag, tokens or ignored; may be given again. [by its values]",
        ),
    ] = None
    task: Annotated[
        Task | None, typer.Option(help="What the elements are. [by how often they repeat]")
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Between the elements in a cell; '' for one element a cell. [by the data]",
        ),
    ] = None
    text: Annotated[
        Text | None,
        typer.Option(help="For labels: how texts become features. [by the spaces in them]"),
    ] = None
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="For sequences: char or word, or a pair for inputs and elements such as "
            "char,word. [by the spaces in them]",
        ),
    ] = None

    def plan(
        self, records: Sequence[Row], target: Sequence[str] | None, categories: Sequence[str]
    ) -> RecordPlan:
        """How these records will be read; ``categories`` are those that the file declares."""
        from setlearn.cli.named_parts import kinds_named, tokens_named
        from setlearn.errors import ParameterError
        from setlearn.records import plan_records

        plan = plan_records(
            records,
            target=target,
            inputs=self.inputs,
            kinds=kinds_named(self.kind or []),
            declared=categories,
            separator=self.separator,
            task=None if self.task is None else self.task.value,
            text=None if self.text is None else self.text.value,
            tokens=tokens_named(self.tokens),
        )
        if self.separator is not None and plan.targets.reads_flags:
            raise ParameterError(
                f"--separator {self.separator!r} is for a column that holds sets, but "
                f"{', '.join(plan.targets.columns)} are one a label; leave it out"
            )
        return plan


@dataclass(frozen=True)
class Learning:
    """Which model to learn, and how."""

    learner: Annotated[
        Learner | None, typer.Option(help="For labels: what scores them. [mixture]")
    ] = None
    network: Annotated[
        Network | None,
        typer.Option(help="For sequences: what scores them. [transformer]"),
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:SETTINGS]",
            help="Which elements to keep: margin, threshold, expected-f, lambda-cnn, ...; with "
            "settings as in threshold:cut=0.4. [what suits the model]",
        ),
    ] = None
    conditional: Annotated[
        bool, typer.Option("--conditional", help="For labels: learn also for complete.")
    ] = False
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For sequences: batches to train on. [by the data]"
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="For all that is random.")] = 0
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="For labels: folds fitted at once. [1]"),
    ] = None


@dataclass(frozen=True)
class Keeping:
    """What to keep of the fit, and where."""

    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the model.")
    ] = Path("model")
    validation: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.9,
            metavar="SHARE",
            help="Of the rows: to hold out, and to judge the model by.",
        ),
    ] = 0.0
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="For sequences: for the state of training. [OUT.checkpoint]"
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="For sequences: go on with a fit that was interrupted."),
    ] = False
    examples: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="Inputs of so many rows are kept in the model, to try it."
        ),
    ] = 0
