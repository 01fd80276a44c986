"""Task 2: the set of the substrings that five pairs of positions cut out of a string."""

from setlearn.experiments.rules import SIDE_BY_SIDE
from setlearn.experiments.samples import TaskSource
from setlearn.experiments.scorers import ENCODER_DECODER
from setlearn.experiments.table import MEAN_EDIT_DISTANCE, System, Table

__all__ = ["TASK2"]

DECODER = "LSTM encoder–decoder"

TASK2 = Table(
    name="task2",
    title="Task 2",
    about="1000 strings of 20 digits; the set of the substrings a[s:e) of their second half.",
    source=TaskSource("substrings"),
    metric=MEAN_EDIT_DISTANCE,
    scorers={DECODER: ENCODER_DECODER},
    systems=(
        System("SSG-S", DECODER, "Margin", paper=8.10),
        System("SSG, log scale", DECODER, "Margin, log scale"),
        System("SSG-RNN", DECODER, "λ-RNN", paper=3.75),
        System("SSG-CNN", DECODER, "λ-CNN", paper=2.00),
    ),
    compared={DECODER: SIDE_BY_SIDE},
    yardsticks=("a perfect answer", "the substring a[3:6]"),
    of_sequences=True,
    curve="SSG-S",
    traced="SSG-S",
    shortfall=(
        "From 700 samples the LSTM as printed does not learn to look positions up, under any "
        "rule: the set F1 shows it. mED is a mean over all pairs, so that even a perfect answer "
        "is far from 0 and the paper's figure is near that of a perfect one."
    ),
)
