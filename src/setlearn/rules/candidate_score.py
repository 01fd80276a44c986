"""How well one of several rules did, and how much the numbers that it learned vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from setlearn.nodes import FloatArray
from setlearn.savable import savable

__all__ = ["CandidateScore"]


@savable()
@dataclass(frozen=True, slots=True, order=True)
class CandidateScore:
    """The score of a rule on choice points that it was not fitted on.

    It compares by ``mean`` and ``error``, and can be unpacked into these two.

    Attributes
    ----------
    mean : float
        The mean of the metric, the higher the better.
    error : float
        Its standard error.
    learned : dict
        For each fraction that the rule learns, such as a cut, its mean and its standard deviation
        over the folds. If these differ much, the number depends on chance.

    Examples
    --------
    >>> score = CandidateScore(0.638, 0.008, {"cut": (0.31, 0.02)})
    >>> print(score)
    0.638 ± 0.008 (cut 0.31 ± 0.02)
    >>> mean, error = score
    """

    mean: float
    error: float
    learned: dict[str, tuple[float, float]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, values: FloatArray, learned: Sequence[Mapping[str, float]] = ()) -> Self:
        """Average the metric of choice points, and what each fold has learned.

        Parameters
        ----------
        values : array of shape (n,)
        learned : sequence of mappings
            One per fold: the numbers by name. What some folds have not learned is left out.

        Returns
        -------
        CandidateScore
        """
        first = learned[0] if learned else {}
        names = [name for name in first if all(name in fold for fold in learned)]
        spreads = {name: _mean_and_spread([fold[name] for fold in learned]) for name in names}
        return cls(float(values.mean()), float(values.std() / np.sqrt(len(values))), spreads)

    def __iter__(self) -> Iterator[float]:
        return iter((self.mean, self.error))

    def __str__(self) -> str:
        score = f"{self.mean:.3f} ± {self.error:.3f}"
        learned = [f"{name} {m:.2g} ± {spread:.1g}" for name, (m, spread) in self.learned.items()]
        return f"{score} ({', '.join(learned)})" if learned else score


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return float(np.mean(values)), float(spread)
