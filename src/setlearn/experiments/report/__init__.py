"""Reports made only from ``results.json``: Markdown, and one self-contained HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from setlearn.experiments.report.pages import (
    html_report,
    markdown_report,
    readme_table,
    tables_as_text,
)
from setlearn.experiments.store import write_atomically

__all__ = ["readme_table", "tables_as_text", "write_report"]


def write_report(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``results.json``, ``report.md`` and ``index.html``.

    Parameters
    ----------
    results : dict
        As from `summarise`.
    folder : Path

    Returns
    -------
    list of Path
        The files.
    """
    texts = {
        "results.json": json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "report.md": markdown_report(results),
        "index.html": html_report(results),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]
