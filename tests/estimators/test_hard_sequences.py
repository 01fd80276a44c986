"""Sequences at the limits: very long, very many, or none. Each gives a usable model."""

import random
import subprocess
import sys
import time
import warnings

import pytest
import torch

from setlearn import SequenceSetGenerator
from setlearn.errors import ConvergenceWarning, TruncationWarning
from setlearn.metrics import mean_f1
from setlearn.networks import Training, Transducer, Transformer
from setlearn.networks.training_loop import Trainer
from setlearn.networks.training_settings import TrainingPlan
from setlearn.scorers import AlignedTrees, AnalogyScorer, JointNgrams

UNITS = (JointNgrams, AlignedTrees)
NETWORKS = [Transformer(8, 2, 1), Transducer(8, 2, 1)]
SCORERS = [*NETWORKS, AnalogyScorer(), JointNgrams(), AlignedTrees(), None]
RNG = random.Random(0)
WORDS = ["".join(RNG.choices("abcd", k=4)) for _ in range(24)]
FORMS = [{word, word[::-1]} for word in WORDS]


def name(scorer):
    return "default" if scorer is None else type(scorer).__name__


def fitted(scorer, X, Y, *, max_steps=2, **training):
    training = Training(max_steps=max_steps, **training)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SequenceSetGenerator(scorer, training=training, random_state=0).fit(X, Y)


def predicted(model, X):
    """Predict; answers have no tokens but known ones and those of their inputs, and keep limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        sets = model.predict(X)
    assert len(sets) == len(X)
    bounds, known = model.learned_bounds_, {*model.vocabulary_.tokens}
    for x, found in zip(X, sets, strict=True):
        most_tokens = bounds.max_length * max(1, len(x) / model.longest_input_)
        assert len(found) <= bounds.max_size
        assert all({*element} <= known | {*x} for element in found)
        assert all(0 < len(element) <= most_tokens for element in found)
    return sets


def is_network(scorer):
    return isinstance(scorer, Transformer | Transducer)


def check_learned(model, X, Y, least):
    """The sets of training samples are found, or at least a network is on the way there."""
    sets = predicted(model, X)
    if is_network(model.network):
        losses = [epoch["held_out_loss"] for epoch in model.history_]
        assert losses[-1] < 0.98 * losses[0]
    else:
        assert mean_f1(Y, sets) >= least


@pytest.mark.filterwarnings("ignore::setlearn.errors.UnseenTokenWarning")
@pytest.mark.parametrize("scorer", SCORERS, ids=name)
class TestEveryScorer:
    def test_inputs_longer_than_any_seen(self, scorer):
        model = fitted(scorer, WORDS, FORMS)
        long, _, new = predicted(model, ["abcd" * 100, "", "zz"])
        if not is_network(scorer):  # which have had only two steps
            assert {len(element) for element in long} == {400}
            assert max(map(len, new)) <= 2

    def test_one_sample(self, scorer):
        model = fitted(scorer, WORDS[:1], FORMS[:1], max_steps=150, learning_rate=0.02)
        assert mean_f1(FORMS[:1], predicted(model, WORDS[:1])) > 0.6
        predicted(model, WORDS[1:2])

    def test_all_sets_empty(self, scorer):
        model = fitted(scorer, WORDS, [set() for _ in WORDS], max_steps=30)
        assert predicted(model, ["abcd"]) == [frozenset()]

    def test_sets_of_a_hundred(self, scorer):
        sets = [{word + "".join(RNG.choices("abcd", k=5)) for _ in range(100)} for word in WORDS]
        model = fitted(scorer, WORDS, sets, max_steps=6)
        check_learned(model, WORDS[:2], sets[:2], least=0.5)

    def test_a_large_vocabulary(self, scorer):
        words = [f"w{k}" for k in range(20_000)]
        X = [words[k : k + 200] for k in range(0, 20_000, 200)]
        sets = [{tuple(x[:2]), (x[5],)} for x in X]
        model = fitted(scorer, X, sets, max_steps=6)
        if isinstance(scorer, UNITS):  # which learn nothing from so many tokens
            assert predicted(model, X[:2]) == [frozenset()] * 2
        else:
            check_learned(model, X[:2], sets[:2], least=1)

    def test_inputs_of_a_thousand_tokens(self, scorer):
        X = ["".join(RNG.choices("abcd", k=1000)) for _ in range(4)]
        sets = [{x[:2]} for x in X]
        model = fitted(scorer, X, sets, max_steps=6)
        if isinstance(scorer, UNITS):  # which learn nothing from inputs of more than 100 tokens
            assert predicted(model, X) == [frozenset()] * 4
        else:
            check_learned(model, X, sets, least=1)


MEMORY = """
import random, resource, sys, warnings
warnings.simplefilter("ignore")
from setlearn import SequenceSetGenerator
from setlearn.networks import Training
rng = random.Random(0)
if sys.argv[1] == "many tokens":
    words = [f"w{k}" for k in range(20_000)]
    X = [rng.choices(words, k=12) for _ in range(1000)]
    Y = [{tuple(x[:2]), (x[5],)} for x in X]
elif sys.argv[1] == "long inputs":
    X = [rng.choices([f"w{k}" for k in range(300)], k=1000) for _ in range(16)]
    Y = [{tuple(x[500:505])} for x in X]
else:
    X = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(60)]
    Y = [{x + "".join(rng.choices("abcd", k=5)) for _ in range(100)} for x in X]
network = None if sys.argv[2] == "default" else sys.argv[2]
training = Training(max_steps=1, verbose=False)
SequenceSetGenerator(network, training=training, random_state=0).fit(X, Y).predict(X[:50])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize(
    ("data", "network"),
    [("many tokens", "default"), ("large sets", "transducer"), ("long inputs", "transformer")],
)
def test_memory_is_bounded(data, network):
    """Of networks as large as users have them."""
    command = [sys.executable, "-c", MEMORY, data, network]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 2500  # MB


@pytest.mark.parametrize("scorer", NETWORKS, ids=name)
def test_a_second(scorer):
    started = time.perf_counter()
    model = fitted(scorer, WORDS, FORMS, max_steps=10**9, max_seconds=1)
    assert time.perf_counter() - started < 60  # on any machine
    assert model.history_[-1]["step"] >= 1
    check_learned(model, WORDS, FORMS, least=0)


def test_long_inputs_are_trained_on_in_parts(monkeypatch):
    together = []
    encode = Transformer(8, 2, 1).build(n_choices=5, n_tokens=5, n_features=0).__class__.encode

    def counting(self, values, length):
        together.append(len(values))
        return encode(self, values, length)

    monkeypatch.setattr("setlearn.networks.transformer.TransformerNetwork.encode", counting)
    X = ["".join(RNG.choices("abcd", k=1700)) for _ in range(9)]
    fitted(Transformer(8, 2, 1), X, [{"a"} for _ in X], max_steps=1)
    assert max(together) == 2


def test_parts_of_a_step_add_up():
    x = torch.linspace(-1, 1, 50)[:, None]

    def weight(parts):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            line = torch.nn.Linear(1, 1)

        def loss(rows):
            return torch.nn.functional.mse_loss(line(x[rows]), 3 * x[rows])

        plan = TrainingPlan(learning_rate=0.1, max_steps=20, batch_size=16)
        Trainer(line, loss, 50, plan, seed=0, parts=parts).fit()
        return line.weight.item()

    assert weight(lambda rows: torch.split(rows, 5)) == pytest.approx(weight(None), abs=1e-5)
