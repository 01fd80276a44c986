"""How the time and the memory of fits and predictions grow with the data.

Run: python -m benchmarks.growth           (writes benchmarks/results/growth.json, and the plot)
     python -m benchmarks.growth --only "dense rows" --again
     python -m benchmarks.growth --plot    (draws docs/images/growth.svg from the stored results)
     python -m benchmarks.growth --table   (the stored results, as Markdown)

Each size of each series runs in a process of its own with one thread. Sizes that are stored are
not run again, so a run that was interrupted goes on where it stopped. Times are CPU seconds. The
memory is the peak of the process during the fit or the prediction, with its libraries and the data;
it is read from ``/proc``, so this runs on Linux only.

To add a series, add it to ``SERIES``: it is drawn in all panels of its axis.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.growth_data import Data, bags, bags_to_predict, words_and_labels
from benchmarks.sequence_cell import version_of
from benchmarks.sequence_data import ROOT

from setlearn import SetClassifier
from setlearn.metrics import mean_f1

RESULTS = ROOT / "benchmarks" / "results" / "growth.json"
PLOT = ROOT / "docs" / "images" / "growth.svg"

ROWS = (1000, 3000, 10_000, 30_000, 100_000)
LABELS, ROWS_OF_LABELS = (100, 1000, 10_000, 50_000, 200_000), 10_000
ROWS_TO_PREDICT = (1000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Series:
    """What is fitted on data that grow along one axis."""

    name: str
    axis: str
    sizes: Sequence[int]
    data: Callable[[int], Data]
    new_model: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure of the cells, against an axis."""

    axis: str
    figure: str
    title: str


def default() -> SetClassifier:
    return SetClassifier(random_state=0, verbose=False)


SERIES = (
    Series("dense rows", "training rows", ROWS, bags, default),
    Series("sparse rows", "training rows", ROWS, partial(words_and_labels, n_labels=100), default),
    Series(
        "50,000 labels",
        "training rows",
        ROWS[2:],
        partial(words_and_labels, n_labels=50_000),
        default,
    ),
    Series("labels", "labels", LABELS, partial(words_and_labels, ROWS_OF_LABELS), default),
    Series("predicted rows", "rows to predict", ROWS_TO_PREDICT, bags_to_predict, default),
)

PANELS = (
    Panel("training rows", "fit_s", "CPU seconds of the fit"),
    Panel("training rows", "fit_peak_mb", "peak memory of the fit, MB"),
    Panel("rows to predict", "predict_s", "CPU seconds of the prediction"),
    Panel("rows to predict", "predict_peak_mb", "peak memory of the prediction, MB"),
    Panel("labels", "fit_s", "CPU seconds of the fit"),
    Panel("labels", "fit_peak_mb", "peak memory of the fit, MB"),
    Panel("labels", "predict_s", "CPU seconds of a prediction for 1,000 rows"),
)


# --- one size of one series, in a process of its own


def run_cell(series: Series, size: int) -> dict[str, Any]:
    X, Y, X_test, Y_test = series.data(size)
    forget_peak()
    start = time.process_time()
    model = series.new_model().fit(X, Y)
    fitted, fit_peak = time.process_time(), peak_megabytes()
    forget_peak()
    before = time.process_time()
    predicted = model.predict(X_test)
    done = time.process_time()
    return {
        "fit_s": fitted - start,
        "fit_peak_mb": fit_peak,
        "predict_s": done - before,
        "predict_peak_mb": peak_megabytes(),
        "n_predicted": X_test.shape[0],
        "mean_f1": mean_f1(Y_test, predicted),
        "rule": repr(model.rule_),
    }


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    [peak] = [line for line in lines if line.startswith("VmHWM")]
    return int(peak.split()[1]) / 1024


def in_own_process(series: Series, size: int, max_seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth", "--cell", series.name, str(size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
            timeout=max_seconds,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {max_seconds:.0f} s"}
    if done.returncode:
        return {
            "failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        }
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


# --- the stored results


def stored() -> dict[str, Any]:
    report: dict[str, Any] = {"cells": {}}
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else report


def store(report: dict[str, Any]) -> None:
    """Write the results, all at once: a run may be interrupted."""
    new = RESULTS.with_suffix(".new")
    new.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    new.replace(RESULTS)


def points(report: dict[str, Any], series: Series, figure: str) -> tuple[np.ndarray, np.ndarray]:
    """The sizes that were run, and the figure of each."""
    cells = report["cells"].get(series.name, {})
    found = [(n, cells[str(n)][figure]) for n in series.sizes if figure in cells.get(str(n), {})]
    sizes, values = np.array(found, dtype=float).reshape(-1, 2).T
    return sizes, values


def slope(sizes: np.ndarray, values: np.ndarray) -> float:
    """The slope of the straight line that fits best if both axes are logarithmic.

    A slope of 1 means that the figure grows in proportion.
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def table(report: dict[str, Any]) -> str:
    lines = ["| series | size | fit, CPU s | peak MB | prediction, CPU s | peak MB | mean F1 |"]
    lines.append("|---" * 7 + "|")
    for series in SERIES:
        for size, cell in report["cells"].get(series.name, {}).items():
            figures = "failed | | | |"
            if "failed" not in cell:
                figures = (
                    f"{cell['fit_s']:.1f} | {cell['fit_peak_mb']:.0f} | {cell['predict_s']:.2f} | "
                    f"{cell['predict_peak_mb']:.0f} | {cell['mean_f1']:.3f}"
                )
            lines.append(f"| {series.name} | {int(size):,} | {figures} |")
    return "\n".join(lines)


def draw(report: dict[str, Any]) -> None:
    """Draw a panel for each figure that was measured, with the slope of each series."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = {
        panel: [
            (series, *points(report, series, panel.figure))
            for series in SERIES
            if series.axis == panel.axis
        ]
        for panel in PANELS
    }
    shown = [panel for panel in PANELS if any(len(sizes) > 1 for _, sizes, _ in lines[panel])]
    settings = {"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(8, 2.8 * -(-len(shown) // 2)), layout="constrained")
        grid = figure.subplots(-(-len(shown) // 2), 2, squeeze=False)
        for axes, panel in zip(grid.flat, shown, strict=False):
            for series, sizes, values in lines[panel]:
                if len(sizes) > 1:
                    label = f"{series.name}, slope {slope(sizes, values):.2f}"
                    axes.loglog(sizes, values, marker="o", markersize=4, label=label)
            axes.set_xlabel(panel.axis)
            axes.set_title(panel.title, fontsize=10)
            axes.grid(visible=True, alpha=0.3)
            axes.legend(frameon=False)
        for axes in grid.flat[len(shown) :]:
            axes.remove()
        PLOT.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(PLOT, facecolor="white", metadata={"Date": None, "Creator": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cell", nargs=2, metavar=("SERIES", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of series")
    parser.add_argument("--again", action="store_true", help="run stored sizes again")
    parser.add_argument("--max-seconds", type=float, default=3600, help="of one size")
    parser.add_argument("--plot", action="store_true", help="only draw the stored results")
    parser.add_argument("--table", action="store_true", help="only print the stored results")
    asked = parser.parse_args()
    if asked.cell:
        name, size = asked.cell
        [series] = [series for series in SERIES if series.name == name]
        print(json.dumps(run_cell(series, int(size))))
        return
    report = stored()
    if asked.table:
        print(table(report))
        return
    chosen = [series for series in SERIES if series.name.startswith(tuple(asked.only))]
    for series in [] if asked.plot else chosen:
        cells = report["cells"].setdefault(series.name, {})
        for size in series.sizes:
            if "mean_f1" in cells.get(str(size), {}) and not asked.again:
                continue
            cells[str(size)] = cell = in_own_process(series, size, asked.max_seconds)
            cell["commit"] = version_of(["src"])
            print(f"{series.name}, {size:,}: {cell}", flush=True)
            report |= {"python": platform.python_version(), "cpus": os.cpu_count()}
            report["command"] = "python -m benchmarks.growth"
            store(report)
    draw(report)


if __name__ == "__main__":
    main()
