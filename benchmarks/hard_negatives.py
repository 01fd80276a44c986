"""Whether it helps to train on prefixes that the network itself wrongly accepts.

Two transformers learn Task 2 from the same samples. One sees the true trees alone. The other also
sees, at each step, the wrong turns that it would have taken from them, as prefixes below which
nothing is right. Seeds are not those of the paper's tables, so that this chooses no setting on
their test parts.

    python benchmarks/hard_negatives.py            # writes benchmarks/results/hard_negatives.json
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from setlearn import SequenceSetGenerator
from setlearn.datasets import substrings
from setlearn.estimators import sequence_training
from setlearn.metrics import exact_match, mean_f1
from setlearn.networks import Training
from setlearn.networks.sequence_network import node_loss
from setlearn.scorers.sequences import encode_inputs
from setlearn.trie import END, Trie

SEEDS = (987_654, 123_457)
STEPS = 1000
RESULTS = Path(__file__).parent / "results" / "hard_negatives.json"
PlainTraining = sequence_training.SequenceTraining


class TrainingOnWrongTurns(PlainTraining):
    """Adds the choices that are accepted and wrong as nodes without a right choice."""

    def loss(self, samples):
        trie = self.trie.take(samples)
        memory = encode_inputs(self.network, self.inputs, samples)
        with torch.no_grad():
            accepted = (self.network.score_trie(memory, trie) > 0).numpy()
        wrong = accepted & ~trie.right_choices(self.network.n_choices).toarray()
        wrong[:, END] = False
        trie = with_wrong_turns(trie, *np.nonzero(wrong))
        return node_loss(self.network.score_trie(memory, trie), trie)


def with_wrong_turns(trie: Trie, node, token) -> Trie:
    """The trie with more nodes, each below ``node`` by ``token``, and no more edges."""
    sample = np.concatenate([trie.sample, trie.sample[node]])
    depth = np.concatenate([trie.depth, trie.depth[node] + 1])
    order = np.lexsort((depth, sample))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    parent = np.concatenate([trie.parent, node])
    edges = np.argsort(place[trie.edge_node], kind="stable")
    return replace(
        trie,
        sample=sample[order],
        depth=depth[order],
        parent=np.where(parent < 0, -1, place[parent])[order],
        token=np.concatenate([trie.token, token])[order],
        edge_node=place[trie.edge_node][edges],
        edge_token=trie.edge_token[edges],
        edge_count=trie.edge_count[edges],
    )


def measured(training: type, seed: int) -> dict[str, float]:
    """Train on 700 samples and test on 300 others."""
    X, Y = substrings(1000, random_state=seed)
    sequence_training.SequenceTraining = training
    started = time.perf_counter()
    model = SequenceSetGenerator(
        training=Training(max_steps=STEPS, verbose=False), random_state=0
    ).fit(X[:700], Y[:700])
    seconds = time.perf_counter() - started
    predicted = model.predict(X[700:])
    return {
        "seed": seed,
        "set_f1": mean_f1(Y[700:], predicted),
        "exact": exact_match(Y[700:], predicted),
        "seconds": seconds,
    }


def main() -> None:
    kinds = {"true trees alone": PlainTraining, "with wrong turns": TrainingOnWrongTurns}
    found = {name: [measured(kind, seed) for seed in SEEDS] for name, kind in kinds.items()}
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    for name, runs in found.items():
        print(
            f"{name}: set F1 {[round(run['set_f1'], 3) for run in runs]}, "
            f"exact {[round(run['exact'], 3) for run in runs]}"
        )


if __name__ == "__main__":
    main()
