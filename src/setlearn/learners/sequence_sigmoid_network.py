"""The multi-label baseline for sequence inputs: the paper's LSTM with one sigmoid per label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.learners.multi_label_network import MultiLabelNetwork
from setlearn.networks import network_named
from setlearn.savable import savable
from setlearn.sequence_inputs import Inputs, learn_inputs
from setlearn.vocabulary import Split, Tokeniser

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from torch import Tensor, nn

    from setlearn.networks.training_settings import Training
    from setlearn.nodes import IntArray

__all__ = ["SequenceSigmoidNetwork"]

BLOCK_ROWS = 1024
"""Inputs that prediction handles at once."""


@savable()
class SequenceSigmoidNetwork(MultiLabelNetwork):
    """A network that reads a sequence and has one sigmoid per label.

    It is the network of ``SequenceSetGenerator`` after its first step: the encoder reads the input,
    the decoder scores the empty prefix, and a sigmoid is applied to each score. So the two can be
    compared on sets of labels.

    Parameters
    ----------
    network : recipe, optional
        By default ``LSTM()``, the paper's encoder–decoder; or another recipe, as in
        ``SequenceSetGenerator``.
    tokens : "char", "word" or function, default="char"
        How texts are split into tokens. Lists of tokens are used unchanged, and numeric arrays
        (n, steps, features) are sequences of vectors.
    training : Training, optional
        How to train, for instance ``Training(max_steps=500)``. By default batches of 15 as in the
        paper, a learning rate of 0.001 and at most 6000 steps. A tenth of the samples is held out
        to stop early; if that is fewer than 8 samples, none is, and there are at most 500 steps.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array
        The classes or, for an indicator matrix, the numbers of its columns.
    network_ : torch.nn.Module
        It is kept on the CPU in float64, so that predictions do not depend on how samples are
        batched.
    history_ : list of dict
        One entry per evaluation: ``epoch, step, loss, held_out, seconds``.

    Examples
    --------
    >>> import numpy as np
    >>> from setlearn.networks import Training
    >>> X = ["ab", "ba", "aa", "bb", "cc", "ac"] * 10
    >>> Y = np.array([["a" in x, "b" in x] for x in X])
    >>> network = SequenceSigmoidNetwork(training=Training(max_steps=200), random_state=0)
    >>> network.fit(X, Y).predict(["ab", "ca", "cc"])
    array([[1, 1],
           [1, 0],
           [0, 0]])
    """

    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 15,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "max_steps": 6000,
        "patience": 10,
        "validation": 0.1,
    }

    def __init__(
        self,
        network: Any = None,
        *,
        tokens: Split = "char",
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.network = network
        self.tokens = tokens
        self.training = training
        self.random_state = random_state

    def new_network(self) -> nn.Module:
        """Make the module with fresh weights, from what was learned of X and the targets."""
        recipe = network_named("lstm") if self.network is None else self.network
        if not hasattr(recipe, "build"):
            raise ParameterError(
                f"network must be a recipe with a method build(n_choices=, n_tokens=, "
                f"n_features=), such as setlearn.networks.LSTM(), got {recipe!r}"
            )
        sizes: dict[str, Any] = self.reader_.sizes
        network: nn.Module = recipe.build(n_choices=len(self.classes_), **sizes)
        return network

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        if reset:
            if isinstance(X, str | bytes):
                raise KindError(f"X is the single text {X!r:.60}; pass a list of texts")
            if _num_samples(X) == 0:
                raise DataError("X has 0 samples; pass at least one")
            self.reader_ = learn_inputs(X, Tokeniser(self.tokens))
        return self.reader_.read(X)

    def _logits(
        self, network: nn.Module, inputs: Inputs, rows: IntArray | slice, dtype: torch.dtype
    ) -> Tensor:
        import torch

        values, length = inputs.take(rows)
        read = torch.from_numpy(values).to(next(network.parameters()).device)
        if read.is_floating_point():
            read = read.to(dtype)
        memory = network.encode(read, torch.from_numpy(length))  # type: ignore[operator]  # torch types attributes as Tensor
        logits: Tensor = network.start(memory)[0]  # type: ignore[operator]  # torch types attributes as Tensor
        return logits

    def _row_blocks(self, inputs: Inputs, n_rows: int) -> list[slice]:
        return [
            slice(first, min(first + BLOCK_ROWS, n_rows)) for first in range(0, n_rows, BLOCK_ROWS)
        ]
