"""Trains a sequence network on prefix trees, watching how well it answers held-out samples."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from setlearn.errors import DataError, SetlearnError
from setlearn.estimators.sequence_parameters import default_rule
from setlearn.generate import Bounds, generate
from setlearn.metrics import mean_f1
from setlearn.networks.runtime import one_thread, pick_device, seeded
from setlearn.networks.sequence_network import LOSSES, SequenceNetwork, check_shapes
from setlearn.networks.training_loop import Epoch, Trainer, hold_out
from setlearn.networks.training_settings import TrainingPlan
from setlearn.nodes import IntArray
from setlearn.scorers.base import Loss
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import InputReader, Inputs, NumericReader, TokenReader
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["SequenceTraining", "network_sizes", "new_network"]

WATCHED = 200
"""Samples that are answered after each epoch: enough to see progress, few enough to wait for."""

WATCHED_NODES = 64
"""Prefixes a sample in these answers: a network that knows nothing yet would grow all of them."""


def new_network(
    recipe: Any,
    reader: InputReader,
    inputs: Inputs,
    vocabulary: Vocabulary,
    device: str,
    seed: int,
) -> SequenceNetwork:
    """Build a network with seeded weights and try its shapes on a few inputs."""
    try:
        with seeded(seed):
            network: SequenceNetwork = recipe.build(**network_sizes(reader, vocabulary))
        network = network.to(pick_device(device))
        network.n_choices = vocabulary.n_choices
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


def network_sizes(reader: InputReader, vocabulary: Vocabulary) -> dict[str, Any]:
    """What a recipe must be told about inputs and choices."""
    sizes: dict[str, Any] = {"n_choices": vocabulary.n_choices, "n_tokens": 0, "n_features": 0}
    if isinstance(reader, TokenReader):
        spelled = np.array([END, *vocabulary.spelled_by(reader.tokens)])  # first the unknown token
        sizes |= {"n_tokens": reader.n_tokens, "copies": spelled}
    if isinstance(reader, NumericReader):
        sizes["n_features"] = reader.n_features
    return sizes


@dataclass(eq=False)
class SequenceTraining:
    """What training a network on sets of sequences takes: a loss on trees, and a watch on sets."""

    network: SequenceNetwork
    inputs: Inputs
    sequences: Sequences
    trie: Trie
    bounds: Bounds
    loss_name: Loss

    def hold_out(self, share: float, rng: np.random.RandomState) -> None:
        """Choose the samples to train on, and those to keep away from the network."""
        self.train, self.held_out = hold_out(np.arange(len(self.inputs)), share, rng)
        self.watched = (self.held_out if len(self.held_out) else self.train)[:WATCHED]

    def fit(
        self,
        plan: TrainingPlan,
        rng: np.random.RandomState,
        *,
        checkpoint: Path | None,
        verbose: bool,
    ) -> list[Epoch]:
        """Train on most samples, watching those that are held out."""
        trainer = Trainer(
            self.network,
            lambda rows: self.loss(self.train[rows.numpy()]),
            len(self.train),
            plan,
            seed=int(rng.randint(2**31 - 1)),
            evaluate=self.judge,
            verbose=verbose,
            description="training the network",
            checkpoint=checkpoint,
            facts={"data": self._digest(), "loss": self.loss_name},
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
        return LOSSES[self.loss_name](self.network.score_trie(memory, trie), trie)

    def judge(self) -> dict[str, float]:
        """Mean F1 of the watched samples' sets under a plain rule, and their loss to break ties."""
        scorer = SequenceScorer(self.network, self.loss_name)
        chunks = scorer.chunks(self.inputs, self.watched)
        loss = float(np.mean([float(self.loss(samples)) for samples in chunks]))
        rule = default_rule(self.loss_name)
        if rule.needs_fit:
            rule.fit(*scorer.gold_nodes(self.inputs, self.trie, self.watched))
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
