"""``setlearn doctor``: what is installed, what is missing, and how to get it."""

from __future__ import annotations

from typing import Any

import typer

from setlearn.cli.console import show
from setlearn.cli.options import Talking

__all__ = ["doctor"]

CORE = (
    *("numpy", "scipy", "scikit-learn", "torch", "safetensors", "skops"),
    *("rapidfuzz", "typer", "rich", "iterative-stratification", "liac-arff"),
)
EXTRAS = {
    "parquet": ("pyarrow",),
    "plot": ("matplotlib",),
    "datasets": ("river",),
    "server": ("fastapi", "uvicorn"),
}


def doctor(*, talking: Talking) -> None:
    """Tell what is installed, what is missing, how to get it."""
    found = _findings()
    show(_as_text(found), found, talking)
    if not found["well"]:
        raise typer.Exit(1)


def _findings() -> dict[str, Any]:
    import os
    import platform

    from setlearn import __version__

    core = {name: _version(name) for name in CORE}
    extras = {
        extra: {
            "packages": {name: _version(name) for name in names},
            "install": f"pip install 'setlearn[{extra}]'",
        }
        for extra, names in EXTRAS.items()
    }
    folder = os.environ.get("SETLEARN_DATA")
    return {
        "setlearn": __version__,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "cores": os.cpu_count(),
        "packages": core,
        "extras": extras,
        "data_folder": folder if folder and os.path.isdir(folder) else None,
        "well": None not in core.values(),
    }


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _as_text(found: dict[str, Any]) -> str:
    lines = [
        f"setlearn {found['setlearn']}, Python {found['python']}, {found['system']}, "
        f"{found['cores']} cores",
        "",
        "needed",
        *(f"  {name:<25} {version or 'MISSING'}" for name, version in found["packages"].items()),
        "",
        "extras",
    ]
    for extra, told in found["extras"].items():
        for name, version in told["packages"].items():
            state = version or f"missing; {told['install']}"
            lines.append(f"  {extra + ': ' + name:<25} {state}")
    folder = found["data_folder"] or "none; set SETLEARN_DATA to a folder with benchmark data"
    lines += ["", f"data for experiments: {folder}"]
    if not found["well"]:
        lines += ["", "something that setlearn needs is missing: pip install --upgrade setlearn"]
    return "\n".join(lines)
