"""Rules and learners by their names on the command line."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

from setlearn.cli.part_names import kebab_case
from setlearn.errors import ParameterError

if TYPE_CHECKING:
    from setlearn.rules import Rule

__all__ = ["fit_free_rule_named", "learner_named", "network_named", "rule_named", "rules_by_name"]


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


# FALLBACK until setlearn.learners and setlearn.networks offer these themselves.
def learner_named(name: str | None) -> Any:
    """Make the learner of that name; None, the classifier's default, if there is no name."""
    if name is None:
        return None
    if name not in LEARNERS:
        raise ParameterError(f"there is no learner {name!r}; choose one of {', '.join(LEARNERS)}")
    return LEARNERS[name]()


def network_named(name: str | None) -> Any:
    """Check the name of a network; None means the default one."""
    names = ["lstm", "transformer"]
    if name is not None and name not in names:
        raise ParameterError(f"there is no network {name!r}; choose one of {', '.join(names)}")
    return name or "transformer"


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    # It leaves zeros as they are, so that sparse texts stay sparse.
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200)


def _neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(10)


def _network() -> Any:
    from setlearn.learners import SigmoidNetwork

    return SigmoidNetwork()


LEARNERS = {
    "mixture": lambda: None,  # the classifier's own default
    "logistic": _logistic,
    "forest": _forest,
    "neighbours": _neighbours,
    "network": _network,
}
