"""The recurrent λ-network as a rule (SSG-RNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from setlearn.errors import ParameterError
from setlearn.rules.lambda_network import LambdaNetwork
from setlearn.savable import savable

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

__all__ = ["LambdaRNN"]


@savable()
class LambdaRNN(LambdaNetwork):
    """Keep the choices that an LSTM encoder–decoder over all scores finds right (SSG-RNN).

    It runs along the vocabulary choice by choice, so `LambdaCNN` is much the faster where that is
    long; and it knows which choice is which only by its own counting.

    Parameters
    ----------
    hidden : int, default=32
        Units of the encoder and of the decoder.
    embedding : int, default=8
        The size of a position's embedding.
    cut : float in [0, 1] or "tuned", default=0.5
        Keep what has a probability above it; "tuned" is the one with the best mean F1 on the
        held-out choice points.
    min_size : int or None, default=None
        Keep at least this many; None: 1 unless some training sets were empty.
    learning_rate : float, default=1e-3
    batch_size : int, default=64
    max_steps : int, default=4000
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
    The first choice is right from 0.8 up, the second from 0.2 up: no one cut tells both.

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes
    >>> scores = np.random.default_rng(0).uniform(size=(400, 2))
    >>> rule = LambdaRNN(min_size=0, max_steps=1000, learning_rate=1e-2, random_state=0)
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
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_steps: int = 4000,
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

    def build(self, n_choices: int, n_positions: int) -> nn.Module:
        """Make the untrained module; a recurrence serves any number of choices."""
        from setlearn.networks.lambda_rnn import LambdaRecurrence

        if min(self.hidden, self.embedding) < 1:
            raise ParameterError(
                f"hidden and embedding must be at least 1, got {self.hidden} and {self.embedding}"
            )
        return LambdaRecurrence(n_positions, hidden=self.hidden, embedding=self.embedding)
