"""Choice points: the one value that scorers pass to rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import DataError
from setlearn.sparse_entries import entries_in, sparse_mask, with_entries

__all__ = [
    "BoolArray",
    "ExampleSets",
    "Examples",
    "FloatArray",
    "IntArray",
    "Mask",
    "Nodes",
    "Step",
    "best_of_each_sample",
    "check_positive",
    "dense_mask",
    "joined_nodes",
    "log_odds",
    "members",
]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Mask: TypeAlias = BoolArray | sparse.csr_array
"""Which choices are right, (n, V): dense, or sparse where the vocabulary is large."""

CHUNK_ENTRIES = 4_000_000
"""Scores processed together by code that copies them: about 32 MB per temporary array."""

FOLDS = 3

LARGEST_LOGIT = 12.0
"""The bound on log-odds: odds of e^12, about 160,000, to one. A learner that is certain, and
wrong, must not rule out everything that is right."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Whole sets that were seen in training, weighted for each choice point.

    Marginals are the probabilities of single choices. Examples define a joint distribution:
    they also say which choices occur together.
    """

    sets: sparse.csr_array  # (m, V) bool
    weights: sparse.csr_array  # (n, m), not negative; a row of zeros carries no information

    def __getitem__(self, rows: slice | IntArray | BoolArray) -> Examples:
        return Examples(self.sets, self.weights[rows])


ExampleSets: TypeAlias = Mapping[frozenset[tuple[int, ...]], float]
"""Whole sets of sequences that one sample might have, with weights."""


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """A batch of choice points: for each, a probability of every possible next choice.

    Labels have one choice point per sample, the root, at depth 0. Sequences have one per prefix.

    Parameters
    ----------
    sample : array of shape (n,)
        The input that each choice point belongs to.
    depth : array of shape (n,)
        The number of choices above it; 0 for labels.
    probabilities : array of shape (n, V)
        The scorer's probability of each choice.
    known : mask of shape (n, V), optional
        Choices that are in the memory Z from the start: "given these, what else?".
    prefix_probability : array of shape (n,), optional
        The probability of the prefix that leads to each choice point, where ``probabilities`` do
        not include it already. Roots need none.
    examples : Examples, optional
        Training sets with weights, from scorers that know which ones are similar.
    available : mask of shape (n, V), optional
        Which columns are choices of each point. By default all are. If the number of choices
        differs from point to point, rows are padded: padding is not available, has probability 0
        and is never known. Rules treat it as if it were not there.
    nothing : int, optional
        The column of the choice that stands for the empty set, if there is one. To most rules it
        is a choice like any other, but a rule that counts elements must not count it.
    choices : array of int of shape (n, V), optional
        The choice that each column stands for, where points list their own choices out of very
        many. By default column j stands for choice j at all points. Rules need not look at it.

    Raises
    ------
    DataError
        If the shapes do not agree, or padding is known or has a probability above 0.

    Examples
    --------
    >>> import numpy as np
    >>> nodes = Nodes.roots(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]))
    >>> len(nodes), nodes.n_choices
    (2, 3)

    The second point has two choices only:

    >>> scores = np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0]])
    >>> nodes = Nodes.roots(scores, available=scores > 0)
    >>> nodes.masked(scores, -1.0)
    array([[ 0.5,  0.3,  0.2],
           [ 0.1,  0.9, -1. ]])
    """

    sample: IntArray
    depth: IntArray
    probabilities: FloatArray
    known: BoolArray | None = None
    prefix_probability: FloatArray | None = None
    examples: Examples | None = None
    available: BoolArray | None = None
    nothing: int | None = None
    choices: IntArray | None = None

    def __post_init__(self) -> None:
        if self.probabilities.ndim != 2:
            raise DataError(
                f"probabilities must be a matrix (choice points, choices), got "
                f"{self.probabilities.ndim} dimension(s); reshape a single row with p[None, :]"
            )
        n = len(self.probabilities)
        if self.sample.shape != (n,) or self.depth.shape != (n,):
            raise DataError(
                f"{n} rows of probabilities need {n} samples and depths, "
                f"got {self.sample.shape} and {self.depth.shape}"
            )
        for name in ("known", "available", "choices"):
            array = getattr(self, name)
            if array is not None and array.shape != self.probabilities.shape:
                raise DataError(
                    f"{name} has shape {array.shape} but the probabilities have "
                    f"{self.probabilities.shape}; pass one entry per choice"
                )
        if self.available is not None:
            self._check_padding(~self.available)

    def _check_padding(self, padding: BoolArray) -> None:
        if self.probabilities[padding].any():
            raise DataError(
                "some choices that are not available have a probability above 0; "
                "set the probabilities of padding to 0"
            )
        if self.known is not None and (self.known & padding).any():
            raise DataError(
                "some known choices are not available; mark as known only choices of that point"
            )

    @classmethod
    def roots(
        cls,
        probabilities: FloatArray,
        known: BoolArray | None = None,
        available: BoolArray | None = None,
    ) -> Self:
        """Make one choice point per sample, at depth 0: the label case.

        Parameters
        ----------
        probabilities : array of shape (n, V)
        known : mask of shape (n, V), optional
        available : mask of shape (n, V), optional

        Returns
        -------
        Nodes
        """
        n = len(probabilities)
        depth = np.zeros(n, dtype=np.intp)
        return cls(np.arange(n), depth, probabilities, known, available=available)

    @classmethod
    def listed(cls, scores: sparse.csr_array, known: sparse.csr_array | None = None) -> Self:
        """Make one choice point per sample with the choices that are listed for it.

        Nothing of the size of ``scores`` as a dense array is made.

        Parameters
        ----------
        scores : csr_array of shape (n, all choices)
            The probabilities of the choices that are listed; an entry may be 0.
        known : csr_array of bool of shape (n, all choices), optional
            Known choices. They are listed too.

        Returns
        -------
        Nodes

        Examples
        --------
        >>> scores = sparse.csr_array(([0.5, 0.2, 0.9], [3, 8, 5], [0, 2, 3]), shape=(2, 1000))
        >>> nodes = Nodes.listed(scores)
        >>> nodes.choices
        array([[ 3,  8],
               [ 5, -1]])
        >>> nodes.probabilities
        array([[0.5, 0.2],
               [0.9, 0. ]])
        """
        marked = None
        if known is not None:
            scores = with_entries(scores, known)
            marked = entries_in(scores, known)
        sizes = np.diff(scores.indptr)
        width = max(1, int(sizes.max(initial=0)))
        available = np.arange(width) < sizes[:, None]
        choices = np.full(available.shape, -1, dtype=np.int64)
        probabilities = np.zeros(available.shape)
        choices[available], probabilities[available] = scores.indices, scores.data
        mask = None
        if marked is not None:
            mask = np.zeros(available.shape, dtype=bool)
            mask[available] = marked
        return replace(cls.roots(probabilities, mask, available), choices=choices)

    def with_right(self, right: sparse.csr_array) -> tuple[Nodes, BoolArray]:
        """Add columns for right choices that are not listed, and mark all right ones.

        The new columns are not available, so that no rule keeps them, but figures count them.

        Parameters
        ----------
        right : csr_array of bool of shape (n, all choices)

        Returns
        -------
        nodes : Nodes
            Roots without known choices.
        mask : array of bool of shape (n, V)
            The right choices.
        """
        listed = self.as_matrix(right.shape[1])
        nodes = Nodes.listed(with_entries(listed, right))
        of_rules = replace(nodes, sample=self.sample, available=nodes.mask_of(listed))
        return of_rules, nodes.mask_of(right)

    def as_matrix(self, n_choices: int) -> sparse.csr_array:
        """The probabilities of listed choices as a matrix of all choices.

        Parameters
        ----------
        n_choices : int
            The number of all choices.

        Returns
        -------
        csr_array of shape (n, n_choices)
            Its entries are the listed choices, also those with probability 0.
        """
        assert self.choices is not None
        assert self.available is not None
        bounds = np.concatenate([[0], np.cumsum(self.available.sum(axis=1))])
        entries = (self.probabilities[self.available], self.choices[self.available], bounds)
        return sparse.csr_array(entries, shape=(len(self), n_choices))

    def mask_of(self, sets: sparse.csr_array) -> BoolArray:
        """Mark choices, whether points list their own choices or not.

        Parameters
        ----------
        sets : csr_array of shape (n, all choices)
            Whose entries to mark. Those that are not listed are left out.

        Returns
        -------
        array of bool of shape (n, V)
        """
        mask: BoolArray = np.zeros(self.probabilities.shape, dtype=bool)
        if self.choices is None:
            mask[:] = sets.toarray()
        else:
            mask[self.available] = entries_in(self.as_matrix(sets.shape[1]), sets)
        return mask

    def scores_of(self, sets: sparse.csr_array) -> FloatArray:
        """The probability of each entry of some sets, row by row.

        Parameters
        ----------
        sets : csr_array of shape (n, all choices)

        Returns
        -------
        array of shape (entries,)
            0 for choices that are not listed.
        """
        if self.choices is None:
            row = np.repeat(np.arange(len(self)), np.diff(sets.indptr))
            scores: FloatArray = self.probabilities[row, sets.indices]
            return scores
        matrix = with_entries(self.as_matrix(sets.shape[1]), sets)
        of_sets: FloatArray = matrix.data[entries_in(matrix, sets)]
        return of_sets

    def marked(self, mask: BoolArray, n_choices: int) -> sparse.csr_array:
        """The choices that a mask marks, whether points list their own choices or not.

        Parameters
        ----------
        mask : array of bool of shape (n, V)
        n_choices : int
            The number of all choices.

        Returns
        -------
        csr_array of bool, shape (n, n_choices)
        """
        if self.choices is None:
            return sparse_mask(mask)
        bounds = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        indices = self.choices[mask]
        entries = (np.ones(len(indices), dtype=bool), indices, bounds)
        return sparse.csr_array(entries, shape=(len(self), n_choices))

    @property
    def n_choices(self) -> int:
        """The number of columns: how many choices each point has, padding included."""
        return int(self.probabilities.shape[1])

    @property
    def n_available(self) -> IntArray:
        """The number of choices that each point really has, (n,)."""
        if self.available is None:
            return np.full(len(self), self.n_choices)
        counts: IntArray = self.available.sum(axis=1)
        return counts

    @property
    def has_padding(self) -> bool:
        """Whether some columns of some choice points are not available."""
        return self.available is not None and not bool(self.available.all())

    @property
    def membership(self) -> FloatArray:
        """The probability of each choice together with its prefix, (n, V); falls with depth."""
        if self.prefix_probability is None:
            return self.probabilities
        product: FloatArray = self.prefix_probability[:, None] * self.probabilities
        return product

    def membership_of(self, row: IntArray, choice: IntArray) -> FloatArray:
        """The membership of some choices only.

        Parameters
        ----------
        row, choice : int arrays of shape (m,)

        Returns
        -------
        array of shape (m,)
        """
        scores: FloatArray = self.probabilities[row, choice]
        return scores if self.prefix_probability is None else self.prefix_probability[row] * scores

    def masked(self, scores: FloatArray, value: float = -np.inf) -> FloatArray:
        """Replace the scores of padding.

        Parameters
        ----------
        scores : array of shape (n, V)
        value : float
            What padding gets.

        Returns
        -------
        array of shape (n, V)
            ``scores`` itself if there is no padding.
        """
        return scores if self.available is None else np.where(self.available, scores, value)

    def known_mask(self) -> BoolArray:
        """The mask of known choices (n, V), also where none are given; a copy."""
        if self.known is None:
            return np.zeros(self.probabilities.shape, dtype=bool)
        return self.known.copy()

    def completed(self, mask: BoolArray) -> BoolArray:
        """Complete a rule's answer, in place: known choices are in it, padding is not."""
        if self.known is not None:
            mask |= self.known
        if self.available is not None:
            mask &= self.available
        return mask

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: slice | IntArray | BoolArray) -> Nodes:
        if isinstance(rows, slice) and rows.indices(len(self)) == (0, len(self), 1):
            return self  # selecting rows of sparse examples takes time
        return Nodes(
            self.sample[rows],
            self.depth[rows],
            self.probabilities[rows],
            None if self.known is None else self.known[rows],
            None if self.prefix_probability is None else self.prefix_probability[rows],
            None if self.examples is None else self.examples[rows],
            None if self.available is None else self.available[rows],
            self.nothing,
            None if self.choices is None else self.choices[rows],
        )

    def row_chunks(self) -> Iterator[slice]:
        """Slices of rows small enough that a few copies of their scores fit into memory."""
        size = max(1, CHUNK_ENTRIES // max(1, self.n_choices))
        for start in range(0, len(self), size):
            yield slice(start, min(start + size, len(self)))

    def folds(self, rng: np.random.RandomState) -> list[tuple[IntArray, IntArray]]:
        """Split the choice points three times into those to fit on and those to test on.

        The choice points of one sample stay together. A single sample is in both parts.

        Examples
        --------
        >>> nodes = Nodes(np.array([7, 7, 8, 9]), np.zeros(4, int), np.ones((4, 1)))
        >>> for train, test in nodes.folds(np.random.RandomState(0)):
        ...     print(nodes.sample[train], nodes.sample[test])
        [7 7 8] [9]
        [7 7 9] [8]
        [8 9] [7 7]
        """
        samples, which = np.unique(self.sample, return_inverse=True)
        rows = np.arange(len(self))
        if len(samples) < 2:
            return [(rows, rows)]
        # Not scikit-learn's KFold: importing it takes longer than everything else here.
        fold = np.empty(len(samples), dtype=np.intp)
        fold[rng.permutation(len(samples))] = np.arange(len(samples)) % FOLDS
        held_out = [fold[which] == k for k in range(min(FOLDS, len(samples)))]
        return [(rows[~held], rows[held]) for held in held_out]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a scorer returns: scored choice points, and the states to continue from.

    A scorer that searches by itself says with its first step for which samples it was cut off at
    a limit. One that knows whole sets gives those of each sample with it, if it is asked to.
    """

    nodes: Nodes
    state: Any = None
    truncated: BoolArray | None = None  # (n_samples,)
    example_sets: Sequence[ExampleSets] | None = None


def joined_nodes(parts: list[Nodes]) -> Nodes:
    """Batches of nodes as one, padded where they have different numbers of columns."""
    width = max(part.n_choices for part in parts)
    parts = [part if part.n_choices == width else _padded(part, width) for part in parts]
    ways = [(part.prefix_probability, np.ones(len(part))) for part in parts]
    available = [(part.available, np.ones(part.probabilities.shape, bool)) for part in parts]
    choices = [(part.choices, np.zeros(part.probabilities.shape, int)) for part in parts]
    return Nodes(
        np.concatenate([part.sample for part in parts]),
        np.concatenate([part.depth for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        prefix_probability=_joined_if_any(ways),
        available=_joined_if_any(available),
        choices=_joined_if_any(choices),
    )


def _padded(nodes: Nodes, width: int) -> Nodes:
    """Nodes without known choices, with more columns that are not available."""
    more = ((0, 0), (0, width - nodes.n_choices))
    available = np.ones(nodes.probabilities.shape, dtype=bool)
    return replace(
        nodes,
        probabilities=np.pad(nodes.probabilities, more),
        available=np.pad(available if nodes.available is None else nodes.available, more),
        choices=None if nodes.choices is None else np.pad(nodes.choices, more, constant_values=-1),
    )


def _joined_if_any(pairs: list[tuple[Any, Any]]) -> Any:
    """Arrays as one, each replaced by its default if it is None; None if all are."""
    if all(array is None for array, _ in pairs):
        return None
    return np.concatenate([default if array is None else array for array, default in pairs])


def check_positive(nodes: Nodes, positive: Mask) -> None:
    """Raise unless there is something to learn from and the two arguments agree.

    Parameters
    ----------
    nodes : Nodes
    positive : mask of shape (n, V)

    Raises
    ------
    DataError
        If there are no choice points, the shapes differ, or padding is marked as right where points
        do not list their own choices.
    """
    if len(nodes) == 0:
        raise DataError("there are no choice points to learn from; pass at least one sample")
    if positive.shape != nodes.probabilities.shape:
        raise DataError(
            f"positive has shape {positive.shape} but the probabilities have "
            f"{nodes.probabilities.shape}; pass one entry per choice"
        )
    if nodes.available is None or nodes.choices is not None:
        return  # right choices that are not listed count as missed
    if not nodes.available[positive.nonzero()].all():
        raise DataError(
            "some right choices are not available; mark as right only choices of that point"
        )


def dense_mask(positive: Mask, rows: slice) -> BoolArray:
    """The given rows of a mask as a dense array.

    Parameters
    ----------
    positive : mask of shape (n, V), dense or sparse
    rows : slice

    Returns
    -------
    bool array
    """
    part = positive[rows]
    if sparse.issparse(part):
        part = part.toarray()
    return np.asarray(part, dtype=bool)


def log_odds(probabilities: FloatArray) -> FloatArray:
    """Turn probabilities into logits, clipped to ±12.

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([0.0, 0.5, 1.0]))
    array([-12.,   0.,  12.])
    """
    p = probabilities.astype(np.float64)
    with np.errstate(divide="ignore"):
        logits: FloatArray = np.log(p) - np.log1p(-p)
    return np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT)


def members(sets: sparse.csr_array, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """List the choices of some of the sets; for a few, much faster than ``sets[numbers]``.

    Parameters
    ----------
    sets : sparse array of shape (m, V)
    numbers : array of int of shape (n,)
        The rows of ``sets`` to list, in any order.

    Returns
    -------
    owner : array of int
        Which of the n sets each choice is in.
    choice : array of int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> owner, choice = members(sparse.csr_array(np.eye(3, k=1) + np.eye(3)), np.array([2, 0]))
    >>> owner.tolist(), choice.tolist()
    ([0, 1, 1], [2, 0, 1])
    """
    size = np.diff(sets.indptr)[numbers]
    owner = np.repeat(np.arange(len(numbers)), size)
    before = np.cumsum(size) - size
    place = np.arange(len(owner)) + (sets.indptr[numbers] - before)[owner]
    return owner, sets.indices[place]


def best_of_each_sample(sample: IntArray, score: FloatArray, count: IntArray | int) -> BoolArray:
    """Select the entries with the best scores of each sample; ties go to the earlier entry.

    Parameters
    ----------
    sample : int array of shape (m,)
        The sample that each entry belongs to, from 0 up.
    score : array of shape (m,)
    count : int, or int array of shape (n_samples,)
        How many entries of each sample to select.

    Returns
    -------
    bool array of shape (m,)

    Examples
    --------
    >>> best_of_each_sample(np.array([0, 1, 0, 0]), np.array([0.1, 0.2, 0.5, 0.3]), 2)
    array([False,  True,  True,  True])
    """
    order = np.lexsort((-score, sample))
    sizes = np.bincount(sample)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    selected = np.empty(len(order), dtype=bool)
    selected[order] = rank < (count if np.ndim(count) == 0 else np.asarray(count)[sample[order]])
    return selected
