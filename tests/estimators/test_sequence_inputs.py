"""What inputs and elements of sequence models may be: texts, tokens, sets of tokens, numbers."""

import unicodedata

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError, SetlearnWarning
from setlearn.networks import Training, Transformer
from tests.estimators.quick_networks import SMALL, steps


def test_unicode_is_kept_and_composed():
    composed, decomposed = "é", unicodedata.normalize("NFD", "é")
    X = [composed, "ñ", "日本"] * 4
    Y = [{composed + "a"}, {"ñandú", "日"}, {"👍🏽", "Ω"}] * 4
    model = SequenceSetGenerator(training=steps(250, validation=0), **SMALL).fit(X, Y)
    assert model.predict([decomposed, "ñ", "日本"]) == [{"éa"}, {"ñandú", "日"}, {"👍🏽", "Ω"}]
    assert model.score([decomposed], [{unicodedata.normalize("NFD", "éa")}]) == 1.0


def test_sets_of_sets_do_not_depend_on_the_order_they_were_given_in():
    X = ["p", "q"] * 4
    one = [{frozenset(["b", "a"]), frozenset([3])}, {frozenset(["c", "a", "b"])}] * 4
    two = [{frozenset([3]), frozenset(["a", "b"])}, {frozenset(["b", "c", "a"])}] * 4
    first, second = (
        SequenceSetGenerator(training=steps(150, validation=0), **SMALL).fit(X, Y)
        for Y in (one, two)
    )
    assert first.predict(["p", "q"]) == second.predict(["p", "q"]) == one[:2]
    assert all(isinstance(e, frozenset) for e in first.predict(["p"])[0])


def test_a_token_may_be_any_hashable():
    X = [[1, "a"], [(2, 3)], [None, 1.5, "a"]] * 4
    Y = [{(1, "1")}, {((2, 3), None), ("a",)}, set()] * 4
    model = SequenceSetGenerator(training=steps(150, validation=0), **SMALL).fit(X, Y)
    assert model.predict(X[:3]) == [frozenset(y) for y in Y[:3]]


def test_numbers_of_lists_are_tokens():
    X, Y = [[1, 2], [3, 4], [0.5], [1, 0.5]], [{"a"}, {"b"}, {"c"}, {"d"}]
    assert SequenceSetGenerator("analogy").fit(X[:2], Y[:2]).predict([[1, 2]]) == [{"a"}]
    assert SequenceSetGenerator("analogy").fit(X, Y).predict([[0.5]]) == [{"c"}]


def test_elements_of_floats_that_do_not_recur_are_doubtful():
    X, durations = ["ab", "cd", "ef"], [{(0.5, 0.25)}, {(0.25, 0.5)}, set()]
    SequenceSetGenerator("analogy").fit(X, durations)  # warnings are errors in tests
    with pytest.warns(SetlearnWarning, match="each number is a token"):
        SequenceSetGenerator("analogy").fit(X, [{(0.12, 0.37)}, {(0.45, 0.81)}, set()])


def test_inputs_of_floats_that_do_not_recur_are_doubtful():
    X, Y = [[0.12, 0.5], [0.37], [0.81, 0.44, 0.9]], [{"a"}, {"b"}, {"c"}]
    with pytest.warns(SetlearnWarning, match=r"the inputs consist of numbers such as"):
        SequenceSetGenerator("analogy").fit(X, Y)


def test_words_and_a_given_tokeniser():
    X, Y = ["the cat", "a dog"] * 4, [{"le chat", "un chat"}, {"un chien"}] * 4
    words = SequenceSetGenerator(tokens="word", training=steps(120, validation=0), **SMALL).fit(
        X, Y
    )
    assert words.predict(["the cat"]) == [{"le chat", "un chat"}]
    assert words.vocabulary_.tokens == ("chat", "chien", "le", "un")

    def pairs(text):
        return [text[i : i + 2] for i in range(0, len(text), 2)]

    mixed = SequenceSetGenerator(tokens=("word", pairs), training=steps(150, validation=0), **SMALL)
    assert mixed.fit(X, Y).predict(["a dog"]) == [{"un chien"}]


def test_numeric_inputs_vectors_and_series():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + np.repeat([[4, 0], [0, 4], [-4, -4]], 20, axis=0)
    Y = [{"a", "ab"}] * 20 + [{"b"}] * 20 + [set()] * 20
    model = SequenceSetGenerator(training=steps(150, validation=0), **SMALL).fit(X, Y)
    assert model.score(X, Y) > 0.95
    series = np.stack([X, X], axis=1)  # (60, 2 steps, 2)
    assert (
        SequenceSetGenerator(training=steps(150, validation=0), **SMALL)
        .fit(series, Y)
        .score(series, Y)
        > 0.95
    )
    with pytest.raises(DataError, match="features"):
        model.predict(np.zeros((1, 3)))
    with pytest.raises(DataError, match="sample 1 of X holds NaN"):
        SequenceSetGenerator().fit(np.array([[1.0], [np.nan]]), [{"a"}, {"b"}])


def test_white_space_of_words_is_one_space():
    X, Y = ["a", "b"] * 4, [{"x  y"}, {"z\nw"}] * 4
    model = SequenceSetGenerator(tokens="word", training=steps(100, validation=0), **SMALL).fit(
        X, Y
    )
    assert model.predict(["a", "b"]) == [{"x y"}, {"z w"}]
    assert model.score(X, Y) == 1.0


def test_trace_takes_what_predict_takes():
    X = np.array([[0.0, 1.0], [1.0, 0.0]] * 4)
    numbers = SequenceSetGenerator(training=steps(60, validation=0), **SMALL).fit(
        X, [{"a"}, {"b"}] * 4
    )
    assert numbers.trace(X[0]).result == numbers.predict(X[:1])[0]
    ids = [np.array([1, 2]), np.array([3])] * 4
    tokens = SequenceSetGenerator(training=steps(60, validation=0), **SMALL).fit(
        ids, [{"a"}, {"b"}] * 4
    )
    assert tokens.trace(ids[0]).result == tokens.predict(ids[:1])[0]


def test_inputs_may_come_from_a_generator():
    """They are read once: a second reading would find nothing left."""
    X, Y = ["ab", "cd"] * 6, [{"x"}, {"y"}] * 6
    model = SequenceSetGenerator(training=steps(60, validation=0), **SMALL)
    assert model.fit((x for x in X), iter(Y)).predict(iter(X[:2])) == [{"x"}, {"y"}]


def test_long_arrays_of_tokens_are_told_apart():
    """Printed, they all look alike."""
    X = [np.array([*range(600), 600 + k, *range(600)]) for k in range(60)]
    Y = [{(int(x[600]),)} for x in X]
    model = SequenceSetGenerator("analogy", training=Training(validation=0.2), random_state=0)
    assert len(model.fit(X, Y).held_out_) == 12


def test_numbers_and_checkpoints(tmp_path):
    X, Y = np.random.RandomState(0).rand(20, 3), [{"ab"}] * 20
    training = Training(max_steps=4, checkpoint=tmp_path / "kept")
    model = SequenceSetGenerator(Transformer(8, 2, 1), training=training, random_state=0)
    assert len(model.fit(X, Y).predict(X)) == 20
