"""Long work shows itself: on a terminal by a bar, elsewhere by plain lines if they are wanted."""

import io
import re
import threading
import time
from contextlib import ExitStack
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn import progress as module
from setlearn.learners import SigmoidNetwork
from setlearn.networks import LSTM, Training
from setlearn.progress import progress, time_left
from setlearn.rules import Auto, Margin, TopK

X = np.random.RandomState(0).normal(size=(24, 2))
SETS = [{"high" if x[0] > 0 else "low"} for x in X]


class Log(io.StringIO):
    """What is printed on stderr, line by line."""

    def wait_for(self, text):
        """Wait until it is printed; tests that wait in vain are ended from outside."""
        while text not in self.getvalue():
            time.sleep(0.001)


@pytest.fixture
def log(monkeypatch):
    """A stderr that is no terminal, with plain lines as soon as there is something to say."""
    monkeypatch.setattr(module, "FIRST_LINE", 0.0)
    monkeypatch.setattr(module, "NEXT_LINE", 0.005)
    # Not of sys itself, where pytest puts its own.
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=Log()))
    return module.sys.stderr


class Waiting(LogisticRegression):
    """A learner that waits for a line in each fit."""

    def fit(self, X, y):
        module.sys.stderr.wait_for("fitting: 0% done (0/3)")
        return super().fit(X, y)


class WaitingRule(Margin):
    """A rule that waits for a line in each fit."""

    def fit(self, nodes, positive):
        module.sys.stderr.wait_for("fitting the rule: 50% done")
        return super().fit(nodes, positive)


def line_printers():
    return [thread for thread in threading.enumerate() if thread.name == "setlearn progress"]


SIZES = st.lists(st.floats(0.1, 10), min_size=1, max_size=4)


@given(st.lists(st.tuples(SIZES, st.integers(0, 3)), min_size=1, max_size=4))
def test_steps_inside_of_a_step_are_parts_of_it(levels):
    """At each level some steps are done, and then one is opened."""
    expected, width = 0.0, 1.0
    with ExitStack() as opened:
        for depth, (sizes, n_done) in enumerate(levels):
            n_done = min(n_done, len(sizes) - 1)
            advance = opened.enter_context(progress("work", sizes, verbose=2))
            if depth == 0:
                outermost = module._shown_here.get()
            advance(n_done)
            expected += width * sum(sizes[:n_done]) / sum(sizes)
            width *= sizes[n_done] / sum(sizes)
            assert outermost.share == pytest.approx(expected)


@given(st.integers(1, 9), st.integers(0, 9))
def test_a_number_of_steps_is_that_many_of_equal_size(n_steps, n_done):
    for steps in (n_steps, np.int64(n_steps), [2.5] * n_steps):
        with progress("work", steps, verbose=2) as advance:
            advance(n_done)
            share = module._shown_here.get().share
            assert share == pytest.approx(min(n_done / n_steps, 1))


def test_parts_that_do_not_know_of_each_other_never_go_back():
    shares = []
    with progress("work", 2, verbose=2) as advance:
        work = module._shown_here.get()
        for _ in range(2):
            for _ in range(2):
                with progress("part", 4) as advance_part:
                    for _ in range(4):
                        advance_part()
                        shares.append(work.share)
            advance()
    assert all(before <= after for before, after in pairwise(shares))
    assert work.share == 1


def test_a_block_that_fails_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError), progress("work", 2, verbose=2), progress("part", 2):
        1 / 0  # noqa: B018  # the error is what it is for
    assert module._shown_here.get() is None
    assert not line_printers()


@given(st.floats(0.001, 0.999), st.floats(0.1, 1e5), st.floats(0, 1e5))
def test_time_left_is_rounded_up(share, reached, since):
    left = reached / share - (reached + since)
    said = time_left(share, reached, reached + since)
    amounts = re.findall(r"(\d+) (h|min|s)\b", said)
    seconds = sum(int(amount) * {"h": 3600, "min": 60, "s": 1}[unit] for amount, unit in amounts)
    unit = 5 if left <= 60 else 10 if left <= 600 else 60 if left <= 3600 else 300
    assert bool(said) == (left > 0)
    assert max(left, 0) <= seconds < max(left, 0) + unit


class TestPlainLines:
    def test_short_work_prints_none(self, capsys):
        with progress("fitting", 2, verbose=2) as advance:
            advance()
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("verbose", [False, True])
    def test_only_if_they_are_asked_for(self, log, verbose):
        with progress("fitting", 2, verbose=verbose) as advance:
            assert not line_printers()
            advance()
        assert log.getvalue() == ""

    def test_what_they_say(self, log):
        with progress("fitting", 4, verbose=2) as advance:
            log.wait_for("fitting: 0% done (0/4)\n")
            advance(3, "loss 0.5")
            log.wait_for("fitting: 75% done (3/4), loss 0.5")

    def test_work_inside_of_a_step_moves_them(self, log):
        with progress("fitting", 2, verbose=2), progress("fitting labels", 100) as advance_labels:
            advance_labels(30)
            log.wait_for("fitting: 15% done (0/2)")
            advance_labels(40)
            log.wait_for("fitting: 35% done (0/2)")

    def test_a_closed_stderr_is_no_error(self, monkeypatch, log):
        with progress("fitting", 2, verbose=2) as advance:
            log.wait_for("(0/2)")
            log.close()
            time.sleep(0.02)
            advance()


class TestFits:
    def test_folds(self, log):
        SetClassifier(Waiting(), Margin(), cv=2, verbose=2).fit(X, SETS)
        assert "fitting: 0% done (0/3)" in log.getvalue()

    def test_folds_in_other_processes(self, log):
        SetClassifier(LogisticRegression(), Margin(), cv=2, n_jobs=2, verbose=2).fit(X, SETS)
        assert "fitting: 0% done (0/3)" in log.getvalue()

    def test_a_network_inside_of_a_fold_reports_its_steps(self, log):
        network = SigmoidNetwork((2,), training=Training(max_steps=300, evaluate_every=300))
        SetClassifier(network, TopK(1), verbose=2).fit(X, SETS)
        shares = [int(share) for share in re.findall(r"fitting: (\d+)% done", log.getvalue())]
        assert len(set(shares)) > 2
        assert shares == sorted(shares)

    def test_comparing_rules(self, log):
        rule = Auto([Margin(), WaitingRule()])
        SetClassifier(LogisticRegression(), rule, cv=2, verbose=2).fit(X, SETS)
        assert "fitting the rule: 50% done" in log.getvalue()

    def test_sequences(self, log):
        training = Training(max_steps=30, validation=0, verbose=2)
        model = SequenceSetGenerator(LSTM(2, 2, 2), training=training, random_state=0)
        model.fit(["ab", "cd"], [{"a"}, {"c"}])
        assert "training the network: " in log.getvalue()
        assert "inputs by characters, elements by characters\n" in log.getvalue()
