"""``setlearn inspect``: what is in a model."""

from __future__ import annotations

from typing import Any

from setlearn.cli.options import Model, OutputOptions, Trusted

__all__ = ["inspect"]

MOST_ELEMENTS = 12
"""The number of elements that are shown; --json has all."""


def inspect(
    model: Model,
    trusted: Trusted = None,
    *,
    output: OutputOptions,
) -> None:
    """Show what a model is and what is known about it.

    Shows its task, rule and λ, its sizes, versions and figures.
    """
    from setlearn.cli.console import print_result
    from setlearn.persistence import read_model

    saved = read_model(model, trusted=trusted or ())
    description = {
        **saved.facts,
        "about": saved.about,
        "elements": saved.model.choice_names(),
        "files": {name: facts.size for name, facts in saved.manifest.files.items()},
        "format": saved.manifest.format,
        "versions": {"setlearn": saved.manifest.setlearn, **saved.manifest.dependencies},
    }
    print_result(_as_text(description), description, output)


def _as_text(description: dict[str, Any]) -> str:
    elements = description["elements"]
    n_more = len(elements) - MOST_ELEMENTS
    shown = ", ".join(elements[:MOST_ELEMENTS]) + (f", … {n_more} more" if n_more > 0 else "")
    sizes = {name: f"{size:,} bytes" for name, size in description["files"].items()}
    plain = {k: v for k, v in description.items() if not isinstance(v, dict | list)}
    lines = _table({**plain, "elements": shown})
    parts = {f"part {k}": part for k, part in enumerate(description.get("mixture", ()), 1)}
    tried = {"rules tried": description["rules tried"]} if "rules tried" in description else {}
    sections = {
        **parts,
        **tried,
        **description["about"],
        "files": sizes,
        "versions": description["versions"],
    }
    for title, content in sections.items():
        lines += ["", title, *(f"  {line}" for line in _lines(content))]
    return "\n".join(lines)


def _lines(content: Any) -> list[str]:
    if isinstance(content, dict):
        return _table({name: value for name, value in content.items() if value is not None})
    return [str(line) for line in content] if isinstance(content, list) else [str(content)]


def _table(values: dict[str, Any]) -> list[str]:
    width = max((len(name) for name in values), default=0)
    return [
        f"{name:<{width}}  {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in values.items()
    ]
