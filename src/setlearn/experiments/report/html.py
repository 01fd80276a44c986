"""The report as a self-contained page: no scripts, no fonts, no other files."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

from setlearn.experiments.report.markdown import (
    cost_rows,
    main_rows,
    protocol_line,
    side_by_side_rows,
)
from setlearn.experiments.report.plots import Plot, cost_plot, plots_available, table_plots

__all__ = ["html_report"]

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
