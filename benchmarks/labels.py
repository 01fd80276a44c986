"""What setlearn costs on top of NumPy and of the learner, for label sets.

Run by ``make bench``; it takes some minutes. Prints a table and writes it to
``benchmarks/results/labels.json``. Only ratios of times measured in the same run can be compared.
Times are CPU times of one process with one thread (``OMP_NUM_THREADS=1``, as in the Makefile), so
that other work on the machine changes them little.
"""

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tracemalloc
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from setlearn import SetClassifier
from setlearn.learners import SigmoidNetwork
from setlearn.networks import Training
from setlearn.nodes import Nodes
from setlearn.rules import Margin, Threshold, TopK
from setlearn.scorers.classifiers import class_probabilities

ROOT = Path(__file__).resolve().parents[1]
LAM = 0.1


@dataclass
class Ratio:
    """One measurement compared with another."""

    part: str
    what: str
    against: str
    ratio: float
    target: str
    ours: float
    theirs: float
    unit: str
    met: bool | None

    def __str__(self):
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        figures = f"{self.ratio:9.3g} {self.target:>8} {verdict:<7}"
        return f"{self.what:<51} {figures} {self.ours:10.4g} {self.theirs:10.4g} {self.unit}"


def at_most(limit, part, what, against, ours, theirs, unit="s"):
    ratio = ours / theirs
    return Ratio(part, what, against, ratio, f"≤ {limit}", ours, theirs, unit, ratio <= limit)


def interleaved(repeats, *calls):
    """Median CPU seconds of each call, in turns so that a busy moment affects all of them."""
    seconds = [[] for _ in calls]
    for call in calls:
        call()  # so that caches and lazy imports are not measured
    for _ in range(repeats):
        for call, taken in zip(calls, seconds, strict=True):
            start = process_time()
            call()
            taken.append(process_time() - start)
    return [median(taken) for taken in seconds]


# --- (a) the rule against the bare expression and the literal loop


def margin_speed(n, n_labels, repeats):
    scores = peaked_scores(n, n_labels)
    nodes, rule = Nodes.roots(scores), Margin(LAM)
    lam = np.float32(LAM)
    ours, bare = interleaved(
        repeats,
        lambda: rule.accept(nodes),
        lambda: scores > scores.max(1, keepdims=True) - lam,
    )
    shape = f"{n:,} × {n_labels:,}"
    yield at_most(3, "margin", f"Margin.accept, {shape} float32", "bare NumPy", ours, bare)

    reference = reference_algorithms()
    sample = [row.astype(float).tolist() for row in scores[:20]]
    (literal,) = interleaved(3, lambda: [reference.algorithm_1(row, LAM) for row in sample])
    literal, ours = literal / len(sample), ours / n
    yield Ratio(
        "margin",
        "literal loop ÷ Margin.accept, per row",
        "Algorithm 1 of tests/reference on 20 rows",
        literal / ours,
        "≥ 100",
        ours * 1e6,
        literal * 1e6,
        "µs",
        literal / ours >= 100,
    )


def peaked_scores(n, n_labels):
    """Scores of which a few are high: about 15 of 1,000 lie within λ of the best."""
    return np.random.default_rng(0).random((n, n_labels), dtype=np.float32) ** 8


def reference_algorithms():
    spec = spec_from_file_location("reference", ROOT / "tests" / "reference" / "labels.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- (b) predict against the learner's own predict_proba


def predict_cost(n_test, repeats):
    X, Y = make_multilabel_classification(
        1000 + n_test, n_features=100, n_classes=30, n_labels=3, random_state=0
    )
    learners = [
        (LogisticRegression(max_iter=1000), "marginal"),
        (LogisticRegression(max_iter=1000), "softmax"),
        (HistGradientBoostingClassifier(max_iter=30), "marginal"),
        (RandomForestClassifier(100), "marginal"),
        (MLPClassifier((100,), early_stopping=True), "marginal"),
        (KNeighborsClassifier(), "marginal"),
        (SigmoidNetwork(training=Training(max_steps=500)), "marginal"),
    ]
    as_sets = [frozenset(np.flatnonzero(row).tolist()) for row in Y[:1000]]
    X_test = X[1000:]
    for learner, scores in learners:
        classifiers = [
            SetClassifier(
                learner, Margin(), scores=scores, cv=2, random_state=0, verbose=False
            ).fit(X[:1000], targets)
            for targets in (as_sets, Y[:1000])
        ]
        alone, sets, indicators = interleaved(
            repeats,
            learner_alone(classifiers[0].scorer_, X_test),
            lambda c=classifiers[0]: c.predict(X_test),
            lambda c=classifiers[1]: c.predict(X_test),
        )
        name = f"{type(learner).__name__}, {scores}"
        for kind, ours in [("sets", sets), ("indicator", indicators)]:
            ours, theirs = ours / n_test * 1e6, alone / n_test * 1e6
            yield at_most(1.1, "predict", f"{name}, {kind}", "predict_proba", ours, theirs, "µs")


def learner_alone(scorer, X):
    """The probabilities of the same fitted models, and nothing else."""
    if hasattr(scorer, "models_"):
        return lambda: [class_probabilities(model, X) for model in scorer.models_]
    return lambda: scorer.model_.predict_proba(X)


# --- (c) memory of the rules


def memory_of_rules(n, n_labels):
    rules = {
        "Margin(0.1).accept": (Margin(LAM), "accept"),
        "Margin(0.1, rho=0.2).accept": (Margin(LAM, rho=0.2), "accept"),
        'Margin(2.0, space="log").accept': (Margin(2.0, space="log"), "accept"),
        "Threshold(0.5).accept": (Threshold(0.5), "accept"),
        "TopK(5).accept": (TopK(5), "accept"),
        "Margin().fit": (Margin(), "fit"),
        'Threshold("tuned").fit': (Threshold("tuned"), "fit"),
    }
    for name, (rule, verb) in rules.items():
        # The growth when n doubles is the part that is not bounded by a chunk.
        small, large = (extra_bytes(rule, verb, size, n_labels) for size in (n, 2 * n))
        growth = (large - small) / (n * n_labels)
        yield Ratio(
            "memory",
            f"{name}, growth per score",
            "one byte per score",
            growth,
            "≤ 0.5",
            large / 2**20,
            2 * n * n_labels / 2**20,
            "MiB",
            growth <= 0.5,
        )


def extra_bytes(rule, verb, n, n_labels):
    """Peak memory that the call allocates, without the mask that it returns."""
    nodes = Nodes.roots(peaked_scores(n, n_labels))
    right = nodes.probabilities > 0.9
    gc.collect()
    tracemalloc.start()
    answer = rule.accept(nodes) if verb == "accept" else rule.fit(nodes, right)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - (answer.nbytes if verb == "accept" else 0)


# --- (d) imports in fresh processes


def import_cost(repeats):
    statements = [
        "import sklearn",
        "import setlearn",
        "from sklearn.linear_model import LogisticRegression",
        "from setlearn import SetClassifier",
    ]
    seconds = {statement: [] for statement in statements}
    for _ in range(repeats):
        for statement in statements:
            seconds[statement].append(seconds_to_import(statement))
    sklearn, ours, regression, classifier = (median(seconds[s]) for s in statements)
    yield at_most(1.5, "import", "import setlearn", "import sklearn", ours, sklearn)
    yield at_most(
        1.5,
        "import",
        "from setlearn import SetClassifier",
        "from sklearn.linear_model import LogisticRegression",
        classifier,
        regression,
    )


def seconds_to_import(statement):
    program = (
        "from time import process_time; start = process_time()\n"
        f"{statement}\n"
        "end = process_time(); import sys; assert 'torch' not in sys.modules; print(end - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, no file")
    quick = parser.parse_args().quick
    scale = 10 if quick else 1
    parts = [
        ("(a) the rule", "ours", "theirs", margin_speed(100_000 // scale, 1000, 7)),
        ("(b) predict, per sample", "predict", "learner", predict_cost(10_000 // scale, 7)),
        (
            "(c) memory besides the answer",
            "peak",
            "n·L bytes",
            memory_of_rules(30_000 // scale, 1000),
        ),
        ("(d) fresh processes", "ours", "theirs", import_cost(7)),
    ]
    ratios = []
    for title, ours, theirs, part in parts:
        print(f"\n{title:<51} {'ratio':>9} {'target':>8} {'':<7} {ours:>10} {theirs:>10}")
        print("─" * 95)
        for ratio in part:
            print(ratio, flush=True)
            ratios.append(ratio)
    if quick:
        return
    packages = ["setlearn", "numpy", "scipy", "scikit-learn", "torch"]
    report = {
        "command": "make bench",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "cpus": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS"),
        "ratios": [asdict(ratio) for ratio in ratios],
    }
    target = ROOT / "benchmarks" / "results" / "labels.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    print(f"\nwritten to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
