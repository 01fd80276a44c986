"""Weights of evidence: what chance suggests within one sample is not learned."""

import numpy as np

from setlearn.scorers.evidence_weights import learned_weights


def test_candidates_of_one_sample_are_not_evidence_for_each_other():
    # In 60 samples with 10 equal candidates each, noise seems to say which ones are right.
    rng = np.random.RandomState(0)
    features = np.repeat(rng.normal(size=(60, 12)), 10, axis=0)
    right = np.repeat(rng.rand(60) < 0.5, 10)
    usual = np.zeros(13)
    by_sample, by_candidate = (
        learned_weights(features, right, groups, usual)
        for groups in (np.repeat(np.arange(60), 10), np.arange(600))
    )
    assert np.abs(by_sample[:-1]).max() < 0.5 * np.abs(by_candidate[:-1]).max()
