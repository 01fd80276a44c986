"""The paper's two tasks.

Task 1 asks for the set of the first m digits of a number whose leading digit is m. Task 2 asks
for the set of the substrings that five pairs of positions cut out of a string.
"""

from __future__ import annotations

from setlearn.experiments.samples import TaskSource
from setlearn.experiments.systems import (
    ENCODER_DECODER,
    LOGISTIC_REGRESSION_ON_DIGITS,
    SEQUENCE_SIGMOID,
    SIDE_BY_SIDE,
    TRANSFORMER_WITH_PAPERS_LOSS,
    System,
)
from setlearn.experiments.table import MEAN_EDIT_DISTANCE, MEAN_F1, Table

__all__ = ["DECODER", "LEARNER", "SIGMOIDS", "TASK1", "TASK2", "TRANSFORMER"]

SIGMOIDS, DECODER, LEARNER = "LSTM with sigmoids", "LSTM encoder–decoder", "logistic regression"
TRANSFORMER = "transformer, loss of the paper"

TASK1 = Table(
    name="task1",
    title="Task 1",
    about="1000 numbers of 10 digits; the set of the m leading digits, where m is the first.",
    source=TaskSource("leading_digits"),
    metric=MEAN_F1,
    scorers={
        SIGMOIDS: SEQUENCE_SIGMOID,
        DECODER: ENCODER_DECODER,
        LEARNER: LOGISTIC_REGRESSION_ON_DIGITS,
    },
    systems=(
        System("Multi-label", SIGMOIDS, "cut 0.5", paper=0.64),
        System("SSG", SIGMOIDS, "Margin"),
        System("SSG, ρ = 0.3", SIGMOIDS, "Margin, ρ = 0.3"),
        # The paper's encoder–decoder treats labels as sequences of length 1.
        System("SSG-S", DECODER, "Margin", paper=0.19),
        System("SSG-RNN", DECODER, "λ-RNN", paper=0.42),
        System("SSG-CNN", DECODER, "λ-CNN", paper=0.70),
        System("top k", SIGMOIDS, "mean size", is_yardstick=True),
        System("logistic regression", LEARNER, "cut 0.5", is_yardstick=True),
    ),
    compared={SIGMOIDS: SIDE_BY_SIDE, DECODER: SIDE_BY_SIDE},
    yardsticks=("best constant set", "every label", "all digits of the input"),
    of_sequences=True,
    curve="SSG-CNN",
    traced="SSG-S",
)

TASK2 = Table(
    name="task2",
    title="Task 2",
    about="1000 strings of 20 digits; the set of the substrings a[s:e) of their second half.",
    source=TaskSource("substrings"),
    metric=MEAN_EDIT_DISTANCE,
    scorers={DECODER: ENCODER_DECODER, TRANSFORMER: TRANSFORMER_WITH_PAPERS_LOSS},
    systems=(
        System("SSG-S", DECODER, "Margin", paper=8.10),
        System("SSG, log scale", DECODER, "Margin, log scale"),
        System("SSG-RNN", DECODER, "λ-RNN", paper=3.75),
        System("SSG-CNN", DECODER, "λ-CNN", paper=2.00),
        System("SSG-CNN on a network that learns the task", TRANSFORMER, "λ-CNN"),
    ),
    compared={DECODER: SIDE_BY_SIDE},
    yardsticks=("a perfect answer", "the substring a[3:6]"),
    of_sequences=True,
    curve="SSG-S",
    traced="SSG-S",
    shortfall=(
        "With 700 samples the paper's LSTM does not learn to look up positions, under any rule; "
        "the set F1 shows this. The last row has the same loss and rule on a transformer, which "
        "does learn it. mED is a mean over all pairs, so even a perfect answer is far from 0, and "
        "the paper's figure is close to that of a perfect answer."
    ),
)
