"""The alignment of outputs with inputs, against all alignments of small pairs; their order."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import setlearn.networks.alignment as alignment
from setlearn.networks.alignment import Pairs, align
from setlearn.networks.reading_order import reading_order

NO_COPIES = np.full(4, -1)


def padded(rows):
    length = np.array([len(row) for row in rows])
    values = np.zeros((len(rows), max(length.max(), 1)), dtype=int)
    for values_row, row in zip(values, rows, strict=True):
        values_row[: len(row)] = row
    return values, length


def pairs_of(sources, targets):
    return Pairs(*padded(sources), *padded(targets))


def random_pairs(seed, n=30):
    rng = np.random.RandomState(seed)
    sources = [rng.randint(4, size=rng.randint(1, 5)) for _ in range(n)]
    targets = [rng.randint(3, size=rng.randint(0, 5)) for _ in range(n)]
    return pairs_of(sources, targets)


def all_alignments(n_positions, n_tokens):
    return combinations_with_replacement(range(n_positions), n_tokens)


def probability(model, source, target, positions):
    """Of one pair with one alignment, step by step."""
    p, k = 1.0, 0
    for j, token in enumerate(source):
        here = 0
        while k < len(target) and positions[k] == j:
            p *= (1 - model.move[token, min(here, 2)]) * model.emit[token, target[k]]
            k, here = k + 1, here + 1
        p *= model.move[token, min(here, 2)]
    return p


def learned_model(pairs, rounds=3):
    model = alignment._EmissionModel.start(NO_COPIES, 3)
    for _ in range(rounds):
        counts = alignment._Counts(model)
        alignment._Lattice(model, pairs).add_to(counts)
        model = counts.model()
    return model


def rows_of(pairs):
    for source, m, target, n in zip(
        pairs.source, pairs.source_length, pairs.target, pairs.target_length, strict=True
    ):
        yield source[:m], target[:n]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_alignment_is_the_best_of_all(seed):
    pairs = random_pairs(seed)
    model = learned_model(pairs)
    found = alignment._Lattice(model, pairs).best_alignment()
    for (source, target), positions in zip(rows_of(pairs), found, strict=True):
        best = max(
            probability(model, source, target, other)
            for other in all_alignments(len(source), len(target))
        )
        assert probability(model, source, target, positions[: len(target)]) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_expectations_over_all_alignments(seed):
    pairs = random_pairs(seed, n=12)
    model = learned_model(pairs, rounds=1)
    counts = alignment._Counts(model)
    start = counts.emit.copy()
    alignment._Lattice(model, pairs).add_to(counts)
    expected = np.zeros_like(start)
    for source, target in rows_of(pairs):
        ways = list(all_alignments(len(source), len(target)))
        weights = np.array([probability(model, source, target, way) for way in ways])
        for way, share in zip(ways, weights / weights.sum(), strict=True):
            for token, position in zip(target, way, strict=True):
                expected[source[position], token] += share
    np.testing.assert_allclose(counts.emit - start, expected, atol=1e-9)


@pytest.mark.parametrize("most_cells", [50, 10**9])
def test_letters_find_their_sounds(most_cells, monkeypatch):
    monkeypatch.setattr(alignment, "MOST_CELLS", most_cells)
    rng = np.random.RandomState(0)
    sources = [rng.randint(4, size=rng.randint(1, 7)) for _ in range(200)]
    sounds = {0: [5], 1: [6, 7], 2: [], 3: [8]}
    targets = [[sound for letter in source for sound in sounds[letter]] for source in sources]
    found = align(pairs_of(sources, targets), NO_COPIES, 9, rng)
    for source, positions in zip(sources, found, strict=True):
        expected = [j for j, letter in enumerate(source) for _ in sounds[letter]]
        assert positions[: len(expected)].tolist() == expected


def test_equal_tokens_are_aligned_even_in_a_single_pair():
    pairs = pairs_of([[0, 1, 2, 3]], [[2, 3, 3]])
    [positions] = align(pairs, np.arange(4), 4, np.random.RandomState(0))
    assert positions.tolist() == [2, 3, 3]


def test_very_long_pairs_are_aligned_in_proportion():
    pairs = pairs_of([np.zeros(500, int), [1]], [np.zeros(1000, int), [2]])
    found = align(pairs, NO_COPIES, 3, np.random.RandomState(0))
    assert found[0, [0, 500, 999]].tolist() == [0, 250, 499]
    assert found[1, 0] == 0


def test_long_pairs_do_not_underflow():
    rng = np.random.RandomState(0)
    sources = [rng.randint(4, size=290) for _ in range(3)]
    found = align(pairs_of(sources, sources), np.arange(4), 4, rng)
    assert (found == np.arange(290)).mean() > 0.95


def test_nothing_to_align():
    found = align(pairs_of([[0], [1, 2]], [[], []]), NO_COPIES, 3, np.random.RandomState(0))
    assert not found.any()


def test_very_many_tokens_are_aligned_in_proportion():
    pairs = pairs_of([[0, 1, 2, 3], [3, 2]], [[1, 2], [2, 1, 0, 0]])
    rng, copies = np.random.RandomState(0), np.full(10**6, -1)
    assert align(pairs, copies, 10**6, rng).tolist() == [[0, 2, 0, 0], [0, 0, 1, 1]]
    assert reading_order(pairs, copies, 10**6, rng).advantage == 0


@pytest.mark.parametrize(
    ("n_swapped", "low", "high"), [(0, 0, 0.05), (30, 0.1, 0.4), (100, 0.8, 1)]
)
def test_outputs_that_swap_two_parts_are_out_of_order(n_swapped, low, high):
    rng = np.random.RandomState(0)
    sources = [[*rng.randint(8, size=6), 8, *rng.randint(8, size=6)] for _ in range(100)]
    swapped = [[*x[7:], 8, *x[:6]] for x in sources]
    targets = swapped[:n_swapped] + sources[n_swapped:]
    order = reading_order(pairs_of(sources, targets), np.arange(9), 9, rng)
    assert low <= order.displaced <= high


def test_ciphers_are_in_order_although_inputs_have_the_letters_too():
    rng = np.random.RandomState(0)
    sources = [rng.randint(9, size=12) for _ in range(100)]
    pairs = pairs_of(sources, [(source + 4) % 9 for source in sources])
    order = reading_order(pairs, np.arange(9), 9, rng)
    assert order.advantage > 0.5
    assert order.displaced < 0.1
