"""Whether a system reaches the paper's figure, and the evidence where it does not."""

from __future__ import annotations

from typing import Any

from setlearn.experiments.table import Table

__all__ = ["verdict"]


def verdict(
    table: Table,
    row: dict[str, Any],
    rows: list[dict[str, Any]],
    side_by_side: list[dict[str, Any]],
) -> dict[str, Any] | None:
    """None for a row with nothing to reach, else ``reached`` and ``text``."""
    paper, whose = (row["paper"], "the paper's") if row["goal"] is None else (row["goal"], "our")
    if paper is None:
        return None
    figure = row["figures"][table.metric.key]
    mean = figure["mean"]
    if mean is None:
        return {"reached": False, "text": "no sample has a pair of sequences to compare"}
    by = f"{abs(mean - paper):.3f}"
    if table.metric.reaches(mean, paper):
        return {"reached": True, "text": f"reaches {whose} {paper:g}, better by {by}"}
    short = f"misses {whose} {paper:g} by {by}"
    if figure["error"]:
        short += f", {abs(mean - paper) / figure['error']:.1f} standard errors"
    evidence = [*_same_scores(table, row, side_by_side), *_yardsticks(table, rows), _f1(row)]
    why = f"{table.shortfall} " if table.shortfall else ""
    return {"reached": False, "text": f"{short}. {why}Evidence: {'; '.join(evidence)}."}


def _same_scores(
    table: Table, row: dict[str, Any], side_by_side: list[dict[str, Any]]
) -> list[str]:
    """What the other rules make of the same scores, to tell the rule from what it is given."""
    told = []
    for comparison in side_by_side:
        if comparison["scorer"] == row["scorer"]:
            for other in comparison["rows"]:
                mean = other["figures"][table.metric.key]["mean"]
                if other["rule"] != row["rule"] and mean is not None:
                    told.append(f"the same scores under {other['rule']} give {mean:.3f}")
    return told


def _yardsticks(table: Table, rows: list[dict[str, Any]]) -> list[str]:
    told = []
    for row in rows:
        mean = row["figures"][table.metric.key]["mean"]
        if row["kind"] == "yardstick" and mean is not None:
            told.append(f"{row['name']} gives {mean:.3f}")
    return told


def _f1(row: dict[str, Any]) -> str:
    figures = row["figures"]
    return (
        f"the system's own set F1 is {figures['mean_f1']['mean']:.3f} with "
        f"{figures['mean_predicted_size']['mean']:.1f} elements a set where "
        f"{figures['mean_true_size']['mean']:.1f} are true"
    )
