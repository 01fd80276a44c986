"""OnSequences: a rule for labels that decides on whole sequences."""

import numpy as np
import pytest

from setlearn.errors import ParameterError
from setlearn.generate import Bounds, generate
from setlearn.nodes import Nodes
from setlearn.rules import ExpectedF, Margin, OnSequences, Threshold, TopK
from setlearn.sequence_lists import SequenceLists
from tests.table_scorer import TableScorer

RULES = [
    Threshold(0.2),
    Margin(0.1, min_size=1),
    Margin(0.7, min_size=1, space="log"),
    TopK(2),
]
FREE = Bounds(3, 10**9, 10**9)


def sequences(found, sample):
    at = found.sample == sample
    return found.tokens[at], found.probability[at]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("inner", RULES)
def test_the_rule_decides_on_the_list_of_all_sequences(seed, inner):
    scorer, n_samples = TableScorer(3, seed), 4
    everything = generate(scorer, OnSequences(Threshold(0.0)), n_samples, FREE)
    found = generate(scorer, OnSequences(inner), n_samples, FREE)
    for sample in range(n_samples):
        tokens, probability = sequences(everything, sample)
        kept = inner.accept(Nodes.roots(probability[None, :]))[0]
        expected = sorted(map(tuple, tokens[kept].tolist()))
        assert sorted(map(tuple, sequences(found, sample)[0].tolist())) == expected


def test_there_is_always_a_sequence_to_choose():
    class Unsure(TableScorer):
        def probabilities(self, sample, prefix):
            return super().probabilities(sample, prefix) * 1e-3

    scorer = Unsure(3, 0)
    rule = OnSequences(Threshold(0.5, min_size=1))
    assert set(generate(scorer, rule, 5, FREE).sample) == set(range(5))


def test_known_sequences_neither_count_twice_nor_set_a_bar():
    sample, membership = np.array([0, 0]), np.array([0.4, 0.35])

    def chosen(rule, n_known):
        lists = SequenceLists.of(sample, membership, 1, np.array([n_known]))
        return lists.of_each(rule.choose(lists.nodes)).tolist()

    assert chosen(OnSequences(Margin(0.1, min_size=1)), 2) == [True, True]
    least = OnSequences(Threshold(0.5, min_size=1))
    assert chosen(least, 0) == [True, False]
    assert chosen(least, 1) == [False, False]


def test_reasons_come_from_the_rule_inside():
    rule = OnSequences(Threshold(0.5))
    nodes = Nodes.roots(np.array([[0.9, 0.2]]))
    [reason] = rule.reasons_not_chosen(nodes, np.array([1]), ["ab"])
    assert reason == "ab at 0.2 does not exceed the cut 0.5"


def test_only_rules_go_inside():
    with pytest.raises(ParameterError, match="rule must be a rule such as"):
        OnSequences("margin").check_parameters()


def test_what_it_needs_is_what_the_rule_inside_needs():
    assert OnSequences().needs_fit
    assert not OnSequences(Threshold(0.5)).needs_fit
    assert OnSequences(ExpectedF()).needs_marginals
