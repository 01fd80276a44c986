"""Trains a sequence network on prefix trees, and evaluates it on held-out samples."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from setlearn.errors import DataError, SetlearnError
from setlearn.estimators.candidate_lists import candidate_lists, f1_of_lists
from setlearn.estimators.hidden_tokens import HiddenTokens
from setlearn.generate import Bounds
from setlearn.networks.runtime import one_thread, pick_device, seeded
from setlearn.networks.sequence_network import check_shapes
from setlearn.networks.training_loop import MOST_EVALUATING, Epoch, Trainer
from setlearn.networks.training_settings import Training, TrainingPlan
from setlearn.nodes import IntArray
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import InputReader, Inputs
from setlearn.trie import Sequences, Trie
from setlearn.vocabulary import Vocabulary

__all__ = ["SequenceTraining", "new_scorer"]

MOST_NODES = 50_000
"""Nodes of trees that a network is trained on at once; larger steps are done in parts."""

WATCHED, LEAST_WATCHED = 100, 10
"""Samples that are predicted at each evaluation: enough to see progress, few enough to be fast. If
the time is limited, they are as many as it seems to allow before the first one, but not fewer than
the second number. They stay the same until the end, so that evaluations can be compared."""

LEAST_TRAINING = 0.1
"""The share of a time limit that is left for training, however long the preparation takes."""


def new_scorer(
    recipe: Any,
    reader: InputReader,
    vocabulary: Vocabulary,
    inputs: Inputs,
    *,
    device: str,
    seed: int,
) -> SequenceScorer:
    """Build a network with seeded weights, and try its shapes on a few inputs.

    Parameters
    ----------
    recipe : NetworkRecipe, or an object with a method ``build``
    reader : InputReader
    vocabulary : Vocabulary
    inputs : Inputs
        The training inputs, read.
    device : str
    seed : int

    Returns
    -------
    SequenceScorer

    Raises
    ------
    DataError
        If the network cannot be built for these inputs.
    """
    try:
        with seeded(seed):
            scorer = SequenceScorer(recipe, reader, vocabulary)
        scorer.network = network = scorer.network.to(pick_device(device))
        check_shapes(network, encode_inputs(network, inputs, slice(0, 2)), len(inputs.length[:2]))
    except SetlearnError:
        raise
    except Exception as error:  # a network of the user's own may fail in any way
        raise DataError(
            f"the network cannot be built for these inputs ({type(error).__name__}: {error}); "
            "compare the recipe's build, and the network's encode, start and advance, with "
            "setlearn.networks.sequence_network.SequenceNetwork"
        ) from error
    return scorer


@dataclass(eq=False)
class SequenceTraining:
    """The training of a network on sets of sequences, by a loss on trees and an F1 of sets."""

    scorer: SequenceScorer
    inputs: Inputs
    sequences: Sequences
    trie: Trie
    bounds: Bounds
    train: IntArray  # the samples to train on
    held_out: IntArray  # those that the network will not see
    start: str = ""
    """A digest of the weights that training starts from, if they are not new."""

    seconds_each: float = field(default=math.inf, init=False)
    """What an evaluation may take."""

    def __post_init__(self) -> None:
        self.watched = (self.held_out if len(self.held_out) else self.train)[:WATCHED]

    def hide_tokens(self, rng: np.random.RandomState) -> None:
        """Add training samples with hidden tokens, if the vocabulary has stand-ins.

        Parameters
        ----------
        rng : RandomState
        """
        vocabulary, copies = self.scorer.vocabulary, self.scorer.copies
        if vocabulary.n_stand_ins == 0 or copies is None:
            return
        n_samples = len(self.inputs)
        hidden = HiddenTokens(copies, vocabulary.n_stand_ins, vocabulary.kind is frozenset)
        self.inputs, self.sequences = hidden.add_copies(
            self.inputs, self.sequences, self.train, rng
        )
        self.train = np.concatenate([self.train, np.arange(n_samples, len(self.inputs))])

    def fit(
        self, plan: TrainingPlan, training: Training, rng: np.random.RandomState
    ) -> list[Epoch]:
        """Train, and evaluate on the samples that are held out.

        Parameters
        ----------
        plan : TrainingPlan
        training : Training
            Where to keep checkpoints, and whether to show progress.
        rng : RandomState

        Returns
        -------
        list of dict
            One entry per evaluation.
        """
        network, started = self.scorer.network, time.perf_counter()
        self.targets = network.training_trie(self.inputs, self.sequences, rng)
        prepared_for = time.perf_counter() - started
        seconds_left = max(plan.max_seconds - prepared_for, LEAST_TRAINING * plan.max_seconds)
        plan = replace(plan, max_seconds=seconds_left)
        self.seconds_each = MOST_EVALUATING * seconds_left * plan.evaluate_every / plan.max_steps
        self.n_nodes = np.bincount(self.targets.sample, minlength=self.targets.n_samples)
        self.n_terms = network.loss_terms(self.targets, self.scorer.loss)
        trainer = Trainer(
            network,
            lambda rows: self.loss(self.train[rows.numpy()]),
            len(self.train),
            plan,
            seed=int(rng.randint(2**31 - 1)),
            evaluate=lambda: self.evaluate(trainer.history),
            parts=self._parts,
            weight=self._weight,
            verbose=training.verbose_by_default,
            description="training the network",
            checkpoint=None if training.checkpoint is None else Path(training.checkpoint),
            facts={
                "data": self._digest(),
                "loss": self.scorer.loss,
                **({"start": self.start} if self.start else {}),
            },
        )
        with one_thread():
            history = trainer.fit()
        if self.scorer.device.type == "mps" and network.precision == torch.float64:
            network.cpu()  # MPS has no double precision
        network.to(network.precision)
        return history

    def _parts(self, rows: Tensor) -> list[Tensor]:
        """The rows of a step in parts that the network can take at once, similar ones together."""
        numbers = rows.numpy()
        n_nodes = self.n_nodes[self.train[numbers]]
        order = np.lexsort((n_nodes, self.inputs.length[self.train[numbers]]))
        numbers, n_nodes = numbers[order], n_nodes[order]
        sizes = [
            len(chunk)
            for chunk in self.scorer.chunks(self.inputs, self.train[numbers], len(numbers))
        ]
        parts = np.split(np.arange(len(numbers)), np.cumsum(sizes)[:-1])
        return [
            torch.from_numpy(numbers[rows])
            for part in parts
            for rows in np.split(part, _cuts(n_nodes[part], MOST_NODES))
        ]

    def _weight(self, rows: Tensor) -> float:
        """How many terms the loss of these rows is the mean of."""
        return float(self.n_terms[self.train[rows.numpy()]].sum())

    def loss(self, samples: IntArray) -> Tensor:
        """The loss on every node of these samples' trees; each input is encoded once."""
        network = self.scorer.network
        memory = encode_inputs(network, self.inputs, samples)
        return network.training_loss(memory, self.targets.take(samples), self.scorer.loss)

    def evaluate(self, history: Sequence[Epoch] = ()) -> dict[str, float]:
        """Mean F1 and loss of the watched samples.

        Parameters
        ----------
        history : sequence of dict
            The evaluations before. As many samples are judged as there.

        Returns
        -------
        dict
        """
        if history:
            n_judged = history[0]["judged"]
            f1, loss = self._figures(self.watched[:n_judged])
        else:
            n_judged, f1, loss = self._first_figures()
        # The loss decides only if the F1 is equal, as it is at the start of training.
        return {
            "held_out": f1 - 1e-4 * min(loss, 100.0),
            "held_out_f1": f1,
            "held_out_loss": loss,
            "judged": n_judged,
            "held_out_seen": len(self.held_out) == 0,
        }

    def _first_figures(self) -> tuple[int, float, float]:
        """Those of as many samples as can be judged in the time for an evaluation."""
        n_least = n_judged = len(self.watched)
        if math.isfinite(self.seconds_each):
            n_least = min(LEAST_WATCHED, n_judged)
        started = time.perf_counter()
        f1, loss = self._figures(self.watched[:n_least])
        seconds_for_one = max(time.perf_counter() - started, 1e-9) / n_least
        if n_least < n_judged:
            n_judged = round(min(max(self.seconds_each / seconds_for_one, n_least), n_judged))
        if n_judged > n_least:
            f1, loss = self._figures(self.watched[:n_judged])
        return n_judged, f1, loss

    def _figures(self, samples: IntArray) -> tuple[float, float]:
        """The mean F1 and the mean loss of these samples."""
        scorer = self.scorer
        samples = samples[np.argsort(self.inputs.length[samples], kind="stable")]
        together = self.bounds.together(scorer.vocabulary.n_choices)
        chunks = scorer.chunks(self.inputs, samples, together)
        losses = [float(self.loss(chunk)) * len(chunk) for chunk in chunks]
        place = np.split(np.arange(len(samples)), np.cumsum([len(c) for c in chunks])[:-1])
        batches = ((at, self.inputs.part(chunk)) for at, chunk in zip(place, chunks, strict=True))
        f1 = f1_of_lists(*candidate_lists(scorer, batches, self.trie.take(samples), self.bounds))
        return float(f1.mean()), math.fsum(losses) / len(samples)

    def _digest(self) -> str:
        """A digest of the data, so that a checkpoint of other data is refused."""
        digest = hashlib.blake2b(digest_size=16)
        sequences = (self.sequences.sample, self.sequences.length, self.sequences.tokens)
        for array in (self.inputs.length, self.inputs.values, *sequences):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def _cuts(sizes: IntArray, most: int) -> list[int]:
    """Where to cut rows into parts with sizes that add up to no more than so much, if possible.

    >>> _cuts(np.array([2, 2, 3, 9, 1]), 5)
    [2, 3, 4]
    """
    cuts, total = [], 0
    for place, size in enumerate(sizes.tolist()):
        if place and total + size > most:
            cuts.append(place)
            total = 0
        total += size
    return cuts
