"""What the multi-label networks share: one sigmoid a label, whatever the inputs are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from setlearn.errors import DataError, NotFittedError
from setlearn.networks.training_settings import TrainingPlan

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from setlearn.nodes import FloatArray, IntArray

__all__ = ["MultiLabelNetwork", "dense", "is_sparse"]

UNWATCHED_STEPS = 500
"""Steps at the most where there are too few rows to see by held-out loss when to stop."""


class MultiLabelNetwork(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn: no types
    """A network with one sigmoid a label, or with plain classes one softmax.

    A kind of network says how it reads inputs, which module it is, and how that module sees some
    of the rows. Targets, weights, training and answers are the same for all.
    """

    network_: nn.Module
    batch_size: int
    learning_rate: float
    weight_decay: float
    max_steps: int
    patience: int
    validation: float
    device: str
    random_state: int | np.random.RandomState | None
    verbose: bool

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check X and make it something with rows; with ``reset`` learn how to read others."""

    @abstractmethod
    def _build(self) -> nn.Module:
        """Make the untrained module, once X and the targets have been read."""

    @abstractmethod
    def _logits(
        self, network: nn.Module, inputs: Any, rows: IntArray | slice, dtype: torch.dtype
    ) -> Tensor:
        """Run the module on some rows of what ``_read`` made: (rows, classes)."""

    @abstractmethod
    def _row_blocks(self, inputs: Any, n_rows: int) -> list[slice]:
        """Slices of rows few enough to go through the module together."""

    def _learn_scale(self, inputs: Any, weights: FloatArray) -> None:
        """Learn from weighted rows what reading alone could not; most networks need nothing."""

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from X and an indicator (n, labels), or classes (n,)."""
        inputs = self._read(X, reset=True)
        targets = self._check_targets(X, Y)
        weights = _mean_one_weights(sample_weight, X)
        self._learn_scale(inputs, weights)
        self._train(inputs, targets, weights)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Each label's own probability, or with classes their distribution; (n, classes)."""
        import torch

        self._check_fitted()
        inputs = self._read(X, reset=False)
        n_rows = _n_rows(inputs)
        probabilities = np.empty((n_rows, len(self.classes_)))
        with torch.no_grad():
            for rows in self._row_blocks(inputs, n_rows):
                logits = self._logits(self.network_, inputs, rows, torch.float64)
                squash = logits.sigmoid() if self.indicator_ else logits.softmax(dim=1)
                probabilities[rows] = squash.numpy()
        return probabilities

    def predict(self, X: Any) -> IntArray:
        """Labels at a probability above 0.5, as an indicator, or the most likely class."""
        probabilities = self.predict_proba(X)
        if self.indicator_:
            return (probabilities > 0.5).astype(np.int64)
        best: IntArray = self.classes_[probabilities.argmax(axis=1)]
        return best

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, "network_"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit(X, Y) first"
            )

    def _check_targets(self, X: Any, Y: Any) -> Any:
        """Set ``classes_`` and return an indicator (n, labels) or the classes' codes (n,)."""
        if Y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        try:
            check_consistent_length(X, Y)
            targets = Y.tocsr() if is_sparse(Y) else np.asarray(Y)
            self.indicator_ = targets.ndim == 2 and _is_zero_one(targets)
            if self.indicator_:
                self.classes_ = np.arange(targets.shape[1])
                return targets
            if targets.ndim == 2 and targets.shape[1] > 1:
                raise ValueError("an indicator matrix holds only 0 and 1")
            assert_all_finite(targets, input_name="y")
            check_classification_targets(targets)
            self.classes_, codes = np.unique(column_or_1d(targets, warn=True), return_inverse=True)
        except ValueError as error:
            raise DataError(f"Y cannot be used: {error}") from error
        return codes

    def _train(self, inputs: Any, targets: Any, weights: FloatArray) -> None:
        import torch

        from setlearn.networks.runtime import one_thread, pick_device, seeded
        from setlearn.networks.training import Trainer, hold_out

        device = pick_device(self.device)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        fit_rows, held_rows = hold_out(np.arange(_n_rows(inputs)), self.validation, rng)
        with seeded(seed):
            network = self._build().to(device)

        def mean_loss(rows: IntArray) -> Tensor:
            logits = self._logits(network, inputs, rows, torch.float32)
            weight = torch.as_tensor(weights[rows], dtype=torch.float32, device=device)
            return (weight * self._losses(logits, targets[rows])).mean()

        def held_out_merit() -> float:
            blocks = [held_rows[rows] for rows in self._row_blocks(inputs, len(held_rows))]
            return -sum(float(mean_loss(b)) * len(b) for b in blocks) / len(held_rows)

        trainer = Trainer(
            network,
            lambda rows: mean_loss(fit_rows[rows.numpy()]),
            len(fit_rows),
            self._plan(watched=len(held_rows) > 0),
            seed=seed,
            evaluate=held_out_merit if len(held_rows) else None,
            verbose=self.verbose,
            description="sigmoid network",
        )
        with one_thread():
            self.history_ = trainer.fit()
        self.network_ = network.cpu().double()

    def _plan(self, *, watched: bool) -> TrainingPlan:
        return TrainingPlan(
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            max_steps=self.max_steps if watched else min(self.max_steps, UNWATCHED_STEPS),
            patience=self.patience,
        )

    def _losses(self, logits: Tensor, targets: Any) -> Tensor:
        """One loss a row, (n,)."""
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

        if not self.indicator_:
            codes = torch.as_tensor(targets, device=logits.device)
            return cross_entropy(logits, codes, reduction="none")
        right = torch.as_tensor(dense(targets).astype(np.float32), device=logits.device)
        return binary_cross_entropy_with_logits(logits, right, reduction="none").mean(dim=1)


def is_sparse(matrix: Any) -> bool:
    """Whether it is a sparse matrix or array, and say so to the type checker."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> NDArray[Any]:
    """The matrix itself, or its dense copy."""
    array: NDArray[Any] = matrix.toarray() if is_sparse(matrix) else matrix
    return array


def _n_rows(inputs: Any) -> int:
    return int(inputs.shape[0]) if hasattr(inputs, "shape") else len(inputs)


def _is_zero_one(targets: Any) -> bool:
    if 0 in targets.shape:
        raise ValueError(f"an indicator needs at least one row and one label, got {targets.shape}")
    values = targets.data if is_sparse(targets) else targets
    return values.dtype.kind in "biuf" and bool(((values == 0) | (values == 1)).all())


def _mean_one_weights(sample_weight: Any, X: Any) -> FloatArray:
    """Make the weights one a row on average, so that the step size does not depend on them."""
    try:
        weights: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    except ValueError as error:
        raise DataError(f"sample_weight cannot be used: {error}") from error
    if weights.sum() == 0:
        raise DataError("sample_weight is 0 for every row; give some row a weight above 0")
    mean_one: FloatArray = weights / weights.mean()  # a copy: the caller's stay as they are
    return mean_one
