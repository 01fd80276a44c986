"""The rule that is found by trying several."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from setlearn import SetClassifier
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.metrics import exact_match, hamming_distance, mean_f1, mean_jaccard
from setlearn.nodes import Examples, Nodes
from setlearn.rules import (
    Auto,
    ExpectedF,
    Margin,
    OnSequences,
    RiskControl,
    Threshold,
    TopK,
    auto,
)
from tests.estimators.data import tagged

SCORES = np.random.default_rng(0).uniform(size=(120, 4))
NODES, RIGHT = Nodes.roots(SCORES), SCORES > 0.4


def test_the_best_candidate_wins_and_is_learned_on_everything():
    rule = Auto([TopK(1), Threshold("tuned"), Margin()], random_state=0).fit(NODES, RIGHT)
    assert rule.rule_.cut_ == Threshold("tuned").fit(NODES, RIGHT).cut_
    assert list(rule.scores_) == ["TopK()", "Threshold(cut='tuned')", "Margin()"]
    assert rule.scores_["Threshold(cut='tuned')"].mean == max(s.mean for s in rule.scores_.values())
    assert all(score.error > 0 for score in rule.scores_.values())
    assert (rule.accept(NODES) == rule.rule_.accept(NODES)).all()


def test_of_equals_the_first_wins():
    for first, second in [(Threshold(0.4), Threshold(0.4, min_size=0)), (TopK(2), TopK(2))]:
        rule = Auto([first, second], random_state=0).fit(NODES, RIGHT)
        assert repr(rule.rule_) == repr(first)


def test_candidates_are_judged_on_what_they_have_not_seen():
    class Memory(TopK):
        """Knows by heart what it was fitted on, and nothing else."""

        def fit(self, nodes, positive):
            self.seen_ = dict(zip(nodes.sample.tolist(), positive, strict=True))
            return self

        def accept(self, nodes):
            nothing = np.zeros(nodes.n_choices, bool)
            return np.array([self.seen_.get(s, nothing) for s in nodes.sample.tolist()])

    rule = Auto([Memory(), Threshold("tuned")], random_state=0).fit(NODES, RIGHT)
    assert isinstance(rule.rule_, Threshold)


def test_the_same_seed_gives_the_same_scores():
    one, two = (Auto(random_state=1).fit(NODES, RIGHT) for _ in range(2))
    assert one.scores_ == two.scores_
    assert one.scores_ != Auto(random_state=2).fit(NODES, RIGHT).scores_
    assert Auto(random_state=1).get_params() == clone(Auto(random_state=1)).get_params()


def test_a_joint_is_tried_where_there_are_examples():
    joint = "ExpectedF(joint=True, min_size=None)"
    assert joint not in Auto(random_state=0).fit(NODES, RIGHT).scores_
    weights = sparse.csr_array(np.eye(120))
    examples = Examples(sparse.csr_array(RIGHT), weights)
    nodes = Nodes(NODES.sample, NODES.depth, SCORES, examples=examples)
    assert joint in Auto(random_state=0).fit(nodes, RIGHT).scores_


def test_all_candidates_learn_that_no_set_is_empty():
    """The best choice is right even where all scores are low."""
    scores = np.random.default_rng(1).uniform(0.01, 0.3, size=(200, 5))
    right = scores == scores.max(axis=1, keepdims=True)
    rule = Auto(random_state=0).fit(Nodes.roots(scores), right)
    assert min(score.mean for score in rule.scores_.values()) > 0.3
    assert rule.accept(Nodes.roots(scores)).any(axis=1).all()


class TestMetric:
    def test_another_metric_may_have_another_winner(self):
        """Labels near 0.43 are worth keeping for F1, but not for whole sets."""
        rng = np.random.default_rng(0)
        scores = np.column_stack([np.full((300, 1), 0.9), np.full((300, 3), 0.43)])
        nodes, right = Nodes.roots(scores), rng.uniform(size=scores.shape) < scores
        candidates = [Threshold(0.5), Threshold(0.3)]
        winners = {
            metric: Auto(candidates, metric=metric, random_state=0).fit(nodes, right).rule_.cut
            for metric in ("f1", "jaccard", "exact", "hamming")
        }
        assert winners == {"f1": 0.3, "jaccard": 0.3, "exact": 0.5, "hamming": 0.5}

    @pytest.mark.parametrize("metric", ["f1", "exact", "hamming", "jaccard"])
    def test_scores_are_those_of_the_metric(self, metric):
        """A rule that learns nothing has the same score on all folds together as on the data."""
        rule = Auto([TopK(2)], metric=metric, random_state=0).fit(NODES, RIGHT)
        kept, true = rule.accept(NODES).astype(int), RIGHT.astype(int)
        of_sets = {
            "exact": exact_match(true, kept),
            "f1": mean_f1(true, kept),
            "hamming": 1 - hamming_distance(true, kept),
            "jaccard": mean_jaccard(true, kept),
        }
        assert rule.scores_["TopK(k=2)"].mean == pytest.approx(of_sets[metric])

    @pytest.mark.parametrize("metric", ["exact", "hamming", "jaccard"])
    def test_cuts_are_tuned_for_it(self, metric):
        rule = Auto(metric=metric, random_state=0).fit(NODES, RIGHT)
        tuned = f"Threshold(cut='tuned', metric='{metric}', min_size=None)"
        assert tuned in rule.scores_
        assert ("Threshold(min_size=None)" in rule.scores_) == (metric != "jaccard")
        assert any("ExpectedF" in name for name in rule.scores_) == (metric == "jaccard")

    def test_whole_sets_are_tried_for_exact_matches(self):
        joint = "MostProbable(joint=True)"
        examples = Examples(sparse.csr_array(RIGHT), sparse.csr_array(np.ones((120, 120))))
        nodes = Nodes(NODES.sample, NODES.depth, SCORES, examples=examples)
        assert joint in Auto(metric="exact", random_state=0).fit(nodes, RIGHT).scores_
        assert joint not in Auto(metric="exact", random_state=0).fit(NODES, RIGHT).scores_
        assert joint not in Auto(random_state=0).fit(nodes, RIGHT).scores_

    def test_a_classifier_uses_it(self):
        X, Y = tagged(150)
        classifier = SetClassifier(rule=Auto(metric="exact"), cv=2, random_state=0).fit(X, Y)
        assert "MostProbable(joint=True)" in classifier.rule_scores_
        best = max(classifier.rule_scores_, key=classifier.rule_scores_.get)
        assert repr(classifier.rule_) == best


class TestWhatFoldsLearn:
    def test_the_spread_of_learned_fractions(self):
        rule = Auto([Threshold("tuned", min_size=None)], random_state=0).fit(NODES, RIGHT)
        [score] = rule.scores_.values()
        cuts = [
            Threshold("tuned", min_size=None).fit(NODES[train], RIGHT[train]).cut_
            for train, _ in NODES.folds(np.random.RandomState(0))
        ]
        assert score.learned == {"cut": pytest.approx((np.mean(cuts), np.std(cuts, ddof=1)))}
        assert str(score).startswith(f"{score.mean:.3f} ± {score.error:.3f} (cut 0.4 ± ")

    def test_what_is_given_was_not_learned(self):
        candidates = [
            Threshold(0.3, min_size=None),
            TopK(2),
            Threshold("per label"),
            OnSequences(Threshold(0.3)),
            OnSequences(Threshold("tuned")),
            RiskControl(0.8),
            Margin(0.2),
            Margin(choice_floor=0),
        ]
        scores = Auto(candidates, random_state=0).fit(NODES, RIGHT).scores_
        learned = [list(score.learned) for score in scores.values()]
        assert learned == [[], [], [], [], ["cut"], ["cut"], [], ["λ"]]


class TestManyChoicePoints:
    """Candidates are compared on a part of them, and the winner is fitted on all."""

    def test_rows_are_drawn(self, monkeypatch):
        monkeypatch.setattr(auto, "MOST_ROWS", 60)
        monkeypatch.setattr(auto, "LEAST_ROWS", 9)
        rule = Auto([Counting(), TopK(1)], random_state=0).fit(NODES, RIGHT)
        assert rule.rule_.seen_ == 120
        assert rule.scores_["Counting()"].learned["seen"] == (40.0, 0.0)
        again = Auto([Counting(), TopK(1)], random_state=0).fit(NODES, sparse.csr_array(RIGHT))
        assert again.scores_ == rule.scores_
        other = Auto([Counting(), TopK(1)], random_state=1).fit(NODES, RIGHT)
        assert other.scores_ != rule.scores_

    def test_fewer_rows_if_each_has_many_choices(self, monkeypatch):
        monkeypatch.setattr(auto, "MOST_SCORES", 240)
        monkeypatch.setattr(auto, "LEAST_ROWS", 9)
        rule = Auto([Counting()], random_state=0).fit(NODES, RIGHT)
        assert rule.scores_["Counting()"].learned["seen"] == (40.0, 0.0)
        monkeypatch.setattr(auto, "LEAST_ROWS", 90)
        rule = Auto([Counting()], random_state=0).fit(NODES, RIGHT)
        assert rule.scores_["Counting()"].learned["seen"] == (60.0, 0.0)


class Counting(Threshold):
    """Learns on how many choice points it was fitted."""

    def __init__(self):
        super().__init__("tuned")

    def fit(self, nodes, positive):
        self.seen_ = len(nodes)
        return super().fit(nodes, positive)

    def learned_numbers(self):
        return {"seen": float(self.seen_)}


def test_where_choices_differ_there_is_no_cut_per_label():
    available = np.ones(SCORES.shape, dtype=bool)
    available[::2, 0] = False
    nodes = Nodes(NODES.sample, NODES.depth, SCORES * available, available=available)
    scores = Auto(random_state=0).fit(nodes, RIGHT & available).scores_
    assert not any("per label" in name for name in scores)


def test_who_uses_examples():
    assert Auto().uses_examples
    assert ExpectedF(joint=True).uses_examples
    assert Auto([Margin(), ExpectedF(joint=True)]).uses_examples
    others = [ExpectedF(), Margin(), TopK(1), Auto([Margin()])]
    assert not any(rule.uses_examples for rule in others)


def test_one_sample_is_enough():
    rule = Auto().fit(NODES[:1], RIGHT[:1])
    assert rule.accept(NODES[:1]).shape == (1, 4)


def test_the_winner_explains_itself():
    rule = Auto([Margin()], random_state=0).fit(NODES, RIGHT)
    names = list("abcd")
    assert rule.steps(NODES[:1], names).reason == rule.rule_.steps(NODES[:1], names).reason
    assert "best score" in rule.reason_against(NODES[:1], 0, "a")


def test_errors():
    with pytest.raises(ParameterError, match=r"candidates must be rules.*got"):
        Auto([Margin]).fit(NODES, RIGHT)
    with pytest.raises(ParameterError, match="lam must be"):
        Auto([Margin(lam=2.0)]).fit(NODES, RIGHT)
    with pytest.raises(ParameterError, match=r"metric must be one of .* got 'precision'"):
        Auto(metric="precision").fit(NODES, RIGHT)
    with pytest.raises(ParameterError, match="not all its candidates choose among them"):
        Auto().check_parameters(3)
    with pytest.raises(DataError, match="all candidates need training sets"):
        Auto([ExpectedF(joint=True)]).fit(NODES, RIGHT)
    with pytest.raises(NotFittedError, match="not fitted"):
        Auto().accept(NODES)


def test_what_others_need_to_know_of_it():
    rule = Auto([TopK(1), Threshold("tuned")], random_state=0)
    assert rule.candidate_scores is None
    with pytest.raises(NotFittedError, match="not fitted"):
        rule.chosen  # noqa: B018
    rule.fit(NODES, RIGHT)
    assert rule.chosen is rule.rule_
    assert rule.candidate_scores is rule.scores_
    nested = Auto([rule], random_state=0).fit(NODES, RIGHT)
    assert isinstance(nested.chosen, Threshold)
    assert Margin().chosen.candidate_scores is None
    assert Auto([ExpectedF(joint=True)]).requires_examples
    assert not Auto([ExpectedF(joint=True), TopK(1)]).requires_examples
    assert ExpectedF(joint=True).requires_examples


def test_a_nested_auto_is_not_dropped_without_examples():
    rule = Auto([Auto([ExpectedF(joint=True), TopK(2)])], random_state=0).fit(NODES, RIGHT)
    assert repr(rule.chosen) == "TopK(k=2)"


def test_adjusting_changes_the_winner_only():
    rule = Auto([Threshold("tuned")], random_state=0).fit(NODES, RIGHT)
    other = rule.adjusted(cut=0.9)
    assert other.chosen.cut == other.chosen.cut_ == 0.9
    assert rule.chosen.cut == "tuned"
    assert (other.accept(NODES) == (SCORES > 0.9)).all()
    with pytest.raises(ParameterError, match="Threshold has no parameter 'lam'; it has"):
        rule.adjusted(lam=0.5)
