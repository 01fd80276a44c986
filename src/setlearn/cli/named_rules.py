"""Rules by their names on the command line, with their settings."""

from __future__ import annotations

from difflib import get_close_matches
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from setlearn.cli.named_settings import name_and_settings
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
    >>> rule_named("margin:lam=[0.1,0.2],min_size=1")
    Margin(lam=[0.1, 0.2], min_size=1)
    """
    if text is None:
        return None
    name, parameters = name_and_settings(text, what="rule", example="--rule threshold:cut=0.4")
    rules = rules_by_name()
    if name not in rules:
        close = get_close_matches(name, rules, n=1)
        suggestion = f" (did you mean {close[0]}?)" if close else ""
        raise ParameterError(
            f"there is no rule {name!r}{suggestion}; choose one of {', '.join(rules)}"
        )
    _check_settings(name, rules[name], parameters)
    return rules[name](**parameters)


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
        learned = _learned_settings(rule)
        numbers = f"a number above 0 for {' and for '.join(learned)}"
        remedy = f"give {numbers}, or " if learned else ""
        raise ParameterError(
            f"the rule {text!r} must be fitted on samples, which is only possible in setlearn fit; "
            f"{remedy}choose a rule that needs no fit: {', '.join(_fit_free_rules())}, or one with "
            "numbers given, such as margin:lam=0.3,min_size=1"
        )
    return rule


def _learned_settings(rule: Rule) -> list[str]:
    """Return the settings because of which a rule needs a fit; none if it needs one anyway."""
    given = rule.get_params(deep=False)
    fixed = {**given, **dict.fromkeys(rule.adjustable, 1)}
    if type(rule)(**fixed).needs_fit:
        return []
    return [name for name in rule.adjustable if type(rule)(**fixed | {name: given[name]}).needs_fit]


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


def _check_settings(name: str, rule: type[Rule], given: dict[str, Any]) -> None:
    """Raise unless the rule has all the given settings, and all that it needs are given."""
    own = signature(rule).parameters
    for setting in given:
        if setting not in own:
            has = f"its settings are {', '.join(own)}" if own else "it has none"
            raise ParameterError(f"the rule {name} has no setting {setting!r}; {has}")
    missing = [s for s, parameter in own.items() if parameter.default is Parameter.empty]
    missing = [setting for setting in missing if setting not in given]
    if missing:
        example = f"{name}:{','.join(f'{setting}=VALUE' for setting in missing)}"
        raise ParameterError(
            f"the rule {name} needs a value for {' and '.join(missing)}; write {example}"
        )
