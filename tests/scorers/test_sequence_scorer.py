"""Scores after the loss a node: probabilities to be in the set, which fall only downwards."""

from copy import copy
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.base import clone

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError, ParameterError
from setlearn.generate import Bounds, generate
from setlearn.networks import LSTM, Training, Transducer, Transformer
from setlearn.networks.training_loop import Trainer
from setlearn.nodes import Nodes
from setlearn.rules import ExpectedF, Margin, OnSequences, RiskControl, Threshold
from setlearn.rules.finished_sequences import ChoosesSequences
from setlearn.sequence_lists import SequenceLists

X = ["ab", "ba", "aab", "bb", "abab", "b"] * 3
Y = [{x, x[::-1], x[:1]} if "a" in x else set() for x in X]
SMALL = Training(max_steps=60)
TRANSFORMER = Transformer(width=16, encoder_layers=1)
EVERYTHING = Bounds(max_length=4, max_size=10**6, max_nodes=10**9)


def fitted(network, loss, rule=None, **settings):
    network, training = clone(network).set_params(loss=loss), clone(SMALL).set_params(**settings)
    return SequenceSetGenerator(network, rule, training=training, random_state=0).fit(X, Y)


@pytest.fixture(scope="module", params=["transformer", "lstm"])
def model(request):
    network = TRANSFORMER if request.param == "transformer" else LSTM(8, 8, 16)
    return fitted(network, "node")


def all_memberships(model, x):
    """Every sequence up to length 4 with the product along its path, one prefix at a time."""
    scorer, inputs = model.scorer_, model.scorer_.reader.read([x])
    found = {}
    for length in range(1, 5):
        for ids in product(range(1, model.vocabulary_.n_choices), repeat=length):
            step = scorer.start(inputs)
            for token in ids:
                step = scorer.advance(step, np.array([0]), np.array([token]))
            found[ids] = step.nodes.probabilities[0, 0]
    return found


def test_every_sequence_above_a_cut_comes_out_and_no_other(model):
    probabilities = all_memberships(model, "aba")
    for cut in (0.5, 0.1, 0.01):
        found = generate(
            model.scorer_, Threshold(cut), model.scorer_.reader.read(["aba"]), EVERYTHING
        )
        [ids] = found.sequences().as_sets(1)
        assert ids == {sequence for sequence, p in probabilities.items() if p > cut}
        for tokens, p in zip(found.tokens, found.probability, strict=True):
            # Prefixes one at a time differ from all together by rounding in single precision.
            assert p == pytest.approx(probabilities[tuple(tokens[tokens > 0].tolist())], abs=1e-5)


def test_finished_inputs_leave_the_batch(model):
    """The transformer keeps only what is open, and scores it as if it had been alone."""
    scorer = model.scorer_
    together = scorer.start(scorer.reader.read(["abab", "ab", "b", "ba", "aab"]))
    alone = scorer.start(scorer.reader.read(["ab"]))
    for token in (1, 2):
        row = np.flatnonzero(together.nodes.sample == 1)
        together = scorer.advance(together, row, np.array([token]))
        alone = scorer.advance(alone, np.array([0]), np.array([token]))
        assert together.nodes.sample.tolist() == [1]
        np.testing.assert_allclose(
            together.nodes.probabilities, alone.nodes.probabilities, rtol=0, atol=1e-5
        )
    is_transformer = isinstance(model.network, Transformer)
    assert together.state.inputs.tolist() == ([1] if is_transformer else [0, 1, 2, 3, 4])


def test_the_transformer_predicts_in_single_precision_and_the_lstm_in_double(model):
    expected = torch.float32 if isinstance(model.network, Transformer) else torch.float64
    floats = [w for w in model.scorer_.network.state_dict().values() if w.is_floating_point()]
    assert {w.dtype for w in floats} == {expected}
    together = model.scorer_.score_trees(X[:6], model._trie([frozenset(y) for y in Y[:6]]))
    for sample in range(6):
        trie = model._trie([frozenset(Y[sample])])
        alone = model.scorer_.score_trees(X[sample : sample + 1], trie).probabilities
        mine = together.probabilities[together.sample == sample]
        np.testing.assert_allclose(
            alone, mine, rtol=0, atol=1e-5 if expected == torch.float32 else 0
        )


@pytest.mark.parametrize("network", [TRANSFORMER, Transducer(width=16, heads=2, layers=1)])
def test_scores_do_not_depend_on_longer_inputs_that_are_asked_together(network):
    model = fitted(network, "node", max_steps=5)
    # On both sides of the length from which on inputs are read in windows.
    texts = ["ab" * 150, "ab" * 200, "ba" * 191, "ba" * 193, "ab" * 192]
    trie = model._trie([frozenset({"ab", "b"})] * len(texts))
    together = model.scorer_.score_trees(texts, trie)
    for row, text in enumerate(texts):
        alone = model.scorer_.score_trees([text], trie.take(np.array([row])))
        mine = together.probabilities[together.sample == row]
        np.testing.assert_allclose(alone.probabilities, mine, rtol=0, atol=1e-5)


def test_scores_fall_downwards(model):
    step = model.scorer_.start(model.scorer_.reader.read(["ab"]))
    for token in (1, 2, 1):
        below = model.scorer_.advance(step, np.array([0]), np.array([token]))
        assert (below.nodes.probabilities <= step.nodes.probabilities[0, token]).all()
        step = below


@pytest.mark.parametrize("network", [TRANSFORMER, LSTM(8, 8, 16)], ids=["transformer", "lstm"])
def test_both_losses_train_both_networks(network):
    for loss, rule in (("node", ChoosesSequences), ("sequence", Margin)):
        model = fitted(network, loss)
        assert isinstance(model.rule_, rule)
        assert model.scorer_.loss == loss
        assert model.history_[-1]["loss"] < 5
    roots = model.scorer_.start(model.scorer_.reader.read(["ab"])).nodes
    assert roots.probabilities.sum() == pytest.approx(1)  # the paper's: one choice among all


def test_the_paths_product_is_kept_beside_the_papers_scores():
    model = fitted(LSTM(8, 8, 16), "sequence")
    first = model.scorer_.start(model.scorer_.reader.read(["ab"]))
    below = model.scorer_.advance(first, np.array([0]), np.array([1]))
    np.testing.assert_allclose(
        below.nodes.membership, first.nodes.probabilities[0, 1] * below.nodes.probabilities
    )


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")  # little was learned
def test_rules_on_finished_sequences(model):
    """ExpectedF takes sets of candidates, RiskControl a cut learned from held-out samples."""
    model = copy(model).set_params(max_nodes=10_000, max_size=10_000)
    ranked = model.with_rule(OnSequences(Threshold(0.0)), X, Y).predict_ranked(X[:6])
    for answer, candidates in zip(
        model.with_rule(ExpectedF(), X, Y).predict(X[:6]), ranked, strict=True
    ):
        scores = np.array([[probability for _, probability in candidates]])
        kept = ExpectedF().accept(Nodes.roots(scores))[0]
        assert answer == {element for (element, _), k in zip(candidates, kept, strict=True) if k}
    risky = model.with_rule(RiskControl(recall=0.8), X, Y)
    found = risky.predict(X)
    recall = np.mean([len(f & y) / len(y) if y else 1 for f, y in zip(found, Y, strict=True)])
    assert recall >= 0.8


def test_nothing_is_held_out_where_nothing_learns_from_it():
    assert len(fitted(TRANSFORMER, "node").held_out_) == 0
    many = ["".join(letters) for letters in product("ab", repeat=6)]
    learns = SequenceSetGenerator(
        TRANSFORMER, Margin(space="log"), training=SMALL, random_state=0
    ).fit(many, [{x[::-1]} for x in many])
    assert len(learns.held_out_) == 13  # a fifth of 64


def test_known_sequences_count_as_certain():
    """With all but improbable ones known, little is left that would raise the expected F1."""
    sample, membership = np.array([0, 0]), np.array([0.45, 0.4])
    assert ExpectedF().choose(SequenceLists.of(sample, membership, 1).nodes).all()
    lists = SequenceLists.of(sample, membership, 1, np.array([2]))
    assert not lists.of_each(ExpectedF().choose(lists.nodes)).any()


def test_rules_refuse_scores_that_they_cannot_read():
    with pytest.raises(ParameterError, match=r'needs each sequence.*network with loss="node"'):
        fitted(LSTM(8, 8, 16), "sequence", ExpectedF())
    with pytest.raises(DataError, match=r"from 0 calibration sample.*hold out at least 9"):
        fitted(TRANSFORMER, "node", RiskControl(recall=0.9), validation=0)


def test_long_inputs_are_read_a_few_at_a_time(model):
    inputs = model.scorer_.reader.read(["ab" * 1000] * 5)
    sizes = [len(part) for part in model.scorer_.chunks(inputs, np.arange(5))]
    assert sizes == ([2, 2, 1] if isinstance(model.network, Transformer) else [5])


def test_an_unknown_loss_is_named():
    with pytest.raises(ValueError, match='loss must be "node" or "sequence"'):
        fitted(TRANSFORMER, "both")


@pytest.mark.parametrize("network", [TRANSFORMER, Transducer(width=16, layers=1)])
def test_a_long_input_makes_only_its_own_batch_small(network):
    model = SequenceSetGenerator(network, training=SMALL, random_state=0).fit(X, Y)
    inputs = ["ab"] * 20 + ["a" * 3000] + ["b"] * 20
    sizes = [len(rows) for rows, _ in model.scorer_.batches(inputs)]
    assert sum(sizes) == 41
    assert len(sizes) <= 3
    assert sizes[1] <= 2


def test_steps_are_done_in_parts_of_so_many_nodes(monkeypatch):
    monkeypatch.setattr("setlearn.estimators.sequence_training.MOST_NODES", 1)
    parts = []
    original = Trainer._step

    def counted(trainer, rows):
        parts.append([len(part) for part in trainer.parts(rows)])
        return original(trainer, rows)

    monkeypatch.setattr(Trainer, "_step", counted)
    fitted(TRANSFORMER, "node", max_steps=2)
    assert all(size == 1 for step in parts for size in step)
    assert sum(map(len, parts)) > 2
