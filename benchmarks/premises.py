"""How well and how fast sets of premises are chosen, beside counting and hand-made features.

Run: python -m benchmarks.premises            (writes benchmarks/results/premises.json)
     python -m benchmarks.premises --table    (the stored results, as Markdown)
     python -m benchmarks.premises --development   (on training conjectures alone; writes nothing)

The data are 5,000 conjectures of the Mizar library with about 16 statements each, half of which a
proof needs. Models learn from the first 4,000 and are tested on the last 1,000, in the order of the
file. All settings were chosen on the first 4,000. The scale check is on made-up lists: 10,000
samples with 1,000 candidates each. Times are CPU seconds of one process with one thread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.sequence_cell import version_of
from benchmarks.sequence_data import ROOT
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_limits

from setlearn import SetSelector
from setlearn.metrics import mean_f1
from setlearn.rules import RiskControl, Threshold, TopK

DATA = Path(os.environ.get("SETLEARN_DATA", ROOT / "../shared/data")) / "deepmath.jsonl.gz"
RESULTS = ROOT / "benchmarks" / "results" / "premises.json"
N_TRAIN = 4000
N_DEVELOPED = 3200
"""Of the training conjectures, those to learn from while settings are chosen."""

Sample = tuple[str, list[str]]
"""A conjecture, and the statements that may be needed for its proof."""
Sets = Sequence[frozenset[str]]


def conjectures() -> tuple[list[Sample], list[frozenset[str]]]:
    """All conjectures with their statements, and the statements that are needed."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        formulas = json.loads(next(file))["formulas"]
        rows = [json.loads(line) for line in file]
    X = [(row["query"], [formulas[k] for k in row["candidates"]]) for row in rows]
    return X, [frozenset(formulas[k] for k in row["chosen"]) for row in rows]


# --- baselines


class Counting:
    """How often a statement was needed before, for other conjectures."""

    def fit(self, X: Sequence[Sample], y: Sets) -> Counting:
        self.listed = Counter(each for _, listed in X for each in listed)
        self.needed = Counter(each for chosen in y for each in chosen)
        return self

    def shares(self, listed: Sequence[str], own: frozenset[str] | None = None) -> list[float]:
        """The share of each statement; what its own conjecture needs does not count."""
        is_new = own is None
        return [
            (self.needed[each] - (not is_new and each in (own or ())) + 1)
            / (self.listed[each] - (not is_new) + 2)
            for each in listed
        ]


def hand_made_features(sample: Sample, shares: Sequence[float]) -> np.ndarray:
    """Fifteen numbers per statement that anyone would try first."""
    query, listed = sample
    asked = set(query.split())
    words = [set(each.split()) for each in listed]
    common = Counter(word for each in words for word in each)
    rows = []
    for place, (text, own) in enumerate(zip(listed, words, strict=True)):
        shared = own & asked
        rare = sum(1 / common[word] for word in shared)
        rows.append(
            [
                shares[place],
                len(shared),
                len(shared) / len(own),
                len(shared) / len(asked),
                len(shared) / len(own | asked),
                rare,
                rare / len(own),
                len(text.split()),
                len(query.split()),
                len(text.split()) / len(query.split()),
                len(own),
                np.mean([len(own & other) / len(own | other) for other in words]),
            ]
        )
    matrix = np.array(rows)
    ranks = matrix[:, [0, 4, 5]].argsort(axis=0).argsort(axis=0) / len(rows)
    return np.hstack([matrix, ranks])


def hand_made(X: list[Sample], y: Sets, X_test: list[Sample]) -> dict[str, list[frozenset[str]]]:
    """Gradient boosting on hand-made features, at 0.5 and at a tuned cut."""
    counting = Counting().fit(X, y)
    matrices = [
        hand_made_features(sample, counting.shares(sample[1], own))
        for sample, own in zip(X, y, strict=True)
    ]
    features = np.concatenate(matrices)
    right = np.array(
        [each in own for (_, listed), own in zip(X, y, strict=True) for each in listed]
    )
    groups = np.repeat(np.arange(len(X)), [len(listed) for _, listed in X])
    learner = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, random_state=0)
    folds = [(np.flatnonzero(groups % 5 != k), np.flatnonzero(groups % 5 == k)) for k in range(5)]
    held_out = cross_val_predict(learner, features, right, cv=folds, method="predict_proba")[:, 1]
    learner.fit(features, right)
    new = [hand_made_features(sample, counting.shares(sample[1])) for sample in X_test]
    scores = [learner.predict_proba(matrix)[:, 1] for matrix in new]
    ends = np.cumsum([len(listed) for _, listed in X])[:-1]
    cut = tuned_cut(np.split(held_out, ends), X, y)
    return {
        "hand-made features": kept(scores, X_test, 0.5),
        "hand-made features, tuned cut": kept(scores, X_test, cut),
    }


def counting(X: list[Sample], y: Sets, X_test: list[Sample]) -> dict[str, list[frozenset[str]]]:
    """Counts, at 0.5 and at a tuned cut."""
    model = Counting().fit(X, y)
    own = [np.array(model.shares(listed, s)) for (_, listed), s in zip(X, y, strict=True)]
    new = [np.array(model.shares(listed)) for _, listed in X_test]
    return {
        "counting": kept(new, X_test, 0.5),
        "counting, tuned cut": kept(new, X_test, tuned_cut(own, X, y)),
    }


def tuned_cut(scores: Sequence[np.ndarray], X: list[Sample], y: Sets) -> float:
    cuts = np.linspace(0.05, 0.95, 37)
    return float(max(cuts, key=lambda cut: mean_f1(y, kept(scores, X, cut))))


def kept(scores: Sequence[np.ndarray], X: list[Sample], cut: float) -> list[frozenset[str]]:
    """Statements above the cut; where none is, the best one."""
    return [
        frozenset(listed[k] for k in np.flatnonzero(row >= min(cut, row.max())))
        for (_, listed), row in zip(X, scores, strict=True)
    ]


# --- measurements


def with_error(values: np.ndarray) -> list[float]:
    return [float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))]


def quality(X: list[Sample], true: Sets, predicted: Sets) -> dict[str, list[float]]:
    """Means over samples, with standard errors."""
    rows = list(zip(X, true, predicted, strict=True))
    f1 = np.array([mean_f1([right], [answer]) for _, right, answer in rows])
    accuracy = np.array([1 - len(right ^ answer) / len(x[1]) for x, right, answer in rows])
    recall = np.array([len(right & answer) / len(right) for _, right, answer in rows if right])
    precision = np.array([len(right & answer) / len(answer) for _, right, answer in rows if answer])
    size = np.array([len(answer) for *_, answer in rows], dtype=float)
    return {
        "f1": with_error(f1),
        "accuracy": with_error(accuracy),
        "precision": with_error(precision),
        "recall": with_error(recall),
        "found": share_found(true, predicted),
        "kept": with_error(size),
    }


def share_found(true: Sets, predicted: Sets) -> list[float]:
    """Of all right statements together, the share that is kept, with its standard error."""
    shared = np.array([len(right & answer) for right, answer in zip(true, predicted, strict=True)])
    right = np.array([len(each) for each in true])
    share = shared.sum() / right.sum()
    return [float(share), float(np.sqrt(((shared - share * right) ** 2).sum()) / right.sum())]


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def premises(X: list[Sample], y: Sets, X_test: list[Sample], true: Sets) -> dict[str, Any]:
    """All systems on the same conjectures."""
    systems = {"all candidates": quality(X_test, true, [frozenset(listed) for _, listed in X_test])}
    for baseline in (counting, hand_made):
        for name, predicted in baseline(X, y, X_test).items():
            systems[name] = quality(X_test, true, predicted)
    fit_s, model = timed(lambda: SetSelector(random_state=0, verbose=False).fit(X, y))
    predict_s, predicted = timed(lambda: model.predict(X_test))
    systems["SetSelector"] = quality(X_test, true, predicted)
    half = model.with_rule(Threshold(0.5)).predict(X_test)
    systems["SetSelector, Threshold(0.5)"] = quality(X_test, true, half)
    return {
        "systems": systems,
        "rule": repr(model.rule_),
        "fit_cpu_s": fit_s,
        "candidates_per_cpu_s": sum(len(listed) for _, listed in X_test) / predict_s,
        "recall": recall_promised(model, X_test, true),
        "completion": completion(model, X_test, true),
    }


def recall_promised(model: SetSelector, X: list[Sample], true: Sets) -> dict[str, Any]:
    """RiskControl(0.9), and the smallest fixed numbers that find as many."""
    promised = quality(X, true, model.with_rule(RiskControl(0.9)).predict(X))
    compared = {"RiskControl(0.9)": promised}
    fixed = {k: quality(X, true, model.with_rule(TopK(k)).predict(X)) for k in range(1, 61)}
    for name, wanted in (("the same recall", "recall"), ("as many found", "found")):
        enough = [k for k, each in fixed.items() if each[wanted][0] >= promised[wanted][0]]
        compared[f"TopK({enough[0]}), {name}"] = fixed[enough[0]]
    return compared


def completion(model: SetSelector, X: list[Sample], true: Sets) -> dict[str, list[float]]:
    """F1 on the rest of each set when a random half is known, and as predicted without it."""
    rng = np.random.default_rng(0)
    pairs = []
    for x, right in zip(X, true, strict=True):
        if len(right) > 1:
            part = rng.choice(sorted(right), len(right) // 2, replace=False).tolist()
            pairs.append((x, frozenset(part), right - frozenset(part)))
    inputs, known, rest = (list(part) for part in zip(*pairs, strict=True))
    informed = model.complete(inputs, known)
    blind = [p - k for p, k in zip(model.predict(inputs), known, strict=True)]
    with_known, without = (
        np.array([mean_f1([r], [a]) for r, a in zip(rest, answers, strict=True)])
        for answers in (informed, blind)
    )
    return {
        "with complete": with_error(with_known),
        "predicted without": with_error(without),
        "difference": with_error(with_known - without),
    }


def scale(n_samples: int = 10_000, n_candidates: int = 1000) -> dict[str, float]:
    """Fit on made-up lists: a query has three words, and candidates with one of them are right."""
    rng = np.random.default_rng(0)
    words = [f"word{k}" for k in range(3000)]
    pool = [" ".join(rng.choice(words, 6)) for _ in range(50_000)]
    X, y = [], []
    for _ in range(n_samples):
        asked = set(rng.choice(words, 3))
        listed = [pool[k] for k in rng.choice(len(pool), n_candidates, replace=False)]
        X.append((" ".join(sorted(asked)), listed))
        y.append({each for each in listed if asked & set(each.split())})
    fit_s, model = timed(lambda: SetSelector(random_state=0, verbose=False).fit(X, y))
    predict_s, predicted = timed(lambda: model.predict(X[:200]))
    return {
        "samples": n_samples,
        "candidates": n_candidates,
        "fit_cpu_s": fit_s,
        "candidates_per_cpu_s": 200 * n_candidates / predict_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "f1_on_training_samples": mean_f1(y[:200], predicted),
    }


# --- the command


def table(report: dict[str, Any]) -> str:
    rows = ["| | mean F1 | accuracy | precision | recall | found | kept |", "|---" * 7 + "|"]
    found = report["premises"]
    for name, cell in {**found["systems"], **found["recall"]}.items():
        figures = [
            "{:.3f} ± {:.3f}".format(*cell[name])
            for name in ("f1", "accuracy", "precision", "recall", "found")
        ]
        rows.append(f"| {name} | {' | '.join(figures)} | {cell['kept'][0]:.2f} |")
    for name, (mean, error) in found["completion"].items():
        rows.append(f"| the other half, {name} | {mean:.3f} ± {error:.3f} | | | | | |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the stored results")
    parser.add_argument("--development", action="store_true", help="leave test conjectures alone")
    parser.add_argument("--no-scale", action="store_true", help="leave out the check of the scale")
    asked = parser.parse_args()
    if asked.table:
        print(table(json.loads(RESULTS.read_text())))
        return
    X, y = conjectures()
    with threadpool_limits(1):
        if asked.development:
            parts = X[:N_DEVELOPED], y[:N_DEVELOPED], X[N_DEVELOPED:N_TRAIN], y[N_DEVELOPED:N_TRAIN]
        else:
            parts = X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
        report: dict[str, Any] = {"premises": premises(*parts)}
        print(table(report))
        print({k: v for k, v in report["premises"].items() if k not in ("systems", "recall")})
        if not asked.no_scale and not asked.development:
            report["scale"] = scale()
            print(report["scale"])
    if not asked.development:
        report |= {
            "command": "python -m benchmarks.premises",
            "commit": version_of(["src"]),
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
        }
        RESULTS.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
