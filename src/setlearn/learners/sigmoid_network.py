"""The multi-label baseline of the paper: a dense network with one sigmoid per label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from setlearn.errors import DataError
from setlearn.learners.multi_label_network import MultiLabelNetwork, dense, is_sparse
from setlearn.parameter_checks import check_counts, check_share
from setlearn.savable import savable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch
    from torch import Tensor, nn

    from setlearn.networks.training_settings import Training
    from setlearn.nodes import FloatArray, IntArray

__all__ = ["SigmoidNetwork"]

BLOCK_ENTRIES = 4_000_000
"""Input values that prediction handles at once: about 32 MB."""


@savable()
class SigmoidNetwork(MultiLabelNetwork):
    """A dense network with one sigmoid per label, trained by binary cross entropy.

    It standardises its inputs. A sparse X is scaled but not centred, and becomes dense batch by
    batch. With a 1-d ``y`` of classes the sigmoids are replaced by one softmax, so it is also an
    ordinary classifier.

    Parameters
    ----------
    hidden : sequence of int, default=(128,)
        The sizes of the hidden layers; ``()`` is a linear model.
    dropout : float in [0, 1), default=0.2
        After each hidden layer.
    training : Training, optional
        How to train, for instance ``Training(max_steps=500)``. By default batches of 64, a
        learning rate of 0.001 and at most 4000 steps. A tenth of the rows is held out to stop
        early; if that is fewer than 8 rows, none is, and there are at most 500 steps.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator matrix, the numbers of its columns.
    network_ : torch.nn.Module
        From standardised inputs to logits. It is kept on the CPU in float64, so that predictions
        do not depend on how rows are batched.
    history_ : list of dict
        One entry per evaluation: ``epoch, step, loss, held_out, seconds``.
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

    short_name: ClassVar[str] = "network"
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 64,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "max_steps": 4000,
        "patience": 10,
        "validation": 0.1,
    }

    def __init__(
        self,
        hidden: Sequence[int] = (128,),
        *,
        dropout: float = 0.2,
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.training = training
        self.random_state = random_state

    def new_network(self) -> nn.Module:
        """Make the module with fresh weights, from what was learned of X and the targets."""
        from torch import nn

        layers: list[nn.Module] = []
        size = self.n_features_in_
        for width in self._hidden_sizes():
            layers += [nn.Linear(size, width), nn.ReLU(), nn.Dropout(self.dropout)]
            size = width
        return nn.Sequential(*layers, nn.Linear(size, len(self.classes_)))

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
        # Centring would make a sparse matrix dense; the first bias of the network replaces it.
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

    def _hidden_sizes(self) -> list[int]:
        check_counts("hidden", self.hidden)
        check_share("dropout", self.dropout)
        return [int(size) for size in self.hidden]
