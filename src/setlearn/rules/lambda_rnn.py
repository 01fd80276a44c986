"""The recurrent λ-network as a rule (SSG-RNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from setlearn.networks.training_settings import Training
from setlearn.parameter_checks import check_count
from setlearn.rules.lambda_network import LambdaNetwork
from setlearn.savable import savable

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

__all__ = ["LambdaRNN"]


@savable()
class LambdaRNN(LambdaNetwork):
    """Keep the choices that an LSTM encoder–decoder over all scores predicts (SSG-RNN).

    It runs along the vocabulary choice by choice, so `LambdaCNN` is much faster on a large one.
    It identifies a choice only by its position.

    Parameters
    ----------
    hidden : int, default=32
        Units of the encoder and of the decoder.
    embedding : int, default=8
        The size of a position's embedding.
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
    >>> rule = LambdaRNN(min_size=0, training=training, random_state=0)
    >>> rule = rule.fit(Nodes.roots(scores), scores > [0.8, 0.2])
    >>> rule.accept(Nodes.roots(np.array([[0.6, 0.4], [0.95, 0.05]])))
    array([[False,  True],
           [ True, False]])
    """

    def __init__(
        self,
        *,
        hidden: int = 32,
        embedding: int = 8,
        cut: float | Literal["tuned"] = 0.5,
        min_size: int | None = None,
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(cut=cut, min_size=min_size, training=training, random_state=random_state)
        self.hidden = hidden
        self.embedding = embedding

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range."""
        super().check_parameters(n_positions)
        check_count("hidden", self.hidden)
        check_count("embedding", self.embedding)

    def new_network(self) -> nn.Module:
        """Build the module with fresh weights; it serves any number of choices."""
        from setlearn.networks.lambda_networks import LambdaRecurrence

        return LambdaRecurrence(self.n_positions_, hidden=self.hidden, embedding=self.embedding)
