"""The rule that is found by trying several."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.nodes import Examples, Nodes
from setlearn.rules import Auto, ExpectedF, Margin, Threshold, TopK

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
