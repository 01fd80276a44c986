"""The transformer: trees in one pass equal prefix by prefix; copies are votes; spans are found."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from setlearn import SequenceSetGenerator
from setlearn.errors import ParameterError
from setlearn.networks import Training, Transformer
from setlearn.networks.pointers import (
    extend_runs,
    point_at_stretches,
    shifted,
    whole_relations,
)
from setlearn.networks.runtime import seeded
from setlearn.networks.sequence_network import SequenceNetwork, check_shapes, node_loss
from setlearn.scorers.sequences import SequenceScorer, encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.trie import Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

ALPHABET = "abc"
texts = st.text(ALPHABET, min_size=1, max_size=6)
SMALL = Transformer(width=16, heads=4, encoder_layers=2, decoder_layers=2, dropout=0.2)


def built(X, Y, recipe=SMALL, seed=0):
    tokeniser = Tokeniser("char")
    reader, vocabulary = learn_inputs(X, tokeniser), Vocabulary.learn(Y, tokeniser)
    copies = np.array([0, *vocabulary.spelled_by(reader.tokens)])
    with seeded(seed):
        network = recipe.build(
            n_choices=vocabulary.n_choices, n_tokens=reader.n_tokens, n_features=0, copies=copies
        )
        # Biases that start at nothing would hide a mistake in what they are added to.
        with torch.no_grad():
            for weight in network.parameters():
                weight += 0.1 * torch.randn_like(weight)
    return network.double().eval(), reader, vocabulary


@pytest.mark.parametrize(("copy", "match_tokens"), [(True, True), (True, False), (False, True)])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(texts, st.sets(texts, max_size=4)), min_size=1, max_size=4))
def test_a_whole_tree_at_once_is_scored_as_prefix_by_prefix(copy, match_tokens, samples):
    X, Y = [x for x, _ in samples], [frozenset(y) | {"a"} for _, y in samples]
    recipe = clone(SMALL).set_params(copy=copy, match_tokens=match_tokens)
    network, reader, vocabulary = built(X, Y, recipe)
    trie = Trie.of(vocabulary.encode(Y), len(X))
    with torch.no_grad():
        memory = encode_inputs(network, reader.read(X), slice(None))
        at_once = network.score_trie(memory, trie)
        by_level = SequenceNetwork.score_trie(network, memory, trie)
    assert torch.allclose(at_once, by_level, atol=1e-10)


@pytest.mark.parametrize("loss", ["node", "sequence"])
def test_every_choice_starts_with_an_equal_share(loss):
    X = ["abcdefghij" * 3, "klm"]
    Y = [frozenset({"abc", "fgh"}), frozenset({"klmnopqrstuvwxyz"})]
    tokeniser = Tokeniser("char")
    reader, vocabulary = learn_inputs(X, tokeniser), Vocabulary.learn(Y, tokeniser)
    with seeded(0):
        scorer = SequenceScorer(Transformer(loss=loss), reader, vocabulary)
    scorer.network.eval()
    shares = scorer.score_trees(X, Trie.of(vocabulary.encode(Y), 2)).membership
    roots = shares[[0, -17]] * vocabulary.n_choices
    assert 0.2 < roots.min() < roots.max() < 5
    assert 0.5 < np.median(roots) < 2


@settings(max_examples=25, deadline=None)
@given(st.lists(texts, min_size=2, max_size=5))
def test_neighbours_in_a_batch_change_nothing(X):
    Y = [frozenset({x[:2]}) for x in X]
    network, reader, vocabulary = built(X, Y)
    trie = Trie.of(vocabulary.encode(Y), len(X))
    scorer = SequenceScorer(SMALL, reader, vocabulary, network)
    together = scorer.score_trees(X, trie)
    for sample in range(len(X)):
        alone = scorer.score_trees([X[sample]], trie.take(np.array([sample])))
        mine = together.sample == sample
        np.testing.assert_array_equal(alone.probabilities, together.probabilities[mine])


@settings(max_examples=100, deadline=None)
@given(texts, st.text(ALPHABET, min_size=1, max_size=4))
def test_pointers_find_where_the_prefix_is_spelled(x, prefix):
    choice = torch.tensor([[1 + ALPHABET.index(c) for c in x]])
    runs = torch.zeros_like(choice)
    for place, token in enumerate(prefix):
        runs = extend_runs(
            runs, choice, torch.tensor([1 + ALPHABET.index(token)]), first=place == 0
        )
    depth = torch.tensor([len(prefix)])
    found = whole_relations(runs, depth)[0]

    def spelled(end):  # how much of the prefix's end lies in x up to and with ``end``
        fits = [n for n in range(len(prefix) + 1) if x[: end + 1].endswith(prefix[-n:] or "\0")]
        return 0 if not fits else 1 + (max(fits) == len(prefix))

    for i in range(len(x)):
        behind = spelled(i - 1) if i else 0
        begins = x[i:].startswith(prefix)
        assert found[i] == spelled(i) + 3 * behind + 9 * begins


@settings(max_examples=100, deadline=None)
@given(texts, st.text(ALPHABET, min_size=1, max_size=4))
def test_pointers_find_the_longest_stretch_that_was_copied_last(x, prefix):
    choice = torch.tensor([[1 + ALPHABET.index(c) for c in x]])
    runs = torch.zeros_like(choice)
    for place, token in enumerate(prefix):
        runs = extend_runs(
            runs, choice, torch.tensor([1 + ALPHABET.index(token)]), first=place == 0
        )
    pointers = point_at_stretches(runs, torch.tensor([len(prefix)]))

    def run(end):  # how many of the last letters of the prefix lie in x up to and with ``end``
        fits = [n for n in range(len(prefix) + 1) if x[: end + 1].endswith(prefix[-n:] or "\0")]
        return max(fits, default=0)

    def match(end):
        if end < 0 or run(end) == 0:
            return 0
        is_longest = run(end) == max(run(i) for i in range(len(x)))
        return 1 + is_longest + (run(end) == len(prefix))

    starts = {end - run(end) + 1 for end in range(len(x)) if match(end) > 1}
    for i in range(len(x)):
        assert pointers.relation[0, i] == match(i) + 4 * match(i - 1) + 16 * (i in starts)
        assert pointers.start[0, i] == i - (run(i - 1) if i else 0)
        assert pointers.can_end[0, i] == (run(i) > 0)
        if run(i):
            assert pointers.end_start[0, i] == i - run(i) + 1


def test_rows_move_and_zero_comes_in():
    x = torch.tensor([[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    expected = [[0, 1, 2], [1, 2, 3], [3, 0, 0]]
    assert shifted(x, torch.tensor([1, 0, -2])).tolist() == expected


def test_votes_reach_only_what_the_input_spells():
    """A copy head that is sure of every position raises the choices of the input alone."""
    X, Y = ["ab"], [frozenset({"abc"})]
    network, reader, _ = built(X, Y)
    inputs = reader.read(X)
    with torch.no_grad():
        network.copy_head.bias.fill_(-30.0)
        before, _ = network.start(encode_inputs(network, inputs, slice(None)))
        network.copy_head.bias.fill_(30.0)
        after, _ = network.start(encode_inputs(network, inputs, slice(None)))
    end, a, b, c = (after - before)[0].tolist()
    assert a > 10
    assert b > 10
    assert end == pytest.approx(0, abs=1e-6)  # nothing is spelled yet, so nothing can end
    assert c == pytest.approx(0, abs=1e-6)  # not in the input


def test_the_node_loss_is_that_of_each_choice_by_itself():
    X, Y = ["ab", "b"], [frozenset({"a", "ab"}), frozenset()]
    network, reader, vocabulary = built(X, Y)
    trie = Trie.of(vocabulary.encode(Y), 2)
    logits = network.score_trie(encode_inputs(network, reader.read(X), slice(None)), trie)
    right = torch.from_numpy(trie.right_choices(vocabulary.n_choices).toarray()).double()
    p = logits.sigmoid()
    expected = -(right * p.log() + (1 - right) * (1 - p).log()).sum() / len(trie)
    assert node_loss(logits, trie).item() == pytest.approx(expected.item())


def test_spans_of_the_input_are_found_in_inputs_never_seen():
    """The words between brackets, of letters in ever new orders: copied, not learned by heart."""
    rng = np.random.default_rng(0)

    def sample():
        letters = rng.permutation(list("abcdefghij")).tolist()
        first, last = sorted(rng.choice(9, 2, replace=False).tolist())
        return "".join([*letters[:first], "(", *letters[first:last], ")", *letters[last:]])

    X = [sample() for _ in range(250)]
    Y = [frozenset({x[x.index("(") + 1 : x.index(")")]}) for x in X]
    model = SequenceSetGenerator(
        Transformer(width=32, encoder_layers=2, decoder_layers=1),
        training=Training(max_steps=300, batch_size=32, validation=0),
        random_state=0,
    )
    assert model.fit(X[:200], Y[:200]).score(X[200:], Y[200:]) > 0.9


def test_numbers_and_unshared_tokens_leave_nothing_to_copy():
    network = SMALL.build(n_choices=4, n_tokens=0, n_features=3)
    assert not network.copy
    memory = network.eval().encode(torch.zeros(2, 5, 3), torch.tensor([5, 2]))
    check_shapes(network, memory, 2)
    unshared, reader, _ = built(["xy"], [frozenset({"a"})])
    assert not unshared.copy
    check_shapes(unshared, encode_inputs(unshared, reader.read(["xy"]), slice(None)), 1)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"width": 0}, "width must be a whole number of at least 1"),
        ({"width": 30}, "width must be a multiple of heads, got 30 and 4"),
        ({"dropout": 1.0}, r"dropout must be a number in \[0, 1\), got 1.0"),
        ({"heads": True}, "heads must be a whole number"),
    ],
)
def test_wrong_sizes_are_named(wrong, what):
    with pytest.raises(ParameterError, match=what):
        SequenceSetGenerator(Transformer(**wrong)).fit(["a", "b"], [{"a"}, {"b"}])
