"""The convolutional λ-network as a rule (SSG-CNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from setlearn.errors import DataError, ParameterError
from setlearn.networks.training_settings import Training
from setlearn.parameter_checks import check_count, check_counts, check_share
from setlearn.rules.lambda_network import LambdaNetwork
from setlearn.savable import savable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from torch import nn

    from setlearn.nodes import Nodes

__all__ = ["LambdaCNN"]


@savable()
class LambdaCNN(LambdaNetwork):
    """Keep the choices that a convolutional network over all scores predicts (SSG-CNN).

    It is tied to a fixed vocabulary, so it refuses choice points with padding.

    Parameters
    ----------
    channels : int, default=16
        Of the one convolution along the vocabulary axis.
    kernel_size : int, default=3
        Its width, an odd number.
    hidden : sequence of int, default=(64, 64)
        The sizes of the dense layers.
    embedding : int, default=8
        The size of a position's embedding.
    dropout : float in [0, 1), default=0.2
        After each dense layer.
    cut : float in [0, 1] or "tuned", default=0.5
        Keep what has a probability above it. "tuned" is the cut with the best mean F1 on the
        held-out choice points.
    min_size : int or None, default=None
        Keep at least this many. None: as many as the smallest training set has, but 1 at most if
        there are fewer than 100.
    training : Training, optional
        How to train; see `setlearn.networks.Training`. By default 4000 steps at most, with a
        learning rate of 1e-3 and batches of 64. The validation share (0.2) is held out to
        stop training, and to tune the cut.
    random_state : int, RandomState or None

    Attributes
    ----------
    network_ : torch.nn.Module
    cut_ : float
    min_size_ : int
    history_ : list of dict

    Examples
    --------
    The first choice is right above 0.8, the second above 0.2: no single cut serves both.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> scores = np.random.default_rng(0).uniform(size=(400, 2))
    >>> from setlearn.networks import Training
    >>> training = Training(max_steps=1000, learning_rate=1e-2)
    >>> rule = LambdaCNN(min_size=0, training=training, random_state=0)
    >>> rule = rule.fit(Nodes.roots(scores), scores > [0.8, 0.2])
    >>> rule.accept(Nodes.roots(np.array([[0.6, 0.4], [0.95, 0.05]])))
    array([[False,  True],
           [ True, False]])
    """

    def __init__(
        self,
        *,
        channels: int = 16,
        kernel_size: int = 3,
        hidden: Sequence[int] = (64, 64),
        embedding: int = 8,
        dropout: float = 0.2,
        cut: float | Literal["tuned"] = 0.5,
        min_size: int | None = None,
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(cut=cut, min_size=min_size, training=training, random_state=random_state)
        self.channels = channels
        self.kernel_size = kernel_size
        self.hidden = hidden
        self.embedding = embedding
        self.dropout = dropout

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range."""
        super().check_parameters(n_positions)
        check_count("channels", self.channels)
        check_count("embedding", self.embedding)
        check_counts("hidden", self.hidden)
        check_share("dropout", self.dropout)
        check_count("kernel_size", self.kernel_size)
        if self.kernel_size % 2 == 0:
            raise ParameterError(f"kernel_size must be odd, got {self.kernel_size!r}")

    def new_network(self) -> nn.Module:
        """Build the module with fresh weights."""
        from setlearn.networks.lambda_networks import LambdaConvolution

        return LambdaConvolution(
            self.n_choices_,
            self.n_positions_,
            channels=self.channels,
            kernel_size=self.kernel_size,
            hidden=self.hidden,
            embedding=self.embedding,
            dropout=self.dropout,
        )

    @property
    def takes_padding(self) -> bool:
        """False: the network has one place for each choice."""
        return False

    def _check_padding(self, nodes: Nodes) -> None:
        if nodes.has_padding:
            raise DataError(
                "LambdaCNN needs the same choices at every choice point, and some here are not "
                "available; use LambdaSet, which works with any choices"
            )

    def _is_tied_to_choices(self, nodes: Nodes) -> bool:
        return True
