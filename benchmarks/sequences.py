"""How much batches of prefixes and shared prefixes save, as ratios measured in one run.

Run: python benchmarks/sequences.py   (writes benchmarks/results/sequences.json)
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import torch

from setlearn import SequenceSetGenerator
from setlearn.datasets import substrings
from setlearn.errors import TruncationWarning
from setlearn.estimators.sequence_training import new_scorer
from setlearn.generate import generate
from setlearn.networks import LSTM, Training
from setlearn.nodes import Nodes, Step
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.trie import Sequences, Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

RESULTS = Path(__file__).parent / "results" / "sequences.json"
N_SAMPLES = 1000


class OnePrefixAtATime:
    """The same network without batches: one call per prefix."""

    def __init__(self, scorer: SequenceScorer) -> None:
        self.scorer = scorer

    def start(self, X):
        step = self.scorer.start(X)
        return Step(step.nodes, [(step, 0)])

    def advance(self, step, parent, token):
        steps = [
            self.scorer.advance(alone, np.array([row]), np.array([choice]))
            for (alone, row), choice in zip((step.state[p] for p in parent), token, strict=True)
        ]
        nodes = Nodes(
            step.nodes.sample[parent],
            step.nodes.depth[parent] + 1,
            np.concatenate([s.nodes.probabilities for s in steps]),
        )
        return Step(nodes, [(s, 0) for s in steps])


def seconds(run, repeats=3):
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def prediction_ratio(model, X):
    """Sets per second: all prefixes of 64 samples at once against one prefix at a time."""
    scorer, few = model.scorer_, X[:100]
    slow_scorer = OnePrefixAtATime(scorer)

    def one_by_one():
        for x in few:
            generate(slow_scorer, model.rule_, scorer.as_batch(x), model.learned_bounds_)

    fast = len(X) / seconds(lambda: model.predict(X))
    slow = len(few) / seconds(one_by_one, repeats=2)
    return {"sets_per_second": fast, "prefix_by_prefix": slow, "ratio": fast / slow}


def training_ratio(n_samples):
    """One epoch in batches of 15: on the trees of whole sets against one row per sequence."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), size=rng.integers(3, 9))) for _ in range(4000)]
    X = ["".join(rng.choice(list("abcdefgh"), size=12)) for _ in range(n_samples)]
    Y = [frozenset(rng.choice(words, size=rng.integers(2, 7), replace=False)) for _ in X]
    tokeniser = Tokeniser("char")
    reader = learn_inputs(X, tokeniser)
    vocabulary = Vocabulary.learn(Y, tokeniser)
    sequences, inputs = vocabulary.encode(Y), reader.read(X)
    exploded = Sequences(np.arange(len(sequences.sample)), sequences.length, sequences.tokens)

    def epoch(inputs, sequences):
        network = new_scorer(LSTM(), reader, vocabulary, inputs, device="cpu", seed=0).network
        trie = Trie.of(sequences, len(inputs))
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
        order = rng.permutation(len(inputs))

        def run():
            for first in range(0, len(order), 15):
                rows = order[first : first + 15]
                optimizer.zero_grad()
                memory = encode_inputs(network, inputs, rows)
                network.training_loss(memory, trie.take(rows), "sequence").backward()
                optimizer.step()

        return seconds(run, repeats=2)

    on_trees = epoch(inputs, sequences)
    on_rows = epoch(inputs.part(sequences.sample), exploded)
    size = float(np.mean([len(y) for y in Y]))
    return {
        "mean_set_size": size,
        "on_trees": on_trees,
        "on_rows": on_rows,
        "ratio": on_rows / on_trees,
    }


def memory_ratio(model, X):
    """Peak memory of a prediction besides its answers, for 8 times as many samples."""

    def peak(samples):
        tracemalloc.start()
        answers = model.predict(samples)
        held, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del answers
        return top - held

    peak(X[:10])  # the first call loads modules
    few, many = peak(X), peak(X * 8)
    return {"samples": len(X), "peak": few, "peak_of_8_times_as_many": many, "ratio": many / few}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, no file")
    quick = parser.parse_args().quick
    n_samples, max_steps = (N_SAMPLES // 10, 60) if quick else (N_SAMPLES, 600)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", TruncationWarning)
    X, Y = substrings(n_samples, random_state=0)
    model = SequenceSetGenerator(
        "lstm", training=Training(max_steps=max_steps, verbose=False), random_state=0
    ).fit(X, Y)
    results = {
        "prediction, in batches / one prefix at a time (target >= 20)": prediction_ratio(model, X),
        "training epoch, rows / trees (target >= 2)": training_ratio(n_samples),
        "prediction memory besides the answers, 8n / n samples (target about 1)": memory_ratio(
            model, X
        ),
    }
    for name, figures in results.items():
        print(f"{name}: {figures['ratio']:.2f}")
    if quick:
        return
    about = {
        "command": "python benchmarks/sequences.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": 1,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({**about, "results": results}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
