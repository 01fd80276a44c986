"""Sets of labels out of hundreds to ten thousands: setlearn and others.

Run: pip install -e ".[bench]"
     python -m benchmarks.many_labels           (writes benchmarks/results/many_labels.json)
     python -m benchmarks.many_labels --table   (the stored results, as Markdown)

The others list labels with scores. Where to cut their lists is tuned for mean F1 on a fourth of
the training rows, by a fit on the rest, and the cut is used with a fit on all training rows. Each
fit runs in a process of its own with one thread. What is stored is not run again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from benchmarks.growth_data import words_and_labels
from benchmarks.sequence_cell import version_of
from benchmarks.sequence_data import ROOT, data_folder
from benchmarks.yardsticks.cut import Cut
from benchmarks.yardsticks.label_trees import SYSTEMS, Rankings
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold

from setlearn import SetClassifier
from setlearn.learners import ManyLabels
from setlearn.metrics import mean_f1

RESULTS = ROOT / "benchmarks" / "results" / "many_labels.json"
Data = tuple[Any, sparse.csr_array, Any, sparse.csr_array]
"""Inputs and an indicator to train on, and the same to test on."""

FOLDS_OF_COREL = 5
SYNTHETIC_ROWS, SYNTHETIC_LABELS = 15_000, 50_000
N_TEST_CONJECTURES = 1000


def bibtex(split: int) -> Data:
    """Tags of publications, with the split of its authors."""
    stored = np.load(data_folder() / "bibtex.npz")
    X = sparse.csr_array(
        (np.ones(len(stored["X_indices"])), stored["X_indices"], stored["X_indptr"]),
        shape=tuple(stored["X_shape"]),
    )
    indices, bounds = stored["Y_indices"], stored["Y_indptr"]
    shape = (X.shape[0], int(stored["n_labels"]))
    Y = sparse.csr_array((np.ones(len(indices), dtype=int), indices, bounds), shape=shape)
    is_test = stored["is_test"].astype(bool)
    return X[~is_test], Y[~is_test], X[is_test], Y[is_test]


def corel5k(split: int) -> Data:
    """Words that describe photographs: one fold of the part that is at hand."""
    folder = data_folder() / "arff"
    labels = {label.get("name") for label in ElementTree.parse(folder / "Corel5k.xml").getroot()}
    lines = (folder / "Corel5k-test-sparse.arff").read_text().splitlines()
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    rows = [line.strip("{}").split(",") for line in lines if line.startswith("{")]
    entries = [(row, *pair.split()) for row, pairs in enumerate(rows) for pair in pairs]
    row, column, value = np.array(entries, dtype=float).T
    table = sparse.csc_array((value, (row, column)), shape=(len(rows), len(names)))
    is_label = np.array([name in labels for name in names])
    X, Y = sparse.csr_array(table[:, ~is_label]), sparse.csr_array(table[:, is_label], dtype=int)
    folds = KFold(FOLDS_OF_COREL, shuffle=True, random_state=0).split(X)
    train, test = list(folds)[split]
    return X[train], Y[train], X[test], Y[test]


def synthetic(split: int) -> Data:
    """Sparse words, and three to five of 50,000 labels, whose frequencies follow Zipf's law."""
    X, Y, X_test, Y_test = words_and_labels(SYNTHETIC_ROWS, SYNTHETIC_LABELS, seed=1 + split)
    return X, Y.astype(int), X_test, Y_test.astype(int)


def premises(split: int) -> Data:
    """The formulas that a proof needs, as labels of the conjecture."""
    with gzip.open(data_folder() / "deepmath.jsonl.gz", "rt") as file:
        file.readline()
        records = [json.loads(line) for line in file]
    sets = [record["chosen"] for record in records]
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    Y = sparse.csr_array((np.ones(len(rows), dtype=int), (rows, columns)))
    words = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    X = sparse.csr_array(words.fit_transform(record["query"] for record in records))
    n = len(sets) - N_TEST_CONJECTURES
    return X[:n], Y[:n], X[n:], Y[n:]


DATA: dict[str, tuple[Callable[[int], Data], int]] = {
    "bibtex": (bibtex, 1),
    "Corel5k": (corel5k, FOLDS_OF_COREL),
    "premises": (premises, 1),
    "synthetic": (synthetic, 1),
}
"""Each data set, and its number of splits."""

OURS: dict[str, Callable[[], SetClassifier]] = {
    "setlearn": lambda: SetClassifier(random_state=0, verbose=False),
    "setlearn, ManyLabels": lambda: SetClassifier(ManyLabels(), random_state=0, verbose=False),
}


def answers(system: str, X: Any, Y: sparse.csr_array, X_test: Any) -> list[frozenset[int]]:
    """The sets that a system predicts."""
    if system in OURS:
        predicted = sparse.csr_array(OURS[system]().fit(X, Y).predict(X_test))
        return sets_of(predicted)
    fit_and_rank = SYSTEMS[system]
    order = np.random.RandomState(0).permutation(X.shape[0])
    held_out, others = order[: len(order) // 4], order[len(order) // 4 :]
    cut = Cut().fit(fit_and_rank(X[others], Y[others], X[held_out]), sets_of(Y[held_out]))
    rankings: Rankings = fit_and_rank(X, Y, X_test)
    return cut.apply(rankings)


def sets_of(Y: sparse.csr_array) -> list[frozenset[int]]:
    Y = sparse.csr_array(Y)
    return [frozenset(part.tolist()) for part in np.split(Y.indices, Y.indptr[1:-1])]


def run_cell(name: str, split: int, system: str, path: Path) -> None:
    """Write the F1 of each test sample, the CPU seconds of everything, and the memory."""
    X, Y, X_test, Y_test = DATA[name][0](split)
    start = time.process_time()
    predicted = answers(system, X, Y, X_test)
    seconds = time.process_time() - start
    true = sets_of(Y_test)
    values = [mean_f1([a], [b]) for a, b in zip(true, predicted, strict=True)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    path.write_text(json.dumps({"f1": values, "cpu_s": seconds, "peak_mb": peak}))
    print(f"{name} {split} {system}: {np.mean(values):.4f} in {seconds:.0f} s, {peak:.0f} MB")


def in_own_process(name: str, split: int, system: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.json"
        command = [sys.executable, "-m", "benchmarks.many_labels", "--cell"]
        done = subprocess.run(
            [*command, name, str(split), system, str(path)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            cwd=ROOT,
            check=False,
        )
        if not path.exists():
            return {"failed": f"ended with exit code {done.returncode}"}
        cell: dict[str, Any] = json.loads(path.read_text())
    cell["f1"] = [round(value, 4) for value in cell["f1"]]
    cell["commit"] = version_of(["src"])
    return cell


def table(cells: dict[str, Any]) -> str:
    """Mean F1 with standard errors, and by how much the first system is ahead of each other."""
    lines = [
        "| data | system | mean F1 | setlearn is ahead by | CPU s | peak MB |",
        "|---" * 6 + "|",
    ]
    for name, (_, n_splits) in DATA.items():
        first = None
        for system in [*OURS, *SYSTEMS]:
            parts = [cells.get(f"{name}/{split}/{system}") for split in range(n_splits)]
            found = [part for part in parts if part and "f1" in part]
            if len(found) < n_splits:
                failed = {part["failed"] for part in parts if part and "failed" in part}
                if failed:
                    lines.append(f"| {name} | {system} | {', '.join(failed)} | | | |")
                continue
            values = np.concatenate([part["f1"] for part in found])
            first = values if first is None else first
            ahead = first - values
            lines.append(
                f"| {name} | {system} | {values.mean():.3f} ± {error_of(values):.3f} | "
                f"{ahead.mean():+.3f} ± {error_of(ahead):.3f} | "
                f"{np.mean([part['cpu_s'] for part in found]):.0f} | "
                f"{max(part['peak_mb'] for part in found):.0f} |"
            )
    return "\n".join(lines)


def error_of(values: np.ndarray) -> float:
    """The standard error of the mean over test samples."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of data sets")
    parser.add_argument("--again", action="store_true", help="run stored cells again")
    parser.add_argument("--table", action="store_true", help="only print the stored results")
    asked = parser.parse_args()
    if asked.cell:
        name, split, system, path = asked.cell
        run_cell(name, int(split), system, Path(path))
        return
    cells = json.loads(RESULTS.read_text())["cells"] if RESULTS.exists() else {}
    for name, (_, n_splits) in DATA.items():
        for split in range(n_splits):
            for system in [*OURS, *SYSTEMS]:
                key = f"{name}/{split}/{system}"
                stored = "f1" in cells.get(key, {}) and not asked.again
                if asked.table or stored or not name.startswith(tuple(asked.only)):
                    continue
                cells[key] = in_own_process(name, split, system)
                report = {"command": "python -m benchmarks.many_labels", "cells": cells}
                new = RESULTS.with_suffix(".new")
                new.write_text(json.dumps(report) + "\n", encoding="utf-8")
                new.replace(RESULTS)
    print(table(cells))


if __name__ == "__main__":
    main()
