"""The library's defaults on the paper's data and splits, and what each part adds."""

from __future__ import annotations

from setlearn import SequenceSetGenerator
from setlearn.experiments.samples import BenchmarkSource, TaskSource
from setlearn.experiments.systems import (
    GENERATOR,
    MIXTURE,
    QUIET,
    TRANSFORMER,
    TRANSFORMER_WITH_PAPERS_LOSS,
    System,
)
from setlearn.experiments.table import MEAN_F1, Table
from setlearn.networks import LSTM, Transformer

__all__ = ["PARTS", "SCENE_DEFAULT", "TASK1_DEFAULT", "TASK2_DEFAULT", "YEAST_DEFAULT"]

MIX, DEFAULT, DECODER = "default mixture", "default mixture of sequences", "transformer"
LABEL_RULES = ("cut 0.5", "tuned cut", "Margin", "λ-set", "ExpectedF", "ExpectedF, joint")
SEQUENCE_RULES = ("auto, on sequences", "cut 0.5", "ExpectedF")


def _label_table(name: str, *, about: str, goal: float) -> Table:
    return Table(
        name=f"{name}-default",
        title=f"{name.upper()}, beyond the paper",
        about=about,
        source=BenchmarkSource(name),
        metric=MEAN_F1,
        scorers={MIX: MIXTURE},
        systems=(
            System("SetClassifier()", MIX, "auto", goal=goal),
            System("mixture, cut 0.5", MIX, "cut 0.5"),
            System("mixture, ExpectedF", MIX, "ExpectedF"),
            System("mixture, ExpectedF, joint", MIX, "ExpectedF, joint"),
            System("mixture, λ-set", MIX, "λ-set"),
        ),
        compared={MIX: LABEL_RULES},
        yardsticks=(),
        of_sequences=False,
        curve="SetClassifier()",
        traced="mixture, ExpectedF",
    )


def _task_table(
    task: int, source: TaskSource, *, about: str, goal: float, yardsticks: tuple[str, ...] = ()
) -> Table:
    return Table(
        name=f"task{task}-default",
        title=f"Task {task}, beyond the paper",
        about=about,
        source=source,
        metric=MEAN_F1,
        scorers={DEFAULT: GENERATOR},
        systems=(
            System("SequenceSetGenerator()", DEFAULT, "auto, on sequences", goal=goal),
            System("the same, cut 0.5", DEFAULT, "cut 0.5"),
        ),
        compared={DEFAULT: SEQUENCE_RULES},
        yardsticks=yardsticks,
        of_sequences=True,
        curve="SequenceSetGenerator()",
        traced="SequenceSetGenerator()",
        has_curve=False,
    )


YEAST_DEFAULT = _label_table(
    "yeast", about="The same genes and splits as in the paper's table.", goal=0.675
)
SCENE_DEFAULT = _label_table(
    "scene", about="The same photos and splits as in the paper's table.", goal=0.815
)
TASK1_DEFAULT = _task_table(
    1,
    TaskSource("leading_digits"),
    about="The same numbers and splits as in the paper's table.",
    goal=0.995,
)
TASK2_DEFAULT = _task_table(
    2,
    TaskSource("substrings"),
    about="The same strings and splits as in the paper's table.",
    goal=0.95,
    yardsticks=("a perfect answer",),
)

PARTS = Table(
    name="parts",
    title="Task 2, part by part",
    about=(
        "The default with one part exchanged at a time, on the first splits of Task 2. Each "
        "system is trained as the library does by default. Some training samples are held out to "
        "fit a rule, to weigh the parts of a mixture, or to stop early (the LSTM)."
    ),
    source=TaskSource("substrings"),
    metric=MEAN_F1,
    scorers={
        DEFAULT: GENERATOR,
        DECODER: TRANSFORMER,
        "without copy head": SequenceSetGenerator(Transformer(copy=False), training=QUIET),
        "with the paper's loss": TRANSFORMER_WITH_PAPERS_LOSS,
        "LSTM, per-node loss": SequenceSetGenerator(LSTM(loss="node"), training=QUIET),
    },
    systems=(
        System("SequenceSetGenerator()", DEFAULT, "auto, on sequences"),
        System("transformer alone", DECODER, "auto, on sequences"),
        System("without copy head", "without copy head", "auto, on sequences"),
        System("the paper's loss, SSG", "with the paper's loss", "Margin, log scale"),
        System("the paper's loss, λ-CNN", "with the paper's loss", "λ-CNN"),
        System("LSTM, per-node loss", "LSTM, per-node loss", "auto, on sequences"),
        System("rule: ExpectedF", DECODER, "ExpectedF"),
        System("rule: Margin, log scale", DECODER, "Margin, log scale"),
        System("rule: λ-set", DECODER, "λ-set"),
    ),
    compared={},
    yardsticks=("a perfect answer",),
    of_sequences=True,
    curve="SequenceSetGenerator()",
    traced="SequenceSetGenerator()",
    has_curve=False,
    most_splits=3,
)
