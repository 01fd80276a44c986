"""Learners whose numbers compiled code would follow out of memory, and their honest twins."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.tree import DecisionTreeRegressor

from setlearn.errors import ModelError
from setlearn.features.columns import Column
from setlearn.features.encoders import TextEncoder
from setlearn.features.feature_reader import FeatureReader
from setlearn.persistence.skops_file import dump_parts, load_parts

TEXTS = ["red dog", "blue cat", "red cat"]
DICTS = [{"a": 1, "b": "x"}, {"b": "y"}]
CODES = np.array([0.0] * 5 + [1.0] * 4 + [2, 3, 3])[:, None]
NAMES = np.array([["low", "b"], ["high", "b"], ["low", None]], dtype=object)
POINTS = np.random.default_rng(0).normal(size=(30, 2))
CLASSES = np.arange(30) % 3

HONEST = {
    "counts": (CountVectorizer(max_features=2), TEXTS),
    "fixed words": (CountVectorizer(vocabulary=["cat", "dog"]), TEXTS),
    "tf-idf": (TfidfVectorizer(), TEXTS),
    "hashes": (HashingVectorizer(n_features=8), TEXTS),
    "dicts": (DictVectorizer(), DICTS),
    "hashed dicts": (FeatureHasher(8), DICTS),
    "bins": (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), POINTS),
    "one-hot": (OneHotEncoder(), NAMES),
    "one-hot in an order": (OneHotEncoder(categories=[["low", "high"], ["b", None]]), NAMES),
    "one-hot, dropping": (OneHotEncoder(drop="if_binary"), np.hstack([CODES, CODES > 0])),
    "one-hot with gaps": (OneHotEncoder(), np.where(CODES == 1, np.nan, CODES)),
    "one-hot, rare": (OneHotEncoder(min_frequency=3), CODES),
    "one-hot, rare and dropping": (OneHotEncoder(min_frequency=3, drop="first"), CODES),
}


def reloaded(learner):
    return load_parts(dump_parts([learner], []), [])[0]


def fitted(name):
    learner, rows = HONEST[name]
    return clone(learner).fit(rows), rows


@pytest.mark.parametrize("name", HONEST)
def test_honest_columns_are_read(name):
    learner, rows = fitted(name)
    assert (reloaded(learner).transform(rows) != learner.transform(rows)).nnz == 0


def first_at(place):
    def edit(learner):
        words = learner.vocabulary_
        learner.vocabulary_ = {**words, min(words): place}

    return edit


def with_number(attribute, value):
    return lambda learner: setattr(learner, attribute, value)


FORGED = {
    "far": ("counts", first_at(2**31 - 9)),
    "behind": ("tf-idf", first_at(4)),
    "before": ("dicts", first_at(-1)),
    "twice": ("dicts", first_at(1)),
    "rare and far": (
        "one-hot, rare",
        with_number("_default_to_infrequent_mappings", [np.array([0, 1, 2**30, 2])]),
    ),
    "rare without a column": (
        "one-hot, rare",
        with_number("_default_to_infrequent_mappings", [None]),
    ),
    "narrow": ("one-hot", with_number("_n_features_outs", [1, 2])),
    "few": ("one-hot", with_number("_n_features_outs", [4])),
    "nothing dropped": (
        "one-hot, dropping",
        with_number("_drop_idx_after_grouping", np.array([None, 7], dtype=object)),
    ),
    "out of order": ("one-hot, rare", with_number("categories_", [np.array([3.0, 1.0, 2.0, 0.0])])),
    "no hashes": ("hashes", with_number("n_features", 0)),
    "no hashed dicts": ("hashed dicts", with_number("n_features", 2**40)),
}


@pytest.mark.parametrize("name", FORGED)
def test_columns_that_are_not_there(name):
    origin, forge = FORGED[name]
    learner, _ = fitted(origin)
    forge(learner)
    with pytest.raises(ModelError, match=r"not sound: .*column"):
        reloaded(learner)


@pytest.mark.parametrize("kind", ["filename", "file"])
@pytest.mark.parametrize("name", ["counts", "fixed words", "tf-idf", "hashes"])
def test_inputs_are_never_names_of_files(name, kind):
    learner, _ = fitted(name)
    learner.input = kind
    with pytest.raises(ModelError, match="would open files that the inputs name"):
        reloaded(learner)


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.2), SVR(), NuSVR(), OneClassSVM()], ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_support_vectors(machine, layout):
    rows = layout(POINTS)
    machine = clone(machine).fit(rows, CLASSES)
    assert np.array_equal(reloaded(machine).predict(rows), machine.predict(rows))
    vectors = machine.support_vectors_
    machine.support_vectors_ = type(vectors)(vectors[:1]) if layout is not np.asarray else POINTS
    machine._n_support = np.full_like(machine._n_support, 10**6)
    with pytest.raises(ModelError, match="other vectors or classes"):
        reloaded(machine)


def test_a_machine_of_another_kind():
    machine = OneClassSVM().fit(POINTS)
    machine._impl = "c_svc"
    with pytest.raises(ModelError, match="support vector machine"):
        reloaded(machine)


def test_boosted_trees_that_another_class_pretends_to_be():
    """Compiled code takes the tree of whatever object is there, and asks it for no check."""
    boosted = GradientBoostingClassifier(n_estimators=1).fit(POINTS, CLASSES == 0)
    wide = np.hstack([POINTS] * 500)
    other = LogisticRegression().fit(POINTS, CLASSES)
    other.tree_ = DecisionTreeRegressor().fit(wide, CLASSES).tree_
    boosted.estimators_[0, 0] = other
    with pytest.raises(ModelError, match="boosted trees ask for other features"):
        reloaded(boosted)


def test_neighbours_of_numbers():
    learner = KNeighborsRegressor(2).fit(POINTS, CLASSES)
    assert np.array_equal(reloaded(learner).predict(POINTS), learner.predict(POINTS))


def test_forged_columns_inside_a_class_with_slots():
    vectoriser, _ = fitted("counts")
    reader = FeatureReader((TextEncoder(Column("x", "text"), vectoriser),))
    assert reloaded(reader).encoders[0].vectoriser.vocabulary_ == vectoriser.vocabulary_
    first_at(2**31 - 9)(vectoriser)
    with pytest.raises(ModelError, match=r"not sound: .*column"):
        reloaded(reader)
