"""A T5 of Hugging Face that generates sets by beam search. Needs the extra ``hf``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from benchmarks.sequence_data import Tokens
from benchmarks.yardsticks.cut import Cut, Ranking

PAD, EOS, UNKNOWN = range(3)
N_SPECIAL = 3
IGNORED = -100
"""The label of positions that do not count for the loss of T5."""

WIDTHS = range(8, 513, 4)
HEADS = 4
LAYERS = (3, 1)
"""Of the encoder and of the decoder, as in setlearn's transformer. Beam search is fastest with one
decoder layer."""

LEARNING_RATE = 1e-3
"""Chosen on development samples of lemminflect: in 300 s the F1 is .37 with half of it, .90 with
this, and below .1 with twice as much."""

WARM_UP = 0.05
"""The share of training in which the learning rate rises; then it falls to zero."""


def import_transformers() -> Any:
    """Return the package, or exit with the command that installs it."""
    try:
        import transformers
        from transformers import T5ForConditionalGeneration  # noqa: F401  # it is loaded lazily
    except ImportError as error:
        raise SystemExit(
            f"transformers cannot be imported ({error}); pip install 'setlearn[hf]', "
            "or pip install transformers"
        ) from error
    transformers.utils.logging.set_verbosity_error()
    return transformers


class T5Beams:
    """A T5 on the tokens of the data, trained from scratch on pairs (input, one element).

    A set consists of the sequences of the beams whose probability reaches a threshold, which is
    tuned on held-out training samples. Beams that have not ended at the longest length are dropped.

    Parameters
    ----------
    n_weights : int
        The number of weights to come close to, by the choice of the width.
    seconds : float
        The CPU time of the training, without that of tuning the threshold.
    layers : pair of int, default=(3, 1)
        The layers of the encoder and of the decoder.
    beams : int, default=10
        As many sequences are returned for each input.
    early_stopping : bool, default=False
        Whether the search for an input ends as soon as ``beams`` sequences have ended. It is
        faster, but may miss more probable sequences. False is the default of ``generate``.
    batch_size : int, default=64
        Of training, in pairs, and of prediction, in inputs.
    held_out : float, default=0.1
        The share of the samples on which the threshold is tuned.
    random_state : int, default=0
    """

    def __init__(
        self,
        n_weights: int,
        seconds: float,
        *,
        layers: tuple[int, int] = LAYERS,
        beams: int = 10,
        early_stopping: bool = False,
        batch_size: int = 64,
        held_out: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.n_weights = n_weights
        self.seconds = seconds
        self.layers = layers
        self.beams = beams
        self.early_stopping = early_stopping
        self.batch_size = batch_size
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Sequence[Tokens], Y: Sequence[frozenset[Tokens]]) -> T5Beams:
        rng = np.random.RandomState(self.random_state)
        order = rng.permutation(len(X))
        n_held_out = max(1, round(self.held_out * len(X)))
        held_out, rest = order[:n_held_out], order[n_held_out:]
        elements = [element for y in Y for element in y]
        self.tokens_ = sorted({token for tokens in (*X, *elements) for token in tokens})
        self.ids_ = {token: i for i, token in enumerate(self.tokens_, N_SPECIAL)}
        self.max_length_ = max(map(len, elements)) + 2  # the start and the end
        pairs = [(X[i], element) for i in rest for element in sorted(Y[i])]
        with torch.random.fork_rng():
            torch.manual_seed(self.random_state)
            self.network_ = network_of_size(
                self.n_weights, N_SPECIAL + len(self.tokens_), self.layers
            )
            self._train(pairs, rng)
        self.cut_ = Cut().fit(self.rankings([X[i] for i in held_out]), [Y[i] for i in held_out])
        return self

    def _train(self, pairs: Sequence[tuple[Tokens, Tokens]], rng: np.random.RandomState) -> None:
        inputs = [self._encoded(x) for x, _ in pairs]
        labels = [self._encoded(element) for _, element in pairs]
        optimizer = torch.optim.AdamW(self.network_.parameters(), lr=LEARNING_RATE)
        started = time.process_time()
        self.n_steps_ = 0
        self.network_.train()
        for batch in shuffled_batches(len(pairs), self.batch_size, rng):
            share = (time.process_time() - started) / self.seconds
            if share >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * min(share / WARM_UP, (1 - share) / (1 - WARM_UP))
            ids = padded([inputs[i] for i in batch], PAD)
            loss = self.network_(
                input_ids=ids,
                attention_mask=ids != PAD,
                labels=padded([labels[i] for i in batch], IGNORED),
            ).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network_.parameters(), 1.0)
            optimizer.step()
            self.n_steps_ += 1
        self.network_.eval()

    def predict(self, X: Sequence[Tokens]) -> list[frozenset[Tokens]]:
        return self.cut_.apply(self.rankings(X))

    def rankings(self, X: Sequence[Tokens]) -> list[Ranking]:
        """Return the sequences of the beams with their probabilities, most probable first."""
        rankings: list[Ranking] = [[] for _ in X]
        by_length = sorted(range(len(X)), key=lambda i: len(X[i]))  # so there is little padding
        for first in range(0, len(X), self.batch_size):
            batch = by_length[first : first + self.batch_size]
            for i, ranking in zip(batch, self._generated([X[i] for i in batch]), strict=True):
                rankings[i] = ranking
        return rankings

    def _generated(self, X: Sequence[Tokens]) -> Iterator[Ranking]:
        ids = padded([self._encoded(x) for x in X], PAD)
        found = self.network_.generate(
            input_ids=ids,
            attention_mask=ids != PAD,
            num_beams=self.beams,
            num_return_sequences=self.beams,
            max_length=self.max_length_,
            early_stopping=self.early_stopping,
            length_penalty=0.0,  # so that scores are log probabilities
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        sequences = found.sequences[:, 1:].tolist()  # without the start
        probabilities = found.sequences_scores.exp().tolist()
        for first in range(0, len(sequences), self.beams):
            beams = slice(first, first + self.beams)
            ranking: dict[Tokens, float] = {}
            for sequence, probability in zip(sequences[beams], probabilities[beams], strict=True):
                if EOS in sequence:
                    ranking.setdefault(self._decoded(sequence), probability)
            yield sorted(ranking.items(), key=lambda item: -item[1])

    def _encoded(self, tokens: Tokens) -> list[int]:
        return [*(self.ids_.get(token, UNKNOWN) for token in tokens), EOS]

    def _decoded(self, sequence: list[int]) -> Tokens:
        special = ("<pad>", "<end>", "<unknown>")
        names = (
            special[i] if i < N_SPECIAL else self.tokens_[i - N_SPECIAL]
            for i in sequence[: sequence.index(EOS)]
        )
        return tuple(names)


def network_of_size(n_weights: int, vocabulary: int, layers: tuple[int, int]) -> Any:
    """Return a new T5 with the width that comes closest to this number of weights."""
    transformers = import_transformers()

    def config(width: int) -> Any:
        return transformers.T5Config(
            vocab_size=vocabulary,
            d_model=width,
            d_kv=width // HEADS,
            d_ff=4 * width,
            num_heads=HEADS,
            num_layers=layers[0],
            num_decoder_layers=layers[1],
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=PAD,
        )

    def distance(width: int) -> int:
        with torch.device("meta"):
            network = transformers.T5ForConditionalGeneration(config(width))
        return abs(count_weights(network) - n_weights)

    return transformers.T5ForConditionalGeneration(config(min(WIDTHS, key=distance)))


def count_weights(network: torch.nn.Module) -> int:
    """Return the number of trained weights, shared ones counted once."""
    return sum(weights.numel() for weights in network.parameters())


def shuffled_batches(n: int, size: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
    """Yield batches of row numbers without end, in a new order in each pass."""
    while True:
        order = rng.permutation(n)
        for first in range(0, n, size):
            yield order[first : first + size]


def padded(rows: Sequence[list[int]], value: int) -> torch.Tensor:
    """Return a matrix of the rows, filled up with ``value`` on the right."""
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)
