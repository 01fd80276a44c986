"""Beyond the paper: the library's defaults on the same data and splits, and what each part adds."""

from __future__ import annotations

from setlearn import SequenceSetGenerator
from setlearn.experiments.recipes import SequenceRecipe
from setlearn.experiments.samples import BenchmarkSource, TaskSource
from setlearn.experiments.scorers import MIXTURE, TRANSFORMER
from setlearn.experiments.table import MEAN_F1, System, Table
from setlearn.networks import LSTM, Transformer

__all__ = ["PARTS", "SCENE_DEFAULT", "TASK1_DEFAULT", "TASK2_DEFAULT", "YEAST_DEFAULT"]

MIX, DECODER = "default mixture", "transformer"
LABEL_RULES = ("cut 0.5", "tuned cut", "Margin", "λ-set", "ExpectedF", "ExpectedF, joint")
SEQUENCE_RULES = ("cut 0.5", "ExpectedF")


def _label_table(name: str, about: str, goal: float) -> Table:
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


YEAST_DEFAULT = _label_table("yeast", "The same genes and splits as in the paper's table.", 0.675)
SCENE_DEFAULT = _label_table("scene", "The same images and splits as in the paper's table.", 0.815)

TASK1_DEFAULT = Table(
    name="task1-default",
    title="Task 1, beyond the paper",
    about="The same numbers and splits as in the paper's table.",
    source=TaskSource("leading_digits"),
    metric=MEAN_F1,
    scorers={DECODER: TRANSFORMER},
    systems=(System("SequenceSetGenerator()", DECODER, "cut 0.5", goal=0.995),),
    compared={DECODER: SEQUENCE_RULES},
    yardsticks=(),
    of_sequences=True,
    curve="SequenceSetGenerator()",
    traced="SequenceSetGenerator()",
    has_curve=False,
)

TASK2_DEFAULT = Table(
    name="task2-default",
    title="Task 2, beyond the paper",
    about="The same strings and splits as in the paper's table.",
    source=TaskSource("substrings"),
    metric=MEAN_F1,
    scorers={DECODER: TRANSFORMER},
    systems=(System("SequenceSetGenerator()", DECODER, "cut 0.5", goal=0.95),),
    compared={DECODER: SEQUENCE_RULES},
    yardsticks=("a perfect answer",),
    of_sequences=True,
    curve="SequenceSetGenerator()",
    traced="SequenceSetGenerator()",
    has_curve=False,
)

# One part taken away or exchanged at a time.
_WITHOUT_COPY = SequenceSetGenerator(Transformer(copy=False))
_PAPERS_LOSS = SequenceSetGenerator(Transformer(loss="sequence"))
_LSTM_NODE = SequenceSetGenerator(LSTM(loss="node"))

PARTS = Table(
    name="parts",
    title="Task 2, part by part",
    about=(
        "The default with one part exchanged at a time, on the first splits of Task 2. Each is "
        "trained as the library would: where a rule or early stopping learns from held-out "
        "samples (the paper's loss, the LSTM), a fifth of the training part is held out. The "
        "transformer holds nothing out, so that the last two rules learn from samples that it "
        "has seen."
    ),
    source=TaskSource("substrings"),
    metric=MEAN_F1,
    scorers={
        DECODER: TRANSFORMER,
        "without copy head": SequenceRecipe(_WITHOUT_COPY),
        "with the paper's loss": SequenceRecipe(_PAPERS_LOSS),
        "LSTM, loss a node": SequenceRecipe(_LSTM_NODE),
    },
    systems=(
        System("SequenceSetGenerator()", DECODER, "cut 0.5"),
        System("without copy head", "without copy head", "cut 0.5"),
        System("the paper's loss, SSG", "with the paper's loss", "Margin, log scale"),
        System("the paper's loss, λ-CNN", "with the paper's loss", "λ-CNN"),
        System("LSTM, loss a node", "LSTM, loss a node", "cut 0.5"),
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
