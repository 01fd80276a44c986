"""Features of pairs: what texts say, what training says, and where candidates stand."""

import numpy as np
import pytest

from setlearn.candidate_lists import read_candidate_lists
from setlearn.pairs import PairFeatures, TextSource
from setlearn.pairs.experience import Experience
from setlearn.pairs.text_pairs import TextPairs
from setlearn.pairs.text_views import TextViews
from setlearn.pairs.within_lists import with_standings

X = [
    ("the red car", ["a red car", "blue sea", "cars"]),
    ("deep sea", ["blue sea", "a red car", "seas", "…"]),
    ("sun", ["cars", "blue sea"]),
] * 4
LISTS = read_candidate_lists(X)
RIGHT, _ = LISTS.mask([{"a red car", "cars"}, {"blue sea"}, {"cars"}] * 4, "y")
FOLD = np.arange(len(X)) % 3


def test_similar_texts_are_similar_on_every_level():
    pairs = TextPairs()
    features = pairs.features(pairs.fit(LISTS))
    car, sea, cars = features[:3]
    assert (car[:4] > sea[:4]).all()
    assert cars[0] == cars[1] == 0  # no common word
    assert cars[2] > 0  # but common pieces
    assert car[4] == pytest.approx(features[0, 4])
    assert np.isfinite(features).all()


def test_new_words_are_compared_too():
    views = TextViews()
    views.fit(["one text", "another text"])
    new = views.transform(["zebra crossing", "a zebra", "text"])
    similar = (new.words @ new.words.T).toarray()
    assert similar[0, 1] > 0.1
    assert similar[0, 2] == 0


def test_features_of_a_sample_do_not_depend_on_the_others():
    source = PairFeatures([TextSource()])
    source.fit(LISTS, RIGHT, FOLD)
    together = source.features(source.read(LISTS))
    for k in range(3):
        lists = read_candidate_lists(X[k : k + 1])
        rows = slice(*LISTS.first[k : k + 2])
        assert (source.features(source.read(lists)) == together[rows]).all()


def test_the_order_of_candidates_does_not_matter():
    source = PairFeatures([TextSource()])
    source.fit(LISTS, RIGHT, FOLD)
    query, candidates = X[1]
    forward = source.features(source.read(read_candidate_lists([(query, candidates)])))
    backward = source.features(source.read(read_candidate_lists([(query, candidates[::-1])])))
    np.testing.assert_allclose(forward, backward[::-1], atol=1e-6)


def test_what_training_says_does_not_come_from_the_sample_itself():
    """Whatever the sets of a fold are, its own features stay the same."""
    first, second = PairFeatures([TextSource()]), PairFeatures([TextSource()])
    changed = np.where((FOLD == 1)[LISTS.sample], ~RIGHT, RIGHT)
    held = (FOLD == 1)[LISTS.sample]
    before = first.features(first.fit(LISTS, RIGHT, FOLD))
    after = second.features(second.fit(LISTS, changed, FOLD))
    assert (before[held] == after[held]).all()
    assert (before[~held] != after[~held]).any()


def test_candidates_are_remembered_with_the_queries_they_were_right_for():
    pairs = TextPairs()
    texts = pairs.fit(LISTS)
    experience = Experience.learn(texts, RIGHT, np.ones(len(RIGHT), dtype=bool))
    new = pairs.read(
        read_candidate_lists([("my car", ["cars", "trees"]), ("a sea", ["cars", "trees"])])
    )
    odds, seen, _, votes, _ = experience.features(new).T
    assert odds[0] == odds[2] > odds[1] == odds[3] == 0  # "trees" was never seen
    assert seen[1] == 0 < seen[0]
    assert votes[0] > votes[2]


def test_standings_ignore_gaps():
    lists = read_candidate_lists([np.array([[1.0], [np.nan], [3.0]]), np.array([[5.0]])])
    size, value, difference, rank = with_standings(lists, lists.matrix).T
    np.testing.assert_allclose(size, np.log([3, 3, 3, 1]), atol=1e-6)
    np.testing.assert_array_equal(value, np.array([1, np.nan, 3, 5], dtype=np.float32))
    np.testing.assert_array_equal(difference, np.array([-1, np.nan, 1, 0], dtype=np.float32))
    np.testing.assert_allclose(rank, [0.5 / 3, np.nan, 1.5 / 3, 0.5], atol=1e-6)
