"""Rules by their names on the command line, with their settings."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

from setlearn.cli.part_names import kebab_case
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.rules import Rule

__all__ = ["fit_free_rule_named", "rule_named", "rules_by_name"]


def rules_by_name() -> dict[str, type[Rule]]:
    """Return the classes of all rules by their names on the command line."""
    import setlearn.rules as rules

    public = {name: getattr(rules, name) for name in rules.__all__}
    return {
        kebab_case(name): kind
        for name, kind in public.items()
        if isinstance(kind, type) and issubclass(kind, rules.Rule) and kind is not rules.Rule
    }


def rule_named(text: str | None) -> Rule | None:
    """Make a rule from its name, with settings after a colon: ``threshold:cut=0.4,min_size=1``.

    Examples
    --------
    >>> rule_named("top-k:k=3")
    TopK(k=3)
    """
    if text is None:
        return None
    name, _, settings = text.partition(":")
    rules = rules_by_name()
    if name not in rules:
        raise ParameterError(f"there is no rule {name!r}; choose one of {', '.join(rules)}")
    parameters = dict(_setting(part) for part in settings.split(",") if part.strip())
    try:
        return rules[name](**parameters)
    except TypeError as error:
        raise ParameterError(
            f"the rule {name} does not have these settings ({error}); "
            f"see help(setlearn.rules.{rules[name].__name__})"
        ) from error


def fit_free_rule_named(text: str) -> Rule:
    """Make a rule that works without a fit, as a saved model needs it.

    Raises
    ------
    ParameterError
        If the rule needs a fit: on the command line there are no samples for it.
    """
    rule = rule_named(text)
    assert rule is not None  # only None has no rule
    if rule.needs_fit:
        raise ParameterError(
            f"the rule {text!r} must be fitted on samples, which is only possible in setlearn fit; "
            f"rules that need no fit are {', '.join(_fit_free_rules())}, and others with all "
            "settings given, such as margin:lam=0.3,min_size=1"
        )
    return rule


def _fit_free_rules() -> list[str]:
    """Return the names of the rules that need no fit with their default settings."""
    names = []
    for name, kind in rules_by_name().items():
        try:
            rule = kind()
        except TypeError:  # a setting without a default
            continue
        if not rule.needs_fit:
            names.append(name)
    return names


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.strip().partition("=")
    if not equals:
        raise ParameterError(
            f"a setting of a rule is written name=value, got {text.strip()!r}; "
            "an example is --rule threshold:cut=0.4"
        )
    try:
        return name, literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a word, as in space=log
