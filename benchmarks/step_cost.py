"""What a training step and a prediction cost, by the length of inputs and of sequences.

Run: python -m benchmarks.step_cost   (writes benchmarks/results/step_cost.json)

One thread, CPU times, the best of several repetitions. A ratio compares the cost per token with
that of the shortest inputs or sequences of the table: 1 means that the cost is linear.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import time
from typing import Any

import numpy as np
import torch
from benchmarks.sequence_cell import version_of
from benchmarks.sequence_data import ROOT

from setlearn.estimators.sequence_training import new_scorer
from setlearn.networks import Transducer, Transformer
from setlearn.scorers.sequences import encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.vocabulary import Tokeniser, Vocabulary

RESULTS = ROOT / "benchmarks" / "results" / "step_cost.json"
NETWORKS = {"transformer": Transformer(), "transducer": Transducer()}
INPUT_LENGTHS = (125, 250, 500, 1000)
OUTPUT_LENGTHS = (12, 25, 50, 100)
USUAL_INPUT, USUAL_OUTPUT = 125, 12
BATCH = 16
N_WORDS = 500
REPEATS = 3


def samples(input_length: int, output_length: int) -> tuple[list[list[str]], list[Any]]:
    """Return inputs of words, and sets of two stretches of them."""
    rng = np.random.RandomState(0)
    words = np.array([f"w{k}" for k in range(N_WORDS)])
    X = [words[rng.randint(N_WORDS, size=input_length)].tolist() for _ in range(BATCH)]
    Y = []
    for x in X:
        starts = rng.choice(input_length - output_length + 1, 2, replace=False)
        Y.append(frozenset(tuple(x[start : start + output_length]) for start in starts))
    return X, Y


def cost(network_name: str, input_length: int, output_length: int) -> dict[str, float]:
    """Return the CPU times of a training step and of reading the inputs for a prediction."""
    X, Y = samples(input_length, output_length)
    tokeniser = Tokeniser("word")
    reader, vocabulary = learn_inputs(X, tokeniser), Vocabulary.learn(Y, tokeniser)
    inputs, sequences = reader.read(X), vocabulary.encode(Y)
    recipe = NETWORKS[network_name]
    network = new_scorer(recipe, reader, vocabulary, inputs, device="cpu", seed=0).network
    targets = network.training_trie(inputs, sequences, np.random.RandomState(0))
    rows = np.arange(BATCH)

    def step() -> None:
        network.train()
        network.zero_grad()
        memory = encode_inputs(network, inputs, rows)
        network.training_loss(memory, targets, "node").backward()

    def read() -> None:
        network.eval()
        with torch.no_grad():
            encode_inputs(network, inputs, rows)

    return {"step_seconds": cpu_time(step), "read_seconds": cpu_time(read)}


def cpu_time(run: Any) -> float:
    """Return the least CPU time of several runs, after one that does not count."""
    times = []
    for _ in range(REPEATS + 1):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times[1:])


def rows_of(network: str, by_input: bool) -> list[dict[str, Any]]:
    """Return the costs for all lengths, with the cost per token as a ratio to the first."""
    lengths = INPUT_LENGTHS if by_input else OUTPUT_LENGTHS
    rows = []
    for length in lengths:
        pair = (length, USUAL_OUTPUT) if by_input else (USUAL_INPUT, length)
        row = {"network": network, "input": pair[0], "output": pair[1], **cost(network, *pair)}
        per_token = row["step_seconds"] / length
        first = rows[0]["step_seconds"] / lengths[0] if rows else per_token
        rows.append({**row, "per_token": per_token / first})
        print(
            f"{network}, inputs of {pair[0]}, sequences of {pair[1]}: step "
            f"{row['step_seconds']:.3f} s, reading {row['read_seconds']:.3f} s, "
            f"per token {per_token / first:.2f}",
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--no-file", action="store_true", help="print only")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [
        row for name in options.networks for kind in (True, False) for row in rows_of(name, kind)
    ]
    if options.no_file:
        return
    report = {
        "command": "python -m benchmarks.step_cost",
        "version": version_of(("src",)),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": 1,
        "batch": BATCH,
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "rows": [
            {name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()}
            for row in rows
        ],
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
