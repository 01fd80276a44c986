"""The sigmoid network for sequences: texts or token lists in, label sets out."""

import io

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from setlearn import SetClassifier
from setlearn.errors import DataError, KindError, NotFittedError, ParameterError
from setlearn.learners import SequenceSigmoidNetwork
from setlearn.networks import LSTM, Training

X = ["ab", "ba", "aa", "bb", "cc", "ac"] * 15
Y = np.array([["a" in x, "b" in x] for x in X])


def quick(**changes):
    small = LSTM(embedding=8, encoder_units=8, decoder_units=8)
    training = Training(max_steps=changes.pop("max_steps", 150), learning_rate=1e-2)
    return SequenceSigmoidNetwork(small, **{"training": training, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(X, Y)


def test_it_learns(fitted):
    assert np.array_equal(fitted.predict(["ab", "ca", "cc"]), [[1, 1], [1, 0], [0, 0]])
    assert fitted.predict_proba(X).shape == (90, 2)
    assert fitted.history_[-1]["held_out"] > fitted.history_[0]["held_out"]


def test_token_lists_are_the_same_as_texts(fitted):
    tokens = [list(x) for x in X]
    assert np.array_equal(quick().fit(tokens, Y).predict_proba(tokens), fitted.predict_proba(X))


def test_sequences_of_vectors():
    rng = np.random.RandomState(0)
    numbers = rng.normal(size=(80, 3, 2))
    right = numbers.sum(axis=1) > 0
    model = quick(max_steps=300).fit(numbers, right)
    assert (model.predict(numbers) == right).mean() > 0.9


def test_plain_classes():
    y = np.array([x[0] for x in X])
    assert quick().fit(X, y).score(X, y) == 1


def test_in_a_set_classifier():
    sets = [frozenset(x) for x in X]
    model = SetClassifier(quick(), cv=2, random_state=0).fit(X, sets)
    assert model.score(X, sets) > 0.9
    assert model.predict(["cc"]) == [{"c"}]


def test_batching_does_not_change_the_answer(fitted, monkeypatch):
    whole = fitted.predict_proba(X)
    monkeypatch.setattr("setlearn.learners.sequence_sigmoid_network.BLOCK_ROWS", 7)
    assert fitted.predict_proba(X) == pytest.approx(whole, abs=1e-14)


def test_same_random_state_same_answer_and_joblib(fitted):
    expected = fitted.predict_proba(X)
    assert np.array_equal(clone(fitted).fit(X, Y).predict_proba(X), expected)
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    assert np.array_equal(joblib.load(file).predict_proba(X), expected)


def test_unknown_tokens_and_empty_inputs_have_an_answer(fitted):
    assert np.isfinite(fitted.predict_proba(["zz", ""])).all()


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ("abc", KindError, "pass a list of texts"),
        ([], DataError, "0 samples"),
        ([1, 2, 3], KindError, "pass a string or a list of tokens"),
    ],
)
def test_inputs_that_cannot_be_used(inputs, error, message):
    with pytest.raises(error, match=message):
        quick().fit(inputs, Y)


def test_other_mistakes(fitted):
    with pytest.raises(DataError, match="Y cannot be used"):
        quick().fit(X, Y[:-1])
    with pytest.raises(ParameterError, match="network must be a recipe"):
        SequenceSigmoidNetwork("lstm").fit(X, Y)
    with pytest.raises(ParameterError, match="tokens must be"):
        quick(tokens="syllable").fit(X, Y)
    with pytest.raises(NotFittedError, match="call fit"):
        quick().predict(X)
