"""A fit that is interrupted goes on with the folds that are done, if that is allowed."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from setlearn import SetClassifier
from setlearn.errors import InterruptedFitWarning
from setlearn.rules import Margin, TopK
from setlearn.scorers.interrupted_folds import keep_finished_folds

X = np.random.RandomState(0).normal(size=(60, 3))
SETS = [frozenset(np.flatnonzero(x > 0).tolist()) for x in X]
SPLITS = list(KFold(5).split(X))
N_LABELS = 3  # each is fitted for itself


class Interrupted(LogisticRegression):
    """A learner whose fit is interrupted, as by Ctrl-C."""

    def fit(self, X, y):
        if next(self.countdown) == 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


def interrupted_after(n_fits, rule=None):
    """Fit a model that is interrupted after so many fits: the one on all samples, and the folds."""
    Interrupted.countdown = iter(range(n_fits * N_LABELS + 1, -1, -1))
    model = SetClassifier(Interrupted(), rule or Margin(), cv=SPLITS, random_state=0)
    return model.fit(X, SETS)


@pytest.mark.parametrize("n_folds", [2, 3, 4])
def test_the_rule_is_fitted_on_the_folds_that_are_done(n_folds):
    with keep_finished_folds() as interruption, pytest.warns(InterruptedFitWarning) as warned:
        model = interrupted_after(1 + n_folds)
    [warning] = [warning.message for warning in warned]
    assert warning is interruption.warning
    assert (warning.n_finished, warning.n_folds) == (n_folds, 5)
    assert str(warning).startswith(f"the fit was interrupted after {n_folds} of 5 folds; ")
    right = SetClassifier(LogisticRegression(), Margin(), cv=SPLITS[:n_folds], random_state=0)
    right.fit(X, SETS)
    assert model.rule_.lam_ == right.rule_.lam_
    np.testing.assert_array_equal(model.predict_proba(X), right.predict_proba(X))
    assert model.predict(X) == right.predict(X)


@pytest.mark.parametrize("n_fits", [0, 1, 2])
def test_too_little_is_done(n_fits):
    with keep_finished_folds() as interruption, pytest.raises(KeyboardInterrupt):
        interrupted_after(n_fits)
    assert interruption.warning is None


def test_a_rule_without_folds():
    with keep_finished_folds(), pytest.raises(KeyboardInterrupt):
        interrupted_after(0, TopK(1))


def test_nothing_is_kept_unless_it_is_allowed():
    with pytest.raises(KeyboardInterrupt):
        interrupted_after(4)
    with keep_finished_folds():
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupted_after(4)


def test_another_interrupt_ends_it():
    class InterruptedRule(Margin):
        def fit(self, nodes, positive):
            raise KeyboardInterrupt

    with (
        keep_finished_folds(),
        pytest.warns(InterruptedFitWarning),
        pytest.raises(KeyboardInterrupt),
    ):
        interrupted_after(4, InterruptedRule())


def test_only_one_fit_of_a_block_goes_on():
    """Whoever fits many models in it wants to end all of them, sooner or later."""
    with keep_finished_folds():
        with pytest.warns(InterruptedFitWarning):
            interrupted_after(4)
        with pytest.raises(KeyboardInterrupt):
            interrupted_after(4)
