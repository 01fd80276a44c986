"""Lists of probable sequences, against sequences that are generated and compared one by one."""

import numpy as np
import pytest

from setlearn.estimators.candidate_lists import candidate_lists
from setlearn.generate import Bounds, generate
from setlearn.rules import OnSequences, Threshold
from setlearn.trie import Sequences, Trie
from tests.table_scorer import TableScorer

FREE = Bounds(3, 10**9, 10**9)


@pytest.mark.parametrize("seed", range(4))
def test_lists_hold_what_is_found_and_what_is_missing(seed):
    scorer, rng = TableScorer(3, seed), np.random.RandomState(seed)
    n = 5
    found = generate(scorer, OnSequences(Threshold(0.0)), n, FREE)
    found_sets = found.sequences().as_sets(n)
    impossible = (1, 1, 1, 1)
    true = [
        [list(s) for s in sorted(sequences) if rng.rand() < 0.3] + [list(impossible)] * (i % 2)
        for i, sequences in enumerate(found_sets)
    ]
    trie = Trie.of(Sequences.of(true), n)
    batches = [(np.arange(n), n)]
    nodes, right = candidate_lists(scorer, batches, trie, FREE)
    for sample in range(n):
        listed = nodes.available[sample]
        scores = nodes.probabilities[sample, listed]
        assert (np.diff(scores) <= 0).all()
        at = found.sample == sample
        n_missing = sample % 2
        np.testing.assert_allclose(scores[: at.sum()], found.probability[at])
        assert (scores[at.sum() :] == 0).all()
        assert listed.sum() == at.sum() + n_missing
        is_true = {tuple(s) for s in true[sample]}
        expected = [tuple(t[t > 0].tolist()) in is_true for t in found.tokens[at]]
        assert right[sample, listed].tolist() == expected + [True] * n_missing
