"""The options of ``setlearn fit``: how to read the rows, what to fit, and what to save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from setlearn.cli.part_names import complete_learners, complete_networks, complete_rules

if TYPE_CHECKING:
    from setlearn.files import Row
    from setlearn.records import RecordPlan

__all__ = ["LearningOptions", "PlanningOptions", "SavingOptions", "check_task"]


DEFAULT_LEARNER, DEFAULT_NETWORK = "mixture", "transformer"


class Task(Enum):
    """What the elements of the sets are."""

    labels = "labels"
    sequences = "sequences"


class TextFeatures(Enum):
    """How texts become features."""

    tfidf = "tfidf"
    words = "words"
    chars = "chars"


class OnlyFor(NamedTuple):
    """Declares that an option goes with one task; with another it is refused."""

    task: str


LABELS, SEQUENCES = OnlyFor("labels"), OnlyFor("sequences")


def check_task(options: Any, task: str) -> None:
    """Refuse options that do not go with the task.

    Parameters
    ----------
    options : dataclass
        A group of options.
    task : {"labels", "sequences"}

    Raises
    ------
    ParameterError
        If an option with the declaration `OnlyFor` another task is not at its default.
    """
    from setlearn.errors import ParameterError

    hints = get_type_hints(type(options), include_extras=True)
    for field in fields(options):
        for declaration in getattr(hints[field.name], "__metadata__", ()):
            given = getattr(options, field.name) != field.default
            if isinstance(declaration, OnlyFor) and given and declaration.task != task:
                raise ParameterError(
                    f"--{field.name.replace('_', '-')} is for {declaration.task}, but the elements "
                    f"are {task}; leave it out, or use --task {declaration.task}"
                )


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
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="How to read a column, as in --kind zip=category: number, category, text, "
            "vector, bag, tokens or ignored; may be repeated. [by its values]",
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
        typer.Option(help="For labels: how texts become features. [by their spaces]"),
    ] = None
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="For sequences: char or word, or a pair for inputs and elements such as "
            "char,word. [by their spaces]",
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
            kinds=_kinds(self.kind or []),
            declared=categories,
            separator=self.separator,
            task=None if self.task is None else self.task.value,
            text=None if self.text is None else self.text.value,
            tokens=_tokens(self.tokens),
        )
        if self.separator is not None and plan.targets.reads_flags:
            raise ParameterError(
                f"--separator {self.separator!r} is for a column that holds sets, but there is "
                f"one column per label ({', '.join(plan.targets.columns)}); leave it out"
            )
        return plan


@dataclass(frozen=True)
class LearningOptions:
    """Which model to fit, and how."""

    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"For labels: the learner that scores them: {{learners}}. [{DEFAULT_LEARNER}]",
            autocompletion=complete_learners,
        ),
        LABELS,
    ] = None
    network: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"For sequences: the network that scores them: {{networks}}. [{DEFAULT_NETWORK}]",
            autocompletion=complete_networks,
        ),
        SEQUENCES,
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:SETTINGS]",
            help="The rule that decides which elements to keep: {rules}; with settings as in "
            "threshold:cut=0.4. [what suits the model]",
            autocompletion=complete_rules,
        ),
    ] = None
    conditional: Annotated[
        bool,
        typer.Option(
            "--conditional",
            help="For labels: in complete, known labels change the scores of the others.",
        ),
        LABELS,
    ] = False
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="For sequences: the number of training steps. [by the data]",
        ),
        SEQUENCES,
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="The random seed.")] = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For labels: folds that are fitted at once. [1]"
        ),
        LABELS,
    ] = None

    def model(self, plan: RecordPlan, *, verbose: bool) -> Any:
        """Make the model, not yet fitted.

        Parameters
        ----------
        plan : RecordPlan
        verbose : bool
            Whether to show progress.

        Returns
        -------
        SetPredictor
        """
        return MODELS[plan.task](self, plan, verbose)

    def default_notes(self, plan: RecordPlan) -> list[str]:
        """Say which learner or network is used because none was given."""
        option, name = DEFAULTS[plan.task]
        return [] if getattr(self, option) else [f"{option}: {name} (by default)"]


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
        SEQUENCES,
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="For sequences: continue a fit that was interrupted."),
        SEQUENCES,
    ] = False
    examples: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Keep the inputs of this number of rows in the model, as examples.",
        ),
    ] = 0


def _label_model(options: LearningOptions, plan: RecordPlan, verbose: bool) -> Any:
    from setlearn import SetClassifier
    from setlearn.cli.named_parts import rule_named
    from setlearn.learners import learner_named

    return SetClassifier(
        learner_named(options.learner or DEFAULT_LEARNER),
        rule_named(options.rule),
        conditional=options.conditional,
        n_jobs=options.jobs or 1,
        random_state=options.seed,
        verbose=verbose,
    )


def _sequence_model(options: LearningOptions, plan: RecordPlan, verbose: bool) -> Any:
    from setlearn import SequenceSetGenerator
    from setlearn.cli.named_parts import rule_named
    from setlearn.networks import Training

    return SequenceSetGenerator(
        options.network or DEFAULT_NETWORK,
        rule_named(options.rule),
        tokens=plan.tokens or "char",
        training=Training(max_steps=options.max_steps, verbose=verbose),
        random_state=options.seed,
    )


MODELS: dict[str, Callable[[LearningOptions, RecordPlan, bool], Any]] = {
    "labels": _label_model,
    "sequences": _sequence_model,
}
"""How to make the model for each task."""

DEFAULTS = {"labels": ("learner", DEFAULT_LEARNER), "sequences": ("network", DEFAULT_NETWORK)}
"""The option that names what gives the scores, and what is used if it is not given."""


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
    if len(parts) > 2 or not {"char", "word"}.issuperset(parts):
        raise ParameterError(f"--tokens is char or word, or a pair such as char,word; got {text!r}")
    return parts[0] if len(parts) == 1 else parts
