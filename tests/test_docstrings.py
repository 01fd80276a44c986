"""Public functions and methods with two or more arguments have numpydoc sections."""

import ast
import inspect
import re
from importlib import import_module
from pkgutil import walk_packages
from textwrap import dedent

import setlearn
from setlearn.cli.app import VERBS

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
BY_THEIR_HELP = {f"setlearn.cli.{verb}.{verb}" for verb in VERBS}
"""The options of a verb are explained by their help texts, and its docstring is a help text."""


def public_definitions():
    """The name, function and docstrings of each public definition.

    A method has several docstrings if it overrides others: what its base explains holds for it.
    """
    for module in walk_packages(setlearn.__path__, "setlearn."):
        home = import_module(module.name)
        for name, value in vars(home).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.name:
                continue
            if inspect.isfunction(value):
                yield f"{module.name}.{name}", value, [inspect.getdoc(value)]
            elif inspect.isclass(value):
                for method, attribute in vars(value).items():
                    function = inspect.unwrap(getattr(attribute, "__func__", attribute))
                    if not method.startswith("_") and inspect.isfunction(function):
                        bases = [vars(base).get(method) for base in value.__mro__]
                        docstrings = [getattr(base, "__doc__", None) for base in bases]
                        yield f"{module.name}.{name}.{method}", function, docstrings


def sections_of(docstring):
    """The text under each heading."""
    _, *parts = HEADING.split(inspect.cleandoc(docstring or ""))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def documented_parameters(section):
    """The names on the lines such as ``X, y : array``."""
    heads = re.findall(r"^(\S[^:\n]*)", section, re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def raises(function):
    """Whether the function itself, without those inside it, raises an error of its own."""
    (definition,) = ast.parse(dedent(inspect.getsource(function))).body
    statements = list(definition.body)
    while statements:
        statement = statements.pop()
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            return True
        if not isinstance(statement, ast.FunctionDef):
            statements += ast.iter_child_nodes(statement)
    return False


def missing_sections(function, docstrings):
    """The parameters and the sections that the docstrings lack."""
    signature = inspect.signature(function)
    arguments = [name for name in signature.parameters if name not in ("self", "cls")]
    if len(arguments) < 2:
        return []
    sections = {}
    for docstring in docstrings:
        sections = sections_of(docstring) | sections
    missing = sorted(set(arguments) - documented_parameters(sections.get("Parameters", "")))
    returns = signature.return_annotation not in (None, "None")
    if returns and not {"Returns", "Yields"} & set(sections):
        missing.append("Returns")
    if raises(function) and "Raises" not in sections:
        missing.append("Raises")
    return missing


def test_public_functions_have_sections_for_parameters_results_and_errors():
    missing = {
        name: gaps
        for name, function, docstrings in public_definitions()
        if name not in BY_THEIR_HELP and (gaps := missing_sections(function, docstrings))
    }
    assert not missing


def test_a_function_without_sections_is_noticed():
    def divide(a: float, b: float) -> float:
        """Divide.

        Parameters
        ----------
        a : float
            The first: a number.
        """
        if b == 0:
            raise ValueError("b is 0")
        return a / b

    assert missing_sections(divide, [divide.__doc__]) == ["b", "Returns", "Raises"]
