"""Reads inputs that bring their own candidates: a query with a list, or a matrix, per sample."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setlearn.errors import DataError, KindError
from setlearn.missing_values import is_missing
from setlearn.nodes import BoolArray, FloatArray, IntArray

__all__ = ["CandidateLists", "as_candidate", "read_candidate_lists"]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLists:
    """The candidates of some samples as rows: first all of the first sample, and so on.

    Parameters
    ----------
    first : array of int of shape (n_samples + 1,)
        Where the rows of each sample begin.
    candidates : list
        The different candidates of all samples, or, for matrices, the numbers of rows.
    which : array of int of shape (n_rows,)
        The candidate of each row, as its place in ``candidates``.
    queries : list or None
        One per sample; None for matrices.
    matrix : array of shape (n_rows, features) or None
        The features of matrices.
    """

    first: IntArray
    candidates: list[Hashable]
    which: IntArray
    queries: list[Any] | None = None
    matrix: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def n_rows(self) -> int:
        """The number of candidates of all samples together."""
        return len(self.which)

    @property
    def sizes(self) -> IntArray:
        """The number of candidates of each sample, (n_samples,)."""
        return np.diff(self.first)

    @property
    def sample(self) -> IntArray:
        """The sample of each row, (n_rows,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def place(self) -> IntArray:
        """The place of each row in the list of its sample, (n_rows,)."""
        return np.arange(self.n_rows) - np.repeat(self.first[:-1], self.sizes)

    def of(self, sample: int) -> list[Hashable]:
        """The candidates of one sample, in their order."""
        rows = self.which[self.first[sample] : self.first[sample + 1]]
        return [self.candidates[k] for k in rows]

    def __getitem__(self, samples: slice | IntArray | BoolArray) -> CandidateLists:
        numbers = np.arange(len(self))[samples]
        sizes = self.sizes[numbers]
        first = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.first[numbers] - first[:-1], sizes) + np.arange(first[-1])
        return CandidateLists(
            first,
            self.candidates,
            self.which[rows],
            None if self.queries is None else [self.queries[k] for k in numbers],
            None if self.matrix is None else self.matrix[rows],
        )

    def blocks(self, most: int) -> Iterator[slice]:
        """Consecutive samples whose number times their longest list is at most so large.

        A longer list is a block of its own.

        Parameters
        ----------
        most : int

        Yields
        ------
        slice
            Of samples.
        """
        start, longest = 0, 0
        for sample, size in enumerate(self.sizes.tolist()):
            longest = max(longest, size)
            if sample > start and (sample + 1 - start) * longest > most:
                yield slice(start, sample)
                start, longest = sample, size
        if start < len(self):
            yield slice(start, len(self))

    def mask(
        self, sets: Sequence[Iterable[Hashable]], name: str, *, ignore_others: bool = False
    ) -> tuple[BoolArray, list[Hashable]]:
        """Which rows are in the set of their sample.

        Parameters
        ----------
        sets : sequence of collections
            One per sample.
        name : str
            What the sets are called in messages.
        ignore_others : bool, default=False
            Whether to leave out elements that are not among the candidates of their sample.

        Returns
        -------
        mask : array of bool of shape (n_rows,)
        others : list
            Elements that were left out.

        Raises
        ------
        DataError
            If a set has an element that is not among the candidates of its sample.
        """
        mask, others = np.zeros(self.n_rows, dtype=bool), []
        for sample, elements in enumerate(sets):
            if not elements:
                continue
            place = {candidate: k for k, candidate in enumerate(self.of(sample))}
            for element in elements:
                if element in place:
                    mask[self.first[sample] + place[element]] = True
                elif ignore_others:
                    others.append(element)
                else:
                    raise DataError(
                        f"sample {sample} of {name} holds {element!r:.80}, which is not among the "
                        f"{len(place)} candidates of that sample; add it to them, or leave it out",
                        without_values=f"sample {sample} of {name} holds an element that is not "
                        "among the candidates of that sample",
                    )
        return mask, others

    def sets(self, mask: BoolArray) -> list[frozenset[Any]]:
        """The set of each sample, from a mask of rows."""
        kept: list[list[Hashable]] = [[] for _ in range(len(self))]
        rows = np.flatnonzero(mask)
        for sample, which in zip(self.sample[rows], self.which[rows], strict=True):
            kept[sample].append(self.candidates[which])
        return [frozenset(elements) for elements in kept]


def read_candidate_lists(X: Any, *, as_matrices: bool | None = None) -> CandidateLists:
    """Read samples with their candidates.

    Parameters
    ----------
    X : iterable
        Of pairs ``(query, candidates)``, or of matrices with one row per candidate. A DataFrame
        has a column of queries and then one of lists.
    as_matrices : bool, optional
        What the samples must be; by default that of the first sample decides.

    Returns
    -------
    CandidateLists
        A candidate that a sample lists twice is there once.

    Raises
    ------
    DataError, KindError

    Examples
    --------
    >>> lists = read_candidate_lists([("a", ["b", "c", "b"]), ("d", [])])
    >>> lists.sizes, lists.of(0)
    (array([2, 0]), ['b', 'c'])
    """
    samples = _samples(X)
    if as_matrices is None:
        as_matrices = _is_matrix(samples[0])
    for number, sample in enumerate(samples):
        if _is_matrix(sample) != as_matrices:
            wanted = "a matrix with one row per candidate" if as_matrices else _PAIR
            raise KindError(
                f"sample {number} of X is {_short(sample)}, unlike other samples or those of "
                f"training; pass {wanted} for every sample"
            )
    return _read_matrices(samples) if as_matrices else _read_pairs(samples)


_PAIR = "a pair (query, candidates)"


def _samples(X: Any) -> list[Any]:
    """One object per sample."""
    table: Any = X
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise KindError(
            f"X is the single value {_short(X)}; pass a list with {_PAIR} or a matrix per sample"
        )
    if hasattr(X, "columns"):
        if len(table.columns) != 2:
            raise DataError(
                f"X has {len(table.columns)} columns; pass a table with a column of queries and a "
                "column of lists of candidates, in this order"
            )
        first, second = table.columns
        samples = list(zip(table[first], table[second], strict=True))
    else:
        samples = list(X)
    if not samples:
        raise DataError("X holds 0 samples; pass at least one")
    return samples


def _is_matrix(sample: Any) -> bool:
    """Whether a sample is a table of features rather than a pair."""
    return getattr(sample, "ndim", 0) == 2 or hasattr(sample, "columns")


def _read_pairs(samples: Sequence[Any]) -> CandidateLists:
    numbers: dict[Hashable, int] = {}
    which: list[int] = []
    first, queries = [0], []
    for sample, pair in enumerate(samples):
        query, candidates = _pair(sample, pair)
        different = dict.fromkeys(_hashable(candidate, sample) for candidate in candidates)
        which += [numbers.setdefault(candidate, len(numbers)) for candidate in different]
        first.append(len(which))
        queries.append(query)
    return CandidateLists(np.array(first), list(numbers), np.array(which, dtype=np.intp), queries)


def _pair(sample: int, pair: Any) -> tuple[Any, list[Any]]:
    if isinstance(pair, str | bytes | Mapping) or not isinstance(pair, Sequence | np.ndarray):
        raise KindError(f"sample {sample} of X is {_short(pair)}; pass {_PAIR}")
    if len(pair) != 2:
        raise DataError(
            f"sample {sample} of X has {len(pair)} parts; pass {_PAIR}, or a NumPy matrix"
        )
    query, candidates = pair
    if query is None or is_missing(query):
        raise DataError(
            f"sample {sample} of X has an empty query, or none; pass one, or leave the sample out"
        )
    if hasattr(candidates, "to_list"):  # a column of a table within a table
        candidates = candidates.to_list()
    if isinstance(candidates, str | bytes | Mapping) or not isinstance(candidates, Iterable):
        raise KindError(
            f"sample {sample} of X has {_short(candidates)} for its candidates; pass a list of them"
        )
    return query, list(candidates)


def as_candidate(value: Any) -> Any:
    """A candidate as an element of a set: lists of tokens are tuples, NumPy's values plain ones."""
    if isinstance(value, np.generic):  # which is written differently, though it is equal
        return value.item()
    return tuple(value) if isinstance(value, list | np.ndarray) else value


def _hashable(candidate: Any, sample: int) -> Hashable:
    candidate = as_candidate(candidate)
    if candidate is None or is_missing(candidate):
        raise DataError(f"sample {sample} of X has an empty or missing candidate; leave it out")
    try:
        hash(candidate)
    except TypeError:
        raise KindError(
            f"sample {sample} of X has the candidate {_short(candidate)}, which cannot be an "
            "element of a set; pass texts, numbers, lists of tokens or other hashable objects"
        ) from None
    hashable: Hashable = candidate
    return hashable


def _read_matrices(samples: Sequence[Any]) -> CandidateLists:
    matrices = [_numbers(number, sample) for number, sample in enumerate(samples)]
    width = matrices[0].shape[1]
    for number, matrix in enumerate(matrices):
        if matrix.shape[1] != width:
            raise DataError(
                f"sample {number} of X has {matrix.shape[1]} features per candidate, but sample 0 "
                f"has {width}; pass the same features for every sample"
            )
    sizes = [len(matrix) for matrix in matrices]
    first = np.concatenate([[0], np.cumsum(sizes)])
    which = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    candidates: list[Hashable] = list(range(max(sizes, default=0)))
    return CandidateLists(first, candidates, which, matrix=np.concatenate(matrices))


def _numbers(number: int, sample: Any) -> FloatArray:
    try:
        matrix = np.asarray(sample, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"sample {number} of X is no matrix of numbers ({error}); pass one row of numbers per "
            "candidate"
        ) from error
    if np.isinf(matrix).any():
        raise DataError(
            f"sample {number} of X holds infinity; pass finite numbers, or nan for missing ones"
        )
    return matrix


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}..."
