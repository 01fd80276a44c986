"""Writes the three files of a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from setlearn.experiments.report.html import html_report
from setlearn.experiments.report.markdown import markdown_report
from setlearn.experiments.store import write_whole

__all__ = ["write_report"]


def write_report(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``results.json``, ``report.md`` and ``index.html``, each whole or not at all."""
    texts = {
        "results.json": json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "report.md": markdown_report(results),
        "index.html": html_report(results),
    }
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]
