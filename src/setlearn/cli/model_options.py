"""The options of ``setlearn fit`` that say which model to fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from setlearn.cli.options import flag
from setlearn.cli.part_names import complete_learners, complete_networks, complete_rules

if TYPE_CHECKING:
    from setlearn.records import RecordPlan

__all__ = [
    "CandidateOptions",
    "LabelOptions",
    "LearningOptions",
    "SequenceOptions",
    "TaskOptions",
    "options_for",
]


SIZES = ("width", "layers", "dropout", "members")
"""The options that are settings of a network."""

TRAINING = ("max_steps", "max_seconds", "batch_size", "learning_rate", "device")
"""The options that are settings of `Training`."""


@dataclass(frozen=True)
class LearningOptions:
    """How to fit a model, whatever the elements are."""

    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:SETTINGS]",
            help="The rule that decides which elements to keep: {rules}; with settings as in "
            "threshold:cut=0.4. [what suits the model]",
            autocompletion=complete_rules,
        ),
    ] = None
    warm_start: Annotated[
        Path | None,
        typer.Option(
            "--continue",
            metavar="MODEL",
            help="For sequences: continue the training of this model, with a new schedule.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="The random seed.")] = 0


@dataclass(frozen=True)
class TaskOptions(ABC):
    """Options for one kind of elements; with other elements they are refused."""

    task: ClassVar[str]
    """What the elements are."""

    def check_unused(self, task: str) -> None:
        """Raise a ParameterError if an option was given although the elements are another kind."""
        from setlearn.errors import ParameterError

        for field in fields(self):
            if getattr(self, field.name) != field.default:
                raise ParameterError(
                    f"{flag(field.name)} is for {self.task}, but the elements are {task}; leave it "
                    f"out, or use --task {self.task}"
                )

    @abstractmethod
    def model(self, plan: RecordPlan, learning: LearningOptions, *, verbose: int) -> Any:
        """Make the model, not yet fitted.

        Parameters
        ----------
        plan : RecordPlan
        learning : LearningOptions
        verbose : int
            How to show progress, as in `setlearn.progress.progress`.

        Returns
        -------
        SetPredictor
        """

    @abstractmethod
    def default_notes(self) -> list[str]:
        """Say what gives the scores, if it was not given."""


def options_for(task: str, groups: Sequence[TaskOptions]) -> TaskOptions:
    """Choose the options for a task.

    Parameters
    ----------
    task : str
        What the elements are.
    groups : sequence of TaskOptions
        One for each task.

    Returns
    -------
    TaskOptions

    Raises
    ------
    ParameterError
        If an option for another task was given.
    """
    for group in groups:
        if group.task != task:
            group.check_unused(task)
    return next(group for group in groups if group.task == task)


@dataclass(frozen=True)
class LabelOptions(TaskOptions):
    """How to fit a model of labels."""

    task: ClassVar[str] = "labels"

    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For labels: the learner that scores them: {learners}. [by the data]",
            autocompletion=complete_learners,
        ),
    ] = None
    conditional: Annotated[
        bool,
        typer.Option(
            "--conditional",
            help="For labels: in complete, known labels change the scores of the others.",
        ),
    ] = False
    hierarchy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For labels: a JSON file with the parent of each label that has one, such as "
            '{"poodle": "dog"}. Predicted sets then hold the ancestors of their labels.',
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For labels: folds that are fitted at once. [1]"
        ),
    ] = None

    def model(self, plan: RecordPlan, learning: LearningOptions, *, verbose: int) -> Any:
        """Make a `SetClassifier`."""
        from setlearn import SetClassifier
        from setlearn.cli.named_rules import rule_named
        from setlearn.learners import learner_named

        return SetClassifier(
            None if self.learner is None else learner_named(self.learner),
            rule_named(learning.rule),
            conditional=self.conditional,
            hierarchy=None if self.hierarchy is None else _read_hierarchy(self.hierarchy),
            n_jobs=self.jobs,
            random_state=learning.seed,
            verbose=verbose,
        )

    def default_notes(self) -> list[str]:
        """Say which learner is used, if none was given."""
        return (
            []
            if self.learner
            else ["learner: a mixture, or many-labels if there are very many (by default)"]
        )


def _read_hierarchy(path: Path) -> Any:
    from setlearn.errors import DataError
    from setlearn.strict_json import StrictJsonError, parse_strict_json

    try:
        return parse_strict_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except StrictJsonError as error:
        raise DataError(
            f'{path} is not a JSON file ({error}); write an object such as {{"poodle": "dog"}}'
        ) from error


@dataclass(frozen=True)
class SequenceOptions(TaskOptions):
    """How to fit a model of sequences."""

    task: ClassVar[str] = "sequences"

    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SETTINGS]",
            help="For sequences: the network or other scorer: {networks}; with settings as in "
            "transducer:window=2; repeated for a mixture. [a mixture that suits the data]",
            autocompletion=complete_networks,
        ),
    ] = None
    width: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For sequences: the width of the network's layers."
        ),
    ] = None
    layers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For sequences: the layers of the network's encoder."
        ),
    ] = None
    dropout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="For sequences: the share of values dropped in training."
        ),
    ] = None
    members: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="For sequences: train so many networks, and average their scores.",
        ),
    ] = None
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="For sequences: the number of training steps. [by the data]",
        ),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="For sequences: the seconds after which training ends at the latest.",
        ),
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="For sequences: the rows per training step."),
    ] = None
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="For sequences: the highest learning rate."),
    ] = None
    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For sequences: where to train: auto, cpu, cuda or mps. [auto]"
        ),
    ] = None

    def model(self, plan: RecordPlan, learning: LearningOptions, *, verbose: int) -> Any:
        """Make a `SequenceSetGenerator`."""
        from setlearn import SequenceSetGenerator
        from setlearn.cli.named_networks import check_trained_in_steps, network_with
        from setlearn.cli.named_rules import rule_named
        from setlearn.networks import Training

        training = self._given(*TRAINING)
        network = network_with(self.network or (), self._given(*SIZES))
        if self.network:
            check_trained_in_steps(network, self.network, training)
        return SequenceSetGenerator(
            network,
            rule_named(learning.rule),
            tokens=plan.tokens,
            training=Training(
                **{name: value for name, value in training.items() if value is not None},
                verbose=verbose,
            ),
            random_state=learning.seed,
        )

    def _given(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def default_notes(self) -> list[str]:
        """Say which network is used, if none was given."""
        return [] if self.network else ["network: a mixture that suits the data (by default)"]


@dataclass(frozen=True)
class CandidateOptions(TaskOptions):
    """How to fit a model that chooses from candidates: it has no options of its own."""

    task: ClassVar[str] = "candidates"

    def model(self, plan: RecordPlan, learning: LearningOptions, *, verbose: int) -> Any:
        """Make a `SetSelector`."""
        from setlearn import SetSelector
        from setlearn.cli.named_rules import rule_named

        return SetSelector(
            rule=rule_named(learning.rule), random_state=learning.seed, verbose=verbose
        )

    def default_notes(self) -> list[str]:
        """Say what scores the candidates."""
        return ["learner: gradient boosting on features of query and candidate (by default)"]
