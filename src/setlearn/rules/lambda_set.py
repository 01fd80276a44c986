"""The order-free λ-network as a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from setlearn.errors import ParameterError
from setlearn.rules.lambda_network import LambdaNetwork
from setlearn.savable import savable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from torch import nn

    from setlearn.nodes import Nodes

__all__ = ["LambdaSet"]


@savable()
class LambdaSet(LambdaNetwork):
    """Keep the choices that a small network, the same for all of them, finds right.

    It judges each choice by how it stands among the others: its score, its rank, the gaps to its
    neighbours and to the best, how many right ones are expected above it and in all. So it learns
    of all choices what it learns of one, which helps where many are rare, and it may be used on
    other choices than it was fitted on. It learns nothing of a single choice: where their base
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
        Keep what has a probability above it; "tuned" is the one with the best mean F1 on the
        held-out choice points.
    min_size : int or None, default=None
        Keep at least this many; None: 1 unless some training sets were empty.
    learning_rate : float, default=3e-3
        Faster than the other λ-networks learn: there are few weights.
    batch_size : int, default=128
    max_steps : int, default=1000
    patience : int, default=10
        Evaluations of the held-out loss without improvement before training stops.
    validation : float in [0, 1), default=0.2
        The part of the samples held out for that.
    random_state : int, RandomState or None
    verbose : bool

    Attributes
    ----------
    network_ : torch.nn.Module
    cut_ : float
    min_size_ : int
    history_ : list of dict

    Examples
    --------
    The best choice is right, and so is the one next to it if it is near: no one cut tells that.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> scores = np.random.default_rng(0).uniform(size=(400, 4))
    >>> right = scores > scores.max(axis=1, keepdims=True) - 0.2
    >>> rule = LambdaSet(learning_rate=1e-2, random_state=0).fit(Nodes.roots(scores), right)
    >>> rule.accept(Nodes.roots(np.array([[0.9, 0.6, 0.1, 0.2], [0.3, 0.6, 0.5, 0.1]])))
    array([[ True, False, False, False],
           [False,  True,  True, False]])
    """

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (32, 32),
        embedding: int = 8,
        dropout: float = 0.0,
        cut: float | Literal["tuned"] = 0.5,
        min_size: int | None = None,
        learning_rate: float = 3e-3,
        batch_size: int = 128,
        max_steps: int = 1000,
        patience: int = 10,
        validation: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            cut=cut,
            min_size=min_size,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_steps=max_steps,
            patience=patience,
            validation=validation,
            random_state=random_state,
            verbose=verbose,
        )
        self.hidden = hidden
        self.embedding = embedding
        self.dropout = dropout

    def build(self, n_choices: int, n_positions: int) -> nn.Module:
        """Make the untrained module; it serves any number of choices."""
        from setlearn.networks.lambda_set import LambdaOrderFree

        if min([self.embedding, *self.hidden]) < 1:
            raise ParameterError(
                f"hidden and embedding must be at least 1, got {self.hidden} and {self.embedding}"
            )
        if not 0 <= self.dropout < 1:
            raise ParameterError(f"dropout must be in [0, 1), got {self.dropout!r}")
        return LambdaOrderFree(
            n_positions, hidden=self.hidden, embedding=self.embedding, dropout=self.dropout
        )

    def _check_choices(self, nodes: Nodes) -> None:
        """Any vocabulary will do."""
