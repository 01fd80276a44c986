"""The checks of rules, on all rules of the package, and on rules from outside it."""

from __future__ import annotations

import numpy as np
import pytest

from setlearn.nodes import check_positive
from setlearn.rules import Rule
from tests.checks import rules as checks
from tests.checks.rule_cases import shipped_rules, variants
from tests.checks.rules import every_check


@every_check(shipped_rules())
def test_rules_of_the_package(rule, check):
    check(rule)


class ShareOfTheBest(Rule):
    """A rule from outside the package: keep what has at least some share of the best score."""

    adjustable = ("share",)

    def __init__(self, share=None):
        self.share = share

    @property
    def needs_fit(self):
        return self.share is None

    @property
    def is_monotone(self):
        return True

    def fit(self, nodes, positive):
        check_positive(nodes, positive)
        self.share_ = float(np.asarray(positive.sum()) / max(nodes.n_available.sum(), 1))
        return self

    def accept(self, nodes):
        if self.share is None:
            self._check_fitted("share_")
        share = self.share_ if self.share is None else self.share
        best = nodes.probabilities.max(axis=1, keepdims=True)
        return nodes.completed(nodes.probabilities > share * best)


@every_check([ShareOfTheBest(), ShareOfTheBest(0.3)])
def test_a_rule_from_outside(rule, check):
    check(rule)


class TestTheChecksFindMistakes:
    """Rules with one mistake each, and the check that must find it."""

    class ForgetsKnown(ShareOfTheBest):
        def accept(self, nodes):
            return nodes.probabilities > 0.5 * nodes.probabilities.max(axis=1, keepdims=True)

    class CountsPadding(ShareOfTheBest):
        def accept(self, nodes):
            mean = nodes.probabilities.mean(axis=1, keepdims=True)
            return nodes.completed(nodes.probabilities > mean)

    class LooksAtTheBatch(ShareOfTheBest):
        def accept(self, nodes):
            if len(nodes) == 0:
                return super().accept(nodes)
            return nodes.completed(nodes.probabilities > np.median(nodes.probabilities))

    class PrefersTheWorst(ShareOfTheBest):
        def accept(self, nodes):
            return nodes.completed(nodes.probabilities < 0.5)

    class ChangesItsParameters(ShareOfTheBest):
        def fit(self, nodes, positive):
            self.share = 0.5
            return super().fit(nodes, positive)

    class IsRandom(ShareOfTheBest):
        def accept(self, nodes):
            noise = np.random.default_rng().uniform(size=nodes.probabilities.shape)
            return nodes.completed(noise < nodes.probabilities)

    @pytest.mark.parametrize(
        ("rule", "check"),
        [
            (ForgetsKnown, "known_choices_are_kept"),
            (CountsPadding, "padding_changes_no_decision"),
            (LooksAtTheBatch, "batches"),
            (PrefersTheWorst, "monotone"),
            (ChangesItsParameters, "fit_leaves_parameters_alone"),
            (IsRandom, "determinism"),
        ],
    )
    def test_it(self, rule, check):
        getattr(checks, f"check_{check}")(ShareOfTheBest())
        with pytest.raises(AssertionError):
            getattr(checks, f"check_{check}")(rule())


def test_every_rule_is_found_in_several_variants():
    names = {type(rule).__name__ for rule in shipped_rules()}
    assert {"Auto", "ExpectedF", "LambdaCNN", "Margin", "RiskControl", "TopK"} <= names
    assert "Rule" not in names
    assert len(variants(ShareOfTheBest())) == 1
