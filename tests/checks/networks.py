"""Checks that every sequence network must pass, whether it is in the package or outside it."""

from inspect import isclass

import numpy as np
import pytest
import torch
from sklearn.base import clone

import setlearn.networks
from setlearn.errors import ParameterError
from setlearn.networks.recipe import NetworkRecipe
from setlearn.networks.runtime import seeded
from setlearn.networks.sequence_network import LOSSES, check_shapes
from setlearn.networks.training_settings import Training
from setlearn.scorers.sequences import encode_inputs
from setlearn.sequence_inputs import learn_inputs
from setlearn.trie import Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

__all__ = ["CHECKS", "exported_recipes"]

TEXTS = ["abc", "a", "", "cabba", "bb"]
NUMBERS = np.random.default_rng(0).normal(size=(5, 3, 2))
SETS = [frozenset(y) for y in ({"ab", "abc", "b"}, {"c"}, set(), {"aaa", "ab", "ba"}, {"bbb"})]
KINDS = {"tokens": TEXTS, "numbers": NUMBERS}


def exported_recipes():
    """One recipe of each class that setlearn.networks exports, with default parameters."""
    exported = [getattr(setlearn.networks, name) for name in setlearn.networks.__all__]
    return [kind() for kind in exported if isclass(kind) and issubclass(kind, NetworkRecipe)]


def check_follows_the_conventions_of_parameters(recipe):
    parameters = recipe.get_params()
    assert clone(recipe).get_params() == parameters
    assert parameters["loss"] in LOSSES
    assert type(recipe)(**parameters).get_params() == parameters
    Training().plan(recipe.suited_training)  # raises if a name or number is wrong
    network_parts = [k for k, v in vars(recipe).items() if isinstance(v, torch.Tensor)]
    assert not network_parts, "a recipe has no weights"
    before = dict(vars(recipe))
    build(recipe, "tokens")
    assert vars(recipe) == before, "build must not change the recipe"


def check_refuses_parameters_out_of_range(recipe):
    for name, value in recipe.get_params().items():
        for wrong in _wrong_values(name, value):
            changed = clone(recipe).set_params(**{name: wrong})
            with pytest.raises(ParameterError, match=f"{name} must be"):
                build(changed, "tokens")


def check_shapes_are_right(recipe):
    for kind in KINDS:
        network, inputs, trie = build(recipe, kind)
        memory = encode_inputs(network, inputs, slice(None))
        check_shapes(network, memory, len(inputs))
        logits = network.score_trie(memory, trie)
        assert logits.shape == (len(trie), network.n_choices)
        assert torch.isfinite(logits).all()


def check_scores_a_trie_as_it_does_prefix_by_prefix(recipe):
    for kind in KINDS:
        network, inputs, trie = build(recipe, kind)
        logits = network.score_trie(encode_inputs(network, inputs, slice(None)), trie)
        for node in range(len(trie)):
            alone = _score_prefix(network, inputs, trie.sample[node], _prefix(trie, node))
            torch.testing.assert_close(logits[node], alone, rtol=0, atol=1e-10)


def check_neighbours_in_a_batch_change_nothing(recipe):
    for kind in KINDS:
        network, inputs, trie = build(recipe, kind)
        logits = network.score_trie(encode_inputs(network, inputs, slice(None)), trie)
        # The other samples in reverse order, with the longest input left out.
        rows = np.array([4, 2, 1, 0])
        others = network.score_trie(encode_inputs(network, inputs, rows), trie.take(rows))
        expected = torch.cat([logits[trie.sample == row] for row in rows])
        torch.testing.assert_close(others, expected, rtol=0, atol=1e-10)


def check_builds_the_same_network_from_the_same_seed(recipe):
    first, second, other = (build(recipe, "tokens", seed=seed)[0] for seed in (0, 0, 1))
    weights = [network.state_dict() for network in (first, second, other)]
    assert list(weights[0]) == list(weights[1])
    assert all(torch.equal(a, b) for a, b in zip(*map(dict.values, weights[:2]), strict=True))
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


def check_is_deterministic_in_eval_mode(recipe):
    network, inputs, trie = build(recipe, "tokens")
    before = torch.get_rng_state()
    first, second = (
        network.score_trie(encode_inputs(network, inputs, slice(None)), trie) for _ in range(2)
    )
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before), "eval mode must not draw random numbers"


def check_losses_and_gradients_are_finite(recipe):
    for kind in KINDS:
        for loss in LOSSES.values():
            network, inputs, trie = build(recipe, kind)
            network.train()
            with seeded(0), torch.enable_grad():
                memory = encode_inputs(network, inputs, slice(None))
                value = loss(network.score_trie(memory, trie), trie)
                value.backward()
            assert torch.isfinite(value)
            gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
            assert gradients
            assert all(torch.isfinite(gradient).all() for gradient in gradients)


def check_a_copy_of_the_weights_answers_the_same(recipe):
    network, inputs, trie = build(recipe, "tokens")
    other, _, _ = build(recipe, "tokens", seed=1)
    other.load_state_dict(network.state_dict())
    first, second = (
        one.score_trie(encode_inputs(one, inputs, slice(None)), trie) for one in (network, other)
    )
    assert torch.equal(first, second)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
CHECKS.remove(check_shapes)


def build(recipe, kind, seed=0):
    """A network in double precision and eval mode, inputs, and the trie of their sets."""
    X, tokeniser = KINDS[kind], Tokeniser("char")
    reader, vocabulary = learn_inputs(X, tokeniser), Vocabulary.learn(SETS, tokeniser)
    sizes = {"n_choices": vocabulary.n_choices, "n_tokens": 0, "n_features": 0}
    if kind == "tokens":
        copies = np.array([0, *vocabulary.spelled_by(reader.tokens)])
        sizes |= {"n_tokens": reader.n_tokens, "copies": copies}
    else:
        sizes["n_features"] = reader.n_features
    with seeded(seed):
        network = recipe.build(**sizes)
    assert network.n_choices == vocabulary.n_choices
    trie = Trie.of(vocabulary.encode(SETS), len(SETS))
    network = network.double().eval().requires_grad_(True)
    return network, reader.read(X), trie


def _wrong_values(name, value):
    if name == "loss":
        return ["nodes", None]
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [0, -1, 1.5, "8", True]
    if isinstance(value, float):
        return [-0.1, float("nan"), "0.5"]
    return []


def _prefix(trie, node):
    tokens = []
    while trie.parent[node] >= 0:
        tokens.append(int(trie.token[node]))
        node = trie.parent[node]
    return tokens[::-1]


def _score_prefix(network, inputs, sample, prefix):
    memory = encode_inputs(network, inputs, np.array([sample]))
    logits, state = network.start(memory)
    for token in prefix:
        logits, state = network.advance(memory, torch.tensor([0]), state, torch.tensor([token]))
    return logits[0]
