"""A rule, a learner, a network and a scorer from outside the package work like our own."""

from itertools import product

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import DataError, KindError, ModelError, ParameterError, UntrustedModelError
from setlearn.networks import Training
from setlearn.networks.sequence_network import SequenceNetwork
from setlearn.nodes import Nodes, Step
from setlearn.rules import Margin, Rule, Threshold, TopK

X = np.random.default_rng(0).uniform(size=(60, 3))
Y = [frozenset(label for label, value in zip("abc", row, strict=True) if value > 0.5) for row in X]
WORDS = ["ab", "ba", "aab", "bb", "abab", "b"] * 4
FORMS = [frozenset({word, word[::-1]}) for word in WORDS]


class AboveMean(Rule):
    """Keep what is above the mean score of its choice point, plus a margin that is learned."""

    def __init__(self, share=0.5):
        self.share = share

    def fit(self, nodes, positive):
        self.margin_ = self.share * float(nodes.probabilities.std())
        return self

    def accept(self, nodes):
        self._check_fitted("margin_")
        mean = nodes.probabilities.mean(axis=1, keepdims=True)
        kept = nodes.probabilities >= mean + self.margin_
        return kept if nodes.known is None else kept | nodes.known


class NearestMean(ClassifierMixin, BaseEstimator):
    """Scores by how near an input is to the mean of the rows with each class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict_proba(self, X):
        distance = np.linalg.norm(np.asarray(X)[:, None] - self.means_, axis=2)
        near = np.exp(-5 * distance)
        return near / near.sum(axis=1, keepdims=True)


class BagNetwork(SequenceNetwork):
    """Looks at the mean of the input's embeddings and at the last token alone."""

    def __init__(self, n_choices, n_tokens, width):
        super().__init__()
        self.n_choices = n_choices
        self.read = torch.nn.Embedding(n_tokens, width)
        self.token = torch.nn.Embedding(n_choices, width)
        self.output = torch.nn.Linear(2 * width, n_choices)

    def encode(self, values, length):
        inside = torch.arange(values.shape[1]) < length[:, None]
        return (self.read(values) * inside[..., None]).sum(1) / length[:, None]

    def start(self, memory):
        return self._step(memory, torch.zeros(len(memory), dtype=torch.long))

    def advance(self, memory, sample, state, token):
        return self._step(memory[sample], token)

    def _step(self, inputs, token):
        logits = self.output(torch.cat([inputs, self.token(token)], dim=1))
        return logits, (token,)


class Bag(BaseEstimator):
    """The recipe of such a network."""

    loss = "sequence"

    def __init__(self, width=8):
        self.width = width

    def build(self, *, n_choices, n_tokens, n_features, copies=None):
        return BagNetwork(n_choices, n_tokens, self.width)


class Bigrams(BaseEstimator):
    """A scorer that counts which token follows which, whatever the input is."""

    def fit(self, X, trie):
        counts = np.full((trie.token.max() + 1, trie.edge_token.max() + 1), 0.1)
        np.add.at(counts, (trie.token[trie.edge_node], trie.edge_token), trie.edge_count)
        self.table_ = counts / counts.sum(axis=1, keepdims=True)
        return self

    def start(self, X):
        return Step(Nodes.roots(np.tile(self.table_[0], (len(X), 1))))

    def advance(self, step, parent, token):
        nodes = step.nodes
        return Step(
            Nodes(
                nodes.sample[parent],
                nodes.depth[parent] + 1,
                self.table_[token],
                prefix_probability=nodes.membership[parent, token],
            )
        )


def generator(network, rule=None):
    return SequenceSetGenerator(
        network, rule, training=Training(max_steps=40), max_nodes=200, random_state=0
    )


CASES = {
    "rule": (lambda: SetClassifier(rule=AboveMean(), cv=2, random_state=0), X, Y, "AboveMean"),
    "learner": (lambda: SetClassifier(NearestMean(), Margin(), cv=2), X, Y, "NearestMean"),
    "rule on sequences": (lambda: generator("lstm", AboveMean()), WORDS, FORMS, "AboveMean"),
    "network": (lambda: generator(Bag()), WORDS, FORMS, "Bag"),
    "scorer": (lambda: generator(Bigrams()), WORDS, FORMS, "Bigrams"),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    make, inputs, sets, name = CASES[request.param]
    return make().fit(inputs, sets), inputs, f"{__name__}.{name}"


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")
def test_it_is_used_like_our_own(fitted):
    model, inputs, _ = fitted
    predicted = model.predict_sets(inputs[:6])
    assert [model.trace(x).result for x in inputs[:6]] == predicted
    assert all(len(s) <= 1 for s in model.with_rule(TopK(1)).predict_sets(inputs[:6]))
    assert model.with_rule(model.rule_).predict_sets(inputs[:6]) == predicted
    assert str(model.trace(inputs[0]))
    assert model.facts()["rule"] == repr(model.rule_)


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")
def test_it_is_saved_only_if_it_is_named(fitted, tmp_path):
    model, inputs, name = fitted
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        setlearn.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    setlearn.save(model, tmp_path / "model", trusted=[name])
    with pytest.raises(UntrustedModelError, match=rf"trusted=\['{name}'\]"):
        setlearn.load(tmp_path / "model")
    loaded = setlearn.load(tmp_path / "model", trusted=[name])
    assert loaded.predict_sets(inputs[:6]) == model.predict_sets(inputs[:6])


def test_a_rule_from_outside_is_fitted_by_with_rule():
    model = SetClassifier(NearestMean(), Margin(), cv=2).fit(X, Y)
    other = model.with_rule(AboveMean(0.1))
    assert other.rule_.margin_ > 0
    assert isinstance(model.rule_, Margin)


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")
class TestScorers:
    def test_a_trained_one_is_taken_as_it_is(self):
        trained = generator(Bigrams()).fit(WORDS, FORMS).scorer_.scorer
        model = generator(trained, Threshold(0.05)).fit(WORDS[:2], FORMS[:2])
        assert model.scorer_.scorer is trained
        assert model.predict_sets(["ab"])

    def test_an_untrained_one_is_not_changed(self):
        scorer = Bigrams()
        model = generator(scorer).fit(WORDS, FORMS)
        assert not hasattr(scorer, "table_")
        assert hasattr(model.scorer_.scorer, "table_")

    def test_rules_are_fitted_on_samples_that_it_has_not_seen(self):
        words = ["".join(letters) for letters in product("ab", repeat=6)]
        model = generator(Bigrams(), Margin(space="log")).fit(words, [{w[::-1]} for w in words])
        assert len(model.held_out_) == round(0.2 * len(words))
        nodes, positive = model.choice_points()
        assert len(np.unique(nodes.sample)) == len(model.held_out_)
        assert positive.shape == nodes.probabilities.shape

    def test_one_with_a_vocabulary_of_its_own(self):
        own = generator(Bigrams()).fit(WORDS, FORMS)

        class Spelling(Bigrams):
            vocabulary = own.vocabulary_

        model = generator(Spelling()).fit(["b", "bb"] * 4, [{"b"}, {"bb"}] * 4)
        assert model.vocabulary_.tokens == ("a", "b")
        with pytest.raises(DataError, match=r"sample 1 of y holds 'bz'.*leave it out"):
            generator(Spelling()).fit(["b", "bz"] * 4, [{"b"}, {"bz"}] * 4)
        with pytest.raises(KindError, match=r"y holds tuples.*elements are strs; pass"):
            generator(Spelling()).fit(["b", "bb"] * 4, [{("b",)}, {("b", "b")}] * 4)

    def test_wrong_answers_are_named(self):
        class Narrow(Bigrams):
            def start(self, X):
                return Step(Nodes.roots(np.ones((len(X), 2))))

        with pytest.raises(setlearn.errors.DataError, match=r"Narrow\.start must return a Step"):
            generator(Narrow(), Margin()).fit(WORDS, FORMS)

    @pytest.mark.parametrize("wrong", [3, Bigrams, object(), "gru"])
    def test_what_is_no_network(self, wrong):
        with pytest.raises(ParameterError, match=r"network must be"):
            generator(wrong).fit(WORDS, FORMS)
