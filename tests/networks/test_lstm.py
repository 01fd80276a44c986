"""The paper's network: its sizes, and trees that cost the same as rows."""

import numpy as np
import pytest
import torch

from setlearn.errors import DataError
from setlearn.networks import LSTM
from setlearn.networks.runtime import seeded
from setlearn.networks.sequence_network import check_shapes, sequence_loss
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.trie import Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

X = ["abc", "a", "", "cabba"]
Y = [frozenset(y) for y in ({"ab", "abc", "b"}, {"c"}, set(), {"aaa", "ab", "ba"})]


@pytest.fixture
def parts():
    tokeniser = Tokeniser("char")
    reader, vocabulary = learn_inputs(X, tokeniser), Vocabulary.learn(Y, tokeniser)
    with seeded(0):
        network = (
            LSTM()
            .build(n_choices=vocabulary.n_choices, n_tokens=reader.n_tokens, n_features=0)
            .double()
        )
    return network, reader, vocabulary


def test_the_sizes_are_the_papers(parts):
    network, _, _ = parts
    assert network.read.embedding_dim == network.tokens.embedding_dim == 60
    assert (network.encoder.hidden_size, network.encoder.num_layers) == (60, 1)
    assert network.decoder.hidden_size == 120


def test_the_loss_on_trees_is_the_loss_on_one_row_a_sequence(parts):
    network, reader, vocabulary = parts
    inputs, sequences = reader.read(X), vocabulary.encode(Y)
    trie = Trie.of(sequences, len(X))
    on_trees = sequence_loss(
        network.score_trie(encode_inputs(network, inputs, slice(None)), trie), trie
    )
    # One row a sequence; the sample without any is a row that ends at once.
    total, count = 0.0, 0
    rows = [(s, ids) for s, one in enumerate(sequences.as_sets(len(X))) for ids in one or {()}]
    for sample, ids in rows:
        memory = encode_inputs(network, inputs, np.array([sample]))
        logits, state = network.start(memory)
        for token in (*ids, 0):
            total -= logits.log_softmax(1)[0, token].item()
            count += 1
            logits, state = network.advance(memory, torch.tensor([0]), state, torch.tensor([token]))
    assert on_trees.item() == pytest.approx(total / count, abs=1e-12)


def test_a_shared_prefix_is_scored_once_and_as_if_alone(parts):
    network, reader, vocabulary = parts
    scorer = SequenceScorer(LSTM(), reader, vocabulary, network)
    trie = Trie.of(vocabulary.encode(Y), len(X))
    nodes = scorer.score_trees(X, trie)
    assert len(nodes) == len(trie)
    step = scorer.start(reader.read(X))
    roots = nodes.probabilities[trie.roots]
    np.testing.assert_allclose(step.nodes.probabilities, roots, atol=1e-9)
    token = np.array([1, 1, 2])
    below = scorer.advance(step, np.array([0, 3, 0]), token)
    assert below.nodes.sample.tolist() == [0, 3, 0]
    assert below.nodes.depth.tolist() == [1, 1, 1]
    child = trie.child(trie.roots[[0, 3]], token[:2])
    np.testing.assert_allclose(below.nodes.probabilities[:2], nodes.probabilities[child], atol=1e-9)


def test_padding_does_not_leak(parts):
    network, reader, vocabulary = parts
    scorer = SequenceScorer(LSTM(), reader, vocabulary, network)
    together = scorer.start(reader.read(X)).nodes.probabilities
    alone = [scorer.start(reader.read([x])).nodes.probabilities[0] for x in X]
    np.testing.assert_array_equal(together, alone)  # to the bit, for they are rounded


def test_the_unknown_token_never_learns(parts):
    network, reader, vocabulary = parts
    inputs, sequences = reader.read(X), vocabulary.encode(Y)
    trie = Trie.of(sequences, len(X))
    assert (network.read.weight[0] == 0).all()
    sequence_loss(
        network.score_trie(encode_inputs(network, inputs, slice(None)), trie), trie
    ).backward()
    assert (network.read.weight.grad[0] == 0).all()


def test_states_of_the_wrong_length_are_named(parts):
    network, reader, _ = parts
    memory = encode_inputs(network, reader.read(X), slice(0, 2))
    network.advance = lambda memory, sample, state, token: (torch.zeros(4, network.n_choices), ())
    check_shapes(network, memory, 2)  # a network without states is one
    network.advance = lambda memory, sample, state, token: (
        torch.zeros(4, network.n_choices),
        (torch.zeros(3, 1),),
    )
    with pytest.raises(DataError, match=r"states of shapes \[\(3, 1\)\] for 4 prefixes"):
        check_shapes(network, memory, 2)
