"""One cell of the benchmark of real sequences: one system on one data set with one seed.

Run by `benchmarks.real_sequences`, each cell in a process of its own; prints the figures as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from benchmarks.sequence_data import DATA_SETS, ROOT, Tokens, benchmark_split, development_split
from benchmarks.sequence_systems import SYSTEMS

N_TRAINING_SAMPLES = 200


def run_cell(data: str, system: str, seed: int, split: str) -> dict[str, Any]:
    """Fit a system, predict, and return the figures.

    Parameters
    ----------
    data, system : str
        Keys of `DATA_SETS` and `SYSTEMS`.
    seed : int
        Draws the samples and seeds the system.
    split : {"benchmark", "development"}

    Returns
    -------
    figures : dict
    """
    from setlearn.metrics import exact_match, mean_f1

    train, test = (development_split if split == "development" else benchmark_split)(data, seed)
    model = SYSTEMS[system].build(data, seed)
    started = cpu_seconds()
    model.fit(train)
    fitted = cpu_seconds()
    predicted = model.predict(test)
    done = cpu_seconds()
    few = train.part(range(min(N_TRAINING_SAMPLES, len(train))))
    several = [i for i, elements in enumerate(test.Y) if len(elements) > 1]
    figures = {
        "n_train": len(train),
        "n_test": len(test),
        "f1": mean_f1(test.Y, predicted),
        "exact": exact_match(test.Y, predicted),
        "wrongly_empty": sum(bool(y) and not p for y, p in zip(test.Y, predicted, strict=True)),
        "n_several": len(several),
        "f1_several": mean_f1([test.Y[i] for i in several], [predicted[i] for i in several])
        if several
        else None,
        "train_f1": mean_f1(few.Y, model.predict(few)),
        "word_error_rate": error_rate(test.Y, model.top(test))
        if DATA_SETS[data].has_word_errors
        else None,
        "fit_seconds": fitted - started,
        "predict_seconds": done - fitted,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "version": version_of(SYSTEMS[system].sources),
        "settings": model.settings,
    }
    return {name: round(v, 4) if isinstance(v, float) else v for name, v in figures.items()}


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those it has waited for."""
    return sum(os.times()[:4])


def error_rate(Y: Sequence[frozenset[Tokens]], answers: Sequence[Tokens | None]) -> float:
    """Return the share of samples whose best answer is not in the set."""
    return sum(answer not in y for y, answer in zip(Y, answers, strict=True)) / len(Y)


def version_of(sources: Sequence[str]) -> str:
    """Return the last commit that changed these files, with a + if they have changed since."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments, "--", *sources]
        return subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


def main() -> None:
    warnings.simplefilter("ignore")
    data, system, seed, split = sys.argv[1:]
    print(json.dumps(run_cell(data, system, int(seed), split)))


if __name__ == "__main__":
    main()
