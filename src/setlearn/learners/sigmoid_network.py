"""The multi-label baseline of the paper: a dense network with one sigmoid a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from setlearn.errors import DataError, ParameterError
from setlearn.learners.multi_label_network import MultiLabelNetwork, dense, is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import Tensor, nn

    from setlearn.nodes import FloatArray, IntArray

__all__ = ["SigmoidNetwork"]

BLOCK_ENTRIES = 4_000_000
"""Input values looked at together in prediction: about 32 MB."""


class SigmoidNetwork(MultiLabelNetwork):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Any:
        try:
            return validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
            )
        except ValueError as error:
            raise DataError(f"X cannot be used: {error}") from error

    def _learn_scale(self, inputs: Any, weights: FloatArray) -> None:
        # Centring would fill a sparse matrix; a network's first bias makes up for it.
        scaler = StandardScaler(with_mean=not is_sparse(inputs)).fit(inputs, sample_weight=weights)
        self.mean_ = scaler.mean_ if scaler.with_mean else np.zeros(inputs.shape[1])
        self.scale_ = scaler.scale_

    def _logits(
        self, network: nn.Module, inputs: Any, rows: IntArray | slice, dtype: torch.dtype
    ) -> Tensor:
        import torch

        standardised = (dense(inputs[rows]) - self.mean_) / self.scale_
        device = next(network.parameters()).device
        logits: Tensor = network(torch.as_tensor(standardised, dtype=dtype).to(device))
        return logits

    def _row_blocks(self, inputs: Any, n_rows: int) -> list[slice]:
        size = max(1, BLOCK_ENTRIES // inputs.shape[1])
        return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

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
