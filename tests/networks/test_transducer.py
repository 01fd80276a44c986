"""The transducer: all ways to write a sequence count, and its training trees spell them."""

import numpy as np
import pytest
import torch

from setlearn import SequenceSetGenerator
from setlearn.networks import Training, Transducer
from setlearn.networks.action_scorer import ADVANCE
from setlearn.networks.action_trees import written_tokens
from setlearn.networks.runtime import seeded
from setlearn.networks.sequence_network import SequenceNetwork
from setlearn.scorers.sequences import encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

TEXTS = ["ab", "c", "bca"]
SETS = [frozenset({"a", "ab", "ba"}), frozenset(), frozenset({"bca", "b"})]


def build(loss, members=2):
    tokeniser = Tokeniser("char")
    reader, vocabulary = learn_inputs(TEXTS, tokeniser), Vocabulary.learn(SETS, tokeniser)
    copies = np.array([0, *vocabulary.spelled_by(reader.tokens)])
    with seeded(0):
        recipe = Transducer(width=8, heads=2, members=members, loss=loss)
        network = recipe.build(
            n_choices=vocabulary.n_choices,
            n_tokens=reader.n_tokens,
            n_features=0,
            copies=copies,
            spelling=None,
        )
    return network.double().eval().requires_grad_(False), reader.read(TEXTS), vocabulary


def action_probability(network, memory, position, written, action):
    """Of one action at one position, averaged over the members."""
    tokens = torch.tensor([written], dtype=torch.long).view(1, len(written))
    choice = memory.choice[:1, position]
    total = 0.0
    for member, encoded in zip(network.members, memory.encoded, strict=True):
        logits = member.logits(member.hidden(encoded[:1, position], tokens), choice)[0]
        p = logits.sigmoid() if network.loss_name == "node" else logits.softmax(0)
        total += float(p[action])
    return total / len(network.members)


def all_ways(network, memory, last, sequence, position=0, n_written=0):
    """The sum over all ways to write the rest of a sequence, one action after the other."""
    written = sequence[:n_written]
    advance = action_probability(network, memory, position, written, ADVANCE)
    total = 0.0
    if position < last:
        total += advance * all_ways(network, memory, last, sequence, position + 1, n_written)
    elif n_written == len(sequence):
        total += advance
    if n_written < len(sequence):
        token = sequence[n_written]
        writes = action_probability(network, memory, position, written, token)
        total += writes * all_ways(network, memory, last, sequence, position, n_written + 1)
    return total


@pytest.mark.parametrize("loss", ["sequence", "node"])
@pytest.mark.parametrize("sequence", [[1], [1, 2], [2, 1, 1]])
def test_the_product_of_the_steps_is_the_sum_over_all_ways(loss, sequence):
    network, inputs, _ = build(loss)
    memory = encode_inputs(network, inputs, np.array([0]))
    logits, state = network.start(memory)
    product = 1.0
    for choice in [*sequence, END]:
        p = logits.softmax(1) if loss == "sequence" else logits.sigmoid()
        product *= float(p[0, choice])
        if choice != END:
            logits, state = network.advance(
                memory, torch.tensor([0]), state, torch.tensor([choice])
            )
    expected = all_ways(network, memory, int(memory.last[0]), sequence)
    assert product == pytest.approx(expected, rel=1e-9)


def test_the_choices_of_a_prefix_add_up_to_one():
    network, inputs, _ = build("sequence")
    logits, _ = network.start(encode_inputs(network, inputs, slice(None)))
    np.testing.assert_allclose(logits.exp().sum(1).numpy(), 1, rtol=1e-9)


def test_training_trees_spell_the_sequences():
    network, inputs, vocabulary = build("node")
    sequences = vocabulary.encode(SETS)
    trie = network.training_trie(inputs, sequences, np.random.RandomState(0))
    position, written = written_tokens(trie)
    ends = trie.edge_node[trie.edge_token == END]
    ends = ends[np.isin(ends, trie.parent, invert=True)]
    spelled = {(trie.sample[n], tuple(written[n][written[n] > 0].tolist())) for n in ends}
    expected = {(i, s) for i, s in enumerate(sequences.as_sets(3)) for s in s} | {(1, ())}
    assert spelled == expected
    # Every sequence ends at the position after the last token of its input.
    assert (position[ends] == inputs.length[trie.sample[ends]] + 1).all()


def test_the_loss_is_that_of_the_actions():
    network, inputs, vocabulary = build("sequence", members=1)
    trie = network.training_trie(inputs, vocabulary.encode(SETS), np.random.RandomState(0))
    memory = encode_inputs(network, inputs, slice(None))
    loss = float(network.training_loss(memory, trie, "sequence"))
    position, written = written_tokens(trie)
    total = count = 0.0
    for node, token, n in zip(trie.edge_node, trie.edge_token, trie.edge_count, strict=True):
        one = encode_inputs(network, inputs, trie.sample[node : node + 1])
        history = written[node][written[node] > 0].tolist()
        p = action_probability(network, one, int(position[node]), history, int(token))
        total, count = total - n * np.log(p), count + n
    assert loss == pytest.approx(total / count, rel=1e-9)


def test_chunks_of_prefixes_change_nothing(monkeypatch):
    network, inputs, vocabulary = build("node")
    trie = Trie.of(vocabulary.encode(SETS), 3)
    memory = encode_inputs(network, inputs, slice(None))
    whole = network.score_trie(memory, trie)
    monkeypatch.setattr("setlearn.networks.transducer.MOST_VALUES", 1)
    torch.testing.assert_close(network.score_trie(memory, trie), whole, rtol=0, atol=1e-12)


def test_trees_are_scored_at_once_as_level_by_level():
    network, inputs, vocabulary = build("node")
    trie = Trie.of(vocabulary.encode(SETS), 3)
    memory = encode_inputs(network, inputs, slice(None))
    by_level = SequenceNetwork.score_trie(network, memory, trie)
    torch.testing.assert_close(network.score_trie(memory, trie), by_level, rtol=0, atol=1e-5)


def test_numbers_as_inputs_and_empty_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    Y = [{"ab"} if x[0] > 0 else set() for x in X]
    recipe, training = Transducer(width=16, heads=2, dropout=0.1), Training(max_steps=150)
    model = SequenceSetGenerator(recipe, training=training, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_learns_to_spell_with_few_samples():
    letters, sounds = "abcdef", ["A", "B", "K", "D", "E", "F"]
    rng = np.random.RandomState(0)
    words = ["".join(rng.choice(list(letters), size=rng.randint(2, 7))) for _ in range(140)]
    spoken = [{" ".join(sounds[letters.index(c)] for c in word)} for word in words]
    model = SequenceSetGenerator(
        Transducer(width=32, dropout=0.1),
        tokens=("char", "word"),
        training=Training(max_steps=300, learning_rate=0.005),
        random_state=0,
    ).fit(words[:100], spoken[:100])
    assert model.score(words[100:], spoken[100:]) > 0.9


def test_sequences_keep_their_sample(monkeypatch):
    network, inputs, _ = build("node")
    sequences = Sequences(np.array([0, 2]), np.array([1, 2]), np.array([1, 2, 1]))
    trie = network.training_trie(inputs, sequences, np.random.RandomState(0))
    assert trie.n_samples == 3
    assert set(trie.sample) == {0, 1, 2}
