"""Two small models for the playground: digits on a strip, and substrings of a string.

Training takes about a minute on two cores. Then serve the models:

    python examples/2-advanced/playground_models.py playground-models
    setlearn serve digits=playground-models/digits strings=playground-models/strings

``make playground`` does both. Models that exist already are not trained again.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.datasets import substrings
from setlearn.datasets.benchmarks import digit_strips
from setlearn.metrics import set_report
from setlearn.networks import Training, Transformer
from setlearn.rules import Margin

N_HELD_OUT = 500
N_EXAMPLES = 6
LEAST_ELEMENTS = 3  # of an example, so that there is something to see


def digits(folder: Path) -> None:
    """Learn which digits are on a strip of up to six handwritten digits."""
    n_learned = 8000
    strips = digit_strips(n_learned + N_HELD_OUT, random_state=0)
    X, sets = strips.X, strips.sets()
    # It stops early, because users of a playground should not have to wait.
    network = MLPClassifier(
        256, alpha=1e-3, learning_rate_init=2e-3, tol=0.05, n_iter_no_change=2, random_state=0
    )
    learner = make_pipeline(MaxAbsScaler(), network)
    model = SetClassifier(learner, rule=Margin(), cv=3, random_state=0)
    model.fit(X[:n_learned], sets[:n_learned])
    X_test, true = X[n_learned:], sets[n_learned:]
    about = {
        "name": "Digits on a strip",
        "question": "Which digits are on this strip of up to six?",
        "image": {"height": 8, "width": 48},
        "examples": examples_of(X_test.astype(int).tolist(), true),
        "figures": figures(true, model.predict(X_test)),
        "note": "Held-out strips are new combinations of the same 1797 images of digits.",
    }
    setlearn.save(model, folder, about=about)


def strings(folder: Path) -> None:
    """Learn Task 2 of the paper: the substrings of a string at five pairs of positions."""
    n_learned = 6000
    X, sets = substrings(n_learned + N_HELD_OUT, random_state=0)
    network = Transformer(width=64, encoder_layers=2, dropout=0.0)
    model = SequenceSetGenerator(
        network, training=Training(max_steps=700, learning_rate=3e-3), random_state=0
    )
    model.fit(X[:n_learned], sets[:n_learned])
    X_test, true = X[n_learned:], sets[n_learned:]
    about = {
        "name": "Substrings",
        "question": "Ten digits are five pairs (start, end); which substrings do they cut out of "
        "the ten digits that follow?",
        "examples": examples_of(X_test, true),
        "figures": figures(true, model.predict(X_test), sequences=True),
        "note": "Trained for half a minute. SequenceSetGenerator() with its defaults does better.",
    }
    setlearn.save(model, folder, about=about)


def examples_of(inputs: Sequence[Any], true: Sequence[frozenset[str]]) -> list[Any]:
    pairs = zip(inputs, true, strict=True)
    return [x for x, elements in pairs if len(elements) >= LEAST_ELEMENTS][:N_EXAMPLES]


def figures(
    true: Sequence[frozenset[str]], predicted: Sequence[frozenset[str]], *, sequences: bool = False
) -> dict[str, float]:
    report = set_report(true, predicted, sequences=sequences)
    return {
        "held-out inputs": len(true),
        "mean F1": round(report.mean_f1, 3),
        "sets exactly right": round(report.exact_match, 3),
    }


MODELS: dict[str, Callable[[Path], None]] = {"digits": digits, "strings": strings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    missing = [name for name in MODELS if not (folder / name).exists()]
    if missing:
        print(f"training {' and '.join(missing)}: a minute …", flush=True)
        Parallel(n_jobs=len(missing))(delayed(MODELS[name])(folder / name) for name in missing)


if __name__ == "__main__":
    main()
