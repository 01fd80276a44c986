"""What a table is: data, scorers, rules, yardsticks, and the figures of the paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from setlearn.errors import ParameterError
from setlearn.estimators.base import SetPredictor
from setlearn.experiments.samples import DataSource
from setlearn.experiments.systems import RULES, YARDSTICKS, System
from setlearn.rules import Rule

__all__ = ["MEAN_EDIT_DISTANCE", "MEAN_F1", "Metric", "Table"]


@dataclass(frozen=True, slots=True)
class Metric:
    """The leading figure of a table.

    Parameters
    ----------
    key : str
        Its name in ``setlearn.metrics.SetReport``.
    symbol : str
        How reports abbreviate it.
    higher_is_better : bool
    """

    key: str
    symbol: str
    higher_is_better: bool

    def reaches(self, value: float, goal: float) -> bool:
        """Whether a value is at least as good as a goal.

        Parameters
        ----------
        value, goal : float

        Returns
        -------
        bool
        """
        return value >= goal if self.higher_is_better else value <= goal


MEAN_F1 = Metric("mean_f1", "mF1", higher_is_better=True)
MEAN_EDIT_DISTANCE = Metric("mean_edit_distance", "mED", higher_is_better=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # tables are compared by identity
class Table:
    """One experiment.

    Parameters
    ----------
    name, title, about : str
        The name on the command line, the title in reports, and a sentence about the data.
    source : DataSource
    metric : Metric
    scorers : mapping of str to SetPredictor
        Predictors that are not yet fitted. Each is fitted once per cell.
    systems : tuple of System
        The rows, each a scorer under a rule.
    compared : mapping of str to tuple of str
        Scorers whose scores are shown under each of these rules.
    yardsticks : tuple of str
        Predictions that need no scorer.
    of_sequences : bool
        Whether elements are sequences, so that edit distances make sense.
    curve : str
        The system whose quality is shown against the number of training samples.
    traced : str
        The system whose predictions are traced.
    rules : mapping of str to Rule
        The rules by their names; the same for all tables of the paper.
    shortfall : str
        What is known about systems that miss the paper's figure.
    has_curve : bool
        Whether the curve is worth its time.
    most_splits : int, optional
        For side tables, which need fewer splits than the others.

    Raises
    ------
    ParameterError
        If the table uses a name that it does not define.
    """

    name: str
    title: str
    about: str
    source: DataSource
    metric: Metric
    scorers: Mapping[str, SetPredictor]
    systems: tuple[System, ...]
    compared: Mapping[str, tuple[str, ...]]
    yardsticks: tuple[str, ...]
    of_sequences: bool
    curve: str
    traced: str
    rules: Mapping[str, Rule] = field(default_factory=lambda: RULES)
    shortfall: str = ""
    has_curve: bool = True
    most_splits: int | None = None

    def __post_init__(self) -> None:
        names = [system.name for system in self.systems]
        for kind, used, defined in (
            ("scorer", [s.scorer for s in self.systems] + list(self.compared), self.scorers),
            ("rule", [rule for _, rule in self.pairs()], self.rules),
            ("yardstick", list(self.yardsticks), YARDSTICKS),
            ("system", [self.curve, self.traced], names),
        ):
            for name in used:
                if name not in defined:
                    raise ParameterError(
                        f"table {self.name} uses the {kind} {name!r}, which it does not define; "
                        f"choose one of {', '.join(defined)}"
                    )

    def system(self, name: str) -> System:
        """The system of that name."""
        return next(system for system in self.systems if system.name == name)

    def only(self, names: Collection[str]) -> Table:
        """The same table with only these of its systems, and the scorers that they need."""
        kept = tuple(system for system in self.systems if system.name in names)
        first = kept[0].name
        return replace(
            self,
            systems=kept,
            scorers={system.scorer: self.scorers[system.scorer] for system in kept},
            compared={},
            curve=self.curve if self.curve in names else first,
            traced=self.traced if self.traced in names else first,
        )

    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of a scorer and a rule that a row or a comparison needs, each once."""
        needed = [(system.scorer, system.rule) for system in self.systems]
        needed += [(scorer, rule) for scorer, rules in self.compared.items() for rule in rules]
        return list(dict.fromkeys(needed))
