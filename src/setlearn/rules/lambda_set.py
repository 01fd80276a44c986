"""The order-free λ-network as a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setlearn.networks.training_settings import Training
from setlearn.parameter_checks import check_count, check_counts, check_share
from setlearn.rules.lambda_network import LambdaNetwork
from setlearn.savable import savable

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

    from setlearn.nodes import Nodes

__all__ = ["LambdaSet"]


@savable()
class LambdaSet(LambdaNetwork):
    """Keep the choices that a small network, the same for all of them, predicts.

    It judges each choice by how it compares with the others: its score, its rank, the gaps to its
    neighbours and to the best, the expected number of right ones above it and in total. So what
    it learns from one choice applies to all, which helps if many are rare, and it can be used on
    other choices than it was fitted on. It learns nothing about single choices: if their base
    rates are off, use `LambdaCNN`.

    Parameters
    ----------
    hidden : sequence of int, default=(32, 32)
        The sizes of the dense layers.
    embedding : int, default=8
        The size of a position's embedding.
    dropout : float in [0, 1), default=0.0
        After each dense layer.
    cut : float in [0, 1] or "tuned", default=0.5
        Keep what has a probability above it. "tuned" is the cut with the best mean F1 on the
        held-out choice points.
    min_size : int or None, default=None
        Keep at least this many. None: as many as the smallest training set has, but 1 at most if
        there are fewer than 100.
    training : Training, optional
        How to train; see `setlearn.networks.Training`. By default 1000 steps at most, with a
        learning rate of 3e-3 (there are few weights) and batches of 128. The validation
        share (0.2) is held out to stop training, and to tune the cut.
    random_state : int, RandomState or None

    Attributes
    ----------
    network_ : torch.nn.Module
    cut_ : float
    min_size_ : int
    history_ : list of dict

    Examples
    --------
    The best choice is right, and so are those close to it: no single cut finds them.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> scores = np.random.default_rng(0).uniform(size=(400, 4))
    >>> right = scores > scores.max(axis=1, keepdims=True) - 0.2
    >>> rule = LambdaSet(random_state=0).set_params(training__learning_rate=1e-2)
    >>> rule = rule.fit(Nodes.roots(scores), right)
    >>> rule.accept(Nodes.roots(np.array([[0.9, 0.6, 0.1, 0.2], [0.3, 0.6, 0.5, 0.1]])))
    array([[ True, False, False, False],
           [False,  True,  True, False]])
    """

    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 128,
        "learning_rate": 3e-3,
        "max_steps": 1000,
        "patience": 10,
    }

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (32, 32),
        embedding: int = 8,
        dropout: float = 0.0,
        cut: float | Literal["tuned"] = 0.5,
        min_size: int | None = None,
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(cut=cut, min_size=min_size, training=training, random_state=random_state)
        self.hidden = hidden
        self.embedding = embedding
        self.dropout = dropout

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless every parameter is in range."""
        super().check_parameters(n_positions)
        check_counts("hidden", self.hidden)
        check_count("embedding", self.embedding)
        check_share("dropout", self.dropout)

    def new_network(self) -> nn.Module:
        """Build the module with fresh weights; it serves any number of choices."""
        from setlearn.networks.lambda_networks import LambdaOrderFree

        return LambdaOrderFree(
            self.n_positions_, hidden=self.hidden, embedding=self.embedding, dropout=self.dropout
        )

    def _is_tied_to_choices(self, nodes: Nodes) -> bool:
        return False
