"""Whole sets of similar training samples, and the rule that chooses by them."""

import json

import numpy as np
import pytest

from setlearn import SequenceSetGenerator, load, save
from setlearn.errors import DataError, ParameterError, SetlearnWarning
from setlearn.networks import Training
from setlearn.rules import Auto, ExpectedF, TopK
from setlearn.scorers import AnalogyScorer, JointNgrams

RNG = np.random.RandomState(0)
STEMS = sorted({"".join(RNG.choice(list("bdgklmnprstv"), 3)) for _ in range(160)})


def either(stem):
    """Forms in -o and -os, or in -a and -ar: nothing in the input says which."""
    return {stem + "o", stem + "os"} if sum(map(ord, stem)) % 2 else {stem + "a", stem + "ar"}


X, Y = STEMS[:120], [either(stem) for stem in STEMS[:120]]
TESTS = STEMS[120:]


@pytest.fixture(scope="module")
def joint():
    """With a small β, half of a set is better than the union of two."""
    return SequenceSetGenerator(AnalogyScorer(), ExpectedF(0.3, joint=True)).fit(X, Y)


def test_the_sets_of_similar_samples_are_applied_to_the_input(joint):
    [sets] = joint.scorer_.example_sets(["kkk"])
    spelled = {frozenset(map(joint.vocabulary_.decode, s)): w for s, w in sets.items()}
    assert set(spelled) == {frozenset({"kkko", "kkkos"}), frozenset({"kkka", "kkkar"})}
    assert sum(spelled.values()) == pytest.approx(1)


@pytest.mark.parametrize("places", [[], [3], [0, 2, 5], [4, 1, 4]], ids=repr)
def test_a_listing_has_the_sets_of_the_inputs_that_want_them(joint, places):
    listing = joint.scorer_.listing(TESTS[:6])
    assert listing.candidates == joint.scorer_.candidates(TESTS[:6])
    wanted = joint.scorer_.example_sets([TESTS[k] for k in places]) if places else []
    assert listing.example_sets(np.array(places, dtype=np.intp)) == wanted


def has_no_halves(x, predicted):
    return all(
        (x + short in predicted) == (x + long in predicted)
        for short, long in (("o", "os"), ("a", "ar"))
    )


def test_predicted_sets_are_whole(joint):
    assert all(map(has_no_halves, TESTS, joint.predict(TESTS)))


def test_known_sequences_say_which_set_it_is(joint):
    with_os, with_ar = ([{x + end} for x in TESTS] for end in ("os", "ar"))
    assert joint.complete(TESTS, with_os) == [{x + "o"} for x in TESTS]
    assert joint.complete(TESTS, with_ar) == [{x + "a"} for x in TESTS]
    alone = joint.with_rule(ExpectedF(0.3))
    assert alone.complete(TESTS, with_os) != [{x + "o"} for x in TESTS]
    assert alone.complete(TESTS, with_ar) != [{x + "a"} for x in TESTS]


def test_a_trace_is_about_whole_sets(joint):
    trace = joint.trace(TESTS[0])
    assert trace.result == joint.predict(TESTS[:1])[0]
    assert "expected F0.3" in json.dumps(trace.to_dict())


def test_it_is_saved(joint, tmp_path):
    save(joint, tmp_path / "model")
    assert load(tmp_path / "model").predict(TESTS) == joint.predict(TESTS)


def test_empty_sets_have_their_share():
    """Inputs that end with q have none, and no others."""
    words = [x + "q" if k % 4 == 0 else x for k, x in enumerate(X)]
    sets = [set() if x.endswith("q") else y for x, y in zip(words, Y, strict=True)]
    model = SequenceSetGenerator(AnalogyScorer(), ExpectedF(joint=True)).fit(words, sets)
    [of_q], [of_k] = (model.scorer_.example_sets([x]) for x in ("kkq", "kkk"))
    assert of_q[frozenset()] > 0.9
    assert of_k.get(frozenset(), 0) < 0.2
    assert sum(of_q.values()) == pytest.approx(1, abs=0.01)  # without improbable ones
    assert model.predict([x + "q" for x in TESTS]) == [set()] * len(TESTS)
    assert all(model.predict(TESTS))


def test_auto_compares_it_where_whole_sets_are_known():
    candidates = [TopK(1), ExpectedF(joint=True)]
    rule = Auto(candidates)
    with_analogy = SequenceSetGenerator(AnalogyScorer(), rule, random_state=0).fit(X, Y)
    assert [*with_analogy.rule_scores_] == ["TopK()", "ExpectedF(joint=True)"]
    without = SequenceSetGenerator(JointNgrams(), rule, random_state=0).fit(X, Y)
    assert [*without.rule_scores_] == ["TopK()"]


def test_a_network_knows_no_whole_sets():
    with pytest.raises(ParameterError, match="needs a scorer that knows whole sets"):
        SequenceSetGenerator("transformer", ExpectedF(joint=True)).fit(X, Y)
    model = SequenceSetGenerator(JointNgrams()).fit(X, Y)
    with pytest.raises(ParameterError, match="with joint=False"):
        model.with_rule(ExpectedF(joint=True))


def test_all_candidates_of_auto_may_need_whole_sets():
    with pytest.raises(ParameterError, match="needs a scorer that knows whole sets"):
        SequenceSetGenerator("transformer", Auto([ExpectedF(joint=True)])).fit(X, Y)


def test_numbers_have_no_analogies():
    numbers = RNG.normal(size=(30, 3))
    with pytest.raises(ParameterError, match="needs a scorer that knows whole sets"):
        SequenceSetGenerator(rule=ExpectedF(joint=True)).fit(numbers, [{"a"}] * 30)


def test_analogy_may_be_dropped_from_a_mixture():
    """Pairs of random words: analogy adds nothing to a scorer that knows the answers."""
    known = dict(zip(STEMS, map(either, STEMS), strict=True))

    class Knows(AnalogyScorer):
        example_sets = listing = property()  # which it does not have

        def candidates(self, X):
            tokens = {token: k for k, token in enumerate(self.vocabulary_.tokens, 1)}
            return [[(tuple(map(tokens.get, y)), 0.99) for y in sorted(known[x])] for x in X]

    model = SequenceSetGenerator(
        [AnalogyScorer(), Knows()],
        ExpectedF(joint=True),
        training=Training(validation=0.3),
        random_state=0,
    )
    with pytest.warns(SetlearnWarning, match="joint=True has no effect: analogy"):
        model.fit(X, Y)
    assert model.predict(TESTS) == [known[x] for x in TESTS]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        [{"a"}],
        [[({(1,)}, 0.5)]],
        [{((1,),): 0.5}],
        [{frozenset({"ab"}): 0.5}],
        [{frozenset({()}): 0.5}],
        [{frozenset({(1,)}): -1.0}],
        [{frozenset({(1,)}): float("nan")}],
        [{frozenset({(1,)}): "0.5"}],
    ],
    ids=repr,
)
def test_whole_sets_of_your_own_scorers_are_checked(answer):
    class Wrong(AnalogyScorer):
        def example_sets(self, X):
            return answer

    model = SequenceSetGenerator(Wrong(), ExpectedF(joint=True)).fit(X, Y)
    with pytest.raises(DataError, match=r"Wrong\.example_sets must return one dict per input"):
        model.predict(TESTS[:1])


def test_a_mask_of_the_wrong_shape_is_refused():
    class Wrong(ExpectedF):
        def choose(self, nodes):
            return np.ones(3, dtype=bool)

    model = SequenceSetGenerator(AnalogyScorer(), Wrong()).fit(X, Y)
    with pytest.raises(ParameterError, match="correct its method choose"):
        model.predict(TESTS)
