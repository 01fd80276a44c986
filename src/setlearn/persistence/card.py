"""The model card: what a model is, for people who find its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["facts_of", "model_card"]


def facts_of(model: Any) -> dict[str, Any]:
    """What can be said of a fitted model in a few words and numbers."""
    facts: dict[str, Any] = model.facts()
    return facts


def model_card(facts: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The card as Markdown; ``about`` is what was told when the model was saved."""
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
    for part, told in about.items():
        if isinstance(told, Mapping):
            lines += _table(part.capitalize(), told)
        elif isinstance(told, list | tuple):
            lines += [f"## {part.capitalize()}", "", *(f"- {_cell(one)}" for one in told), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(title: str, facts: Mapping[str, Any]) -> list[str]:
    rows = [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts.items()]
    return [f"## {title}", "", "| | |", "|---|---|", *rows, ""]


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    if len(text) > 300:
        text = f"{text[:300]} …"
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
