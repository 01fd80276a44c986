"""``setlearn doctor``: what is installed, what is missing, and how to install it."""

from __future__ import annotations

from typing import Any

import typer

from setlearn.cli.options import OutputOptions

__all__ = ["doctor"]

CORE = (
    *("numpy", "scipy", "scikit-learn", "torch", "safetensors", "skops"),
    *("rapidfuzz", "typer", "rich", "iterative-stratification", "liac-arff"),
)
EXTRAS = {
    "parquet": ("pyarrow",),
    "plot": ("matplotlib",),
    "datasets": ("river",),
    "ray": ("ray",),
    "server": ("fastapi", "uvicorn"),
}


def doctor(*, output: OutputOptions) -> None:
    """Show what is installed, what is missing, and how to install it."""
    from setlearn.cli.console import print_result

    report = _report()
    print_result(_as_text(report), report, output)
    if not report["well"]:
        raise typer.Exit(1)


def _report() -> dict[str, Any]:
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


def _as_text(report: dict[str, Any]) -> str:
    lines = [
        f"setlearn {report['setlearn']}, Python {report['python']}, {report['system']}, "
        f"{report['cores']} cores",
        "",
        "required",
        *(f"  {name:<25} {version or 'MISSING'}" for name, version in report["packages"].items()),
        "",
        "extras",
    ]
    for extra, facts in report["extras"].items():
        for name, version in facts["packages"].items():
            state = version or f"missing; {facts['install']}"
            lines.append(f"  {extra + ': ' + name:<25} {state}")
    folder = report["data_folder"] or "none; set SETLEARN_DATA to a folder with benchmark data"
    lines += ["", f"data for experiments: {folder}"]
    if not report["well"]:
        lines += ["", "a required package is missing: pip install --upgrade setlearn"]
    return "\n".join(lines)
