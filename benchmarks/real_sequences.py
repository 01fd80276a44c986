"""How well sets of sequences are predicted on real data, beside simple baselines.

Run: python -m benchmarks.real_sequences   (writes benchmarks/results/real_sequences.json)

Every cell, one system on one data set with one seed, runs in a process of its own with one thread.
Finished cells are kept and not run again; use --force after a change. Times are CPU times.
``--development`` uses the splits on which choices are made, which never touch the test samples.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.sequence_data import DATA_SETS, ROOT
from benchmarks.sequence_systems import SYSTEMS, SYSTEMS_OF

RESULTS = ROOT / "benchmarks" / "results" / "real_sequences.json"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
NAMES_OF_A_CELL = ("split", "data", "system", "seed")

GOALS = {
    "cmudict_multi": ("F1 ≥ .50", "F1 .60"),
    "lemminflect": ("F1 ≥ .980", "F1 .990"),
    "lemminflect_80": ("F1 ≥ .935, fit ≤ 20 s", "F1 .95, fit 5 s"),
    "kg_umls": ("F1 ≥ .76", "F1 .80"),
    "mm_bindings_ql": ("exact ≥ .96", "exact 1.00"),
    "babi_qa8": ("F1 ≥ .95", "F1 1.00"),
    "g2p_fre": ("WER ≤ 10.2 %, fit ≤ 1800 s", "WER 9.2 %"),
    "g2p_dut": ("WER ≤ 16.9 %, fit ≤ 1800 s", "WER 15.2 %"),
    "g2p_hun": ("WER ≤ 1.9 %, fit ≤ 1800 s", "WER 1.7 %"),
    "g2p_geo": ("fit ≤ 1800 s", ""),
    "cmudict_g014b2b": ("WER ≤ 24.4 %, fit ≤ 3600 s", "WER ≤ 20.6 %"),
}
"""What the default should reach, and what would be better still."""

COLUMNS = {
    "F1": ("f1", 3),
    "exact": ("exact", 3),
    "wrongly empty": ("wrongly_empty", 0),
    "F1, several": ("f1_several", 3),
    "F1, training": ("train_f1", 3),
    "WER %": ("word_error_rate", 1),
    "fit s": ("fit_seconds", 1),
    "predict s": ("predict_seconds", 1),
    "peak MiB": ("peak_mib", 0),
}
"""The figure of each column of the table, and its decimals."""


def wanted_cells(options: argparse.Namespace) -> list[dict[str, Any]]:
    split = "development" if options.development else "benchmark"
    return [
        {"split": split, "data": data, "system": system, "seed": seed}
        for data in options.only
        for system in SYSTEMS_OF[data]
        if system in options.systems
        for seed in options.seeds
    ]


def run_in_process(cell: dict[str, Any]) -> dict[str, Any]:
    """Run a cell in a process of its own, and return its figures or its error."""
    command = [sys.executable, "-m", "benchmarks.sequence_cell"]
    command += [cell["data"], cell["system"], str(cell["seed"]), cell["split"]]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True
    )
    if done.returncode == 0:
        return {**cell, **json.loads(done.stdout.splitlines()[-1])}
    last_line = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return {**cell, "error": f"exit code {done.returncode}: {last_line}"}


def read_cells(path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    if not path.exists():
        return {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {key_of(cell): cell for cell in cells}


def key_of(cell: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cell[name] for name in NAMES_OF_A_CELL)


def write_cell(path: Path, cell: dict[str, Any]) -> None:
    """Add a cell to the file, which is replaced as a whole."""
    cells = {**read_cells(path), key_of(cell): cell}
    report = {
        "command": "python -m benchmarks.real_sequences",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scikit-learn", "torch")},
        "threads": 1,
        "cells": [cells[key] for key in sorted(cells)],
    }
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)


def table(cells: list[dict[str, Any]]) -> str:
    """Return a Markdown table with means and standard errors over the seeds."""
    header = ["data", "system", "seeds", *COLUMNS, "reach", "dream"]
    lines = [header, ["---"] * len(header)]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in cells:
        groups.setdefault((cell["data"], cell["system"]), []).append(cell)
    for (data, system), group in groups.items():
        finished = [cell for cell in group if "error" not in cell]
        figures = [
            mean_and_error([cell[name] for cell in finished], name, decimals)
            for name, decimals in COLUMNS.values()
        ]
        goals = GOALS[data] if system == "default" else ("", "")
        lines.append([data, system, str(len(finished)), *figures, *goals])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(cells: list[dict[str, Any]]) -> str:
    """Return a short Markdown table: the default beside the best of the simple baselines."""
    lines = [["data", "figure", "seeds", "default", "best baseline", "fit s"], ["---"] * 6]
    for data, (goal, _) in GOALS.items():
        column = next((name for name in ("F1", "exact") if goal.startswith(name)), "WER %")
        name, decimals = COLUMNS[column]
        groups = {
            system: [c for c in cells if (c["data"], c["system"]) == (data, system) and "f1" in c]
            for system in SYSTEMS_OF[data]
        }
        figures = {
            system: [cell[name] for cell in group] for system, group in groups.items() if group
        }
        if "default" not in figures:
            continue
        own = figures.pop("default")
        best_of = min if name == "word_error_rate" else max
        best = best_of(figures, key=lambda system: statistics.mean(figures[system]), default=None)
        lines.append(
            [
                data,
                column,
                str(len(own)),
                mean_and_error(own, name, decimals),
                f"{mean_and_error(figures[best], name, decimals)} ({best})" if best else "",
                mean_and_error([c["fit_seconds"] for c in groups["default"]], "fit_seconds", 0),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def mean_and_error(values: list[float | None], name: str, decimals: int) -> str:
    if not values or None in values:
        return ""
    if name == "word_error_rate":
        values = [100 * value for value in values]
    text = f"{statistics.mean(values):.{decimals}f}"
    if len(values) == 1:
        return text
    return f"{text} ± {statistics.stdev(values) / len(values) ** 0.5:.{decimals}f}"


def remarks(cells: list[dict[str, Any]]) -> list[str]:
    """Return what a reader of the table has to know: errors, and settings that changed."""
    lines = [f"{' '.join(map(str, key_of(c)))}: {c['error']}" for c in cells if "error" in c]
    for system in SYSTEMS:
        versions = {c["version"] for c in cells if c["system"] == system and "version" in c}
        if len(versions) > 1:
            lines.append(
                f"{system}: cells of several versions ({', '.join(sorted(versions))}); "
                f"--force --systems {system} runs them again"
            )
    return lines


def listed(choices: Any) -> Any:
    """Return a reader of names separated by commas."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in choices]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"got {', '.join(unknown)}; choose from {', '.join(choices)}"
            )
        return names

    return read


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=listed(DATA_SETS), default=list(DATA_SETS))
    parser.add_argument("--systems", type=listed(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument(
        "--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1, 2]
    )
    parser.add_argument("--jobs", type=int, default=2, help="cells that run at the same time")
    parser.add_argument("--development", action="store_true", help="use the development splits")
    parser.add_argument("--force", action="store_true", help="run finished cells again")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file to read and write")
    parser.add_argument(
        "--summary", action="store_true", help="run nothing; print the table of docs/sequences.md"
    )
    return parser.parse_args()


def main() -> None:
    options = read_options()
    wanted = wanted_cells(options)
    known = read_cells(options.results)
    if options.summary:
        print(summary([known[key_of(cell)] for cell in wanted if key_of(cell) in known]))
        return
    finished = {key for key, cell in known.items() if "error" not in cell}
    to_run = [cell for cell in wanted if options.force or key_of(cell) not in finished]
    with ThreadPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(run_in_process, cell) for cell in to_run]):
            cell = future.result()
            write_cell(options.results, cell)
            outcome = cell.get("error") or f"F1 {cell['f1']:.3f}, fit {cell['fit_seconds']:.1f} s"
            print(f"{' '.join(map(str, key_of(cell)))}: {outcome}", file=sys.stderr, flush=True)
    known = read_cells(options.results)
    cells = [known[key_of(cell)] for cell in wanted if key_of(cell) in known]
    print("\n".join([table(cells), "", *remarks(cells)]))


if __name__ == "__main__":
    main()
