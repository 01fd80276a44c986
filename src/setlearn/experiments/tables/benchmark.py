"""What the paper's two benchmark tables share: everything but the data and the figures."""

from __future__ import annotations

from setlearn.experiments.rules import SIDE_BY_SIDE
from setlearn.experiments.samples import BenchmarkSource
from setlearn.experiments.scorers import LOGISTIC_REGRESSION, SIGMOID
from setlearn.experiments.table import MEAN_F1, System, Table

__all__ = ["benchmark_table"]

NETWORK, LEARNER = "sigmoid network", "logistic regression"


def benchmark_table(
    name: str,
    *,
    about: str,
    multi_label: float,
    ssg_rnn: float,
    ssg_cnn: float,
    shortfall: str = "",
) -> Table:
    """A benchmark under the sigmoid network, whose outputs feed every rule; the paper's figures."""
    return Table(
        name=name,
        title=name.upper(),
        about=about,
        source=BenchmarkSource(name),
        metric=MEAN_F1,
        scorers={NETWORK: SIGMOID, LEARNER: LOGISTIC_REGRESSION},
        systems=(
            System("Multi-label", NETWORK, "cut 0.5", paper=multi_label),
            System("SSG", NETWORK, "Margin"),
            System("SSG, ρ = 0.3", NETWORK, "Margin, ρ = 0.3"),
            System("SSG-RNN", NETWORK, "λ-RNN", paper=ssg_rnn),
            System("SSG-CNN", NETWORK, "λ-CNN", paper=ssg_cnn),
            System("top k", NETWORK, "mean size", is_yardstick=True),
            System("logistic regression", LEARNER, "cut 0.5", is_yardstick=True),
        ),
        compared={NETWORK: SIDE_BY_SIDE},
        yardsticks=("best constant set", "every label"),
        of_sequences=False,
        curve="SSG-CNN",
        traced="SSG",
        shortfall=shortfall,
    )
