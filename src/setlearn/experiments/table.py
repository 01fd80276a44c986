"""What a table is: data, scorers, rules, yardsticks, and the paper's figures beside."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from setlearn.errors import ParameterError
from setlearn.experiments.recipes import Recipe
from setlearn.experiments.rules import RULES
from setlearn.experiments.samples import Source
from setlearn.experiments.yardsticks import YARDSTICKS
from setlearn.rules import Rule

__all__ = ["MEAN_EDIT_DISTANCE", "MEAN_F1", "Metric", "System", "Table"]


@dataclass(frozen=True, slots=True)
class Metric:
    """The figure that leads a table; ``key`` is its name in ``setlearn.metrics.SetReport``."""

    key: str
    symbol: str
    higher_is_better: bool

    def reaches(self, value: float, goal: float) -> bool:
        """Whether a value is at least as good as the goal."""
        return value >= goal if self.higher_is_better else value <= goal


MEAN_F1 = Metric("mean_f1", "mF1", higher_is_better=True)
MEAN_EDIT_DISTANCE = Metric("mean_edit_distance", "mED", higher_is_better=False)


@dataclass(frozen=True, slots=True)
class System:
    """A row of a table: a scorer of the table under a rule; the paper's figure, or our own goal."""

    name: str
    scorer: str
    rule: str
    paper: float | None = None
    goal: float | None = None
    is_yardstick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # a table is itself, as a key
class Table:
    """One experiment.

    Parameters
    ----------
    name, title, about : str
        How the command line calls it, how a report calls it, and what it is in a sentence.
    source : Source
    metric : Metric
    scorers : mapping of Recipe
        What is trained once a cell.
    systems : tuple of System
        The rows, each a scorer under a rule.
    compared : mapping of str to tuple of str
        Scorers whose same scores are shown under each of these rules.
    yardsticks : tuple of str
        Answers that need no scorer.
    rules : mapping of Rule
        What the names of rules mean; the same for all of the paper's tables.
    of_sequences : bool
        Whether elements are sequences, so that edit distances mean something.
    curve : str
        The system whose quality is shown against the number of training samples.
    traced : str
        The system whose answers are traced.
    shortfall : str
        What is known about systems that stay behind the paper's figure.
    has_curve : bool
        Whether the curve is worth its time.
    most_splits : int, optional
        A side table may do with fewer splits than the others.
    """

    name: str
    title: str
    about: str
    source: Source
    metric: Metric
    scorers: Mapping[str, Recipe]
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
        for kind, used, known in (
            ("scorer", [s.scorer for s in self.systems] + list(self.compared), self.scorers),
            ("rule", [rule for _, rule in self.pairs()], self.rules),
            ("yardstick", list(self.yardsticks), YARDSTICKS),
            ("system", [self.curve, self.traced], names),
        ):
            for name in used:
                if name not in known:
                    raise ParameterError(
                        f"table {self.name} names the {kind} {name!r}, which it does not have; "
                        f"choose one of {', '.join(known)}"
                    )

    def system(self, name: str) -> System:
        """The row of that name."""
        return next(system for system in self.systems if system.name == name)

    def only(self, names: Collection[str]) -> Table:
        """The same table with these of its systems alone, and only what they need is trained."""
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
        """Every scorer and rule that some row or comparison asks for, each once."""
        asked = [(system.scorer, system.rule) for system in self.systems]
        asked += [(scorer, rule) for scorer, rules in self.compared.items() for rule in rules]
        return list(dict.fromkeys(asked))
