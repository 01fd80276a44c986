"""Premise selection: choose the statements that a proof of a conjecture needs.

The first line of the file is {"formulas": [text, ...]}. Each further line is a conjecture,
{"query": text, "candidates": [number, ...], "chosen": [number, ...]}, with numbers of formulas. The
file may be gzipped; the DeepMath data of the Mizar library come like this. Run:

    python examples/2-advanced/premise_selection.py deepmath.jsonl.gz --out premises

The last fifth of the conjectures is for testing. The model, with conjectures to try, and a plot are
written to the folder; `setlearn serve premises/model` shows them in the playground. With the 4,000
training conjectures of DeepMath it takes two minutes.
"""

import argparse
import gzip
import json
from pathlib import Path

import matplotlib
import numpy as np

import setlearn
from setlearn import SetSelector
from setlearn.metrics import mean_f1, mean_precision, mean_recall, mean_set_size
from setlearn.rules import RiskControl, Rule, Threshold, TopK

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # after the backend is chosen

N_EXAMPLES = 6

Conjecture = tuple[str, list[str]]
Premises = frozenset[str]


def read(path: Path, most: int | None) -> tuple[list[Conjecture], list[Premises]]:
    """The conjectures, each with its candidates, and the premises that are needed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        formulas = json.loads(next(file))["formulas"]
        rows = [json.loads(line) for line in file][:most]
    X = [(row["query"], [formulas[k] for k in row["candidates"]]) for row in rows]
    return X, [frozenset(formulas[k] for k in row["chosen"]) for row in rows]


def compare_rules(model: SetSelector, X: list[Conjecture], true: list[Premises]) -> None:
    """Print what several rules keep with the same scores."""
    rules: dict[str, Rule] = {
        f"the learned rule, {model.rule_}": model.rule_,
        "as probable as not, Threshold(0.5)": Threshold(0.5),
        "nine in ten, RiskControl(0.9)": RiskControl(0.9),
        "always eight, TopK(8)": TopK(8),
    }
    print(f"{'rule':48}{'mean F1':>9}{'precision':>11}{'recall':>8}{'kept':>7}")
    for name, rule in rules.items():
        kept = model.with_rule(rule).predict(X)
        figures = mean_f1(true, kept), mean_precision(true, kept), mean_recall(true, kept)
        print(f"{name:48}{figures[0]:9.3f}{figures[1]:11.3f}{figures[2]:8.3f}", end="")
        print(f"{mean_set_size(kept):7.1f}")


def complete_halves(model: SetSelector, X: list[Conjecture], true: list[Premises]) -> None:
    """Print how well the other half of a set is found, with and without the first half."""
    known = [frozenset(sorted(premises)[::2]) for premises in true]
    rest = [premises - half for premises, half in zip(true, known, strict=True)]
    informed = model.complete(X, known)
    blind = [kept - half for kept, half in zip(model.predict(X), known, strict=True)]
    print(f"\nthe other half of the premises: mean F1 {mean_f1(rest, informed):.3f}", end="")
    print(f" if half are known, {mean_f1(rest, blind):.3f} if not")


def plot(model: SetSelector, X: list[Conjecture], true: list[Premises], path: Path) -> None:
    """Draw precision and recall of promised recalls and of fixed numbers."""
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    curves: dict[str, list[Rule]] = {
        "RiskControl(recall)": [RiskControl(r) for r in np.arange(0.5, 0.96, 0.05).round(2)],
        "TopK(k)": [TopK(k) for k in (2, 3, 4, 6, 8, 10, 12, 16)],
        "the learned rule": [model.rule_],
    }
    for (name, rules), marker in zip(curves.items(), "osD", strict=True):
        kept = [model.with_rule(rule).predict(X) for rule in rules]
        points = [(mean_recall(true, each), mean_precision(true, each)) for each in kept]
        axes.plot(*zip(*points, strict=True), marker=marker, label=name)
    axes.set(
        xlabel="mean recall", ylabel="mean precision", title="Premises kept on new conjectures"
    )
    axes.legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("premises"), help="a folder to write to")
    parser.add_argument("--most", type=int, help="read only so many conjectures")
    asked = parser.parse_args()
    if not asked.file.is_file():
        parser.error(f"there is no file {asked.file}; its lines are described in this program")

    X, y = read(asked.file, asked.most)
    n_train = len(X) * 4 // 5
    X_test, y_test = X[n_train:], y[n_train:]
    model = SetSelector(random_state=0).fit(X[:n_train], y[:n_train])
    print(f"{n_train} training conjectures, {len(X_test)} test conjectures\n")
    compare_rules(model, X_test, y_test)
    complete_halves(model, X_test, y_test)

    asked.out.mkdir(parents=True, exist_ok=True)
    plot(model, X_test, y_test, asked.out / "precision_and_recall.png")
    examples = [{"query": query, "candidates": listed} for query, listed in X_test[:N_EXAMPLES]]
    about = {
        "name": "Premise selection",
        "question": "Which of these statements does a proof of the conjecture need?",
        "examples": examples,
        "figures": {
            "test conjectures": len(X_test),
            "mean F1": round(mean_f1(y_test, model.predict(X_test)), 3),
        },
    }
    setlearn.save(model, asked.out / "model", about=about)
    print(f"\nwritten: {asked.out / 'precision_and_recall.png'} and {asked.out / 'model'}")
    print(f"see it work: setlearn serve {asked.out / 'model'}")


if __name__ == "__main__":
    main()
