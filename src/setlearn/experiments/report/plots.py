"""The plots of a report, as SVG elements in the colours of the page; none without matplotlib."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plot", "cost_plot", "plots_available", "table_plots"]

INK = "#010203"
"""Replaced by the text colour of the page, light or dark."""

PALETTE = ("#3b82c4", "#e08a2e", "#3fa37a", "#b565a7", "#8a8f98", "#c9534f")
"""Visible on white and on black."""

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, and readable by screen readers
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """An SVG element and what it shows."""

    svg: str
    caption: str


def plots_available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def table_plots(table: dict[str, Any]) -> list[Plot]:
    """All plots of one table."""
    if not plots_available():
        return []
    with _plot_style():
        return [
            Plot(_inline_svg(figure, f"{table['name']}-{number}"), caption)
            for number, (figure, caption) in enumerate(_drawn(table))
        ]


def cost_plot(results: dict[str, Any]) -> Plot | None:
    """Time and memory of a cell, for each table."""
    run = [table for table in results["tables"] if table["rows"]]
    if not run or not plots_available():
        return None
    with _plot_style():
        svg = _inline_svg(_costs(run), "costs")
    return Plot(svg, "Time and peak memory per cell, mean over splits")


def _drawn(table: dict[str, Any]) -> Iterator[tuple[Figure, str]]:
    yield _bars(table)
    yield _sizes(table)
    yield from (_learning(name, epochs) for name, epochs in table["learning"].items() if epochs)
    yield from (_gaps(name, depths) for name, depths in table["gaps"].items() if depths)
    yield from (_lam(name, lam) for name, lam in table["lam"].items() if len(lam) > 1)
    if len(table["curve"]["points"]) > 1:
        yield _curve(table)


def _costs(run: list[dict[str, Any]]) -> Figure:
    figure, axes = _new_figure(height=1.2 + 0.45 * len(run))
    places = range(len(run))
    seconds = [table["costs"]["seconds"]["mean"] for table in run]
    memory = [table["costs"]["peak_mb"]["mean"] or 0 for table in run]
    axes.barh([p - 0.2 for p in places], seconds, 0.36, color=PALETTE[0], label="seconds")
    axes.set_yticks(list(places), [table["title"] for table in run])
    axes.invert_yaxis()
    axes.set_xlabel("seconds per cell", color=PALETTE[0])
    beside = axes.twiny()
    beside.barh([p + 0.2 for p in places], memory, 0.36, color=PALETTE[1])
    beside.set_xlabel("peak memory (MB)", color=PALETTE[1])
    return figure


def _bars(table: dict[str, Any]) -> tuple[Figure, str]:
    key, symbol = table["metric"]["key"], table["metric"]["symbol"]
    rows = [row for row in table["rows"] if row["figures"][key]["mean"] is not None]
    figure, axes = _new_figure(height=1 + 0.32 * len(rows))
    for place, row in enumerate(rows):
        value = row["figures"][key]
        colour = PALETTE[0] if row["kind"] == "system" else PALETTE[4]
        error = value["error"] or 0.0
        axes.barh(place, value["mean"], 0.6, xerr=error, color=colour, ecolor=INK, alpha=0.9)
        if row["paper"] is not None:
            axes.plot([row["paper"]] * 2, [place - 0.42, place + 0.42], color=PALETTE[5], lw=3)
    axes.plot([], [], color=PALETTE[5], lw=3, label="figure of the paper")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(symbol)
    figure.legend(loc="outside upper right")
    return figure, f"{symbol} of every system and yardstick, with standard errors"


def _sizes(table: dict[str, Any]) -> tuple[Figure, str]:
    figure, axes = _new_figure()
    sizes = table["sizes"]
    largest = max(k for counts in sizes.values() for k, n in enumerate(counts) if n)
    ticks = range(largest + 1)
    axes.bar(ticks, sizes["true"][: largest + 1], color=PALETTE[4], alpha=0.5, label="true")
    systems = [name for name in sizes if name != "true"]
    for number, name in enumerate(systems):
        colour = PALETTE[number % 4] if number < 4 else PALETTE[5]
        style = "-" if number < 5 else "--"
        counts = sizes[name][: largest + 1]
        axes.plot(ticks, counts, style, color=colour, marker="o", ms=3, label=name)
    axes.set_xlabel("elements per set" + (" (20: 20 or more)" if largest == 20 else ""))
    axes.set_ylabel("test samples, all splits")
    axes.legend()
    return figure, "True and predicted set sizes"


def _learning(scorer: str, epochs: list[dict[str, Any]]) -> tuple[Figure, str]:
    figure, axes = _new_figure()
    steps = [epoch["step"] for epoch in epochs]
    axes.plot(steps, [e["loss"] for e in epochs], color=PALETTE[0], label="training loss")
    if "held_out_loss" in epochs[0]:
        held = [epoch["held_out_loss"] for epoch in epochs]
        beside = axes.twinx()
        beside.plot(steps, [e["held_out_f1"] for e in epochs], color=PALETTE[2])
        beside.set_ylabel("held-out set F1", color=PALETTE[2])
    else:
        held = [None if e["held_out"] is None else -e["held_out"] for e in epochs]
    axes.plot(steps, held, color=PALETTE[1], label="held-out loss")
    axes.set_xlabel("batches")
    axes.set_ylabel("loss")
    figure.legend(loc="outside upper center", ncols=2)
    return figure, f"Learning curve of the {scorer} on split 0"


def _gaps(scorer: str, depths: list[dict[str, Any]]) -> tuple[Figure, str]:
    root = depths[0]
    figure, axes = _new_figure()
    n_bins = len(root["counts"])
    left = [number / n_bins for number in range(n_bins)]
    axes.bar(left, root["counts"], 1 / n_bins, align="edge", color=PALETTE[0], alpha=0.8)
    axes.axvline(root["lam"], color=PALETTE[5], lw=2, label=f"λ = {root['lam']:.3f}")
    low, high = root["interval"]
    if low is not None and high is not None and low <= high:
        label = f"feasible: {low:.3f} to {high:.3f}"
        axes.axvspan(low, high, color=PALETTE[2], alpha=0.25, label=label)
    elif low is not None and high is not None:
        axes.axvline(low, color=PALETTE[2], ls="--", label=f"none feasible: at least {low:.3f}")
        axes.axvline(high, color=PALETTE[1], ls="--", label=f"and at most {high:.3f}")
    axes.set_xlabel("P − P̂: the best λ for a single choice point")
    axes.set_ylabel("choice points")
    figure.legend(loc="outside upper center", ncols=3)
    where = " at the root" if len(depths) > 1 else ""
    return figure, f"P − P̂ of the {scorer}{where}, with the chosen λ (split 0)"


def _lam(scorer: str, lam: list[dict[str, Any]]) -> tuple[Figure, str]:
    figure, axes = _new_figure()
    errors = [value["error"] or 0.0 for value in lam]
    means = [value["mean"] for value in lam]
    axes.errorbar(range(len(lam)), means, errors, color=PALETTE[0], marker="o", capsize=3)
    axes.set_xlabel("position j")
    axes.set_ylabel("λ_j")
    axes.set_xticks(range(len(lam)))
    return figure, f"λ by position under the {scorer}, mean over splits"


def _curve(table: dict[str, Any]) -> tuple[Figure, str]:
    points = [point for point in table["curve"]["points"] if point["value"] is not None]
    symbol = table["metric"]["symbol"]
    figure, axes = _new_figure()
    n_train = [point["n_train"] for point in points]
    axes.plot(n_train, [point["value"] for point in points], color=PALETTE[0], marker="o")
    axes.set_xscale("log", base=2)
    axes.set_xticks(n_train, [str(n) for n in n_train])
    axes.set_xlabel("training samples")
    axes.set_ylabel(symbol)
    return figure, f"{symbol} of {table['curve']['system']} against training samples (split 0)"


@contextmanager
def _plot_style() -> Iterator[None]:
    """Use our settings of matplotlib in this block only."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


def _new_figure(*, height: float = 3.2) -> tuple[Figure, Any]:
    """A figure with one pair of axes, about as wide as the screen of a phone."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, height), layout="constrained")
    return figure, figure.subplots()


def _inline_svg(figure: Figure, name: str) -> str:
    """The SVG element of a figure; ``name`` makes its ids different from those of other plots."""
    import matplotlib as mpl

    file = StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(
            file,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # A page knows the namespaces, and sets the size itself.
    tag, rest = svg.split(">", 1)
    tag = re.sub(r'\s(xmlns(:\w+)?|width|height|version)="[^"]*"', "", tag)
    return f"{tag}>{rest}".replace(INK, "currentColor").strip()
