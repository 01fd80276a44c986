"""Where the features of pairs come from: texts, or matrices that users pass or compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from setlearn.candidate_lists import CandidateLists
from setlearn.errors import DataError, KindError
from setlearn.nodes import BoolArray, FloatArray, IntArray
from setlearn.pairs.experience import Experience
from setlearn.pairs.text_pairs import ReadTexts, TextPairs
from setlearn.pairs.text_views import kind_of_texts
from setlearn.savable import savable

__all__ = ["FunctionSource", "MatrixSource", "PairFunction", "Source", "TextSource"]

PairFunction = Callable[[Any, list[Any]], Any]
"""Takes a query and its candidates, and returns a matrix with one row per candidate."""


class Source(ABC):
    """Gives features of pairs. What it reads of lists is read once, for all its methods."""

    @abstractmethod
    def fit(self, lists: CandidateLists, right: BoolArray, fold: IntArray) -> Any:
        """Learn what there is to learn, and read the lists.

        Parameters
        ----------
        lists : CandidateLists
        right : array of bool of shape (n_rows,)
        fold : array of int of shape (n_samples,)

        Returns
        -------
        object
            The lists as `read` returns them. Their features do not depend on the sets of their own
            fold.
        """

    @abstractmethod
    def read(self, lists: CandidateLists) -> Any:
        """Read other lists; some samples of what is returned can be selected with brackets."""

    @abstractmethod
    def features(self, read: Any) -> FloatArray:
        """The features of all pairs, (n_rows, features)."""

    @abstractmethod
    def likeness(self, read: Any, known: BoolArray) -> FloatArray:
        """How similar each candidate is to the known ones of its list.

        Parameters
        ----------
        read : object
            What `fit` or `read` returned.
        known : array of bool of shape (n_rows,)

        Returns
        -------
        array of shape (n_rows, measures)
        """


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """Texts, and for each sample what other samples say about its candidates."""

    texts: ReadTexts
    experiences: Sequence[Experience]
    of_sample: IntArray  # (n_samples,) which of them

    def __getitem__(self, samples: slice | IntArray) -> Remembered:
        return Remembered(self.texts[samples], self.experiences, self.of_sample[samples])

    def features(self) -> FloatArray:
        """What training says about each candidate, (n_rows, features)."""
        features = np.empty((self.texts.lists.n_rows, len(Experience.names)))
        of_row = self.of_sample[self.texts.lists.sample]
        for k in np.unique(self.of_sample):
            samples = np.flatnonzero(self.of_sample == k)
            features[of_row == k] = self.experiences[k].features(self.texts[samples])
        return features


@savable(parts={"pairs_": (TextPairs,), "experience_": (Experience,)})
class TextSource(Source):
    """Texts of queries and candidates, and what training says about the candidates."""

    def fit(self, lists: CandidateLists, right: BoolArray, fold: IntArray) -> Remembered:
        self.query_kind_ = kind_of_texts(lists.queries or (), "queries")
        self.candidate_kind_ = kind_of_texts(lists.candidates, "candidates")
        self.pairs_ = TextPairs()
        texts = self.pairs_.fit(lists)
        of_row = fold[lists.sample]
        self.experience_ = Experience.learn(texts, right, np.ones(len(right), dtype=bool))
        others = [Experience.learn(texts, right, of_row != k) for k in range(fold.max() + 1)]
        return Remembered(texts, others, fold)

    def read(self, lists: CandidateLists) -> Remembered:
        for values, name, kind in (
            (lists.queries or (), "queries", self.query_kind_),
            (lists.candidates, "candidates", self.candidate_kind_),
        ):
            given = kind_of_texts(values, name)
            if kind is not None and given not in (kind, None):
                problem = f"{name} are {given}, but were {kind} in training; pass {kind}"
                raise KindError(problem, without_values=problem)
        return Remembered(
            self.pairs_.read(lists), [self.experience_], np.zeros(len(lists), dtype=np.intp)
        )

    def features(self, read: Remembered) -> FloatArray:
        return np.hstack([self.pairs_.features(read.texts), read.features()])

    def likeness(self, read: Remembered, known: BoolArray) -> FloatArray:
        return self.pairs_.likeness(read.texts, known)


@dataclass(frozen=True, slots=True, eq=False)
class ReadMatrix:
    """Lists with the features of their candidates."""

    lists: CandidateLists
    matrix: FloatArray

    def __getitem__(self, samples: slice | IntArray) -> ReadMatrix:
        numbers = np.zeros(len(self.lists), dtype=bool)
        numbers[samples] = True
        return ReadMatrix(self.lists[samples], self.matrix[numbers[self.lists.sample]])


@savable()
class MatrixSource(Source):
    """Features that users pass: one matrix per sample."""

    what: ClassVar[str] = "matrices of X"

    def fit(self, lists: CandidateLists, right: BoolArray, fold: IntArray) -> ReadMatrix:
        matrix = self._matrix(lists)
        self.n_features_: int = matrix.shape[1]
        known = ~np.isnan(matrix)
        n_known = np.maximum(known.sum(axis=0), 1)
        from_mean = np.where(known, matrix - np.nansum(matrix, axis=0) / n_known, 0.0)
        scale = np.sqrt((from_mean**2).sum(axis=0) / n_known)
        self.scale_: FloatArray = np.where(scale > 0, scale, 1.0)
        return ReadMatrix(lists, matrix)

    def read(self, lists: CandidateLists) -> ReadMatrix:
        matrix = self._matrix(lists)
        if matrix.shape[1] != self.n_features_:
            raise DataError(
                f"the {self.what} have {matrix.shape[1]} features per candidate, but had "
                f"{self.n_features_} in training; pass the same features"
            )
        return ReadMatrix(lists, matrix)

    def features(self, read: ReadMatrix) -> FloatArray:
        return read.matrix

    def likeness(self, read: ReadMatrix, known: BoolArray) -> FloatArray:
        """The nearness to the nearest known candidate, and to all of them on average."""
        scaled = np.nan_to_num(read.matrix / self.scale_)
        lists, near = read.lists, np.zeros((read.lists.n_rows, 2))
        for start, stop in zip(lists.first[:-1], lists.first[1:], strict=True):
            rows, given = scaled[start:stop], known[start:stop]
            if given.any():
                squares = (rows**2).sum(axis=1)
                distances = squares[:, None] + squares[given] - 2 * rows @ rows[given].T
                distances = np.sqrt(np.maximum(distances, 0) / max(1, self.n_features_))
                near[start:stop, 0] = -distances.min(axis=1)
                near[start:stop, 1] = -distances.mean(axis=1)
        return near

    def _matrix(self, lists: CandidateLists) -> FloatArray:
        assert lists.matrix is not None
        return lists.matrix


class FunctionSource(MatrixSource):
    """Features that a function of the user's computes. It is not saved, as it is code."""

    what = "features of the function"

    def __init__(self, function: PairFunction) -> None:
        self.function = function

    def _matrix(self, lists: CandidateLists) -> FloatArray:
        assert lists.queries is not None
        parts = []
        for sample, query in enumerate(lists.queries):
            candidates = lists.of(sample)
            if candidates:
                parts.append(self._of_sample(sample, query, candidates))
        width = parts[0].shape[1] if parts else getattr(self, "n_features_", 0)
        for part in parts:
            if part.shape[1] != width:
                raise DataError(
                    f"features must return the same number of columns for every sample, got "
                    f"{width} and {part.shape[1]}"
                )
        return np.concatenate([np.empty((0, width)), *parts])

    def _of_sample(self, sample: int, query: Any, candidates: list[Any]) -> FloatArray:
        answer = self.function(query, candidates)
        try:
            matrix = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"sample {sample}: features must return a matrix of numbers: {error}"
            ) from error
        if matrix.ndim != 2 or len(matrix) != len(candidates):
            raise DataError(
                f"sample {sample}: features must return a matrix with one row for each of the "
                f"{len(candidates)} candidates, got the shape {matrix.shape}"
            )
        if np.isinf(matrix).any():
            raise DataError(f"sample {sample}: features returned infinity; return finite numbers")
        return matrix
