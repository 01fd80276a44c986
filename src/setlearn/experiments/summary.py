"""From finished cells to one document: means with standard errors, verdicts, data for plots."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import setlearn
from setlearn.experiments.cell import CODE_VERSION, ExperimentCell, pair_name, versions
from setlearn.experiments.runner import Outcome
from setlearn.experiments.samples import TEST_SHARE
from setlearn.experiments.systems import System
from setlearn.experiments.table import Metric, Table

__all__ = ["FORMAT", "Figure", "summarise", "verdict"]

FORMAT = 1

Figure = dict[str, Any]
"""A mean over splits: ``mean``, its standard ``error`` (None for a single split), and ``n``."""


def summarise(tables: Sequence[Table], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything that a report shows.

    Parameters
    ----------
    tables : sequence of Table
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        Ready for JSON. It contains no paths of this machine.
    """
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
            _table_summary(table, [o for o in outcomes if o.cell.table is table])
            for table in tables
        ],
    }


def _table_summary(table: Table, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    splits = [o.results for o in outcomes if o.results is not None and o.cell.share == 1]
    summary = {
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
        "splits": len(splits),
        "rows": [],
    }
    if not splits:
        return summary
    rows = [_system_row(system, splits) for system in table.systems]
    rows += [_yardstick_row(name, splits) for name in table.yardsticks]
    side_by_side = [_side_by_side(*compared, splits) for compared in table.compared.items()]
    for row in rows:
        row["verdict"] = verdict(table, row, rows, side_by_side)
    first = splits[0]
    return summary | {
        "origin": first["origin"],
        "n_train": first["n_train"],
        "n_test": first["n_test"],
        "rows": rows,
        "side_by_side": side_by_side,
        "sizes": _sizes(table, splits),
        "learning": {name: scorer["history"] for name, scorer in first["scorers"].items()},
        "gaps": {name: scorer["gaps"] for name, scorer in first["scorers"].items()},
        "lam": {name: _lam_by_position(name, splits) for name in first["scorers"]},
        "curve": {"system": table.curve, "points": _curve(table, outcomes)},
        "costs": _costs(splits),
        "examples": {"system": table.traced, "traces": first["examples"]},
    }


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    """Why cells have no results: each reason once, with the cells that it applies to."""
    by_reason: dict[str, list[ExperimentCell]] = {}
    for outcome in outcomes:
        if outcome.failure:
            by_reason.setdefault(outcome.failure, []).append(outcome.cell)
    return [f"{_names_of(cells)}: {reason}" for reason, cells in by_reason.items()]


def _names_of(cells: list[ExperimentCell]) -> str:
    return cells[0].name if len(cells) == 1 else f"{cells[0].name} and {len(cells) - 1} more"


def _system_row(system: System, splits: list[dict[str, Any]]) -> dict[str, Any]:
    name = pair_name(system.scorer, system.rule)
    answers = [results["answers"][name] for results in splits]
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


def _yardstick_row(name: str, splits: list[dict[str, Any]]) -> dict[str, Any]:
    figures = _figures([results["yardsticks"][name] for results in splits])
    return {"name": name, "kind": "yardstick", "paper": None, "goal": None, "figures": figures}


def _side_by_side(
    scorer: str, rules: tuple[str, ...], splits: list[dict[str, Any]]
) -> dict[str, Any]:
    rows = [
        {
            "rule": rule,
            "figures": _figures([r["answers"][pair_name(scorer, rule)] for r in splits]),
        }
        for rule in rules
    ]
    return {"scorer": scorer, "rows": rows}


def _figures(measured: list[dict[str, Any]]) -> dict[str, Figure]:
    names = [name for name in measured[0]["metrics"] if name != "mean_f1_error"]
    return {name: _figure([split["metrics"][name] for split in measured]) for name in names}


def _figure(values: Sequence[float | None]) -> Figure:
    """Mean and standard error over splits; splits without a value are left out."""
    numbers = [float(value) for value in values if value is not None]
    error = float(np.std(numbers, ddof=1) / np.sqrt(len(numbers))) if len(numbers) > 1 else None
    return {"mean": float(np.mean(numbers)) if numbers else None, "error": error, "n": len(numbers)}


def _sizes(table: Table, splits: list[dict[str, Any]]) -> dict[str, list[int]]:
    """How often each set size is true, and predicted by each system, over all splits."""
    sizes = {"true": _summed(splits, lambda results: results["true"])}
    for system in table.systems:
        if not system.is_yardstick:
            name = pair_name(system.scorer, system.rule)
            sizes[system.name] = _summed(splits, lambda r, name=name: r["answers"][name]["sizes"])  # type: ignore[misc]  # mypy cannot infer a lambda's default
    return sizes


def _summed(splits: list[dict[str, Any]], pick: Callable[[dict[str, Any]], list[int]]) -> list[int]:
    return [int(n) for n in np.sum([pick(results) for results in splits], axis=0)]


def _lam_by_position(scorer: str, splits: list[dict[str, Any]]) -> list[Figure]:
    """λ_j, averaged over the splits whose sequences are long enough."""
    gaps = [results["scorers"][scorer]["gaps"] for results in splits]
    longest = max(len(depths) for depths in gaps)
    return [_figure([d[j]["lam"] for d in gaps if len(d) > j]) for j in range(longest)]


def _curve(table: Table, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The quality of one system on split 0, for each number of training samples."""
    system = table.system(table.curve)
    name = pair_name(system.scorer, system.rule)
    points = [
        {"n_train": o.results["n_train"], **_leading(table.metric, o.results["answers"][name])}
        for o in outcomes
        if o.results is not None and o.cell.split == 0
    ]
    return sorted(points, key=lambda point: int(point["n_train"]))


def _leading(metric: Metric, answer: dict[str, Any]) -> dict[str, float | None]:
    metrics = answer["metrics"]
    return {"value": metrics[metric.key], "mean_f1": metrics["mean_f1"]}


def _costs(splits: list[dict[str, Any]]) -> dict[str, Any]:
    scorers = splits[0]["scorers"]
    return {
        "seconds": _figure([results["seconds"] for results in splits]),
        "cpu_seconds": _figure([results["cpu_seconds"] for results in splits]),
        "peak_mb": _figure([results["peak_mb"] for results in splits]),
        "scorers": {
            name: _figure([results["scorers"][name]["fit_seconds"] for results in splits])
            for name in scorers
        },
    }


def verdict(
    table: Table,
    row: dict[str, Any],
    rows: list[dict[str, Any]],
    side_by_side: list[dict[str, Any]],
) -> dict[str, Any] | None:
    """Whether a row reaches the paper's figure or our own goal, with evidence if it does not.

    Parameters
    ----------
    table : Table
    row : dict
        The row to judge.
    rows : list of dict
        All rows of the table.
    side_by_side : list of dict
        The same scores under other rules.

    Returns
    -------
    dict or None
        ``reached`` and ``text``; None for a row with nothing to reach.
    """
    goal, whose = (row["paper"], "the paper's") if row["goal"] is None else (row["goal"], "our")
    if goal is None:
        return None
    figure = row["figures"][table.metric.key]
    mean = figure["mean"]
    if mean is None:
        return {"reached": False, "text": "no sample has a pair of sequences to compare"}
    difference = f"{abs(mean - goal):.3f}"
    if table.metric.reaches(mean, goal):
        return {"reached": True, "text": f"reaches {whose} {goal:g}, better by {difference}"}
    text = f"misses {whose} {goal:g} by {difference}"
    if figure["error"]:
        text += f", {abs(mean - goal) / figure['error']:.1f} standard errors"
    evidence = [
        *_under_other_rules(table, row, side_by_side),
        *_yardstick_figures(table, rows),
        _f1_and_sizes(row),
    ]
    why = f"{table.shortfall} " if table.shortfall else ""
    return {"reached": False, "text": f"{text}. {why}Evidence: {'; '.join(evidence)}."}


def _under_other_rules(
    table: Table, row: dict[str, Any], side_by_side: list[dict[str, Any]]
) -> list[str]:
    """What other rules make of the same scores, to separate the rule from the scorer."""
    texts = []
    for comparison in side_by_side:
        if comparison["scorer"] == row["scorer"]:
            for other in comparison["rows"]:
                mean = other["figures"][table.metric.key]["mean"]
                if other["rule"] != row["rule"] and mean is not None:
                    texts.append(f"the same scores under {other['rule']} give {mean:.3f}")
    return texts


def _yardstick_figures(table: Table, rows: list[dict[str, Any]]) -> list[str]:
    texts = []
    for row in rows:
        mean = row["figures"][table.metric.key]["mean"]
        if row["kind"] == "yardstick" and mean is not None:
            texts.append(f"{row['name']} gives {mean:.3f}")
    return texts


def _f1_and_sizes(row: dict[str, Any]) -> str:
    figures = row["figures"]
    return (
        f"the set F1 of the system is {figures['mean_f1']['mean']:.3f}, with "
        f"{figures['mean_predicted_size']['mean']:.1f} predicted and "
        f"{figures['mean_true_size']['mean']:.1f} true elements per set"
    )
