"""Copies of training samples in which tokens are replaced by stand-ins."""

import numpy as np
import pytest

from setlearn.copied_tokens import with_input_tokens
from setlearn.estimators.hidden_tokens import HiddenTokens
from setlearn.sequence_inputs import TokenReader
from setlearn.trie import Sequences
from setlearn.vocabulary import Tokeniser, Vocabulary

CHAR = Tokeniser("char")
X = ["abc", "bcd", "xyz", "dab", "ca"] * 10
SETS = [frozenset({x[::-1], x + "s"}) if x != "xyz" else frozenset({"s"}) for x in X]


@pytest.fixture(scope="module", params=[False, True], ids=["sequences", "sets of sets"])
def hidden(request):
    """The vocabulary, the reader, and the samples with copies of those at even positions."""
    sets = SETS
    if request.param:
        sets = [frozenset(frozenset(element) for element in elements) for elements in SETS]
    vocabulary = with_input_tokens(Vocabulary.learn(sets, CHAR), X, sets, CHAR, can_copy=True)
    reader = TokenReader(CHAR, tuple("abcdxyz"))
    stand_ins = range(vocabulary.n_choices - vocabulary.n_stand_ins, vocabulary.n_choices)
    copies = np.array([0, *vocabulary.spelled_by(reader.tokens), *stand_ins])
    maker = HiddenTokens(copies, vocabulary.n_stand_ins, request.param)
    inputs, sequences = reader.read(X), vocabulary.encode(sets)
    rng = np.random.RandomState(0)
    made = maker.add_copies(inputs, sequences, np.arange(0, len(X), 2), rng)
    return vocabulary, reader, copies, inputs, sequences, made


def ids_of(inputs, index):
    padded, length = inputs.take(np.array([index]))
    return padded[0, : length[0]]


def test_the_given_samples_stay_as_they_are(hidden):
    _, _, _, inputs, sequences, (all_inputs, all_sequences) = hidden
    assert np.array_equal(all_inputs.part(np.arange(len(X))).values, inputs.values)
    assert all_sequences.as_sets(len(all_inputs))[: len(X)] == sequences.as_sets(len(X))


def test_copies_are_samples_with_some_shared_tokens_hidden(hidden):
    vocabulary, reader, copies, _, sequences, (inputs, all_sequences) = hidden
    sets = all_sequences.as_sets(len(inputs))
    assert len(inputs) == len(X) + 13  # half of the 25 samples that may be copied
    originals = set(sequences.as_sets(len(X)))
    for index in range(len(X), len(inputs)):
        x = ids_of(inputs, index)
        used = sorted(set(x[x >= reader.n_tokens].tolist()))
        assert used
        # Put tokens that the sample does not have in place of the stand-ins, and look it up.
        written = {t for sequence in sets[index] for t in sequence}
        first = vocabulary.n_choices - vocabulary.n_stand_ins
        assert {t for t in written if t >= first} == set(copies[used].tolist())
        shapes = {shape(s) for s in sets[index]}
        assert any(shapes == {shape(s) for s in elements} for elements in originals)
        if vocabulary.kind is frozenset:
            assert all(list(s) == sorted(set(s)) for s in sets[index])


def shape(sequence):
    return len(sequence), len(set(sequence))


def test_a_sample_that_shares_no_token_is_not_copied(hidden):
    _, reader, _, _, _, (inputs, _) = hidden
    foreign = set(reader.read(["xyz"]).values.tolist())
    for index in range(len(X), len(inputs)):
        assert not foreign & set(ids_of(inputs, index).tolist())


def test_nothing_is_copied_if_nothing_is_shared():
    copies = np.array([0, 0, 2, 3])
    inputs = TokenReader(CHAR, ("a",)).read(["a", "aa"])
    sequences = Sequences.of([[[1]], []])
    made, _ = HiddenTokens(copies, 2, False).add_copies(
        inputs, sequences, np.arange(2), np.random.RandomState(0)
    )
    assert len(made) == 2
