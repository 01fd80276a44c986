"""Ranks and kernels."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import QuantileTransformer

from setlearn.learners.similarity import FEW_ROWS, CityBlock, interpolated_ranks


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 60), st.integers(0, 2))
def test_ranks_are_those_of_scikit_learn(seed, n_train, n_new, decimals):
    rng = np.random.default_rng(seed)
    train = rng.normal(size=(n_train, 3)).round(decimals)  # with ties
    train[:, 2] = 1.0  # a constant
    ranker = QuantileTransformer(n_quantiles=min(20, n_train), subsample=None).fit(train)
    rows = np.vstack([rng.normal(scale=2, size=(n_new, 3)).round(decimals), train])
    ranks = interpolated_ranks(rows, ranker.quantiles_, ranker.references_)
    np.testing.assert_allclose(ranks, ranker.transform(rows), atol=1e-12)
    one_by_one = [
        interpolated_ranks(row[None], ranker.quantiles_, ranker.references_)[0] for row in rows
    ]
    assert (ranks == np.array(one_by_one)).all()


def test_a_row_is_compared_alike_alone_and_among_others():
    rng = np.random.default_rng(0)
    similarity = CityBlock().fit(rng.normal(size=(100, 5)))
    rows = rng.normal(size=(3 * FEW_ROWS, 5))
    together = similarity.compare(rows)
    assert (together == np.vstack([similarity.compare(row[None]) for row in rows])).all()
