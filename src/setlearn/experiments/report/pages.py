"""The report as Markdown, and as one page of HTML that needs no other file."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

from setlearn.experiments.report.plots import Plot, cost_plot, plots_available, table_plots

__all__ = [
    "cost_rows",
    "figure",
    "html_report",
    "main_rows",
    "markdown_report",
    "paper_figure",
    "protocol_line",
    "readme_table",
    "side_by_side_rows",
    "tables_as_text",
]

NO_PLOTS = (
    "This report has no plots because matplotlib is not installed. Install it with "
    "<code>pip install 'setlearn[plot]'</code> and run the command again; finished cells are "
    "not run again."
)


def html_report(results: dict[str, Any]) -> str:
    """The whole page."""
    style = files("setlearn.experiments.report").joinpath("style.css").read_text("utf-8")
    tables = results["tables"]
    links = " ".join(f'<a href="#{t["name"]}">{escape(t["title"])}</a>' for t in tables)
    body = [
        "<h1>The paper's tables, reproduced</h1>",
        "<p>Sequential Set Generation: a scorer gives a probability to every choice, and a rule "
        "decides which choices to keep. The tables compare each system with the figure of the "
        "paper.</p>",
        f'<p class="faint">{escape(protocol_line(results))}</p>',
        f'<nav>{links} <a href="#costs">Time and memory</a></nav>',
        _overview(results),
    ]
    if not plots_available():
        body.append(f'<p class="failed">{NO_PLOTS}</p>')
    body += [_table_section(table) for table in tables]
    body.append(_costs(results))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>setlearn: the paper's tables, reproduced</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def _overview(results: dict[str, Any]) -> str:
    """Which systems reach the paper's figure or our own goal, one line per table."""
    lines = []
    for table in results["tables"]:
        judged = [row for row in table["rows"] if row["verdict"]]
        reached = [row["name"] for row in judged if row["verdict"]["reached"]]
        missed = [row["name"] for row in judged if not row["verdict"]["reached"]]
        texts = []
        if reached:
            texts.append(f'<span class="yes">reached</span> by {escape(", ".join(reached))}')
        if missed:
            texts.append(f'<span class="no">not reached</span> by {escape(", ".join(missed))}')
        if not table["rows"]:
            texts.append('<span class="no">not run</span>, see below')
        if texts:
            lines.append(f"<li><strong>{escape(table['title'])}</strong>: {'; '.join(texts)}</li>")
    intro = "<p>Whether the figure of the paper, or our own goal, is reached:</p>"
    return f"{intro}\n<ul>{''.join(lines)}</ul>"


def _table_section(table: dict[str, Any]) -> str:
    symbol = table["metric"]["symbol"]
    better = "higher" if table["metric"]["higher_is_better"] else "lower"
    parts = [
        f'<h2 id="{table["name"]}">{escape(table["title"])}</h2>',
        f"<p>{escape(table['about'])} The leading figure is {symbol}; {better} is better.</p>",
    ]
    parts += [f'<p class="failed">Not run: {escape(f)}</p>' for f in table["failures"]]
    if not table["rows"]:
        return "\n".join(parts)
    kinds = [row["kind"] for row in table["rows"]]
    parts += [
        f'<p class="faint">{table["n_train"]} training samples, {table["n_test"]} test samples, '
        f"{table['splits']} split(s). Data: {escape(table['origin'])}.</p>",
        _html_table(main_rows(table), kinds),
        _verdicts(table),
    ]
    if table["side_by_side"]:
        parts.append(
            "<h3>The same scores under each rule</h3>\n"
            "<p>All rows use the same scores, so they differ only by the rule.</p>"
        )
    for comparison in table["side_by_side"]:
        parts.append(f'<p class="faint">{escape(comparison["scorer"])}</p>')
        parts.append(_html_table(side_by_side_rows(table, comparison)))
    plots = table_plots(table)
    if plots:
        parts += ["<h3>Plots</h3>", _plots(plots)]
    parts += [f"<h3>Traced predictions of {escape(table['examples']['system'])}</h3>"]
    parts += [_example(example) for example in table["examples"]["traces"]]
    return "\n".join(parts)


def _verdicts(table: dict[str, Any]) -> str:
    items = []
    for row in table["rows"]:
        if row["verdict"]:
            word = "yes" if row["verdict"]["reached"] else "no"
            text = escape(row["verdict"]["text"])
            items.append(f'<li><span class="{word}">{escape(row["name"])}</span> {text}</li>')
    return f"<ul>{''.join(items)}</ul>"


def _html_table(rows: list[list[str]], kinds: list[str] | None = None) -> str:
    header = "".join(f"<th>{escape(title)}</th>" for title in rows[0])
    body = []
    for number, row in enumerate(rows[1:]):
        kind = f' class="{kinds[number]}"' if kinds else ""
        body.append(f"<tr{kind}>{''.join(map(_entry, row))}</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{header}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _entry(text: str) -> str:
    mark = f' class="{text}"' if text in ("yes", "no") else ""
    return f"<td{mark}>{escape(text)}</td>"


def _plots(plots: list[Plot]) -> str:
    figures = [
        f'<figure role="img" aria-label="{escape(plot.caption)}">{plot.svg}'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
        for plot in plots
    ]
    return f'<div class="plots">{"".join(figures)}</div>'


def _example(example: dict[str, Any]) -> str:
    right = example["true"] == example["predicted"]
    word, mark = ("right", "yes") if right else ("wrong", "no")
    true, predicted = ("{" + ", ".join(example[side]) + "}" for side in ("true", "predicted"))
    summary = f"{example['input']} → {predicted}" + ("" if right else f", true: {true}")
    return (
        f'<details><summary><span class="{mark}">{word}</span> {escape(summary)}</summary>'
        f"<pre>{escape(example['trace'])}</pre></details>"
    )


def _costs(results: dict[str, Any]) -> str:
    parts = ['<h2 id="costs">Time and memory</h2>', _html_table(cost_rows(results))]
    plot = cost_plot(results)
    if plot is not None:
        parts.append(_plots([plot]))
    return "\n".join(parts)


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
"""The figures besides the leading one, with the titles of their columns."""

PAPER_COLUMNS = ("Multi-label", "SSG-S", "SSG-RNN", "SSG-CNN")


def markdown_report(results: dict[str, Any]) -> str:
    """The whole report without the plots."""
    parts = ["# The paper's tables, reproduced", protocol_line(results), tables_as_text(results)]
    for table in results["tables"]:
        if table["rows"]:
            parts += [f"## {table['title']} in detail", *_details(table)]
    parts += ["## Time and memory", _pipe_table(cost_rows(results))]
    return "\n\n".join(parts) + "\n"


def protocol_line(results: dict[str, Any]) -> str:
    """How the figures were computed, in a few sentences."""
    protocol, versions = results["protocol"], results["versions"]
    train = round(100 * (1 - protocol["test_share"]))
    libraries = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (
        f"Mean ± standard error over {protocol['splits']} random splits, {train}/{100 - train}. "
        "Rules are fitted on training samples only, on out-of-fold or held-out scores unless a "
        "table says otherwise. "
        f"Rows in brackets are yardsticks. ({libraries})"
    )


def tables_as_text(results: dict[str, Any]) -> str:
    """The main tables, and what failed."""
    parts = []
    for table in results["tables"]:
        better = "higher" if table["metric"]["higher_is_better"] else "lower"
        parts.append(f"## {table['title']} ({table['metric']['symbol']}, {better} is better)")
        parts += [f"Not run: {failure}" for failure in table["failures"]]
        if table["rows"]:
            if table["splits"] < results["protocol"]["splits"]:
                parts.append(f"Over {table['splits']} splits.")
            parts.append(_pipe_table(main_rows(table)))
    return "\n\n".join(parts)


def readme_table(results: dict[str, Any]) -> str:
    """The results in the README: one row per table, one column per system.

    The paper's figures are in brackets. The last column is the first system of the table of the
    library's defaults on the same data.
    """
    tables = {table["name"]: table for table in results["tables"]}
    rows = [["", *PAPER_COLUMNS, "setlearn's default"]]
    for name, table in tables.items():
        by_name = {row["name"]: row for row in table["rows"]}
        entries = [_beside_paper(by_name.get(column), table) for column in PAPER_COLUMNS]
        if set(entries) != {"–"}:  # a table of the paper
            default = tables.get(f"{name}-default", {"rows": []})["rows"]
            entries.append(_beside_paper(default[0] if default else None, table))
            rows.append([f"{table['title']} {table['metric']['symbol']}", *entries])
    return _pipe_table(rows)


def figure(value: dict[str, Any], digits: int = 3) -> str:
    """A mean with its standard error.

    Parameters
    ----------
    value : dict
        ``mean`` and ``error``, both of which may be None.
    digits : int, default=3

    Returns
    -------
    str
        A dash if there is no mean.
    """
    if value["mean"] is None:
        return "–"
    text = f"{value['mean']:.{digits}f}"
    return text if value["error"] is None else f"{text} ± {value['error']:.{digits}f}"


def paper_figure(value: float) -> str:
    """A figure of the paper with the digits that the paper prints, at least two."""
    text = f"{value:.3f}"
    return text.removesuffix("0")


def main_rows(table: dict[str, Any]) -> list[list[str]]:
    """A header, and one row per system and yardstick.

    A row has the leading figure, the figure to reach, and the other metrics. The figure to reach
    is that of the paper or, in tables of our own, our goal.
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
    """The same scores under several rules: a header, and one row per rule.

    Parameters
    ----------
    table, comparison : dict
        A table of the results, and one of its comparisons.

    Returns
    -------
    list of list of str
    """
    metric, others = table["metric"], _other_columns(table)
    rows = [["rule", metric["symbol"], *(COLUMNS[key] for key in others)]]
    for row in comparison["rows"]:
        figures = [figure(row["figures"][key]) for key in (metric["key"], *others)]
        rows.append([row["rule"], *figures])
    return rows


def cost_rows(results: dict[str, Any]) -> list[list[str]]:
    """Time and memory of a cell: a header, and one row per table."""
    rows = [["table", "seconds per cell", "CPU seconds", "peak memory (MB)", "training (s)"]]
    for table in results["tables"]:
        if table["rows"]:
            costs = table["costs"]
            training = "; ".join(f"{n} {figure(s, 1)}" for n, s in costs["scorers"].items())
            totals = [figure(costs[key], 1) for key in ("seconds", "cpu_seconds", "peak_mb")]
            rows.append([table["title"], *totals, training])
    return rows


def _other_columns(table: dict[str, Any]) -> list[str]:
    figures = table["rows"][0]["figures"]
    leading = table["metric"]["key"]
    return [key for key in COLUMNS if key != leading and figures[key]["n"] > 0]


def _pipe_table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table whose columns are also aligned as plain text."""
    rows = [[entry.replace("|", "\\|") for entry in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(entry.ljust(w) for entry, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    line = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], line, *lines[1:]])


def _beside_paper(row: dict[str, Any] | None, table: dict[str, Any]) -> str:
    if row is None:
        return "–"
    measured = figure(row["figures"][table["metric"]["key"]])
    return measured if row["paper"] is None else f"{measured} ({paper_figure(row['paper'])})"


def _details(table: dict[str, Any]) -> list[str]:
    parts = [f"{table['about']} Data: {table['origin']}."]
    verdicts = [(row["name"], row["verdict"]) for row in table["rows"] if row["verdict"]]
    parts.append("\n".join(f"- **{name}** {verdict['text']}" for name, verdict in verdicts))
    for comparison in table["side_by_side"]:
        parts += [
            f"The same scores of the {comparison['scorer']} under each rule:",
            _pipe_table(side_by_side_rows(table, comparison)),
        ]
    parts.append(f"Predictions of {table['examples']['system']} on split 0:")
    rows = [["input", "true", "predicted", "F1"]]
    for example in table["examples"]["traces"]:
        true, predicted = (_braced(example[side]) for side in ("true", "predicted"))
        rows.append([example["input"], true, predicted, f"{example['f1']:.2f}"])
    return [*parts, _pipe_table(rows)]


def _braced(elements: list[str]) -> str:
    return "{" + ", ".join(elements) + "}"
