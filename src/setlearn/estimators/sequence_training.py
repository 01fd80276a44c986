"""Trains a sequence network on prefix trees, watching how well it answers held-out samples."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from setlearn.errors import DataError, SetlearnError
from setlearn.generate import Bounds, generate
from setlearn.metrics import mean_f1
from setlearn.networks.sequence_network import (
    SequenceNetwork,
    check_shapes,
    score_trie,
    sequence_loss,
)
from setlearn.networks.surroundings import one_thread, pick_device, seeded
from setlearn.networks.training import Epoch, Plan, Trainer, hold_out
from setlearn.nodes import IntArray
from setlearn.rules import Margin
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import InputReader, Inputs, NumericReader, TokenReader
from setlearn.trie import Sequences, Trie

__all__ = ["SequenceTraining", "new_network"]

CHUNK = 64
"""Watched samples that are answered together."""

WATCHED = 200
"""Samples that are answered after each epoch: enough to see progress, few enough to wait for."""

WATCHED_NODES = 64
"""Prefixes a sample in these answers: a network that knows nothing yet would grow all of them."""


def new_network(
    recipe: Any, reader: InputReader, inputs: Inputs, n_choices: int, device: str, seed: int
) -> SequenceNetwork:
    """Build a network with seeded weights and try its shapes on a few inputs."""
    n_tokens = reader.n_tokens if isinstance(reader, TokenReader) else 0
    n_features = reader.n_features if isinstance(reader, NumericReader) else 0
    try:
        with seeded(seed):
            network: SequenceNetwork = recipe.build(
                n_choices=n_choices, n_tokens=n_tokens, n_features=n_features
            )
        network = network.to(pick_device(device))
        network.n_choices = n_choices
        check_shapes(network, encode_inputs(network, inputs, slice(0, 2)), len(inputs.length[:2]))
    except SetlearnError:
        raise
    except Exception as error:  # a network of the user's own may fail in any way
        raise DataError(
            f"the network cannot be built for these inputs ({type(error).__name__}: {error}); "
            "check its recipe's build, and its encode, start and advance, against "
            "setlearn.networks.sequence_network.SequenceNetwork"
        ) from error
    return network


@dataclass(eq=False)
class SequenceTraining:
    """What training a network on sets of sequences takes: a loss on trees, and a watch on sets."""

    network: SequenceNetwork
    inputs: Inputs
    sequences: Sequences
    trie: Trie
    bounds: Bounds

    def fit(
        self,
        plan: Plan,
        validation: float,
        rng: np.random.RandomState,
        *,
        checkpoint: Path | None,
        verbose: bool,
    ) -> list[Epoch]:
        """Train on most samples, watching those that are held out."""
        train, self.held_out = hold_out(np.arange(len(self.inputs)), validation, rng)
        self.watched = (self.held_out if len(self.held_out) else train)[:WATCHED]
        trainer = Trainer(
            self.network,
            lambda rows: self.loss(train[rows.numpy()]),
            len(train),
            plan,
            seed=int(rng.randint(2**31 - 1)),
            evaluate=self.judge,
            verbose=verbose,
            description="training the network",
            checkpoint=checkpoint,
            facts={"data": self._digest()},
        )
        with one_thread():
            history = trainer.fit()
        # What follows must not depend on how samples are batched: rounding decides near ties.
        if next(self.network.parameters()).device.type == "mps":
            self.network.cpu()  # which has no double precision
        self.network.double()
        return history

    def loss(self, samples: IntArray) -> Tensor:
        """The loss on every node of these samples' trees; each input is encoded once."""
        trie = self.trie.take(samples)
        memory = encode_inputs(self.network, self.inputs, samples)
        return sequence_loss(score_trie(self.network, memory, trie), trie)

    def judge(self) -> dict[str, float]:
        """Mean F1 of the watched samples' sets under a Margin, and their loss to break ties."""
        chunks, scorer = _chunks(self.watched), SequenceScorer(self.network)
        loss = float(np.mean([float(self.loss(samples)) for samples in chunks]))
        rule = Margin(space="log").fit(*scorer.gold_nodes(self.inputs, self.trie, self.watched))
        bounds = Bounds(self.bounds.max_length, self.bounds.max_size, WATCHED_NODES)
        predicted = []
        for samples in chunks:
            found = generate(scorer, rule, self.inputs.part(samples), bounds)
            predicted += found.sequences().as_sets(len(samples))
        true = self.sequences.as_sets(len(self.inputs))
        f1 = mean_f1([true[sample] for sample in self.watched], predicted)
        # The loss decides only between equal sets, as all are while the network knows nothing.
        return {"held_out": f1 - 1e-4 * min(loss, 100.0), "held_out_f1": f1, "held_out_loss": loss}

    def _digest(self) -> str:
        """What a checkpoint must agree on beside the shapes: the very data."""
        digest = hashlib.blake2b(digest_size=16)
        sequences = (self.sequences.sample, self.sequences.length, self.sequences.tokens)
        for array in (self.inputs.length, self.inputs.values, *sequences):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def _chunks(samples: IntArray) -> list[IntArray]:
    return [samples[first : first + CHUNK] for first in range(0, len(samples), CHUNK)]
