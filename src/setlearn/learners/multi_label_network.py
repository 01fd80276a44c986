"""The base class of multi-label networks: one sigmoid per label, for inputs of any kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from setlearn.errors import DataError, NotFittedError
from setlearn.networks.training_settings import TrainingPlan, TrainsNetwork, hold_out

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from setlearn.nodes import FloatArray, IntArray

__all__ = ["MultiLabelNetwork", "dense", "is_sparse"]

SMALLEST, LARGEST = np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0)
"""The probabilities next to 0 and 1."""

UNWATCHED_STEPS = 500
"""The largest number of steps if there are too few rows to stop early by held-out loss."""


class MultiLabelNetwork(TrainsNetwork, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn: no types
    """A network with one sigmoid per label or, for a 1-d y of classes, one softmax.

    A subclass defines how inputs are read (``_read``), the module (``new_network``), and how the
    module scores some of the rows (``_logits``, ``_row_blocks``). Targets, sample weights,
    training and predictions are the same for all. It has the parameters ``training`` and
    ``random_state``, and sets ``suited_training``.
    """

    network_: nn.Module
    random_state: int | np.random.RandomState | None

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check X and convert it to something with rows.

        Parameters
        ----------
        X : any
        reset : bool
            Whether to learn from X how to read other inputs.

        Returns
        -------
        any
            With a length or a shape, and as ``_logits`` needs it.
        """

    @abstractmethod
    def new_network(self) -> nn.Module:
        """Make the module with fresh weights, from what was learned of X and the targets."""

    @abstractmethod
    def _logits(
        self, network: nn.Module, inputs: Any, rows: IntArray | slice, dtype: torch.dtype
    ) -> Tensor:
        """Run the module on some rows of what ``_read`` returned: (rows, classes)."""

    @abstractmethod
    def _row_blocks(self, inputs: Any, n_rows: int) -> list[slice]:
        """Slices of rows, each small enough to go through the module at once."""

    def _learn_scale(self, inputs: Any, weights: FloatArray) -> None:
        """Learn the scale of the inputs from weighted rows, if the network needs it."""

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : inputs of n rows
        Y : array or sparse matrix of shape (n, labels), or array of shape (n,)
            An indicator matrix, or one class per row.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        plan = self._training_plan()
        inputs = self._read(X, reset=True)
        targets = self._check_targets(X, Y)
        weights = _mean_one_weights(sample_weight, X)
        self._learn_scale(inputs, weights)
        self._train(inputs, targets, weights, plan)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each label (n, labels), in (0, 1), or of each class if Y was 1-d."""
        import torch

        self._check_fitted()
        inputs = self._read(X, reset=False)
        n_rows = _n_rows(inputs)
        probabilities = np.empty((n_rows, len(self.classes_)))
        with torch.no_grad():
            for rows in self._row_blocks(inputs, n_rows):
                logits = self._logits(self.network_, inputs, rows, torch.float64)
                part = logits.sigmoid() if self.indicator_ else logits.softmax(dim=1)
                probabilities[rows] = part.numpy()
        # Only 0 and 1 are changed: no label is ever certain.
        return probabilities.clip(SMALLEST, LARGEST) if self.indicator_ else probabilities

    def predict(self, X: Any) -> IntArray:
        """Labels with a probability above 0.5, as an indicator matrix, or the best class."""
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

    def _train(self, inputs: Any, targets: Any, weights: FloatArray, plan: TrainingPlan) -> None:
        import torch

        from setlearn.networks.runtime import one_thread, pick_device, seeded
        from setlearn.networks.training_loop import Trainer

        training = self._training()
        device = pick_device(training.device)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        share = training.held_out_share(self.suited_training)
        fit_rows, held_rows = hold_out(np.arange(_n_rows(inputs)), share, rng)
        if not len(held_rows):
            plan = replace(plan, max_steps=min(plan.max_steps, UNWATCHED_STEPS))
        with seeded(seed):
            network = self.new_network().to(device)

        def mean_loss(rows: IntArray) -> Tensor:
            logits = self._logits(network, inputs, rows, torch.float32)
            weight = torch.as_tensor(weights[rows], dtype=torch.float32, device=device)
            return (weight * self._losses(logits, targets[rows])).mean()

        def held_out_score() -> float:
            blocks = [held_rows[rows] for rows in self._row_blocks(inputs, len(held_rows))]
            return -sum(float(mean_loss(b)) * len(b) for b in blocks) / len(held_rows)

        trainer = Trainer(
            network,
            lambda rows: mean_loss(fit_rows[rows.numpy()]),
            len(fit_rows),
            plan,
            seed=seed,
            evaluate=held_out_score if len(held_rows) else None,
            verbose=bool(training.verbose),
            description="sigmoid network",
        )
        with one_thread():
            self.history_ = trainer.fit()
        self.network_ = network.cpu().double()

    def _losses(self, logits: Tensor, targets: Any) -> Tensor:
        """One loss per row, (n,)."""
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

        if not self.indicator_:
            codes = torch.as_tensor(targets, device=logits.device)
            return cross_entropy(logits, codes, reduction="none")
        right = torch.as_tensor(dense(targets).astype(np.float32), device=logits.device)
        return binary_cross_entropy_with_logits(logits, right, reduction="none").mean(dim=1)


def is_sparse(matrix: Any) -> bool:
    """Whether it is a sparse matrix or array; scipy's own function has no types."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> NDArray[Any]:
    """The matrix itself or, if it is sparse, a dense copy."""
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
    """Scale the weights to a mean of 1, so that the step size does not depend on their scale."""
    try:
        weights: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    except ValueError as error:
        raise DataError(f"sample_weight cannot be used: {error}") from error
    if weights.sum() == 0:
        raise DataError("sample_weight is 0 for every row; at least one row needs a weight above 0")
    mean_one: FloatArray = weights / weights.mean()  # a copy, not in place
    return mean_one
