"""What fits of label sets cost, and how good they are, beside plain learners with a tuned cut.

Run: python -m benchmarks.label_fits          (writes benchmarks/results/label_fits.json)
     python -m benchmarks.label_fits --only yeast bibtex --systems default
     python -m benchmarks.label_fits --exact  (who finds most sets exactly, asked for that)
     python -m benchmarks.label_fits --table  (the means of the stored results, as Markdown)

Each fit runs in a process of its own with one thread: CPU seconds without imports of scikit-learn,
and the peak memory of the process. The ratio compares CPU times of the same run. A plain learner
gets one cut for all labels, tuned by five-fold cross-validation, and at least the best label where
no training set is empty. Real data come with fixed splits that nothing was chosen on; for made-up
problems see `benchmarks.label_problems`.

With ``--exact``, the default with ``Auto(metric="exact")`` is compared with learners whose classes
are the sets of the training data, which is what suits the exact match best.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import arff
import numpy as np
import pandas as pd
from benchmarks.label_problems import PROBLEMS, problem
from benchmarks.sequence_cell import version_of
from benchmarks.sequence_data import ROOT
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MultiLabelBinarizer,
    Normalizer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

import setlearn
from setlearn import SetClassifier
from setlearn.datasets import load_benchmark
from setlearn.metrics import exact_match, mean_f1
from setlearn.rules import Auto, Threshold

DATA_FOLDER = Path(os.environ.get("SETLEARN_DATA", ROOT / "../shared/data"))
COREL5K_LABELS = DATA_FOLDER / "arff" / "Corel5k.xml"
RESULTS = ROOT / "benchmarks" / "results" / "label_fits.json"
PACKAGES = Path("/var/lib/apt/lists")
"""Where Debian keeps the descriptions and tags of its packages, after ``apt-get update``."""

MOST_MEMORY = 10e9
"""Peers that would need more bytes are not run."""
FOLDS = 5

Data = tuple[Any, Any, Any, Any]
"""Inputs and sets to train on, and inputs and sets to test on."""


# --- data


def generated(n_rows: int, n_features: int, n_labels: int) -> Data:
    """Bags of words and their topics, as scikit-learn generates them."""
    X, Y = make_multilabel_classification(
        n_rows + 1000, n_features=n_features, n_classes=n_labels, n_labels=4, random_state=0
    )
    return X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]


def bookmarks(n_rows: int) -> Data:
    """Sparse words and many tags, 20 per row: 500 words and 983 tags that share topics."""
    rng = np.random.RandomState(0)
    words, tags = rng.dirichlet(np.full(500, 0.05), 60), rng.dirichlet(np.full(983, 0.03), 60)
    topics = rng.dirichlet(np.full(60, 0.1), n_rows + 1000)
    X = sparse.csr_array((rng.poisson(24 * topics @ words) > 0).astype(float))
    Y = sparse.csr_array((rng.poisson(24 * topics @ tags) > 0).astype(int))
    return X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]


def bibtex() -> Data:
    """Tags of publications, on the authors' split."""
    data = load_benchmark("bibtex")
    Y = data.Y.toarray().astype(int)
    with np.load(DATA_FOLDER / "bibtex.npz") as stored:
        is_test = stored["is_test"]
    data.X.indices, data.X.indptr = (a.astype(np.int32) for a in (data.X.indices, data.X.indptr))
    return data.X[~is_test], Y[~is_test], data.X[is_test], Y[is_test]


def benchmark(name: str, split: int) -> Data:
    """One of several random splits, of which 70 % are for training."""
    data = load_benchmark(name)
    return divided(data.X, data.Y.toarray().astype(int), split)


def corel5k(split: int) -> Data:
    """Pictures as bags of image parts, with 374 words: the 500 rows that the authors test on."""
    with (DATA_FOLDER / "arff" / "Corel5k-test-sparse.arff").open() as file:
        table = arff.load(file, return_type=arff.LOD)
    names = [name for name, _ in table["attributes"]]
    rows = np.zeros((len(table["data"]), len(names)))
    for k, row in enumerate(table["data"]):
        for column, value in row.items():
            rows[k, column] = float(value)
    words = {label.get("name") for label in ElementTree.parse(COREL5K_LABELS).getroot()}
    is_label = np.array([name in words for name in names])
    Y = rows[:, is_label].astype(int)
    return divided(sparse.csr_array(rows[:, ~is_label]), Y[:, Y.any(axis=0)], split)


def divided(X: Any, Y: Any, split: int) -> Data:
    order = np.random.RandomState(split).permutation(len(Y))
    train, test = np.split(order, [int(0.7 * len(Y))])
    return X[train], Y[train], X[test], Y[test]


def package_fields() -> list[dict[str, str]]:
    """The fields of all Debian packages that have tags and a description, in random order."""
    listed = sorted(PACKAGES.glob("*_main_binary-*_Packages*"), key=lambda p: -p.stat().st_size)
    if not listed:
        raise FileNotFoundError(f"no package lists in {PACKAGES}; run apt-get update on Debian")
    reader = ["/usr/lib/apt/apt-helper", "cat-file", str(listed[0])]
    text = subprocess.run(reader, check=True, capture_output=True, text=True).stdout
    packages = []
    for entry in text.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in entry.splitlines():
            if line[:1] == " ":
                fields[name] += line
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if fields.get("Tag") and fields.get("Description"):
            packages.append(fields)
    return [packages[k] for k in np.random.RandomState(0).permutation(len(packages))]


def descriptions(n_rows: int | None) -> Data:
    """Names and short descriptions of Debian packages, and their tags."""
    packages = package_fields()
    texts = [f"{package['Package']} {package['Description']}" for package in packages]
    return tagged(texts, packages, n_rows)


def package_table(n_rows: int | None) -> Data:
    """Descriptions of Debian packages beside their section, their sizes and their needs."""
    packages = package_fields()
    columns = {
        "description": [package["Description"] for package in packages],
        "section": [package.get("Section", "") for package in packages],
        "priority": [package.get("Priority", "") for package in packages],
        "size": [float(package.get("Size", "nan")) for package in packages],
        "installed": [float(package.get("Installed-Size", "nan")) for package in packages],
        "needs": [float(package.get("Depends", "").count(",")) for package in packages],
    }
    return tagged(pd.DataFrame(columns), packages, n_rows)


def tagged(X: Any, packages: list[dict[str, str]], n_rows: int | None) -> Data:
    tags = [{tag.strip() for tag in p["Tag"].split(",") if tag.strip()} for p in packages]
    train, test = slice(2000, None if n_rows is None else 2000 + n_rows), slice(2000)
    return X[train], tags[train], X[test], tags[test]


DATA: dict[str, Callable[[], Data]] = {
    "415 × 72, 6 labels": partial(generated, 415, 72, 6),
    "4000 × 50, 30 labels": partial(generated, 4000, 50, 30),
    "16000 × 50, 30 labels": partial(generated, 16_000, 50, 30),
    "2000 sparse rows, 983 labels": partial(bookmarks, 2000),
    "12920 sparse rows, 983 labels": partial(bookmarks, 12_920),
    "2000 descriptions": partial(descriptions, 2000),
    "28303 descriptions": partial(descriptions, None),
    "2000 descriptions in a table": partial(package_table, 2000),
    "bibtex": bibtex,
    **{f"corel5k {k}": partial(corel5k, k) for k in range(3)},
    **{f"flags {k}": partial(benchmark, "flags", k) for k in range(10)},
    **{f"yeast {k}": partial(benchmark, "yeast", k) for k in range(3)},
    **{f"scene {k}": partial(benchmark, "scene", k) for k in range(3)},
    **{f"{name} {k}": partial(problem, name, k) for name in PROBLEMS for k in range(3)},
}


# --- systems


class Powerset:
    """A classifier whose classes are the distinct sets of the training data."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, Y: Any) -> Powerset:
        self.labels = None
        if isinstance(Y, list):
            self.labels = MultiLabelBinarizer()
            Y = self.labels.fit_transform(Y)
        self.sets, classes = np.unique(np.asarray(Y) > 0, axis=0, return_inverse=True)
        with warnings.catch_warnings():  # that there are many classes is known
            warnings.simplefilter("ignore", UserWarning)
            self.classifier.fit(X, classes)
        return self

    def predict(self, X: Any) -> Any:
        sets = self.sets[self.classifier.predict(X)]
        return sets if self.labels is None else self.labels.inverse_transform(sets)


class TunedCut:
    """A learner with one cut for all labels, tuned by cross-validation."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, Y: Any) -> TunedCut:
        model = SetClassifier(
            self.learner, Threshold("tuned", min_size=None), cv=FOLDS, verbose=False, random_state=0
        )
        self.model = model.fit(X, Y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


def default(X: Any) -> Any:
    return SetClassifier(random_state=0, verbose=False)


def trees(X: Any) -> Any:
    return TunedCut(ExtraTreesClassifier(500))


def logistic(X: Any) -> Any:
    if isinstance(X, list):
        return TunedCut(make_pipeline(words(), LogisticRegression(C=10.0, max_iter=1000)))
    if isinstance(X, pd.DataFrame):
        encoded = make_column_transformer(
            (words(), "description"),
            (OneHotEncoder(handle_unknown="ignore"), ["section", "priority"]),
            (make_pipeline(SimpleImputer(), QuantileTransformer()), ["size", "installed", "needs"]),
        )
        return TunedCut(make_pipeline(encoded, LogisticRegression(C=10.0, max_iter=1000)))
    return TunedCut(make_pipeline(MaxAbsScaler(), LogisticRegression(C=1.0, max_iter=1000)))


def exact(X: Any) -> Any:
    return SetClassifier(rule=Auto(metric="exact"), random_state=0, verbose=False)


def powerset_trees(X: Any) -> Any:
    trees = ExtraTreesClassifier(500, random_state=0)
    return Powerset(make_pipeline(words(), trees) if isinstance(X, list) else trees)


def powerset_machine(X: Any) -> Any:
    """A support vector machine: with a kernel for dense rows, and a linear one for words."""
    if isinstance(X, list):
        return Powerset(make_pipeline(words(), LinearSVC()))
    if sparse.issparse(X):
        return Powerset(make_pipeline(Normalizer(), LinearSVC()))
    return Powerset(make_pipeline(StandardScaler(), SVC(C=10.0)))


def words() -> Any:
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)


SYSTEMS = {"default": default, "extra trees": trees, "one-vs-rest": logistic}
EXACT_SYSTEMS = {
    "default for exact": exact,
    "powerset of trees": powerset_trees,
    "powerset of machines": powerset_machine,
}
EXACT_DATA = (
    "2000 descriptions",
    "bibtex",
    "corel5k",
    "flags",
    "yeast",
    "scene",
    "boxes",
    "clusters",
    "categories",
    "few rows",
)


def reason_to_skip(system: str, X: Any, Y: Any) -> str | None:
    """Why a peer cannot run on these data."""
    if system == "powerset of trees" and sparse.issparse(X):
        needed = 500 * X.shape[0] * len(np.unique(Y, axis=0)) * 8
        return f"would need {needed / 1e9:.0f} GB" if needed > MOST_MEMORY else None
    if isinstance(X, list | pd.DataFrame):
        if system == "extra trees":
            return "does not read texts"
        return "would take hours" if system == "one-vs-rest" and len(X) > 10_000 else None
    if system == "extra trees":
        nodes = 2 * X.shape[0]
        needed = 500 * nodes * Y.shape[1] * 16
        if needed > MOST_MEMORY:
            return f"would need {needed / 1e9:.0f} GB"
    return None


# --- one fit, in a process of its own


def run_cell(data: str, system: str) -> dict[str, Any]:
    X, Y, X_test, Y_test = DATA[data]()
    skipped = reason_to_skip(system, X, Y)
    if skipped:
        return {"skipped": skipped}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = (SYSTEMS | EXACT_SYSTEMS)[system](X).fit(X, Y)
    fitted = time.process_time()
    predicted = model.predict(X_test)
    done = time.process_time()
    result = {
        "fit_cpu_s": fitted - start,
        "predict_cpu_ms_per_row": 1000 * (done - fitted) / len(predicted_rows(predicted)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "peak_mb_before": before / 1000,
        "mean_f1": mean_f1(Y_test, predicted),
        "exact_match": exact_match(Y_test, predicted),
    }
    if system == "default":
        result |= {"rule": repr(model.rule_), "model_mb": saved_megabytes(model)}
        result |= one_row(model, X_test)
    return result


def predicted_rows(predicted: Any) -> Any:
    return predicted if isinstance(predicted, list) else range(predicted.shape[0])


def saved_megabytes(model: SetClassifier) -> float:
    with tempfile.TemporaryDirectory() as folder:
        setlearn.save(model, Path(folder) / "model")
        return sum(p.stat().st_size for p in Path(folder).rglob("*") if p.is_file()) / 1e6


def one_row(model: SetClassifier, X: Any) -> dict[str, float]:
    """Median CPU milliseconds of a prediction for one row, and of the learner alone."""
    learner = model.scorer_.model_
    row = X[:1]
    inputs = row if model.features_ is None else model.features_.transform(row)
    both: list[tuple[float, float]] = []
    for _ in range(50):
        start = time.process_time()
        model.predict(row)
        middle = time.process_time()
        learner.predict_proba(inputs)
        both.append((middle - start, time.process_time() - middle))
    ours, alone = np.median(np.array(both), axis=0) * 1000
    return {"one_row_ms": float(ours), "one_row_learner_ms": float(alone)}


def in_own_process(data: str, system: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.label_fits", "--cell", data, system]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:]}
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def line(data: str, results: dict[str, Any]) -> str:
    parts = [f"{data:<30}"]
    for system, cell in results.items():
        if "fit_cpu_s" in cell:
            parts.append(
                f"{system} {cell['fit_cpu_s']:7.1f} s {cell['peak_mb']:6.0f} MB "
                f"F1 {cell['mean_f1']:.3f} exact {cell['exact_match']:.3f}"
            )
        else:
            parts.append(f"{system} {next(iter(cell.values()))}")
    default_fit = results.get("default", {}).get("fit_cpu_s")
    trees_fit = results.get("extra trees", {}).get("fit_cpu_s")
    if default_fit and trees_fit:
        parts.append(f"default ÷ extra trees {default_fit / trees_fit:.2f}")
    return " | ".join(parts)


def table(cells: dict[str, Any]) -> str:
    """The means over splits, with standard errors of F1 and exact matches, as Markdown.

    docs/guide.md shows it.
    """
    splits: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for data, found in cells.items():
        splits[re.sub(r" \d$", "", data)].append(found)
    rows = ["| data | fit, CPU s | mean F1 | " + " | ".join(list(SYSTEMS)[1:]) + " |"]
    rows.append("|---" * (2 + len(SYSTEMS)) + "|")
    for data, found in splits.items():
        default = [cell["default"]["fit_cpu_s"] for cell in found]
        trees = [cell.get("extra trees", {}).get("fit_cpu_s") for cell in found]
        times = f"{np.mean(default):.1f}"
        if None not in trees:
            times += f" ({np.mean(np.divide(default, trees)):.2f} × extra trees)"
        scores = [_mean(found, system, "mean_f1") for system in SYSTEMS]
        rows.append(f"| {data} | {times} | " + " | ".join(scores) + " |")
    rows += ["", "| data | exact match, " + " | ".join(EXACT_SYSTEMS) + " |"]
    rows.append("|---" * (1 + len(EXACT_SYSTEMS)) + "|")
    for data in EXACT_DATA:
        scores = [_mean(splits[data], system, "exact_match") for system in EXACT_SYSTEMS]
        rows.append(f"| {data} | " + " | ".join(scores) + " |")
    return "\n".join(rows)


def _mean(found: list[dict[str, Any]], system: str, metric: str) -> str:
    """The mean over splits, if the system ran on each."""
    values = [cell[system][metric] for cell in found if metric in cell.get(system, {})]
    if not values or len(values) < len(found):
        return "–"
    mean = f"{np.mean(values):.3f}"
    if len(values) > 1:
        mean += f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"
    return mean.replace("0.", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cell", nargs=2, metavar=("DATA", "SYSTEM"), help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of data")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--exact", action="store_true", help="compare exact matches")
    parser.add_argument("--table", action="store_true", help="print the stored results")
    asked = parser.parse_args()
    if asked.table:
        print(table(json.loads(RESULTS.read_text())["cells"]))
        return
    if asked.cell:
        print(json.dumps(run_cell(*asked.cell)))
        return
    report = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": {}}
    systems = list(EXACT_SYSTEMS) if asked.exact else asked.systems
    for data in DATA:
        if not data.startswith(tuple(asked.only)) or (
            asked.exact and re.sub(r" \d$", "", data) not in EXACT_DATA
        ):
            continue
        found = {system: in_own_process(data, system) for system in systems}
        for cell in found.values():
            cell["commit"] = version_of(["src"])
        report["cells"][data] = {**report["cells"].get(data, {}), **found}
        print(line(data, found), flush=True)
        report["python"], report["cpus"] = platform.python_version(), os.cpu_count()
        report["command"] = "python -m benchmarks.label_fits"
        RESULTS.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
