"""How many sets per second setlearn predicts, beside a T5 of equal size with 10 beams.

Run: python -m benchmarks.beam_search   (writes benchmarks/results/beam_search.json)

Needs the extra ``hf``. The T5 has as many weights as setlearn's network, within 10 %, and is
trained from scratch on the same samples, for as much CPU time as the longest of setlearn's fits.
If setlearn's networks differ more than that in size, there is one T5 for each size. The other
scorers of the default mixture are not networks and are not counted as weights.
All systems predict the same test samples in one process with one thread, taking turns. Times are
CPU times, medians over the repetitions. ``--data`` and ``--seed`` choose the samples. The file
keeps the last run of each combination of options. With ``--max-steps``, no file is written.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from benchmarks.sequence_cell import cpu_seconds, version_of
from benchmarks.sequence_data import ROOT, Samples, benchmark_split
from benchmarks.yardsticks.t5_beams import LAYERS, T5Beams, count_weights, import_transformers
from threadpoolctl import threadpool_limits

from setlearn import SequenceSetGenerator
from setlearn.datasets import substrings
from setlearn.metrics import exact_match, mean_f1
from setlearn.networks import Training

RESULTS = ROOT / "benchmarks" / "results" / "beam_search.json"
NETWORKS = {"default": None, "transformer": "transformer", "transducer": "transducer"}
DATA = ("lemminflect", "cmudict_multi", "task2")
GOAL = 5
LARGEST_DIFFERENCE = 0.1
"""Of the numbers of weights, for networks to count as equal in size."""

N_WARM_UP = 16
"""Samples that are predicted before times are taken, because first calls load modules."""

OPTIONS_OF_A_RUN = ("data", "seed", "t5_seconds", "t5_layers", "early_stopping")
PACKAGES = ("numpy", "scikit-learn", "torch", "transformers")


def split(data: str, seed: int) -> tuple[Samples, Samples]:
    """Return training and test samples. Those of Task 2 are the same for all seeds."""
    if data != "task2":
        return benchmark_split(data, seed)
    texts, text_sets = substrings(1000, random_state=0)
    Y = [frozenset(map(tuple, elements)) for elements in text_sets]
    samples = Samples(texts, text_sets, list(map(tuple, texts)), Y, np.arange(1000))
    return samples.part(np.arange(700)), samples.part(np.arange(700, 1000))


def networks_in(scorer: Any) -> list[torch.nn.Module]:
    """Return the networks of a fitted scorer: one, or none if a mixture has dropped its own."""
    scorers = getattr(scorer, "scorers", [scorer])
    return [part.network for part in scorers if hasattr(part, "network")]


def fitted_generator(
    network: str | None, train: Samples, seed: int, max_steps: int | None
) -> tuple[SequenceSetGenerator, dict[str, Any]]:
    """Return a fitted model with its CPU time and the number of its weights."""
    training = Training(max_steps=max_steps, verbose=False)
    model = SequenceSetGenerator(network, training=training, random_state=seed)
    started = cpu_seconds()
    model.fit(train.texts, train.text_sets)
    seconds = cpu_seconds() - started
    n_weights = sum(map(count_weights, networks_in(model.scorer_)))
    return model, {"fit_seconds": seconds, "network_weights": n_weights or None}


def fitted_t5(
    train: Samples, n_weights: int, options: argparse.Namespace, seconds: float
) -> tuple[T5Beams, dict[str, Any]]:
    """Return a fitted T5 with its CPU time and the number of its weights."""
    model = T5Beams(
        n_weights,
        seconds,
        layers=tuple(options.t5_layers),
        early_stopping=options.early_stopping,
        random_state=options.seed,
    )
    started = cpu_seconds()
    model.fit(train.X, train.Y)
    return model, {
        "fit_seconds": cpu_seconds() - started,
        "network_weights": count_weights(model.network_),
        "training_seconds": seconds,
        "training_steps": model.n_steps_,
        "d_model": model.network_.config.d_model,
        "layers": list(model.layers),
        "beams": model.beams,
        "early_stopping": model.early_stopping,
        "max_length": model.max_length_,
        "held_out_f1": model.cut_.f1_,
    }


def equal_in_size(n_weights: int, others: int) -> bool:
    """Return whether two numbers of weights differ by no more than `LARGEST_DIFFERENCE`."""
    return abs(others / n_weights - 1) <= LARGEST_DIFFERENCE


def prediction_seconds(
    predictors: dict[str, Callable[[Any], list[frozenset[Any]]]],
    inputs: dict[str, Any],
    repeats: int,
) -> tuple[dict[str, list[float]], dict[str, list[frozenset[Any]]]]:
    """Return the CPU times of all repetitions and the predicted sets, for each system.

    The systems take turns, so that other load on the machine affects all of them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in predictors}
    predicted = {}
    for name, predict in predictors.items():
        predict(inputs[name][:N_WARM_UP])
    for _ in range(repeats):
        for name, predict in predictors.items():
            started = cpu_seconds()
            predicted[name] = predict(inputs[name])
            seconds[name].append(cpu_seconds() - started)
    return seconds, predicted


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Fit all systems, predict, and return the figures."""
    train, test = split(options.data, options.seed)
    models: dict[str, Any] = {}
    systems: dict[str, dict[str, Any]] = {}

    def keep(name: str, fitted: tuple[Any, dict[str, Any]]) -> None:
        models[name], systems[name] = fitted
        weights, seconds = systems[name]["network_weights"], systems[name]["fit_seconds"]
        print(f"{name}: fitted in {seconds:.1f} s, network weights: {weights}", flush=True)

    for name, network in NETWORKS.items():
        keep(name, fitted_generator(network, train, options.seed, options.max_steps))
    longest_fit = max(figures["fit_seconds"] for figures in systems.values())
    seconds = options.t5_seconds or longest_fit
    t5_weights: dict[str, int] = {}
    for name in NETWORKS:
        n_weights = systems[name]["network_weights"]
        if n_weights and not any(equal_in_size(n_weights, size) for size in t5_weights.values()):
            t5 = f"t5, size of {name}"
            keep(t5, fitted_t5(train, n_weights, options, seconds))
            t5_weights[t5] = systems[t5]["network_weights"]

    # setlearn reads and predicts texts; the T5, tokens.
    inputs = {name: test.X if name in t5_weights else test.texts for name in models}
    predictors = {name: model.predict for name, model in models.items()}
    times, predicted = prediction_seconds(predictors, inputs, options.repeats)
    for name, figures in systems.items():
        Y = test.Y if name in t5_weights else test.text_sets
        figures.update(
            f1=mean_f1(Y, predicted[name]),
            exact=exact_match(Y, predicted[name]),
            predict_seconds=times[name],
            sets_per_second=len(test) / statistics.median(times[name]),
        )
    for name in NETWORKS:
        systems[name].update(comparison(systems[name], {t5: systems[t5] for t5 in t5_weights}))
    return {
        "options": {name: getattr(options, name) for name in OPTIONS_OF_A_RUN},
        "n_train": len(train),
        "n_test": len(test),
        **environment(),
        "systems": systems,
    }


def comparison(system: dict[str, Any], t5s: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return how many times as fast a system is as the fastest T5 of equal size.

    A mixture that has dropped its network has no size. It is compared with the fastest of all.
    """
    n_weights = system["network_weights"]
    equal = {
        name: figures["sets_per_second"]
        for name, figures in t5s.items()
        if n_weights is None or equal_in_size(n_weights, figures["network_weights"])
    }
    fastest = max(equal, key=equal.__getitem__)
    return {
        "compared_with": fastest,
        "times_as_fast_as_t5": system["sets_per_second"] / equal[fastest],
    }


def environment() -> dict[str, Any]:
    return {
        "version": version_of(("src",)),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "load_at_the_end": os.getloadavg()[0],
    }


def rounded(value: Any) -> Any:
    """Return the figures with four decimals."""
    if isinstance(value, dict):
        return {name: rounded(v) for name, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def write_run(figures: dict[str, Any]) -> None:
    """Add a run to the file, in place of an earlier one with the same options."""
    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"] if RESULTS.exists() else []
    by_key = {json.dumps(r["options"]): r for r in [*runs, figures]}
    report = {
        "command": "python -m benchmarks.beam_search",
        "goal": f"times_as_fast_as_t5 >= {GOAL}",
        "runs": [by_key[key] for key in sorted(by_key)],
    }
    RESULTS.parent.mkdir(exist_ok=True)
    draft = RESULTS.with_suffix(".draft")
    draft.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, RESULTS)


def table(systems: dict[str, dict[str, Any]]) -> str:
    lines = [
        ["system", "weights", "F1", "exact", "fit s", "predict s", "sets/s", "× T5"],
        ["---"] * 8,
    ]
    for name, figures in systems.items():
        weights, ratio = figures["network_weights"], figures.get("times_as_fast_as_t5")
        lines.append(
            [
                name,
                f"{weights:,}" if weights else "no network",
                f"{figures['f1']:.3f}",
                f"{figures['exact']:.3f}",
                f"{figures['fit_seconds']:.1f}",
                f"{statistics.median(figures['predict_seconds']):.2f}",
                f"{figures['sets_per_second']:.1f}",
                f"{ratio:.2f}" if ratio else "",
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=DATA, default=DATA[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3, help="predictions of each system")
    parser.add_argument(
        "--t5-seconds",
        type=float,
        help="CPU time of the T5's training; by default that of the longest fit of setlearn",
    )
    parser.add_argument(
        "--t5-layers",
        type=int,
        nargs=2,
        default=list(LAYERS),
        metavar=("ENCODER", "DECODER"),
        help="by default %(default)s, as in setlearn's transformer",
    )
    parser.add_argument(
        "--early-stopping",
        action="store_true",
        help="end the beam search of an input as soon as 10 sequences have ended",
    )
    parser.add_argument(
        "--max-steps", type=int, help="steps of setlearn's trainings, for a quick try; no file"
    )
    return parser.parse_args()


def main() -> None:
    options = read_options()
    import_transformers()  # before anything costly starts
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        figures = rounded(run(options))
    if options.max_steps is None:
        write_run(figures)
    print(table(figures["systems"]))
    print(f"Goal: × T5 of the default at least {GOAL}.")


if __name__ == "__main__":
    main()
