"""One network, several rules: sets of sequences from a JSON Lines file.

Each line is {"x": text, "y": [text, ...]}; the file may be gzipped. Run:

    python examples/2-advanced/rules_on_sequences.py babi_qa8.jsonl.gz --tokens word word
    python examples/2-advanced/rules_on_sequences.py cmudict_multi.jsonl.gz --tokens char word

The network is trained once. Each rule is fitted on samples that were held out from training.
"""

import argparse
import gzip
import json
import warnings
from pathlib import Path

from sklearn.model_selection import train_test_split

from setlearn import SequenceSetGenerator
from setlearn.errors import TruncationWarning
from setlearn.metrics import set_report
from setlearn.networks import Training
from setlearn.rules import ExpectedF, LambdaCNN, LambdaRNN, Margin, Threshold

RULES = {
    "Margin (SSG-S)": Margin(),
    "Margin, ρ = 0.3": Margin(rho=0.3),
    "Margin, log scale": Margin(space="log"),
    "Threshold, tuned": Threshold("tuned"),
    "ExpectedF": ExpectedF(),
    "LambdaRNN (SSG-RNN)": LambdaRNN(random_state=0),
    "LambdaCNN (SSG-CNN)": LambdaCNN(random_state=0),
}


def read(path: Path) -> tuple[list[str], list[set[str]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["x"] for row in rows], [set(row["y"]) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--tokens", nargs=2, default=("char", "char"), metavar=("X", "Y"))
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=3000)
    options = parser.parse_args()

    X, Y = read(options.file)
    X, X_test, Y, Y_test = train_test_split(
        X[: options.samples], Y[: options.samples], test_size=0.3, random_state=0
    )
    model = SequenceSetGenerator(
        tokens=tuple(options.tokens),
        training=Training(max_steps=options.steps, validation=0.2),
        random_state=0,
    ).fit(X, Y)

    print(f"{len(X)} training samples, {len(X_test)} test samples; one split, one seed")
    print(f"{'rule':22}{'mean F1':>9}{'exact':>8}{'matched ED':>12}{'size':>7}{'true':>7}")
    for name, rule in RULES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            predicted = model.with_rule(rule).predict(X_test)
        report = set_report(Y_test, predicted, sequences=True)
        print(
            f"{name:22}{report.mean_f1:9.3f}{report.exact_match:8.3f}"
            f"{report.matched_edit_distance:12.2f}"
            f"{report.mean_predicted_size:7.2f}{report.mean_true_size:7.2f}"
        )


if __name__ == "__main__":
    main()
