"""Turns a matplotlib figure into SVG that sits in a page, in the page's own ink."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["INK", "PALETTE", "in_our_style", "inline_svg", "new_figure"]

INK = "#010203"
"""Stands for the page's text colour, whatever that is in light or dark."""

PALETTE = ("#3b82c4", "#e08a2e", "#3fa37a", "#b565a7", "#8a8f98", "#c9534f")
"""Seen well on white and on black."""

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


@contextmanager
def in_our_style() -> Iterator[None]:
    """Draw in this block with our settings, and leave matplotlib's as they were."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


def new_figure(*, height: float = 3.2) -> tuple[Figure, Any]:
    """A figure with one pair of axes, about as wide as a phone's screen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, height), layout="constrained")
    return figure, figure.subplots()


def inline_svg(figure: Figure, name: str) -> str:
    """The figure's SVG element alone; ``name`` keeps its ids apart from those of other plots."""
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
    # In a page the namespaces are known, and the size is the page's business.
    tag, rest = svg.split(">", 1)
    tag = re.sub(r'\s(xmlns(:\w+)?|width|height|version)="[^"]*"', "", tag)
    return f"{tag}>{rest}".replace(INK, "currentColor").strip()
