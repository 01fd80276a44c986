"""``setlearn inspect``: what is in a model."""

from __future__ import annotations

from typing import Any

from setlearn.cli.console import show
from setlearn.cli.options import Model, Talking, Trust

__all__ = ["inspect"]

SHOWN = 12
"""Labels that are shown; --json has all."""


def inspect(
    model: Model,
    trust: Trust = None,
    *,
    talking: Talking,
) -> None:
    """Show what a model is, and what was told of it.

    That is its task, rule and λ, its sizes, versions and figures.
    """
    from setlearn.persistence import read_model

    saved = read_model(model, trusted=trust or ())
    found = {
        **saved.facts,
        "about": saved.about,
        "elements": _element_names(saved.model),
        "files": {name: facts.size for name, facts in saved.manifest.files.items()},
        "format": saved.manifest.format,
        "versions": {"setlearn": saved.manifest.setlearn, **saved.manifest.dependencies},
    }
    show(_as_text(found), found, talking)


def _element_names(model: Any) -> list[str]:
    """The labels of a label model, or the tokens of a sequence model, as texts."""
    from setlearn.records import RecordModel

    fitted = model.model if isinstance(model, RecordModel) else model
    names: list[str] = fitted.choice_names()
    return names


def _as_text(found: dict[str, Any]) -> str:
    elements = found["elements"]
    more = f", … {len(elements) - SHOWN} more" if len(elements) > SHOWN else ""
    sizes = {name: f"{size:,} bytes" for name, size in found["files"].items()}
    plain = {k: v for k, v in found.items() if not isinstance(v, dict | list)}
    lines = _table({**plain, "elements": ", ".join(elements[:SHOWN]) + more})
    for title, told in {**found["about"], "files": sizes, "versions": found["versions"]}.items():
        lines += ["", title, *(f"  {line}" for line in _lines(told))]
    return "\n".join(lines)


def _lines(told: Any) -> list[str]:
    if isinstance(told, dict):
        return _table({name: value for name, value in told.items() if value is not None})
    return [str(line) for line in told] if isinstance(told, list) else [str(told)]


def _table(told: dict[str, Any]) -> list[str]:
    width = max((len(name) for name in told), default=0)
    return [
        f"{name:<{width}}  {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in told.items()
    ]
