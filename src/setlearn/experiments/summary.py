"""From finished cells to one document: means with standard errors, verdicts, plot data."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import setlearn
from setlearn.experiments.cell import CODE_VERSION, Cell, pair_name, versions
from setlearn.experiments.runner import Outcome
from setlearn.experiments.samples import TEST_SHARE
from setlearn.experiments.table import Metric, System, Table
from setlearn.experiments.verdict import verdict

__all__ = ["FORMAT", "Figure", "summarise"]

FORMAT = 1

Figure = dict[str, Any]
"""A mean over splits: ``mean``, its standard ``error`` (None for one split), and ``n``."""


def summarise(tables: Sequence[Table], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything that a report shows, ready for JSON, with no trace of the machine's paths."""
    return {
        "format": FORMAT,
        "code": CODE_VERSION,
        "versions": {
            "setlearn": setlearn.__version__,
            "python": platform.python_version(),
            **versions(),
        },
        "protocol": {
            "splits": 1 + max((outcome.cell.split for outcome in outcomes), default=-1),
            "test_share": TEST_SHARE,
        },
        "tables": [
            _table(table, [outcome for outcome in outcomes if outcome.cell.table is table])
            for table in tables
        ],
    }


def _table(table: Table, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    whole = [o.found for o in outcomes if o.found is not None and o.cell.share == 1]
    told = {
        "name": table.name,
        "title": table.title,
        "about": table.about,
        "metric": {
            "key": table.metric.key,
            "symbol": table.metric.symbol,
            "higher_is_better": table.metric.higher_is_better,
        },
        "of_sequences": table.of_sequences,
        "failures": _failures(outcomes),
        "splits": len(whole),
        "rows": [],
    }
    if not whole:
        return told
    rows = [_system_row(system, whole) for system in table.systems]
    rows += [_yardstick_row(name, whole) for name in table.yardsticks]
    side_by_side = [_side_by_side(*compared, whole) for compared in table.compared.items()]
    for row in rows:
        row["verdict"] = verdict(table, row, rows, side_by_side)
    first = whole[0]
    return told | {
        "origin": first["origin"],
        "n_train": first["n_train"],
        "n_test": first["n_test"],
        "rows": rows,
        "side_by_side": side_by_side,
        "sizes": _sizes(table, whole),
        "learning": {name: scorer["history"] for name, scorer in first["scorers"].items()},
        "gaps": {name: scorer["gaps"] for name, scorer in first["scorers"].items()},
        "lam": {name: _lam_by_position(name, whole) for name in first["scorers"]},
        "curve": {"system": table.curve, "points": _curve(table, outcomes)},
        "costs": _costs(whole),
        "examples": {"system": table.traced, "traces": first["examples"]},
    }


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    """Why cells found nothing, each reason once with the cells that gave it."""
    by_reason: dict[str, list[Cell]] = {}
    for outcome in outcomes:
        if outcome.failure:
            by_reason.setdefault(outcome.failure, []).append(outcome.cell)
    return [f"{_cells(cells)}: {reason}" for reason, cells in by_reason.items()]


def _cells(cells: list[Cell]) -> str:
    return cells[0].name if len(cells) == 1 else f"{cells[0].name} and {len(cells) - 1} more"


def _system_row(system: System, whole: list[dict[str, Any]]) -> dict[str, Any]:
    name = pair_name(system.scorer, system.rule)
    answers = [found["answers"][name] for found in whole]
    return {
        "name": system.name,
        "kind": "yardstick" if system.is_yardstick else "system",
        "scorer": system.scorer,
        "rule": system.rule,
        "paper": system.paper,
        "goal": system.goal,
        "figures": _figures(answers),
        "truncated": sum(answer["n_truncated"] for answer in answers),
        "fit_seconds": _figure([answer["fit_seconds"] for answer in answers]),
        "predict_seconds": _figure([answer["predict_seconds"] for answer in answers]),
    }


def _yardstick_row(name: str, whole: list[dict[str, Any]]) -> dict[str, Any]:
    figures = _figures([found["yardsticks"][name] for found in whole])
    return {"name": name, "kind": "yardstick", "paper": None, "goal": None, "figures": figures}


def _side_by_side(
    scorer: str, rules: tuple[str, ...], whole: list[dict[str, Any]]
) -> dict[str, Any]:
    rows = [
        {
            "rule": rule,
            "figures": _figures([found["answers"][pair_name(scorer, rule)] for found in whole]),
        }
        for rule in rules
    ]
    return {"scorer": scorer, "rows": rows}


def _figures(measured: list[dict[str, Any]]) -> dict[str, Figure]:
    names = [name for name in measured[0]["metrics"] if name != "mean_f1_error"]
    return {name: _figure([one["metrics"][name] for one in measured]) for name in names}


def _figure(values: Sequence[float | None]) -> Figure:
    """Mean and standard error over splits; splits without the figure are left out."""
    there = [float(value) for value in values if value is not None]
    error = float(np.std(there, ddof=1) / np.sqrt(len(there))) if len(there) > 1 else None
    return {"mean": float(np.mean(there)) if there else None, "error": error, "n": len(there)}


def _sizes(table: Table, whole: list[dict[str, Any]]) -> dict[str, list[int]]:
    """How often each set size is true, and predicted by each system, over all splits."""
    sizes = {"true": _added(whole, lambda found: found["true"])}
    for system in table.systems:
        if not system.is_yardstick:
            name = pair_name(system.scorer, system.rule)
            sizes[system.name] = _added(whole, lambda f, name=name: f["answers"][name]["sizes"])  # type: ignore[misc]  # mypy cannot infer a lambda's default
    return sizes


def _added(whole: list[dict[str, Any]], pick: Callable[[dict[str, Any]], list[int]]) -> list[int]:
    return [int(n) for n in np.sum([pick(found) for found in whole], axis=0)]


def _lam_by_position(scorer: str, whole: list[dict[str, Any]]) -> list[Figure]:
    """λ_j, averaged over the splits that have sequences as long."""
    gaps = [found["scorers"][scorer]["gaps"] for found in whole]
    longest = max(len(depths) for depths in gaps)
    return [_figure([d[j]["lam"] for d in gaps if len(d) > j]) for j in range(longest)]


def _curve(table: Table, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The quality of one system on split 0, for each number of training samples."""
    system = table.system(table.curve)
    name = pair_name(system.scorer, system.rule)
    points = [
        {"n_train": o.found["n_train"], **_leading(table.metric, o.found["answers"][name])}
        for o in outcomes
        if o.found is not None and o.cell.split == 0
    ]
    return sorted(points, key=lambda point: int(point["n_train"]))


def _leading(metric: Metric, answer: dict[str, Any]) -> dict[str, float | None]:
    metrics = answer["metrics"]
    return {"value": metrics[metric.key], "mean_f1": metrics["mean_f1"]}


def _costs(whole: list[dict[str, Any]]) -> dict[str, Any]:
    scorers = whole[0]["scorers"]
    return {
        "seconds": _figure([found["seconds"] for found in whole]),
        "cpu_seconds": _figure([found["cpu_seconds"] for found in whole]),
        "peak_mb": _figure([found["peak_mb"] for found in whole]),
        "scorers": {
            name: _figure([found["scorers"][name]["fit_seconds"] for found in whole])
            for name in scorers
        },
    }
