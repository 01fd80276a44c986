"""What is known of each candidate of Auto."""

import numpy as np
import pytest

from setlearn.rules.candidate_score import CandidateScore


def test_means_and_spreads():
    score = CandidateScore.of(np.array([1.0, 0.0]), [{"cut": 0.2, "a": 1.0}, {"cut": 0.4}])
    assert score.mean == 0.5
    assert score.error == pytest.approx(0.5 / np.sqrt(2))
    assert list(score.learned) == ["cut"]  # not all folds have learned the other
    assert score.learned["cut"] == pytest.approx((0.3, np.sqrt(0.02)))
    assert CandidateScore.of(np.ones(3), [{"cut": 0.2}]).learned == {"cut": (0.2, 0.0)}
    assert CandidateScore.of(np.ones(3)).learned == {}


def test_how_it_is_shown():
    assert str(CandidateScore(0.6384, 0.0081)) == "0.638 ± 0.008"
    learned = {"λ": (0.3512, 0.004), "floor": (0.05, 0.011)}
    score = CandidateScore(0.6384, 0.0081, learned)
    assert str(score) == "0.638 ± 0.008 (λ 0.35 ± 0.004, floor 0.05 ± 0.01)"


def test_it_unpacks_and_compares_by_mean_and_error():
    mean, error = CandidateScore(0.6, 0.01, {"cut": (0.3, 0.1)})
    assert (mean, error) == (0.6, 0.01)
    scores = {
        "a": CandidateScore(0.6, 0.01, {"cut": (0.3, 0.1)}),
        "b": CandidateScore(0.6, 0.01, {"cut": (0.2, 0.1)}),
        "c": CandidateScore(0.7, 0.01),
    }
    assert max(scores, key=scores.get) == "c"
    assert sorted(scores, key=scores.get) == ["a", "b", "c"]
