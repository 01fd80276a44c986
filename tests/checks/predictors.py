"""What every set predictor must do, whatever it is made of.

`check_predictor` runs all checks on a `PredictorCase`. A new kind of predictor gets them by one
case in tests/checks/test_predictors.py.
"""

import json
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from sklearn.base import clone

import setlearn
from setlearn.errors import DataError, NotFittedError, ParameterError, SetlearnError
from setlearn.estimators.base import Ranking, SetPredictor
from setlearn.rules import Margin, Threshold, TopK

__all__ = ["CHECKS", "PredictorCase"]


@dataclass(frozen=True)
class PredictorCase:
    """A predictor that can be fitted, inputs to ask for, and their true sets."""

    fit: Callable[[], SetPredictor]
    X: list[Any]
    sets: list[frozenset[Any]]
    unfitted: SetPredictor | None = None
    savable: bool = True

    def fitted(self):
        """The fitted predictor; made once, since no check may change it."""
        if id(self) not in _FITTED:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _FITTED[id(self)] = (self, self.fit())
        return _FITTED[id(self)][1]


_FITTED: dict[int, tuple[PredictorCase, SetPredictor]] = {}


def as_sets(model, answer):
    """Sets in any container that the predictor answers with, as frozensets."""
    return [frozenset(s) for s in answer] if isinstance(answer, list) else None


def check_contract(case, tmp_path):
    model = case.fitted()
    assert isinstance(model, SetPredictor)
    assert model.task in ("labels", "sequences", "candidates")
    assert model.elements_ is None or set().union(*case.sets) <= {*model.elements_, *()}
    assert all(isinstance(name, str) for name in model.choice_names())
    json.dumps(model.facts(), allow_nan=False)
    assert model.input_layout().n_features is None or model.input_layout().n_features > 0
    assert model.as_elements(case.sets) == [frozenset(s) for s in case.sets]


def check_before_fit(case, tmp_path):
    if case.unfitted is None:
        pytest.skip("this predictor is made fitted")
    for verb in (
        lambda m: m.predict(case.X),
        lambda m: m.predict_ranked(case.X),
        lambda m: m.complete(case.X, case.sets),
        lambda m: m.trace(case.X[0]),
        lambda m: m.with_rule(TopK(1)),
        lambda m: m.choice_points(),
        lambda m: m.facts(),
        lambda m: m.predict_sets(case.X),
        lambda m: m.score(case.X, case.sets),
        lambda m: m.choice_names(),
        lambda m: m.as_elements(case.sets),
        lambda m: m.input_layout(),
    ):
        with pytest.raises(NotFittedError, match="call fit"):
            verb(clone(case.unfitted))


def check_clone(case, tmp_path):
    if case.unfitted is None:
        pytest.skip("this predictor has no parameters")
    copied = clone(case.unfitted)
    assert copied.get_params().keys() == case.unfitted.get_params().keys()
    assert not hasattr(clone(case.fitted()), "rule_")


def check_determinism(case, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = case.fit()
    assert again.predict_sets(case.X) == case.fitted().predict_sets(case.X)
    first, second = again.predict_ranked(case.X), case.fitted().predict_ranked(case.X)
    assert first == second


def check_batches(case, tmp_path):
    model = case.fitted()
    together = model.predict_sets(case.X)
    assert [model.predict_sets([x])[0] for x in case.X] == together
    rankings = model.predict_ranked(case.X)
    for ranking, x in zip(rankings, case.X, strict=True):
        alone = dict(model.predict_ranked([x])[0])
        # In single precision the last digits depend on the batch.
        assert alone == pytest.approx(dict(ranking), abs=1e-5)


def check_rankings(case, tmp_path):
    model = case.fitted()
    for ranking, elements in zip(
        model.predict_ranked(case.X), model.predict_sets(case.X), strict=True
    ):
        assert isinstance(ranking, Ranking)
        assert ranking.truncated in (True, False)
        assert {element for element, _ in ranking} == elements
        scores = [score for _, score in ranking]
        assert scores == sorted(scores, reverse=True)
    best = model.predict_ranked(case.X, top=1)
    for one, two in zip(best, model.predict_ranked(case.X, top=2), strict=True):
        assert len(one) <= 1
        assert one[:1] == two[:1]
    for wrong in (0, -1, 1.5, "all", True):
        with pytest.raises(ParameterError, match="top must be"):
            model.predict_ranked(case.X, top=wrong)


def check_completion(case, tmp_path):
    model = case.fitted()
    predicted = model.predict_sets(case.X)
    nothing = as_sets(model, model.complete(case.X, [set() for _ in case.X]))
    if nothing is not None:
        assert nothing == predicted
    given = [frozenset(sorted(s, key=repr)[:1]) for s in predicted]
    others = as_sets(model, model.complete(case.X, given))
    if others is not None:
        assert all(not (o & g) for o, g in zip(others, given, strict=True))
    for wrong in ("drop", None):
        with pytest.raises(ParameterError, match="unknown must be"):
            model.complete(case.X, given, unknown=wrong)
        with pytest.raises(ParameterError, match="unknown must be"):
            model.trace(case.X[0], unknown=wrong)


def check_ranked_completion(case, tmp_path):
    model = case.fitted()
    given = [frozenset(sorted(s, key=repr)[:1]) for s in model.predict_sets(case.X)]
    rankings = model.complete_ranked(case.X, given)
    for ranking, others in zip(rankings, model.complete(case.X, given), strict=True):
        assert isinstance(ranking, Ranking)
        assert {element for element, _ in ranking} == model.as_elements([others])[0]
        scores = [score for _, score in ranking]
        assert scores == sorted(scores, reverse=True)
    two = model.complete_ranked(case.X, given, top=2)
    many = model.complete_ranked(case.X, given, top=200)
    for best, every, known in zip(two, many, given, strict=True):
        assert best == every[:2]
        assert not known & {element for element, _ in every}
        assert len(best) == min(2, len(every))
    nothing = model.complete_ranked(case.X, [set() for _ in case.X], top=2)
    expected = [[element for element, _ in r] for r in model.predict_ranked(case.X, top=2)]
    assert [[element for element, _ in ranking] for ranking in nothing] == expected
    with pytest.raises(ParameterError, match="top must be"):
        model.complete_ranked(case.X, given, top=0)
    with pytest.raises(ParameterError, match="unknown must be"):
        model.complete_ranked(case.X, given, unknown="drop")
    with pytest.raises(DataError, match="known has"):
        model.complete_ranked(case.X, given[1:], top=2)


def check_completion_of_many(case, tmp_path):
    """However many are known, TopK(k) adds k others, or all that are left."""
    model = case.fitted()
    ranked = [[element for element, _ in r] for r in model.predict_ranked(case.X, top=200)]
    for k, n_known in product((1, 3), (0, 1, 16, 40, 125)):
        known = [frozenset(elements[:n_known]) for elements in ranked]
        others = model.with_rule(TopK(k)).complete(case.X, known)
        for elements, given, added in zip(ranked, known, others, strict=True):
            assert len(added) == min(k, len(elements) - len(given))
            assert not added & given


def check_traces(case, tmp_path):
    model = case.fitted()
    for x, elements in zip(case.X, model.predict_sets(case.X), strict=True):
        trace = model.trace(x)
        assert trace.result == elements
        assert trace.truncated is False
        json.dumps(trace.to_dict(), allow_nan=False)
        assert str(trace)
    x, known = case.X[0], frozenset(list(case.sets[0])[:1])
    [others] = model.complete(case.X[:1], [known])
    assert model.trace(x, known).result == frozenset(model.as_elements([others])[0]) | known


def check_other_rules(case, tmp_path):
    model = case.fitted()
    before = model.predict_sets(case.X)
    few = model.with_rule(TopK(1))
    assert type(few) is type(model)
    assert all(len(s) <= 1 for s in few.predict_sets(case.X))
    assert model.predict_sets(case.X) == before
    same = model.with_rule(model.rule_)
    assert same.predict_sets(case.X) == before
    nodes, positive = model.choice_points(case.X, case.sets)
    assert positive.shape == nodes.probabilities.shape
    fitted = model.with_rule(Threshold("tuned"), case.X, case.sets)
    assert 0 <= fitted.rule_.cut_ <= 1
    assert few.with_rule(fitted.rule_).rule_.cut_ == fitted.rule_.cut_
    for samples in ((), (case.X, case.sets)):
        with pytest.raises(ParameterError, match="rule must be"):
            model.with_rule("margin", *samples)


def check_rule_after_fit(case, tmp_path):
    if case.unfitted is None:
        pytest.skip("this predictor has no parameters")
    model = copy(case.fitted())
    model.set_params(rule=Margin(0.123))
    with pytest.raises(ParameterError, match=r"call fit again, or use with_rule"):
        model.predict(case.X)
    model.rule = case.fitted().rule
    assert model.predict_sets(case.X) == case.fitted().predict_sets(case.X)


def check_no_side_effects(case, tmp_path):
    model = case.fitted()
    before = dict(vars(model)) if hasattr(model, "__dict__") else None
    model.predict(case.X)
    model.predict_ranked(case.X, top=2)
    model.trace(case.X[0])
    model.complete(case.X, [set() for _ in case.X])
    if before is not None:
        assert dict(vars(model)) == before


def check_score(case, tmp_path):
    model = case.fitted()
    assert 0 <= model.score(case.X, case.sets) <= 1


def check_saving(case, tmp_path):
    if not case.savable:
        pytest.skip("holds a class of the user's own")
    model = case.fitted()
    setlearn.save(model, tmp_path / "model")
    loaded = setlearn.load(tmp_path / "model")
    assert loaded.predict_sets(case.X) == model.predict_sets(case.X)
    assert loaded.predict_ranked(case.X) == model.predict_ranked(case.X)
    assert loaded.facts() == model.facts()
    assert loaded.task == model.task
    assert loaded.elements_ == model.elements_
    assert loaded.with_rule(TopK(1)).predict_sets(case.X) == model.with_rule(TopK(1)).predict_sets(
        case.X
    )
    with pytest.raises(ParameterError, match="pass X and y"):
        loaded.with_rule(Margin())


def check_no_inputs(case, tmp_path):
    """All verbs for several inputs refuse none at all, in the same words."""
    model = case.fitted()
    for verb in (
        lambda: model.predict([]),
        lambda: model.predict_sets([]),
        lambda: model.predict_ranked([]),
        lambda: model.predict_ranked([], top=2),
        lambda: model.complete([], []),
        lambda: model.score([], []),
    ):
        with pytest.raises(DataError, match=r"^X holds 0 samples; pass at least one$"):
            verb()


def check_error_types(case, tmp_path):
    model = case.fitted()
    for verb in (
        lambda: model.complete(case.X, [set()] * (len(case.X) + 1)),
        lambda: model.complete(case.X, "abc"),
    ):
        with pytest.raises(SetlearnError) as caught:
            verb()
        assert isinstance(caught.value, ValueError | TypeError)


CHECKS = [
    check_contract,
    check_before_fit,
    check_clone,
    check_determinism,
    check_batches,
    check_rankings,
    check_completion,
    check_completion_of_many,
    check_ranked_completion,
    check_traces,
    check_other_rules,
    check_rule_after_fit,
    check_no_side_effects,
    check_score,
    check_saving,
    check_no_inputs,
    check_error_types,
]
