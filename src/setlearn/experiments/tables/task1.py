"""Task 1: the set of the first m digits of a number whose leading digit is m."""

from setlearn.experiments.rules import SIDE_BY_SIDE
from setlearn.experiments.samples import TaskSource
from setlearn.experiments.scorers import (
    ENCODER_DECODER,
    LOGISTIC_REGRESSION_ON_DIGITS,
    SEQUENCE_SIGMOID,
)
from setlearn.experiments.table import MEAN_F1, System, Table

__all__ = ["TASK1"]

SIGMOIDS, DECODER, LEARNER = "LSTM with sigmoids", "LSTM encoder–decoder", "logistic regression"

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
        # Labels as sequences of length 1, as the paper's encoder–decoder sees them.
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
