"""MostProbable against the definition: the probability of every possible set."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.nodes import Examples, Nodes
from setlearn.rules import MostProbable, Threshold, set_distribution
from tests.estimators.data import tagged

V = 4
probability = st.floats(0.01, 0.99)
marks = st.tuples(*[st.booleans()] * V)


def members(row):
    return frozenset(np.flatnonzero(row).tolist())


def all_sets():
    for size in range(V + 1):
        yield from map(frozenset, combinations(range(V), size))


def independent(p, known, candidate):
    """The probability of a set whose elements are independent; known ones are certain."""
    if not known <= candidate:
        return 0.0
    rest = [k for k in range(V) if k not in known]
    return np.prod([p[k] if k in candidate else 1 - p[k] for k in rest])


def joint(p, known, sets, weights, dependence):
    """The probability of each training set: its weight times its likelihood, over all of them."""
    total = {}
    for row, weight in zip(sets, weights, strict=True):
        if weight > 0 and known <= members(row):
            total[members(row)] = total.get(members(row), 0) + weight
    odds = {s: np.prod([p[k] / (1 - p[k]) for k in s]) for s in total}
    return {s: weight**dependence * odds[s] for s, weight in total.items()}


def node_of(p, known=None, sets=None, weights=None):
    node = Nodes.roots(np.array([p]), None if known is None else np.array([known]))
    if sets is None:
        return node
    examples = Examples(sparse.csr_array(np.array(sets)), sparse.csr_array(np.array([weights])))
    return replace(node, examples=examples)


@settings(max_examples=300, deadline=None)
@given(st.tuples(*[probability] * V), marks, st.integers(0, 5))
def test_independent_choices(p, known, min_size):
    kept = members(MostProbable(min_size=min_size).accept(node_of(p, known))[0])
    possible = [s for s in all_sets() if len(s) >= min(min_size, V) and members(known) <= s]
    best = max(independent(p, members(known), s) for s in possible)
    assert independent(p, members(known), kept) == pytest.approx(best)
    assert len(kept) >= min(min_size, V)


@settings(max_examples=300, deadline=None)
@given(
    st.tuples(*[probability] * V),
    marks,
    st.integers(0, 4),
    st.lists(st.tuples(marks, st.sampled_from([0.0, 0.2, 0.5, 1.0])), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_training_sets(p, known, min_size, examples, dependence):
    sets, weights = [s for s, _ in examples], [w for _, w in examples]
    node = node_of(p, known, sets, weights)
    rule = MostProbable(joint=True, min_size=min_size, dependence=dependence)
    kept = members(rule.accept(node)[0])
    possible = joint(p, members(known), sets, weights, dependence)
    possible = {s: value for s, value in possible.items() if len(s) >= min_size}
    if possible:
        assert possible[kept] == pytest.approx(max(possible.values()))
    else:
        alone = MostProbable(min_size=min_size).accept(node_of(p, known))
        assert kept == members(alone[0])


def test_without_joint_it_is_a_cut_of_one_half():
    scores = np.random.default_rng(0).uniform(size=(50, 6))
    for min_size in (0, 2):
        kept = MostProbable(min_size=min_size).accept(Nodes.roots(scores))
        assert (kept == Threshold(0.5, min_size=min_size).accept(Nodes.roots(scores))).all()


def correlated(n=300, seed=0):
    """Scores of two labels near 0.5, of which exactly one is right; a third is independent."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(size=n) < 0.5
    right = np.column_stack([first, ~first, rng.uniform(size=n) < 0.3])
    scores = np.clip(np.where(right, 0.55, 0.45) + rng.normal(0, 0.15, right.shape), 0.02, 0.98)
    weights = sparse.csr_array(np.ones((n, n)) / n - np.eye(n) / n)
    return replace(Nodes.roots(scores), examples=Examples(sparse.csr_array(right), weights)), right


def test_training_sets_are_more_often_exactly_right():
    nodes, right = correlated()
    exact = [
        (MostProbable(joint=joint).fit(nodes, right).accept(nodes) == right).all(axis=1).mean()
        for joint in (False, True)
    ]
    assert exact[1] > exact[0] + 0.1


def test_the_dependence_is_the_one_that_makes_right_sets_probable():
    nodes, right = correlated()
    assert MostProbable(joint=True).fit(nodes, right).dependence_ == 1.0
    # Weights that prefer wrong sets: of every pair of labels the one that is not right.
    wrong = right[:, [1, 0, 2]]
    same = (wrong[:, None, :] == right[None, :, :]).all(axis=2)
    misleading = replace(
        nodes, examples=Examples(nodes.examples.sets, sparse.csr_array(same + 0.001))
    )
    rule = MostProbable(joint=True).fit(misleading, right)
    assert rule.dependence_ == 0.0
    assert rule.facts() == {"dependence": 0.0, "min_size": rule.min_size_}
    assert rule.learned_numbers() == {"dependence": 0.0}
    given = MostProbable(joint=True, dependence=0.3).fit(misleading, right)
    assert given.dependence_ == 0.3
    assert given.learned_numbers() == {}


def test_equal_training_sets_count_together():
    sets = [[True, False, False, False]] * 3 + [[False, True, False, False]]
    node = node_of([0.5] * V, None, sets, [0.2, 0.2, 0.2, 0.5])
    rule = MostProbable(joint=True, min_size=0, dependence=1.0)
    assert members(rule.accept(node)[0]) == {0}


def test_blocks_change_nothing(monkeypatch):
    nodes, right = correlated()
    whole = MostProbable(joint=True).fit(nodes, right)
    kept = whole.accept(nodes)
    monkeypatch.setattr(set_distribution, "BLOCK_ENTRIES", 2000)
    again = MostProbable(joint=True).fit(nodes, sparse.csr_array(right))
    assert again.dependence_ == whole.dependence_
    assert (again.accept(nodes) == kept).all()


class TestReasons:
    sets = ((True, True, False, False), (False, False, True, False))
    node = node_of([0.6, 0.4, 0.55, 0.1], None, sets, [0.5, 0.5])

    def test_of_training_sets(self):
        rule = MostProbable(joint=True, min_size=0, dependence=1.0)
        assert members(rule.accept(self.node)[0]) == {2}  # odds of 1.22 against 1.5 times 0.67
        steps = rule.steps(self.node, list("abcd"))
        assert steps.columns == ("probability", "best set with it")
        shares = [1 / 2.2222, 1.2222 / 2.2222]
        assert steps.picks[0].figures["best set with it"] == pytest.approx(shares[1], abs=1e-4)
        assert steps.picks[1].figures["best set with it"] == pytest.approx(shares[0], abs=1e-4)
        assert steps.reason == (
            "the best set with a has probability 0.45, the one that is kept 0.55"
        )
        assert "best set with d has probability 0," in rule.reason_against(self.node, 3, "d")

    @pytest.mark.parametrize("rule", [MostProbable(min_size=0), MostProbable(joint=True)], ids=str)
    def test_of_single_choices(self, rule):
        node = node_of([0.6, 0.4, 0.55, 0.1], None, self.sets, [0.0, 0.0])
        rule = rule.fit(node, np.array([[True, False, True, False]]))
        steps = rule.steps(node, list("abcd"))
        assert steps.columns == ("probability",)
        assert steps.reason == "b at 0.4 does not exceed 0.5"
        assert rule.reasons_not_chosen(node, np.array([3]), ["d"]) == [
            "d at 0.1 does not exceed 0.5"
        ]


def test_errors():
    nodes = Nodes.roots(np.array([[0.5, 0.5]]))
    with pytest.raises(ParameterError, match="joint must be True or False, got 'yes'"):
        MostProbable(joint="yes").accept(nodes)
    with pytest.raises(ParameterError, match=r"dependence must be None .* got 1.5"):
        MostProbable(dependence=1.5).accept(nodes)
    with pytest.raises(ParameterError, match="min_size must be"):
        MostProbable(min_size=-1).accept(nodes)
    with pytest.raises(NotFittedError, match="not fitted"):
        MostProbable().accept(nodes)
    with pytest.raises(NotFittedError, match="not fitted"):
        MostProbable(joint=True, min_size=0).accept(nodes)
    with pytest.raises(DataError, match="joint=True needs training sets with weights"):
        MostProbable(joint=True, min_size=0, dependence=1.0).accept(nodes)


def test_with_a_classifier(tmp_path):
    X, Y = tagged(120)
    classifier = SetClassifier(rule=MostProbable(joint=True), cv=2, random_state=0).fit(X, Y)
    kept = classifier.predict(X[:20])
    assert {tuple(row) for row in kept.tolist()} <= {tuple(row) for row in Y.tolist()}
    setlearn.save(classifier, tmp_path / "model")
    assert (setlearn.load(tmp_path / "model").predict(X[:20]) == kept).all()
    with pytest.raises(ParameterError, match="needs each label's own probability"):
        SetClassifier(rule=MostProbable(), scores="softmax").fit(X, Y)
    with pytest.raises(ParameterError, match="needs training sets with weights"):
        SetClassifier(rule=MostProbable(joint=True), scores="softmax").fit(X, Y)


def test_on_sequences():
    words = [f"{a}{b}" for a in "abcdef" for b in "uvwxyz"]
    sets = [{word + "s", word + "ed"} for word in words]
    model = SequenceSetGenerator("analogy", MostProbable(), random_state=0)
    seen = [k for k in range(len(words)) if k % 7]
    model.fit([words[k] for k in seen], [sets[k] for k in seen])
    assert model.predict(words[::7]) == sets[::7]
