"""The n-gram model of joint n-grams, against one that is written symbol by symbol."""

import numpy as np
import pytest
from benchmarks.yardsticks import joint_ngram

from setlearn.scorers.kneser_ney import ROOT, KneserNey

N_SYMBOLS = 7


def some_sequences(n):
    rng = np.random.RandomState(n)
    return [rng.randint(2, N_SYMBOLS, rng.randint(1, 8)).tolist() for _ in range(n)]


def both(n, order):
    sequences = some_sequences(n)
    marked = [[0, *sequence, 1] for sequence in sequences]
    place = np.concatenate([np.arange(len(sequence)) for sequence in marked])
    fast = KneserNey.fit(np.concatenate(marked), place, N_SYMBOLS, order)
    return fast, joint_ngram.KneserNey(order).fit(sequences, N_SYMBOLS)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 4, 60])
def test_it_says_the_same_as_the_slow_one(n, order):
    fast, slow = both(n, order)
    for sequence in some_sequences(n + 1)[:20]:
        fast_node, slow_node = np.array([ROOT]), joint_ngram.ROOT
        for symbol in [0, *sequence]:
            if order > 1:
                fast_node = fast.following(fast_node, np.array([symbol]))
                slow_node = slow.following(slow_node, symbol)
            symbols = np.arange(1, N_SYMBOLS)
            found = fast.probability(np.repeat(fast_node, len(symbols)), symbols)
            expected = [slow.probability(slow_node, k) for k in symbols.tolist()]
            assert found == pytest.approx(expected, abs=1e-6)


def test_probabilities_after_a_context_add_up_to_one():
    model, _ = both(60, 3)
    node = model.following(model.following(np.array([ROOT]), np.array([3])), np.array([4]))
    assert model.probability(np.repeat(node, N_SYMBOLS), np.arange(N_SYMBOLS)).sum() == (
        pytest.approx(1, abs=1e-5)
    )


def test_a_symbol_that_was_never_seen_leads_to_the_root():
    model, _ = both(20, 3)
    assert model.following(np.array([1, 2]), np.array([-1, -1])).tolist() == [ROOT, ROOT]
