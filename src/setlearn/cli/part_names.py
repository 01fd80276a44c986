"""Names of rules, learners, networks and file formats, for help texts and shell completion.

Importing the packages that define them takes seconds, and help must be shown at once. So the names
are read from the source of the packages, without importing them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from setlearn.lazy_parts import snake_case

__all__ = [
    "complete_formats",
    "complete_learners",
    "complete_networks",
    "complete_rules",
    "fill_in_names",
    "format_names",
    "kebab_case",
    "learner_names",
    "network_names",
    "rule_names",
]

SOURCE = Path(__file__).parents[1]
"""The folder of the package setlearn."""


FAST_SCORERS = ("aligned_trees", "analogy", "joint_ngrams")
"""The modules of scorers that have names and are no networks."""


def kebab_case(name: str) -> str:
    """Spell the name of a class as on the command line.

    Examples
    --------
    >>> kebab_case("ExpectedF"), kebab_case("LambdaCNN")
    ('expected-f', 'lambda-cnn')
    """
    return snake_case(name).replace("_", "-")


def rule_names() -> list[str]:
    """Return the names of all rules."""
    return [kebab_case(name) for name in _parts("rules")]


def network_names() -> list[str]:
    """Return the names of all sequence networks, and of scorers that are no networks."""
    networks = [name.lower() for name in _parts("networks")]
    scorers = [n for module in FAST_SCORERS for n in _short_names("scorers", module)]
    return sorted([*networks, *scorers])


def learner_names() -> list[str]:
    """Return the names of all label learners: ours with a short name, and ready-made ones."""
    modules = [snake_case(name) for name in _parts("learners")]
    short_names = [name for module in modules for name in _short_names("learners", module)]
    return sorted([*short_names, *_all_of(_parse("learners", "ready_made"))])


def format_names() -> list[str]:
    """Return the names of all file formats, which the package lists in a call."""
    for node in _parse("files").body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return [ast.unparse(argument).lower() for argument in node.value.args]
    return []


NAMES: dict[str, Callable[[], list[str]]] = {
    "formats": format_names,
    "learners": learner_names,
    "networks": network_names,
    "rules": rule_names,
}
"""The placeholders in help texts."""


def fill_in_names(text: str) -> str:
    """Replace placeholders such as ``{networks}`` by names.

    Examples
    --------
    >>> fill_in_names("For sequences: {networks}.")
    'For sequences: analogy, lstm, ngrams, transducer, transformer or trees.'
    """
    return re.sub("{(" + "|".join(NAMES) + ")}", lambda match: _joined(NAMES[match[1]]()), text)


def complete_formats(incomplete: str) -> list[str]:
    """Complete the name of a file format."""
    return _starting_with(incomplete, format_names())


def complete_learners(incomplete: str) -> list[str]:
    """Complete the name of a learner."""
    return _starting_with(incomplete, learner_names())


def complete_networks(incomplete: str) -> list[str]:
    """Complete the name of a network."""
    return _starting_with(incomplete, network_names())


def complete_rules(incomplete: str) -> list[str]:
    """Complete the name of a rule."""
    return _starting_with(incomplete, rule_names())


def _starting_with(start: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]


def _joined(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def _parts(package: str) -> list[str]:
    """Return the names in a package's ``__all__`` that have a file of their own.

    These are its parts; the others are functions, base classes and the like.
    """
    names = _all_of(_parse(package))
    return [name for name in names if (SOURCE / package / f"{snake_case(name)}.py").exists()]


def _short_names(package: str, module: str) -> list[str]:
    """Return the short names that the classes of a module give themselves."""
    return [
        ast.literal_eval(node.value)
        for node in ast.walk(_parse(package, module))
        if isinstance(node, ast.AnnAssign)
        and node.value is not None
        and ast.unparse(node.target) == "short_name"
    ]


def _all_of(module: ast.Module) -> list[str]:
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []


@cache
def _parse(package: str, module: str = "__init__") -> ast.Module:
    return ast.parse((SOURCE / package / f"{module}.py").read_text(encoding="utf-8"))
