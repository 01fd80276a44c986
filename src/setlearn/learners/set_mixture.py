"""The default learner of SetClassifier: models of different kinds, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from setlearn.learners.blas_threads import few_threads
from setlearn.learners.boosted_labels import BoostedLabels
from setlearn.learners.dense_view import DenseView, stored_features
from setlearn.learners.held_out import HeldOut, held_out_rows
from setlearn.learners.label_learner import READING, LabelLearner, refuse_gaps_in_sparse
from setlearn.learners.label_pool import fitted_pool, label_frequencies, pooled
from setlearn.learners.linear_labels import LinearLabels
from setlearn.learners.log_loss import log_loss
from setlearn.learners.log_odds_pool import LogOddsPool
from setlearn.learners.logistic_labels import LogisticLabels
from setlearn.learners.ridge_labels import KernelLabels, LandmarkLabels, SparseRidgeLabels
from setlearn.learners.set_forest import SetForest
from setlearn.learners.set_prior import SetPrior
from setlearn.missing_values import lower_medians
from setlearn.nodes import BoolArray, Examples, FloatArray, IntArray
from setlearn.parameter_checks import check_count
from setlearn.progress import progress
from setlearn.savable import savable

__all__ = ["SetMixture"]

LARGEST_SYSTEM = 5000
"""The largest number of equations that ridge regression solves at once."""

MOST_TREES, FEWEST_TREES, ROWS_IN_TREES = 500, 200, 1_200_000
"""Trees times rows stay about the same where that leaves enough trees."""

EVIDENCE = 0.75
"""How much the other models change the probabilities of whole sets, from 0 to 1."""

CHUNK_SCORES, LEAST_ROWS = 1_000_000, 256
"""Rows are scored in chunks of so many scores, or so many rows if there are many labels."""

LEAST_PROBABILITY = 1e-6
"""No label is more certain than this, or 1 less this."""

LEAST_WEIGHT = 0.01
"""A model that counts less is not kept."""

BESIDE_FOREST = ("sparse_", "smooth_", "linear_", "boosted_")
"""The models other than the forest, in the order of their weights."""


def _may_give_examples(mixture: SetMixture) -> bool:
    """Whether whole sets were counted; True before ``fit``, when it is not known."""
    if not hasattr(mixture, "pool_"):
        return True
    return not mixture.plain_ and (mixture.forest_ is not None or mixture.prior_ is not None)


@savable()
class SetMixture(LabelLearner):
    """A smooth model, a logistic regression, boosted trees and a forest, weighted by their merit.

    Their log-odds are added with weights that are learned from rows that none of them has seen.
    So a model that does not suit the data does little harm.

    The smooth model is kernel ridge regression on city-block distances. Features that trees find
    more important count more in the distances, if that is better. For more than 5000 rows, each row
    is compared with 2000 of them only. Boosted trees suit rules such as "this is large and that is
    small". The forest consists of extra trees, and also knows which labels occur together.

    Sparse inputs, such as the words of texts, get a linear model alone: ridge regression or, for
    more than 5000 rows with more than 5000 features, support vector machines. Trees are slow on
    words and help little. If some features of sparse inputs are numbers or categories, all other
    models read these, beside a summary of the words. Name such features in ``dense_features``.
    Without them, how often each whole set was seen says which labels occur together.

    Time and memory grow more slowly than the number of rows. From 40,000 rows on, the models are
    judged and calibrated on 10,000 rows that are left out once, and not on folds. Each extra tree
    is grown on 12,000 rows at most, scales and ranks for the smooth model come from 16,000 rows,
    and logistic regression learns from 12 million entries of X.

    Inputs need not be scaled. Dense inputs may have gaps (NaN): trees learn where they go, and the
    other models read the median of the feature instead. An indicator y may have gaps too: such an
    entry is not known, and does not count for its label.

    Parameters
    ----------
    n_trees : int, optional
        The number of trees in the forest. By default 500, and fewer for more than 2400 rows,
        down to 200 for 6000 and more: enough rows make up for trees.
    dense_features : sequence of int, optional
        Which features of a sparse X are no words. By default those that store a value for each
        row, zeros included, some of which are not positive. With an empty list, the other models
        read the summary of the words alone. For dense X it has no effect.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator matrix, the numbers of its columns.
    sparse_ : KernelLabels, SparseRidgeLabels, LinearLabels or None
        The linear model of sparse inputs.
    smooth_ : KernelLabels, LandmarkLabels or None
    linear_ : LogisticLabels or None
    boosted_ : BoostedLabels or None
    forest_ : SetForest or None
    prior_ : SetPrior or None
        How often each set was seen, where there is no forest.
    frequencies_ : array of shape (labels,)
    pool_ : LogOddsPool or None
        The weights of the models and of the frequencies; None if there is one model only.
    view_ : DenseView or None
        What the other models read of sparse inputs with ``dense_features``.

    A model is None if it adds nothing to the others, or does not suit the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> mixture = SetMixture(random_state=0).fit(X, X > 0.5)
    >>> mixture.predict_proba([[0.9, 0.1]]).round() + 0
    array([[1., 0.]])
    """

    short_name: ClassVar[str] = "mixture"
    takes_unknown: ClassVar[bool] = True
    """An indicator may have gaps (NaN) where it is not known whether a row has a label."""

    sparse_: Any
    smooth_: Any
    linear_: LogisticLabels | None
    boosted_: BoostedLabels | None
    forest_: SetForest | None
    prior_: SetPrior | None
    pool_: LogOddsPool | None
    view_: DenseView | None
    medians_: FloatArray | None

    def __init__(
        self,
        n_trees: int | None = None,
        *,
        dense_features: Sequence[int] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.dense_features = dense_features
        self.random_state = random_state

    def fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOut:
        """Fit, and answer for training rows as if they had been left out.

        This takes no longer than ``fit``, which needs these answers for the weights of the models.
        Ridge regression knows its decision for a row that is left out, and every row is new to a
        quarter of the trees of the forest. Logistic regression and boosted trees are fitted on the
        training parts of folds too, or from 40,000 rows on once without the rows to answer for. For
        sparse inputs, support vector machines are fitted a second time, without a fifth of the
        rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        y : array of shape (n, labels) or (n,)
            An indicator matrix, with NaN for unknown entries, or one class per row.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        HeldOut
            For all rows with a weight above 0, or for 10,000 of them; with more than 500 labels
            for fewer.
        """
        X, Y, weight, counted = self._read(X, y, sample_weight)
        with few_threads(len(Y)):
            return self._fit_read(X, Y, weight, counted)

    def _fit_read(self, X: Any, Y: BoolArray, weight: FloatArray, counted: IntArray) -> HeldOut:
        """Fit on what `_read` returns."""
        self.sparse_ = self.smooth_ = self.linear_ = self.boosted_ = self.forest_ = None
        self.prior_ = self.view_ = self.pool_ = self.medians_ = None
        self.frequencies_ = label_frequencies(Y, weight)
        if not sparse.issparse(X):
            rows = held_out_rows(Y.shape)
            return HeldOut(counted[rows], *self._fit_dense(X, Y, weight, rows))
        self.sparse_ = _sparse_model(X)
        rows = held_out_rows(Y.shape, self.sparse_.largest_held_out_share)
        answer = self.sparse_.fit_held_out(X, Y, weight, rows)
        dense_features = self.dense_features
        if dense_features is None:
            dense_features = stored_features(X)
            if not dense_features:
                mixed = self._mixed([answer])
                return HeldOut(counted[rows], mixed, self._fit_prior(Y, weight, rows, mixed))
        self.view_ = DenseView.fit(X, dense_features)
        dense = self.view_.of(X)
        return HeldOut(counted[rows], *self._fit_dense(dense, Y, weight, rows, answer))

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label (n, labels), or of each class if y was 1-d."""
        X = self._checked(X)
        return np.concatenate([self._probabilities(X[rows]) for rows in self._chunks(X.shape[0])])

    @available_if(_may_give_examples)  # type: ignore[untyped-decorator]
    def examples(self, X: Any) -> Examples:
        """Weighted training sets, of similar rows if X is dense; not available for 1-d y."""
        examples: Examples = self.predict_with_examples(X)[1]
        return examples

    @available_if(_may_give_examples)  # type: ignore[untyped-decorator]
    def predict_with_examples(
        self, X: Any, known: BoolArray | None = None
    ) -> tuple[FloatArray, Examples]:
        """What `predict_proba` and `examples` return, in little more time than the first.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
        known : array of bool of shape (n, labels), optional
            Labels that the sets have. Where whole sets were counted, the best of those with them
            are returned.

        Returns
        -------
        probabilities : array of shape (n, labels)
        examples : Examples
        """
        if self.forest_ is None:
            assert self.prior_ is not None  # otherwise this method is not available
            probabilities = self.predict_proba(X)
            return probabilities, self.prior_.examples(probabilities, known)
        X = self._checked(X)
        parts = [self._with_examples(X[rows]) for rows in self._chunks(X.shape[0])]
        weights = sparse.csr_array(sparse.vstack([examples.weights for _, examples in parts]))
        return np.concatenate([mixed for mixed, _ in parts]), Examples(self.forest_.sets_, weights)

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, BoolArray, FloatArray, IntArray]:
        """Check the arguments of fit: X, Y, the weights of entries, and the rows that remain.

        Rows of weight 0, and rows of which no entry is known, are left out.
        """
        if self.n_trees is not None:
            check_count("n_trees", self.n_trees)
        known = None
        if sparse.issparse(y):
            y = y.toarray()  # type: ignore[attr-defined]  # scipy has no types
        if getattr(y, "ndim", 1) == 2 and np.asarray(y).dtype.kind == "f":
            known = ~np.isnan(y)
            y = np.where(known, y, 0)
        X, y = validate_data(self, X, y, multi_output=True, **READING)
        refuse_gaps_in_sparse(X)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        Y, weight = self._read_targets(y), weight[:, None]
        if known is not None and not known.all():
            weight = weight * known
        counted = np.flatnonzero(weight.any(axis=1))
        if len(counted) < len(weight):
            X, Y, weight = X[counted], Y[counted], weight[counted]
        if (weight == weight[:, :1]).all():
            weight = weight[:, :1]
        return X, Y, weight, counted

    def _fit_dense(
        self,
        X: FloatArray,
        Y: BoolArray,
        weight: FloatArray,
        rows: IntArray,
        of_sparse: FloatArray | None = None,
    ) -> tuple[FloatArray, Examples | None]:
        """Fit the models of dense inputs and all weights, and answer for rows that are held out.

        ``of_sparse`` is the answer of the sparse model, if there is one.
        """
        n_trees = _usual_trees(len(Y)) if self.n_trees is None else self.n_trees
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        smooth = KernelLabels() if len(X) <= LARGEST_SYSTEM else LandmarkLabels()
        linear, boosted, forest = LogisticLabels(), BoostedLabels(seed), SetForest(n_trees, seed)
        self.medians_ = lower_medians(X)
        whole = self._without_gaps(X)
        answers = [] if of_sparse is None else [of_sparse]
        with progress("fitting", 4) as advance:
            answers.append(smooth.fit_held_out(whole, Y, weight, rows))
            advance()
            answers.append(linear.fit_held_out(whole, Y, weight, rows))
            advance()
            rival = min(log_loss(answer, Y[rows], weight[rows]) for answer in answers)
            answers.append(boosted.fit_held_out(X, Y, weight, rows, rival))
            advance()
            if not weight.all():  # the forest counts whole sets
                Y = np.where(weight > 0, Y, smooth.predict_proba(whole) > 0.5)
            of_forest, of_sets = forest.fit_held_out(X, Y, weight, rows)
            answers.append(of_forest)
        self.smooth_, self.linear_, self.boosted_ = smooth, linear, boosted
        self.forest_ = forest
        mixed = self._mixed(self._fit_pool(answers, Y[rows], weight[rows]))
        return mixed, None if self.plain_ else self._examples(of_sets, of_forest, mixed)

    def _fit_prior(
        self, Y: BoolArray, weight: FloatArray, rows: IntArray, probabilities: FloatArray
    ) -> Examples | None:
        """Count whole sets where there is no forest, and answer for rows that are held out."""
        if self.plain_:
            return None
        self.prior_ = SetPrior()
        frequencies = np.clip(self.frequencies_, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return self.prior_.fit_held_out(Y, weight, frequencies, rows, probabilities)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "pool_")
        X = validate_data(self, X, reset=False, **READING)
        refuse_gaps_in_sparse(X)
        return sparse.csr_array(X) if sparse.issparse(X) or self.view_ is not None else X

    def _chunks(self, n_rows: int) -> list[slice]:
        """Slices of rows, one at least."""
        size = max(LEAST_ROWS, CHUNK_SCORES // len(self.classes_))
        return [slice(start, start + size) for start in range(0, max(1, n_rows), size)]

    def _probabilities(self, X: Any) -> FloatArray:
        dense = self._dense(X)
        answers = self._answers(X, dense)
        if self.forest_ is not None:
            answers.append(self.forest_.predict_proba(dense))
        return self._mixed(answers)

    def _with_examples(self, X: Any) -> tuple[FloatArray, Examples]:
        """As `_probabilities`, with the forest's sets."""
        assert self.forest_ is not None
        dense = self._dense(X)
        of_forest, of_sets = self.forest_.predict_sets(dense)
        mixed = self._mixed([*self._answers(X, dense), of_forest])
        return mixed, self._examples(of_sets, of_forest, mixed)

    def _dense(self, X: Any) -> Any:
        """The inputs as the models of dense inputs read them; sparse if there are none."""
        if self.view_ is not None:
            return self.view_.of(X)
        is_sparse: bool = sparse.issparse(X)
        # Models that were fitted on dense inputs read sparse ones too.
        return X.toarray() if is_sparse and self.forest_ is not None else X

    def _fit_pool(
        self, answers: list[FloatArray], Y: BoolArray, weight: FloatArray
    ) -> list[FloatArray]:
        """Learn the weights of all models, and drop those that add nothing.

        The forest stays: it also knows which labels occur together. The answers of the models
        that are left are returned.
        """
        self.pool_ = fitted_pool(answers, self.frequencies_, Y, weight)
        others = [name for name in BESIDE_FOREST if getattr(self, name) is not None]
        useful = [share >= LEAST_WEIGHT for share in self.pool_.weights[: len(others)]]
        if all(useful):
            return answers
        for name, is_useful in zip(others, useful, strict=True):
            if not is_useful:
                setattr(self, name, None)
        answers = [answer for answer, keep in zip(answers, [*useful, True], strict=True) if keep]
        self.pool_ = fitted_pool(answers, self.frequencies_, Y, weight)
        return answers

    def _answers(self, X: Any, dense: Any) -> list[FloatArray]:
        """The probabilities of all models but the forest."""
        whole = self._without_gaps(dense)
        inputs = {"sparse_": X, "smooth_": whole, "linear_": whole, "boosted_": dense}
        models = [(getattr(self, name), inputs[name]) for name in BESIDE_FOREST]
        return [model.predict_proba(rows) for model, rows in models if model is not None]

    def _mixed(self, answers: list[FloatArray]) -> FloatArray:
        """One answer from those of all models."""
        if self.pool_ is not None:
            mixed = pooled(self.pool_, answers, self.frequencies_)
        elif self.forest_ is not None:  # saved before there were weights
            mixed = pooled(LogOddsPool(len(answers)), answers, None)
        else:
            [mixed] = answers
        mixed = np.clip(mixed, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        if self.plain_:
            mixed /= mixed.sum(axis=1, keepdims=True)
        return mixed

    def _examples(
        self, of_sets: sparse.csr_array, of_forest: FloatArray, mixed: FloatArray
    ) -> Examples:
        """The forest's sets. A rule multiplies their weights by the odds of all models together.

        Of the difference between these odds and those of the forest, only a part is to count:
        labels that occur together share their evidence, which would count once for each of them.
        """
        assert self.forest_ is not None
        share = 1.0 if self.pool_ is None else EVIDENCE  # 1: saved before there were weights
        divided = expit(share * logit(of_forest) + (1 - share) * logit(mixed))
        return self.forest_.examples(of_sets, divided)

    def _without_gaps(self, X: Any) -> Any:
        if self.medians_ is None or not np.isnan(X).any():
            return X
        return np.where(np.isnan(X), self.medians_, X)


def _sparse_model(X: Any) -> Any:
    """The linear model that suits the size of a sparse X."""
    n, n_features = X.shape
    if n_features < n and n_features <= LARGEST_SYSTEM:
        return SparseRidgeLabels()
    return KernelLabels() if n <= LARGEST_SYSTEM else LinearLabels()


def _usual_trees(n_rows: int) -> int:
    return int(np.clip(ROWS_IN_TREES // max(1, n_rows), FEWEST_TREES, MOST_TREES))
