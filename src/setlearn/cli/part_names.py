"""Names of rules, learners, networks and file formats, for help texts and shell completion.

Importing the packages that define them takes seconds, and help must be shown at once. So the names
are read from the source of each package: from its ``__all__``, or from the call that lists them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from importlib.util import find_spec

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

NOT_RULES = {"Rule"}
NOT_NETWORKS = {"NetworkRecipe", "Training"}


def kebab_case(name: str) -> str:
    """Spell the name of a class as on the command line.

    Examples
    --------
    >>> kebab_case("ExpectedF"), kebab_case("LambdaCNN")
    ('expected-f', 'lambda-cnn')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def rule_names() -> list[str]:
    """Return the names of all rules."""
    names = _class_names("setlearn.rules")
    return [kebab_case(name) for name in names if name not in NOT_RULES]


def network_names() -> list[str]:
    """Return the names of all sequence networks."""
    names = _class_names("setlearn.networks")
    return [name.lower() for name in names if name not in NOT_NETWORKS]


def learner_names() -> list[str]:
    """Return the names of all label learners."""
    return ["mixture", "logistic", "forest", "neighbours", "network"]


def format_names() -> list[str]:
    """Return the names of all file formats."""
    return ["jsonl", "json", "csv", "tsv", "parquet", "svmlight", "arff", "numpy"]


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
    'For sequences: lstm or transformer.'
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


def _class_names(package: str) -> list[str]:
    """Return the names of the classes in a package's ``__all__``, which start with a capital."""
    for node in _source(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return [name for name in names if name[0].isupper()]
    return []


def _source(package: str) -> ast.Module:
    """Parse the ``__init__`` of a package, without importing it."""
    spec = find_spec(package)  # imports only the parent package
    source = None
    if spec is not None and spec.loader is not None and hasattr(spec.loader, "get_source"):
        source = spec.loader.get_source(package)
    return ast.parse(source or "")
