"""The multi-label baseline of the paper: a dense network with one sigmoid a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from setlearn.errors import DataError, NotFittedError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from setlearn.networks.training import Plan
    from setlearn.nodes import FloatArray, IntArray

__all__ = ["SigmoidNetwork"]

BLOCK_ENTRIES = 4_000_000
"""Input values looked at together in prediction: about 32 MB."""
UNWATCHED_STEPS = 500
"""Steps at the most where there are too few rows to see by held-out loss when to stop."""


class SigmoidNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A dense network with one sigmoid a label, trained by binary cross entropy.

    It standardises its inputs itself. A sparse X stays sparse, is only scaled, and becomes dense
    batch by batch. With a plain 1-d ``y`` of classes the sigmoids become one softmax, so that it
    is an ordinary classifier too.

    Parameters
    ----------
    hidden : sequence of int, default=(128,)
        The sizes of the hidden layers; ``()`` is a linear model.
    dropout : float in [0, 1), default=0.2
        After each hidden layer.
    learning_rate : float, default=1e-3
    weight_decay : float, default=0
        Above 0, AdamW takes the place of Adam.
    batch_size : int, default=64
    max_steps : int, default=4000
    patience : int, default=10
        Evaluations of the held-out loss without improvement before training stops.
    validation : float in [0, 1), default=0.1
        The part of the rows held out for that. All rows are trained on where that would leave
        too few to judge by.
    device : str, default="auto"
        Where to train; a trained network is kept on the CPU.
    random_state : int, RandomState or None
    verbose : bool
        Show a progress bar where there is a terminal.

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator, the numbers of its columns.
    network_ : torch.nn.Module
        From standardised inputs to logits. It holds float64, so that answers do not depend on
        how rows are batched.
    history_ : list of dict
        One entry an epoch: ``epoch, step, loss, held_out, seconds``.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0])
    >>> network = SigmoidNetwork(random_state=0).fit(X, Y)
    >>> network.predict([[2, 2], [-2, 2.5], [-2, -2]])
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 0]])
    """

    network_: nn.Module

    def __init__(
        self,
        hidden: Sequence[int] = (128,),
        *,
        dropout: float = 0.2,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        batch_size: int = 64,
        max_steps: int = 4000,
        patience: int = 10,
        validation: float = 0.1,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.patience = patience
        self.validation = validation
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, features) and an indicator (n, labels), or classes (n,)."""
        X = self._check_inputs(X, reset=True)
        targets = self._check_targets(X, Y)
        weights = _mean_one_weights(sample_weight, X)
        self._learn_scale(X, weights)
        self._train(X, targets, weights)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Each label's own probability, or with classes their distribution; (n, classes)."""
        import torch

        self._check_fitted()
        X = self._check_inputs(X, reset=False)
        probabilities = np.empty((X.shape[0], len(self.classes_)))
        with torch.no_grad():
            for rows in _row_blocks(*X.shape):
                logits = self.network_(self._inputs(X[rows], torch.float64))
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
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, "network_"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit(X, Y) first"
            )

    def _check_inputs(self, X: Any, *, reset: bool) -> Any:
        try:
            return validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
            )
        except ValueError as error:
            raise DataError(f"X cannot be used: {error}") from error

    def _check_targets(self, X: Any, Y: Any) -> Any:
        """Set ``classes_`` and return an indicator (n, labels) or the classes' codes (n,)."""
        if Y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        try:
            check_consistent_length(X, Y)
            targets = Y.tocsr() if _is_sparse(Y) else np.asarray(Y)
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

    def _learn_scale(self, X: Any, weights: FloatArray) -> None:
        # Centring would fill a sparse matrix; a network's first bias makes up for it.
        scaler = StandardScaler(with_mean=not _is_sparse(X)).fit(X, sample_weight=weights)
        self.mean_ = scaler.mean_ if scaler.with_mean else np.zeros(X.shape[1])
        self.scale_ = scaler.scale_

    def _inputs(self, X: Any, dtype: Any) -> Tensor:
        """Make rows of X dense and standardise them."""
        import torch

        return torch.as_tensor((_dense(X) - self.mean_) / self.scale_, dtype=dtype)

    def _train(self, X: Any, targets: Any, weights: FloatArray) -> None:
        import torch

        from setlearn.networks.training import Trainer, hold_out, one_thread, pick_device, seeded

        device = pick_device(self.device)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        fit_rows, held_rows = hold_out(np.arange(X.shape[0]), self.validation, rng)
        with seeded(seed):
            network = self._build().to(device)

        def mean_loss(rows: IntArray) -> Tensor:
            inputs = self._inputs(X[rows], torch.float32).to(device)
            weight = torch.as_tensor(weights[rows], dtype=torch.float32, device=device)
            return (weight * self._losses(network(inputs), targets[rows])).mean()

        def held_out_merit() -> float:
            blocks = [held_rows[rows] for rows in _row_blocks(len(held_rows), X.shape[1])]
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

    def _build(self) -> nn.Module:
        from torch import nn

        layers: list[nn.Module] = []
        size = self.n_features_in_
        for width in self._hidden_sizes():
            layers += [nn.Linear(size, width), nn.ReLU(), nn.Dropout(self.dropout)]
            size = width
        return nn.Sequential(*layers, nn.Linear(size, len(self.classes_)))

    def _hidden_sizes(self) -> list[int]:
        sizes = list(self.hidden)
        if not all(isinstance(size, int | np.integer) and size > 0 for size in sizes):
            raise ParameterError(
                f"hidden must hold whole numbers above 0, such as (128,), got {self.hidden!r}"
            )
        if not 0 <= self.dropout < 1:
            raise ParameterError(f"dropout must be in [0, 1), got {self.dropout!r}")
        return [int(size) for size in sizes]

    def _plan(self, *, watched: bool) -> Plan:
        from setlearn.networks.training import Plan

        return Plan(
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
        right = torch.as_tensor(_dense(targets).astype(np.float32), device=logits.device)
        return binary_cross_entropy_with_logits(logits, right, reduction="none").mean(dim=1)


def _is_sparse(matrix: Any) -> bool:
    return bool(sparse.issparse(matrix))


def _dense(matrix: Any) -> NDArray[Any]:
    array: NDArray[Any] = matrix.toarray() if _is_sparse(matrix) else matrix
    return array


def _is_zero_one(targets: Any) -> bool:
    if 0 in targets.shape:
        raise ValueError(f"an indicator needs at least one row and one label, got {targets.shape}")
    values = targets.data if _is_sparse(targets) else targets
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


def _row_blocks(n_rows: int, n_features: int) -> list[slice]:
    size = max(1, BLOCK_ENTRIES // n_features)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
