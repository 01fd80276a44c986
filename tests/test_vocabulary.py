"""Tokens and ids, both ways."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.sequence_inputs import UNKNOWN, learn_inputs
from setlearn.vocabulary import Tokeniser, Vocabulary, composed, read_elements

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
tokens = st.one_of(
    st.integers(-3, 3), st.text("ab", max_size=2), st.none(), st.tuples(st.integers(0, 1))
)
CHAR = Tokeniser("char")


@given(st.lists(st.sets(texts, max_size=4), min_size=1, max_size=4))
def test_strings_come_back_composed(Y):
    sets = read_elements(Y, CHAR, "Y")
    vocabulary = Vocabulary.learn(sets, CHAR)
    ids = vocabulary.encode(sets).as_sets(len(Y))
    decoded = [frozenset(vocabulary.decode(sequence) for sequence in one) for one in ids]
    assert decoded == [frozenset(map(composed, y)) for y in Y]


@given(
    st.lists(st.sets(st.lists(tokens, min_size=1, max_size=4).map(tuple), max_size=4), max_size=4)
)
def test_tuples_come_back_equal(Y):
    sets = read_elements(Y, CHAR, "Y")
    vocabulary = Vocabulary.learn(sets, CHAR)
    ids = vocabulary.encode(sets).as_sets(len(Y))
    assert [{vocabulary.decode(s) for s in one} for one in ids] == [set(y) for y in Y]


@given(st.lists(st.sets(st.frozensets(tokens, min_size=1, max_size=4), max_size=3), max_size=4))
def test_inner_sets_come_back_in_ascending_ids(Y):
    sets = read_elements(Y, CHAR, "Y")
    vocabulary = Vocabulary.learn(sets, CHAR)
    ids = vocabulary.encode(sets).as_sets(len(Y))
    assert all(list(s) == sorted(s) for one in ids for s in one)
    assert [{vocabulary.decode(s) for s in one} for one in ids] == [set(y) for y in Y]


def test_ids_do_not_depend_on_the_hash_seed():
    code = (
        "from setlearn.vocabulary import *;"
        "Y = [frozenset({('b', 1, None), ((2,), 'a', 1.5)})];"
        "print(Vocabulary.learn(Y, Tokeniser('char')).tokens)"
    )
    answers = set()
    for seed in ("0", "1", "2"):
        command, environment = [sys.executable, "-c", code], {"PYTHONHASHSEED": seed}
        run = subprocess.run(command, env=environment, capture_output=True, check=True)
        answers.add(run.stdout)
    assert len(answers) == 1


def test_unknown_tokens():
    vocabulary = Vocabulary.learn([frozenset({"ab"})], CHAR)
    known, unseen = vocabulary.split_unseen([frozenset({"ab", "az"})])
    assert vocabulary.encode(known).as_sets(1) == [{(1, 2)}]
    assert unseen == [(0, "az")]
    reader = learn_inputs(["ab"], CHAR)
    assert reader.read(["bz", ""]).values.tolist() == [2, UNKNOWN, UNKNOWN]


def test_tokenisers():
    assert Tokeniser("word")(" two  words ") == ["two", "words"]
    assert Tokeniser(lambda text: text.split("-"))("a-b") == ["a", "b"]
    assert Tokeniser(lambda text: text.split()).joint(["a b", "c"]) == " "
    with pytest.raises(DataError, match="cannot be joined"):
        Tokeniser(lambda text: text.split("-")).joint(["a-b"])
    with pytest.raises(ParameterError, match="tokens must be"):
        Tokeniser("syllable")


@given(st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=1, max_size=6), st.data())
def test_inputs_are_padded_and_cut_again(X, data):
    inputs = learn_inputs(X, CHAR).read(X)
    rows = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)))
    padded, length = inputs.take(rows)
    assert padded.shape == (len(rows), length.max())
    part = inputs.part(rows)
    again, _ = part.take(slice(None))
    np.testing.assert_array_equal(padded, again)


def test_numbers_are_standardised_and_checked():
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    reader = learn_inputs(X, CHAR)
    np.testing.assert_allclose(reader.read(X).values, [[-1, 0], [1, 0]])
    for bad, message in [
        (np.zeros((2, 3)), "3 features, but 2 were seen"),
        (np.zeros(3), "matrix"),
        (np.array([[np.inf, 0]]), "sample 0 of X holds NaN or infinity"),
    ]:
        with pytest.raises(DataError, match=message):
            reader.read(bad)
    with pytest.raises(KindError, match="fitted on a numeric array"):
        reader.read(["text"])


def test_readers_say_what_a_network_must_know():
    tokens = learn_inputs(["ab", "c"], CHAR)
    assert tokens.sizes == {"n_tokens": 4, "n_features": 0}
    assert tokens.as_batch("ab") == ["ab"]
    numbers = learn_inputs(np.ones((3, 2)), CHAR)
    assert numbers.sizes == {"n_tokens": 0, "n_features": 2}
    assert numbers.as_batch([1.0, 2.0]).shape == (1, 2)


def test_sentences_are_split_into_words_and_marks():
    split = Tokeniser("text")
    assert split("Don't go, well-known Zoë!") == ["Don't", "go", ",", "well-known", "Zoë", "!"]
