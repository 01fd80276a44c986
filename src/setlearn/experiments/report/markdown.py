"""The report as Markdown, which is also what the terminal shows."""

from __future__ import annotations

from typing import Any

from setlearn.experiments.report.rows import (
    cost_rows,
    figure,
    main_rows,
    paper_figure,
    side_by_side_rows,
)

__all__ = ["markdown_report", "protocol_line", "readme_table", "tables_as_text"]

PAPER_COLUMNS = ("Multi-label", "SSG-S", "SSG-RNN", "SSG-CNN")


def markdown_report(results: dict[str, Any]) -> str:
    """The whole report but for the plots."""
    parts = ["# The paper's tables, reproduced", protocol_line(results), tables_as_text(results)]
    for table in results["tables"]:
        if table["rows"]:
            parts += [f"## {table['title']} in detail", *_details(table)]
    parts += ["## Time and memory", pipe_table(cost_rows(results))]
    return "\n\n".join(parts) + "\n"


def protocol_line(results: dict[str, Any]) -> str:
    """How the figures came about, in two sentences."""
    protocol, versions = results["protocol"], results["versions"]
    train = round(100 * (1 - protocol["test_share"]))
    of = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (
        f"Mean ± standard error over {protocol['splits']} random splits, {train}/{100 - train}. "
        f"Rules learn from the training part alone, from out-of-fold or held-out scores unless "
        f"a table says otherwise. "
        f"Rows in brackets are yardsticks. ({of})"
    )


def tables_as_text(results: dict[str, Any]) -> str:
    """The main tables, with what failed."""
    parts = []
    for table in results["tables"]:
        better = "higher" if table["metric"]["higher_is_better"] else "lower"
        parts.append(f"## {table['title']} ({table['metric']['symbol']}, {better} is better)")
        parts += [f"Not run: {failure}" for failure in table["failures"]]
        if table["rows"]:
            if table["splits"] < results["protocol"]["splits"]:
                parts.append(f"Over {table['splits']} splits.")
            parts.append(pipe_table(main_rows(table)))
    return "\n\n".join(parts)


def readme_table(results: dict[str, Any]) -> str:
    """The README's results: one row a table, one column a system, the paper's figures beside.

    The last column is the first system of the table of the library's defaults on the same data.
    """
    tables = {table["name"]: table for table in results["tables"]}
    rows = [["", *PAPER_COLUMNS, "setlearn's default"]]
    for name, table in tables.items():
        by_name = {row["name"]: row for row in table["rows"]}
        cells = [_beside_paper(by_name.get(column), table) for column in PAPER_COLUMNS]
        if set(cells) != {"–"}:  # a table of the paper's
            default = tables.get(f"{name}-default", {"rows": []})["rows"]
            cells.append(_beside_paper(default[0] if default else None, table))
            rows.append([f"{table['title']} {table['metric']['symbol']}", *cells])
    return pipe_table(rows)


def pipe_table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table whose columns also line up as plain text."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _beside_paper(row: dict[str, Any] | None, table: dict[str, Any]) -> str:
    if row is None:
        return "–"
    ours = figure(row["figures"][table["metric"]["key"]])
    return ours if row["paper"] is None else f"{ours} ({paper_figure(row['paper'])})"


def _details(table: dict[str, Any]) -> list[str]:
    parts = [f"{table['about']} Data: {table['origin']}."]
    verdicts = [(row["name"], row["verdict"]) for row in table["rows"] if row["verdict"]]
    parts.append("\n".join(f"- **{name}** {verdict['text']}" for name, verdict in verdicts))
    for comparison in table["side_by_side"]:
        parts += [
            f"The same scores of the {comparison['scorer']} under each rule:",
            pipe_table(side_by_side_rows(table, comparison)),
        ]
    parts.append(f"Answers of {table['examples']['system']} on split 0:")
    rows = [["input", "true", "predicted", "F1"]]
    for example in table["examples"]["traces"]:
        true, predicted = (_braced(example[side]) for side in ("true", "predicted"))
        rows.append([example["input"], true, predicted, f"{example['f1']:.2f}"])
    return [*parts, pipe_table(rows)]


def _braced(elements: list[str]) -> str:
    return "{" + ", ".join(elements) + "}"
