"""SequenceSetGenerator: it learns, it is bounded, and it says what is wrong."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone

from setlearn import SequenceSetGenerator
from setlearn.errors import (
    DataError,
    KindError,
    NotFittedError,
    ParameterError,
    TruncationWarning,
    UnknownLabelWarning,
    UnseenTokenWarning,
)
from setlearn.metrics import mean_f1
from setlearn.networks import LSTM, Training
from setlearn.rules import LambdaCNN, LambdaRNN, Margin, Threshold, TopK
from tests.estimators.quick_networks import SMALL, steps

DATA = os.environ.get("SETLEARN_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="SETLEARN_DATA names no data folder")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def reversals():
    """A small model: a word maps to itself and its reverse; words of x to nothing."""
    X = ["ab", "cd", "ef", "gab", "xx", "dce"] * 3
    Y = [set() if "x" in x else {x, x[::-1]} for x in X]
    model = SequenceSetGenerator(training=steps(200, validation=0), **SMALL).fit(X, Y)
    return model, X[:6], [frozenset(y) for y in Y[:6]]


def random_map(n, seed):
    rng = random.Random(seed)

    def word(shortest, longest):
        return "".join(rng.choice("abcdef") for _ in range(rng.randint(shortest, longest)))

    X = sorted({word(4, 8) for _ in range(2 * n)})[:n]
    return X, [frozenset(word(1, 5) for _ in range(rng.randint(0, 6))) for _ in X]


def test_a_map_of_100_strings_is_memorised_exactly():
    X, Y = random_map(100, seed=0)
    model = SequenceSetGenerator(
        LSTM(24, 64, 128),
        training=Training(
            validation=0, batch_size=50, learning_rate=0.01, max_steps=400, patience=40
        ),
        random_state=0,
    ).fit(X, Y)
    assert {len(y) for y in Y} >= {0, 1, 2, 3, 4, 5}
    assert model.predict(X) == Y


def test_prefixes_of_one_another_both_come_out():
    X, Y = ["p", "q", "r"] * 4, [{"ab", "abc"}, {"a", "ab", "b"}, {"abc"}] * 4
    model = SequenceSetGenerator(training=steps(200, validation=0), **SMALL).fit(X, Y)
    assert model.predict(["p", "q", "r"]) == [{"ab", "abc"}, {"a", "ab", "b"}, {"abc"}]


def test_predict_ranked_complete_and_trace_agree(reversals):
    model, X, Y = reversals
    assert model.predict(X) == Y
    for ranked, answer in zip(model.predict_ranked(X), Y, strict=True):
        assert frozenset(element for element, _ in ranked) == answer
        scores = [probability for _, probability in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
    known = [{"ab"}, {"dc"}, set(), {"gab", "bag"}, set(), {"fff"}]
    others = model.complete(X, known)
    assert all(not set(a) & set(k) for a, k in zip(others, known, strict=True))
    assert others == [y - k for y, k in zip(Y, known, strict=True)]
    trace = model.trace("gab")
    assert trace.result == Y[3]
    document = json.loads(json.dumps(trace.to_dict(), allow_nan=False))
    assert sorted(document["result"]) == sorted(Y[3])
    text = str(trace)
    assert "kept" in text
    assert "rejected" in text
    assert "(end)" in text
    assert "known" in str(model.trace("gab", known={"gab"}))
    assert model.trace("gab", known={"gab"}).result == {"gab", "bag"}
    assert model.score(X, Y) == 1.0


def test_empty_sets_are_ordinary_answers(reversals):
    model, _, _ = reversals
    assert model.predict(["xx"]) == [frozenset()]
    assert "(end)" in str(model.trace("xx"))


def test_unseen_tokens_and_empty_inputs_are_handled(reversals):
    model, _, _ = reversals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        with pytest.warns(UnseenTokenWarning, match="1 of 3 inputs .* cannot be part"):
            answers = model.predict(["€uro", "", "ab"])
    assert len(answers) == 3
    assert answers[2] == {"ab", "ba"}


@pytest.mark.parametrize(
    "rule",
    [
        Margin(),
        Margin(rho=0.5),
        Threshold("tuned"),
        LambdaCNN(training=Training(max_steps=30), random_state=0),
        LambdaRNN(training=Training(max_steps=30), random_state=0),
        TopK(1),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_any_rule_works_with_the_network(rule):
    X, Y = random_map(40, seed=1)
    model = SequenceSetGenerator(rule=rule, training=steps(60, validation=0), max_nodes=50, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        answers = model.fit(X, Y).predict(X)
    assert all(isinstance(answer, frozenset) for answer in answers)
    json.dumps(model.trace(X[0]).to_dict(), allow_nan=False)


@pytest.mark.filterwarnings("ignore::setlearn.errors.UnseenTokenWarning")
@needs_data
@pytest.mark.parametrize(
    ("name", "tokens"), [("babi_qa8", "word"), ("cmudict_multi", ("char", "word"))]
)
def test_the_four_systems_run_on_real_data(name, tokens):
    with gzip.open(Path(DATA) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for _, line in zip(range(150), file, strict=False)]
    X, Y = [row["x"] for row in rows], [set(row["y"]) for row in rows]
    systems = [
        Margin(),
        Margin(rho=0.3),
        LambdaRNN(training=Training(max_steps=20), random_state=0),
        LambdaCNN(training=Training(max_steps=20), random_state=0),
    ]
    for rule in systems:
        model = SequenceSetGenerator(
            rule=rule, tokens=tokens, training=steps(20), max_nodes=40, **SMALL
        ).fit(X[:120], Y[:120])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            answers = model.predict(X[120:])
        assert 0 <= mean_f1(Y[120:], answers) <= 1


def test_same_seed_same_sets_whatever_the_batch_and_the_threads():
    X, Y = random_map(60, seed=2)
    settings = {"training": steps(60), "max_nodes": 100, **SMALL}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        model = SequenceSetGenerator(**settings).fit(X, Y)
        together = model.predict(X)
        assert [model.predict([x])[0] for x in X] == together
        assert SequenceSetGenerator(**settings).fit(X, Y).predict(X) == together
        torch.set_num_threads(2)
        assert model.predict(X) == together
        assert SequenceSetGenerator(**settings).fit(X, Y).predict(X) == together


def test_bounds_cut_off_flag_and_warn_once():
    X, Y = random_map(30, seed=3)
    greedy = SequenceSetGenerator(
        rule=Margin(1.0, min_size=1),
        max_size=5,
        max_nodes=40,
        training=steps(20),
        **SMALL,
    ).fit(X, Y)
    with pytest.warns(TruncationWarning, match="30 of 30 .* cut off at a limit") as caught:
        answers = greedy.predict(X)
    assert [warning.message.samples for warning in caught] == [tuple(range(30))]
    with pytest.warns(TruncationWarning):
        assert all(ranking.truncated for ranking in greedy.predict_ranked(X))
    assert greedy.trace(X[0]).truncated
    assert max(map(len, answers)) <= 5
    assert "cut off" in str(greedy.trace(X[0]))


def test_history_and_held_out_samples():
    X, Y = random_map(100, seed=4)
    model = SequenceSetGenerator(training=steps(150), **SMALL).fit(X, Y)
    epoch = model.history_[-1]
    assert {"loss", "held_out_f1", "held_out_loss", "seconds", "epoch", "step"} <= set(epoch)
    assert 0 <= epoch["held_out_f1"] <= 1
    assert model.history_[0]["loss"] > model.history_[-1]["loss"]


def test_clone_and_parameters():
    model = SequenceSetGenerator(LSTM(8), Margin(rho=0.2), max_size=3)
    copy = clone(model).set_params(network__decoder_units=9, rule__rho=0.4)
    assert copy.network.decoder_units == 9
    assert copy.rule.rho == 0.4
    assert model.rule.rho == 0.2


LONG = """
from setlearn import SequenceSetGenerator
from setlearn.networks import LSTM, Training
X = [f"{i:03d}" for i in range(120)]
Y = [{x[0], x[1:]} for x in X]
def fitted(checkpoint):
    training = Training(max_steps=400, checkpoint=checkpoint)
    return SequenceSetGenerator(LSTM(8, 8, 16), training=training, random_state=0).fit(X, Y)
"""

KILLED = """
import sys, torch
torch.set_num_threads(1)
fitted(sys.argv[1])
"""


def test_a_killed_fit_resumes_to_the_same_weights(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", LONG + KILLED, str(tmp_path / "run")])
    deadline = time.monotonic() + 120
    while not list((tmp_path / "run").glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    here = {}
    exec(LONG, here)
    resumed, whole = (here["fitted"](checkpoint) for checkpoint in (tmp_path / "run", None))
    before, after = (model.network_.state_dict() for model in (whole, resumed))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    training = Training(max_steps=60, checkpoint=tmp_path, learning_rate=0.01)
    settings = {"training": training, **SMALL}
    SequenceSetGenerator(**settings).fit(["ab", "cd"] * 6, [{"x"}, {"y"}] * 6)
    with pytest.raises(ParameterError, match="another run"):
        SequenceSetGenerator(**settings).fit(["ab", "cd"] * 6, [{"y"}, {"x"}] * 6)


def test_questions_before_fit_and_wrong_known(reversals):
    with pytest.raises(NotFittedError, match=r"call fit\(X, y\) first"):
        SequenceSetGenerator().predict(["a"])
    model, X, _ = reversals
    with pytest.raises(DataError, match="X has 6 samples but known has 1 sets"):
        model.complete(X, [{"ab"}])
    with pytest.raises(KindError, match="known holds tuples but the model's elements are strs"):
        model.complete(["ab"], [{("a", "b")}])
    with pytest.raises(KindError, match="'ab'"):
        model.complete(["ab"], ["ab"])
    for wrong in ("ab", {"ab": 1}, {"ab"}, 5, None):
        with pytest.raises(KindError, match=f"X is the {type(wrong).__name__}"):
            model.predict(wrong)
    with pytest.raises(KindError, match="numeric array"):
        model.predict(np.zeros((2, 2)))


def test_with_rule_keeps_the_network_and_leaves_the_model_alone(reversals):
    model, X, Y = reversals
    other = model.with_rule(Threshold("tuned"), X, Y)
    assert other.network_ is model.network_
    assert other.predict(X) == Y
    assert isinstance(model.rule_, Margin)
    assert model.rule is None
    with pytest.raises(ParameterError, match="rule must be one of"):
        model.with_rule("margin", X, Y)


def test_unseen_tokens_in_known_follow_unknown(reversals):
    model, _X, _Y = reversals
    with pytest.raises(DataError, match=r"1 known sequence\(s\) hold tokens never seen .* 'zq'"):
        model.complete(["ab"], [{"ab", "zq"}])
    with pytest.warns(UnknownLabelWarning, match="ignored"):
        assert model.complete(["ab"], [{"ab", "zq"}], unknown="ignore") == [{"ba"}]
    with pytest.raises(ParameterError, match='unknown must be "error" or "ignore"'):
        model.complete(["ab"], [{"ab"}], unknown="drop")
    with pytest.raises(DataError, match="sample 1 of y holds 'qq'"):
        model.with_rule(Margin(), ["ab", "cd"], [{"ab"}, {"qq"}])


def test_a_fit_that_fails_leaves_the_old_model_whole(tmp_path):
    X, Y = ["p", "q"] * 4, [{"ab"}, {"b"}] * 4
    model = SequenceSetGenerator(training=steps(100, validation=0), **SMALL).fit(X, Y)
    (tmp_path / "file").write_text("in the way")
    model.set_params(training__checkpoint=tmp_path / "file")
    with pytest.raises(ParameterError, match="must be a folder"):
        model.fit(["x", "y"] * 4, [{"c"}, {"d"}] * 4)
    assert model.predict(["p", "q"]) == [{"ab"}, {"b"}]


def test_bounds_can_be_changed_after_fit(reversals):
    model, _, _ = reversals
    narrow = copy(model).set_params(max_size=1)
    with pytest.warns(TruncationWarning, match="max_size=1"):
        assert len(narrow.predict(["ab"])[0]) == 1
    assert narrow.set_params(max_size=9).predict(["ab"]) == [{"ab", "ba"}]


def test_known_sequences_neither_cut_off_nor_flood(reversals):
    model, _, _ = reversals
    assert model.complete(["ab"], [{"ababababab"}]) == [{"ab", "ba"}]  # longer than max_length
    assert model.complete(["ab"], [{"fe"}]) == [{"ab", "ba"}]  # which the model finds improbable
