"""The multi-label baseline for sequence inputs: the paper's LSTM with one sigmoid a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.learners.multi_label_network import MultiLabelNetwork
from setlearn.networks.recipes import LSTM
from setlearn.sequence_inputs import Inputs, NumericReader, TokenReader, learn_inputs
from setlearn.vocabulary import Split, Tokeniser

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from setlearn.nodes import IntArray

__all__ = ["SequenceSigmoidNetwork"]

BLOCK_ROWS = 1024
"""Inputs that are read together in prediction."""


class SequenceSigmoidNetwork(MultiLabelNetwork):
    """A network that reads a sequence and has one sigmoid a label.

    It is the very network of ``SequenceSetGenerator``, stopped at the root: the encoder reads
    the input, the decoder makes its first step, and its outputs become sigmoids. So the two can
    be compared where the elements of a set are labels.

    Parameters
    ----------
    network : recipe, default=None
        ``LSTM()``, the paper's encoder–decoder, or a recipe of your own as in
        ``SequenceSetGenerator``.
    tokens : "char", "word" or function, default="char"
        How texts become tokens. Inputs that are lists of tokens are taken as they are, and
        numeric arrays (n, steps, features) are sequences of vectors.
    learning_rate : float, default=1e-3
    weight_decay : float, default=0
        Above 0, AdamW takes the place of Adam.
    batch_size : int, default=15
        As in the paper.
    max_steps : int, default=6000
    patience : int, default=10
        Evaluations of the held-out loss without improvement before training stops.
    validation : float in [0, 1), default=0.1
        The part of the samples held out for that. All are trained on where that would leave too
        few to judge by.
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
        It holds float64, so that answers do not depend on how samples are batched.
    history_ : list of dict
        One entry an epoch: ``epoch, step, loss, held_out, seconds``.

    Examples
    --------
    >>> import numpy as np
    >>> X = ["ab", "ba", "aa", "bb", "cc", "ac"] * 10
    >>> Y = np.array([["a" in x, "b" in x] for x in X])
    >>> network = SequenceSigmoidNetwork(max_steps=200, random_state=0).fit(X, Y)
    >>> network.predict(["ab", "ca", "cc"])
    array([[1, 1],
           [1, 0],
           [0, 0]])
    """

    def __init__(
        self,
        network: Any = None,
        *,
        tokens: Split = "char",
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        batch_size: int = 15,
        max_steps: int = 6000,
        patience: int = 10,
        validation: float = 0.1,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.network = network
        self.tokens = tokens
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
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        if reset:
            if isinstance(X, str | bytes):
                raise KindError(f"X is the single text {X!r:.60}; give a list of texts")
            if _num_samples(X) == 0:
                raise DataError("X holds 0 samples; give at least one")
            self.reader_ = learn_inputs(X, Tokeniser(self.tokens))
        return self.reader_.read(X)

    def _build(self) -> nn.Module:
        recipe = LSTM() if self.network is None else self.network
        if not hasattr(recipe, "build"):
            raise ParameterError(
                f"network must be a recipe with a method build(n_choices=, n_tokens=, "
                f"n_features=), such as setlearn.networks.LSTM(), got {recipe!r}"
            )
        reader = self.reader_
        network: nn.Module = recipe.build(
            n_choices=len(self.classes_),
            n_tokens=reader.n_tokens if isinstance(reader, TokenReader) else 0,
            n_features=reader.n_features if isinstance(reader, NumericReader) else 0,
        )
        return network

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
