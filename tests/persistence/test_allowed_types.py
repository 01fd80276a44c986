"""Which types of scikit-learn a model may hold without being asked, and which not."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import is_classifier, is_regressor
from sklearn.cluster import BisectingKMeans
from sklearn.compose import make_column_selector
from sklearn.decomposition import NMF, LatentDirichletAllocation, SparseCoder
from sklearn.ensemble import IsolationForest, RandomTreesEmbedding
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KernelDensity, LocalOutlierFactor, RadiusNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler, binarize
from sklearn.utils import all_estimators

from setlearn.errors import UntrustedModelError
from setlearn.persistence.audit.allowed_types import ESTIMATORS, _estimators
from setlearn.persistence.skops_file import dump_parts, load_parts

X, CLASSES = datasets.make_classification(40, 4, random_state=0)
TEXTS = ["red dog", "blue cat", "red cat", "a bird"] * 10
LABELS = [["a"], ["a", "b"], ["b"], []] * 10
POSITIVE = np.abs(X)

ARGUMENTS = {
    "base_estimator": LogisticRegression,
    "estimator": LogisticRegression,
    "estimators": lambda: [("a", LogisticRegression())],
    "param_distributions": lambda: {"C": [1, 2]},
    "param_grid": lambda: {"C": [1, 2]},
    "transformer_list": lambda: [("a", StandardScaler())],
    "transformers": lambda: [("a", StandardScaler(), [0, 1])],
    "steps": lambda: [("a", StandardScaler()), ("b", LogisticRegression())],
}
REGRESSORS = {"RegressorChain", "MultiOutputRegressor", "StackingRegressor", "VotingRegressor"}


def allowed_estimators():
    return {
        name: kind
        for name, kind in all_estimators()
        if f"{kind.__module__}.{name}" in _estimators()
    }


def built(name, kind):
    """An estimator with its defaults, and with small ones where it needs arguments."""
    needed = [
        argument
        for argument, parameter in inspect.signature(kind).parameters.items()
        if parameter.default is inspect.Parameter.empty
    ]
    values = {argument: ARGUMENTS[argument]() for argument in needed}
    if name == "SelfTrainingClassifier":
        values["estimator"] = LogisticRegression()
    if name == "FrozenEstimator":
        values["estimator"].fit(POSITIVE, CLASSES)
    if name.endswith("RandomProjection"):
        values["n_components"] = 3
    if name in REGRESSORS:
        values = {
            argument: LinearRegression() if argument == "estimator" else [("a", LinearRegression())]
            for argument in needed
        }
    return kind(**values)


def data_for(name):
    """Inputs and targets that an estimator of that name can be fitted on."""
    if name in ("CountVectorizer", "HashingVectorizer", "TfidfVectorizer"):
        return TEXTS, None
    if name in ("DictVectorizer", "FeatureHasher"):
        return [{"a": 1.0, "b": float(k)} for k in range(40)], None
    if name in ("LabelBinarizer", "LabelEncoder"):
        return CLASSES, None
    if name == "MultiLabelBinarizer":
        return LABELS, None
    if name == "IsotonicRegression":
        return X[:, 0], CLASSES.astype(float)
    if name == "KernelCenterer":
        return X @ X.T, None
    if name.startswith(("MultiOutput", "MultiTask", "ClassifierChain", "RegressorChain")) or (
        name in ("CCA", "PLSCanonical", "PLSRegression")
    ):
        return X, np.column_stack([CLASSES, CLASSES[::-1]])
    return POSITIVE, CLASSES + 1


def asked(estimator, rows):
    """What an estimator answers, as one array."""
    if hasattr(estimator, "predict_proba"):
        answer = estimator.predict_proba(rows)
    elif is_classifier(estimator) or is_regressor(estimator):
        answer = estimator.predict(rows)
    elif hasattr(estimator, "transform"):
        answer = estimator.transform(rows)
    else:
        answer = estimator.predict(rows)
    return answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer, dtype=float)


def test_every_name_on_the_list_exists():
    names = {name.rpartition(".")[2] for name in _estimators()}
    listed = {name for names in ESTIMATORS.values() for name in names.split()}
    assert listed <= names


@pytest.mark.parametrize("name", allowed_estimators())
def test_allowed_estimators_answer_the_same(name):
    rows, targets = data_for(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = built(name, allowed_estimators()[name])
        estimator = estimator.fit(rows) if targets is None else estimator.fit(rows, targets)
        again = load_parts(dump_parts([estimator], []), [])[0]
        assert np.array_equal(asked(again, rows), asked(estimator, rows), equal_nan=True)


REFUSED = [
    NMF(2),
    LatentDirichletAllocation(2),
    SparseCoder(POSITIVE[:2]),
    SplineTransformer(),
    BisectingKMeans(2),
    IsolationForest(n_estimators=2),
    RandomTreesEmbedding(2),
    KernelDensity(),
    LocalOutlierFactor(novelty=True),
    RadiusNeighborsClassifier(5.0),
]


@pytest.mark.parametrize("estimator", REFUSED, ids=lambda estimator: type(estimator).__name__)
def test_compiled_ones_that_are_not_audited_must_be_named(estimator):
    """skops itself would allow them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = estimator.fit(POSITIVE, CLASSES)
    kind = type(estimator)
    name = f"{kind.__module__}.{kind.__name__}"
    with pytest.raises(UntrustedModelError, match=name) as caught:
        dump_parts([estimator], [])
    assert name in caught.value.types
    content = dump_parts([estimator], caught.value.types)
    with pytest.raises(UntrustedModelError, match=name) as at_load:
        load_parts(content, [])
    assert at_load.value.types == caught.value.types
    assert type(load_parts(content, caught.value.types)[0]) is kind


@pytest.mark.parametrize("function", [None, np.log1p, np.sqrt])
def test_element_wise_functions_are_allowed(function):
    transformer = FunctionTransformer(function).fit(POSITIVE)
    again = load_parts(dump_parts([transformer], []), [])[0]
    assert np.array_equal(again.transform(POSITIVE), transformer.transform(POSITIVE))


@pytest.mark.parametrize("function", [binarize, np.save, np.load, np.vstack])
def test_other_functions_must_be_named(function):
    with pytest.raises(UntrustedModelError, match=function.__name__):
        dump_parts([FunctionTransformer(function)], [])


def test_selectors_of_columns_are_allowed():
    selector = make_column_selector(pattern="a", dtype_include=np.number)
    assert load_parts(dump_parts([selector], []), [])[0].pattern == "a"
