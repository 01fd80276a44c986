"""Rows that cannot be used: an error, or left out and counted."""

from setlearn.errors import DataError

__all__ = ["BadRows"]

N_SHOWN = 10
"""So many are remembered in words; the others are only counted."""


class BadRows:
    """Takes what readers find wrong with single rows.

    Parameters
    ----------
    skip : bool
        Whether to count such rows rather than to raise an error.

    Attributes
    ----------
    n : int
        How many there were so far.
    first : list of str
        The first few, each with its place.
    """

    def __init__(self, *, skip: bool) -> None:
        self.skip = skip
        self.n = 0
        self.first: list[str] = []

    def add(self, place: str, problem: str) -> None:
        """Count one row, or raise the error it deserves."""
        told = f"{place}: {problem}"
        if not self.skip:
            raise DataError(f"{told}; correct it, or leave such rows out with --skip-bad")
        self.count(told)

    def count(self, told: str) -> None:
        """Count one row that was found bad elsewhere."""
        self.n += 1
        if len(self.first) < N_SHOWN:
            self.first.append(told)
