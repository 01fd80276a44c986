"""The declared surface: sorted, complete, documented, and shown at work."""

import inspect
from importlib import import_module

import pytest

import setlearn

MODULES = [
    "setlearn",
    "setlearn.datasets",
    "setlearn.errors",
    "setlearn.learners",
    "setlearn.metrics",
    "setlearn.networks",
    "setlearn.nodes",
    "setlearn.rules",
    "setlearn.scorers",
]
FOR_USERS = ["setlearn", "setlearn.datasets", "setlearn.metrics", "setlearn.rules"]

PROMISED = {
    "setlearn": {"SequenceSetGenerator", "SetClassifier", "SetSelector", "load", "save"},
    "setlearn.datasets": {"leading_digits", "load_benchmark", "substrings"},
    "setlearn.metrics": {
        "exact_match",
        "matched_edit_distance",
        "mean_edit_distance",
        "mean_f1",
        "set_report",
    },
    "setlearn.rules": {
        "ExpectedF",
        "LambdaCNN",
        "LambdaRNN",
        "LambdaSet",
        "Margin",
        "RiskControl",
        "Threshold",
        "TopK",
    },
}

PUBLIC = [(module, name) for module in FOR_USERS for name in import_module(module).__all__]


@pytest.mark.parametrize("module", MODULES)
def test_all_is_sorted_and_complete(module):
    home = import_module(module)
    assert home.__doc__
    assert home.__all__ == sorted(set(home.__all__))
    assert PROMISED.get(module, set()) <= set(home.__all__)
    for name in home.__all__:
        assert getattr(home, name) is not None
    ours = {
        name
        for name, value in vars(home).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith(module)
    }
    assert ours <= set(home.__all__)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_tells_and_shows_what_it_does(module, name):
    value = getattr(import_module(module), name)
    assert ">>> " in inspect.getdoc(value)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_method_is_documented(module, name):
    value = getattr(import_module(module), name)
    if not inspect.isclass(value):
        return
    for method, function in inspect.getmembers(value):
        ours = (getattr(function, "__module__", None) or "").startswith("setlearn")
        if ours and not method.startswith("_") and callable(function):
            assert inspect.getdoc(function), f"{name}.{method}"


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_parameter_of_an_estimator_is_explained(module, name):
    value = getattr(import_module(module), name)
    if not hasattr(value, "get_params") or inspect.isabstract(value):
        return
    for parameter in inspect.signature(value).parameters:
        assert parameter in inspect.getdoc(value), f"{name}({parameter})"


def test_names_are_found_when_asked_for_and_only_then():
    assert set(setlearn.__all__) <= set(dir(setlearn))
    assert setlearn.__version__
    with pytest.raises(AttributeError, match="has no attribute 'SetClasifier'"):
        setlearn.SetClasifier  # noqa: B018  # the question is the test
