"""Whether it helps to train on prefixes that the network itself wrongly accepts.

Two transformers learn Task 2 from the same samples. The first is trained on the true trees only.
The second is also trained, at each step, on the wrong choices that it would accept there, as
prefixes with no right continuation. The seeds differ from those of the paper's tables, so that no
setting is chosen by their test samples.

    python benchmarks/hard_negatives.py            # writes benchmarks/results/hard_negatives.json
"""

from __future__ import annotations

import argparse
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


class TrainingOnWrongChoices(PlainTraining):
    """Adds choices that are wrong but accepted, as nodes without a right choice."""

    def loss(self, samples):
        trie = self.trie.take(samples)
        network = self.scorer.network
        memory = encode_inputs(network, self.inputs, samples)
        with torch.no_grad():
            accepted = (network.score_trie(memory, trie) > 0).numpy()
        wrong = accepted & ~trie.right_choices(network.n_choices).toarray()
        wrong[:, END] = False
        trie = with_wrong_choices(trie, *np.nonzero(wrong))
        return node_loss(network.score_trie(memory, trie), trie)


def with_wrong_choices(trie: Trie, node, token) -> Trie:
    """The trie with one more node per ``token``, each a child of ``node``, and no new edges."""
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


def measured(training: type, seed: int, max_steps: int) -> dict[str, float]:
    """Train on 700 samples and test on 300 other samples."""
    X, Y = substrings(1000, random_state=seed)
    sequence_training.SequenceTraining = training
    started = time.perf_counter()
    model = SequenceSetGenerator(
        training=Training(max_steps=max_steps, verbose=False), random_state=0
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps with one seed, no file")
    quick = parser.parse_args().quick
    seeds, max_steps = (SEEDS[:1], 10) if quick else (SEEDS, STEPS)
    kinds = {"true trees only": PlainTraining, "with wrong choices": TrainingOnWrongChoices}
    results = {
        name: [measured(kind, seed, max_steps) for seed in seeds] for name, kind in kinds.items()
    }
    if not quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    for name, runs in results.items():
        print(
            f"{name}: set F1 {[round(run['set_f1'], 3) for run in runs]}, "
            f"exact {[round(run['exact'], 3) for run in runs]}"
        )


if __name__ == "__main__":
    main()
