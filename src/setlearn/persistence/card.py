"""The model card: what a model is, for people who find its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["model_card"]


def model_card(facts: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Write the card of a model.

    Parameters
    ----------
    facts : mapping
        What the model says about itself.
    about : mapping
        What was passed to ``save`` as ``about``. "name" is the title, mappings become tables and
        lists become lists.

    Returns
    -------
    str
        Markdown.
    """
    lines = [
        f"# {about.get('name', 'A setlearn model')}",
        "",
        f"Predicts {facts['task']}. Saved by [setlearn](https://pypi.org/project/setlearn/).",
        "",
        "```python",
        "import setlearn",
        "",
        'model = setlearn.load("PATH OF THIS FOLDER")',
        "```",
        "",
        "On the command line: `setlearn inspect PATH`, `setlearn predict PATH FILE`.",
        "",
        *_table("The model", facts),
    ]
    for title, content in about.items():
        if isinstance(content, Mapping):
            lines += _table(title.capitalize(), content)
        elif isinstance(content, list | tuple):
            items = [f"- {_cell(item)}" for item in content]
            lines += [f"## {title.capitalize()}", "", *items, ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(title: str, facts: Mapping[str, Any]) -> list[str]:
    rows = [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts.items()]
    return [f"## {title}", "", "| | |", "|---|---|", *rows, ""]


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    if len(text) > 300:
        text = f"{text[:300]} …"
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
