"""The cells of a report's tables as text, for every kind of report alike."""

from __future__ import annotations

from typing import Any

__all__ = ["COLUMNS", "cost_rows", "figure", "main_rows", "paper_figure", "side_by_side_rows"]

COLUMNS = {
    "mean_f1": "F1",
    "exact_match": "exact",
    "mean_precision": "precision",
    "mean_recall": "recall",
    "mean_jaccard": "Jaccard",
    "matched_edit_distance": "matched ED",
    "mean_edit_distance": "mED",
    "mean_predicted_size": "size",
}
"""The figures beside the leading one, and how a column calls them."""


def figure(value: dict[str, Any], digits: int = 3) -> str:
    """A mean with its standard error; a dash where there is nothing to tell."""
    if value["mean"] is None:
        return "–"
    text = f"{value['mean']:.{digits}f}"
    return text if value["error"] is None else f"{text} ± {value['error']:.{digits}f}"


def paper_figure(value: float) -> str:
    """A figure of the paper's with the digits that the paper prints, at least two."""
    text = f"{value:.3f}"
    return text.removesuffix("0")


def main_rows(table: dict[str, Any]) -> list[list[str]]:
    """A header and one row a system and yardstick: the leading figure, what it is to reach, others.

    That is the paper's figure or, in tables beyond the paper, our own goal.
    """
    metric, others = table["metric"], _other_columns(table)
    to_reach = "goal" if any(row["goal"] is not None for row in table["rows"]) else "paper"
    header = ["system", metric["symbol"], to_reach, "reached", *(COLUMNS[k] for k in others)]
    rows = [header]
    for row in table["rows"]:
        verdict = row["verdict"]
        rows.append(
            [
                row["name"] if row["kind"] == "system" else f"({row['name']})",
                figure(row["figures"][metric["key"]]),
                "" if row[to_reach] is None else paper_figure(row[to_reach]),
                "" if verdict is None else ("yes" if verdict["reached"] else "no"),
                *(figure(row["figures"][key]) for key in others),
            ]
        )
    return rows


def side_by_side_rows(table: dict[str, Any], comparison: dict[str, Any]) -> list[list[str]]:
    """The same scores under every rule."""
    metric, others = table["metric"], _other_columns(table)
    rows = [["rule", metric["symbol"], *(COLUMNS[key] for key in others)]]
    for row in comparison["rows"]:
        figures = [figure(row["figures"][key]) for key in (metric["key"], *others)]
        rows.append([row["rule"], *figures])
    return rows


def cost_rows(results: dict[str, Any]) -> list[list[str]]:
    """Time and memory of a cell, a row a table."""
    rows = [["table", "seconds a cell", "CPU seconds", "peak memory (MB)", "training (s)"]]
    for table in results["tables"]:
        if table["rows"]:
            costs = table["costs"]
            training = "; ".join(f"{n} {figure(s, 1)}" for n, s in costs["scorers"].items())
            shown = [figure(costs[key], 1) for key in ("seconds", "cpu_seconds", "peak_mb")]
            rows.append([table["title"], *shown, training])
    return rows


def _other_columns(table: dict[str, Any]) -> list[str]:
    shown = table["rows"][0]["figures"]
    leading = table["metric"]["key"]
    return [key for key in COLUMNS if key != leading and shown[key]["n"] > 0]
