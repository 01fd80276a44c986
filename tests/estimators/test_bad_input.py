"""Bad input: each time an error that says what is wrong, what was got, and what to do."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from setlearn import SetClassifier
from setlearn.errors import DataError, KindError, NotFittedError, ParameterError, SetlearnError
from setlearn.learners import SetMixture
from setlearn.rules import Margin, Threshold, TopK
from tests.estimators.data import as_sets, tagged

X, Y = tagged(20)
LABELS = ["a", "b", "c", "d"]
SETS = as_sets(Y, LABELS)
NAN = float("nan")
FITTED = SetClassifier(LogisticRegression(), cv=2, random_state=0).fit(X, SETS)


def check_error(error, built_in, message, ask):
    """``message`` is a pattern that spans what is wrong, what was got and what to do."""
    with pytest.raises(error, match=message) as caught:
        ask()
    assert isinstance(caught.value, SetlearnError)
    assert isinstance(caught.value, built_in)


BAD_X = {
    "ragged": (
        [[1, 2, 3], [1, 2]],
        "X is ragged: row 1 has 2 values but row 0 has 3; pass",
    ),
    "ragged arrays": (
        [np.ones(3), np.ones(1)],
        "row 1 has 1 values but row 0 has 3; pass",
    ),
    "inf": (np.where(X > 0.9, np.inf, X), "Input X contains infinity"),
    "sparse nan": (sparse.csr_array(np.where(X > 0.9, np.nan, X)), "Input X contains NaN"),
    "infinity in a table": (pd.DataFrame(np.where(X > 0.9, np.inf, X)), "Input X contains inf"),
    "no samples": ([], "X holds 0 samples; pass at least one"),
    "no rows": (np.empty((0, 4)), "X holds 0 samples; pass at least one"),
    "no features": (np.empty((20, 0)), r"0 feature\(s\)"),
    "one dimension": (np.arange(20.0), "Expected 2D array, got 1D array.*Reshape"),
    "three dimensions": (X[None], "Found array with dim 3"),
    "complex": (X + 1j, "Complex data not supported"),
}


@pytest.mark.parametrize(("given", "message"), BAD_X.values(), ids=BAD_X)
def test_bad_inputs(given, message):
    n = given.shape[0] if hasattr(given, "shape") else len(given)
    for scores in ("marginal", "softmax"):
        unfitted = SetClassifier(scores=scores)
        check_error(DataError, ValueError, f"(?s){message}", lambda c=unfitted: c.fit(given, SETS))
    for verb in (FITTED.predict, FITTED.predict_proba, FITTED.predict_ranked):
        check_error(DataError, ValueError, f"(?s){message}", lambda verb=verb: verb(given))
    known = [set()] * n
    check_error(DataError, ValueError, f"(?s){message}", lambda: FITTED.complete(given, known))


@pytest.mark.parametrize("given", [None, 5, object()])
def test_things_that_are_no_inputs(given):
    for ask in (lambda: SetClassifier().fit(given, SETS), lambda: FITTED.predict(given)):
        with pytest.raises(SetlearnError):
            ask()


def test_a_single_text_is_not_many():
    learner = make_pipeline(TfidfVectorizer(), LogisticRegression())
    classifier = SetClassifier(learner, cv=2).fit(["red car", "blue car"] * 10, SETS)
    message = r"X is the single text 'red'; pass a list of texts, such as \['red'\]"
    check_error(KindError, TypeError, message, lambda: classifier.predict("red"))
    check_error(KindError, TypeError, message, lambda: SetClassifier(learner).fit("red", SETS))


def test_other_features_than_in_fit():
    message = "X has 3 features, but SetClassifier is expecting 4 features.*Pass the features"
    for ask in (FITTED.predict, FITTED.predict_proba, lambda X: FITTED.trace(X[0])):
        check_error(DataError, ValueError, message, lambda ask=ask: ask(X[:, :3]))


def test_different_lengths():
    message = "X has 20 samples but Y has 19 sets; pass one set per sample, an empty one where"
    for targets in (SETS[:19], Y[:19], sparse.csr_array(Y[:19]), [next(iter("ab"))] * 18 + ["b"]):
        check_error(DataError, ValueError, message, lambda y=targets: SetClassifier().fit(X, y))


BAD_Y = {
    "nothing": (None, DataError, "y is None; pass label sets"),
    "a string": ("abc", KindError, "Y is the str 'abc', not a list of sets; pass one set per"),
    "a number": (5, KindError, "Y is the int 5, not a list of sets; pass one set per sample"),
    "a string among sets": (
        [{"a"}] * 19 + ["abc"],
        KindError,
        r"sample 19 of Y is the str 'abc'; write \{'abc'\} for a set of one",
    ),
    "sets among strings": (
        ["abc", *SETS[1:]],
        KindError,
        r"sample 0 of Y is the str 'abc'; write \{'abc'\}",
    ),
    "a number among sets": ([*SETS[:19], 7], KindError, "sample 19 of Y is the int 7, not a set; "),
    "None among sets": ([*SETS[:19], None], KindError, "sample 19 of Y is the NoneType None, not"),
    "a dict": (dict(enumerate(SETS)), KindError, "Y is itself a dict.*pass a list of sets"),
    "dicts": ([{"a": 1}] * 20, KindError, "sample 0 of Y is the dict {'a': 1}, not a set; pass a"),
    "a set of sets": (set(SETS), KindError, "Y is itself a set.*pass a list of sets"),
    "an unhashable label": (
        [[["a"]], *SETS[1:]],
        KindError,
        "sample 0 of Y holds a value that cannot be hashed.*list.*use tuples instead of lists",
    ),
    "no sets": ([], DataError, "X has 20 samples but Y has 0 sets|every set in Y is empty"),
    "empty sets": ([set()] * 20, DataError, "every set in Y is empty.*check the targets"),
    "an empty indicator": (np.zeros((20, 3), int), DataError, "every set in Y is empty"),
    "one class": (["a"] * 20, DataError, r"y holds one class only \('a'\).*at least two classes"),
    "one label": ([{"a"}] * 20, DataError, r"one class only \('a' in every sample\).*different"),
    "one column": (sparse.csr_array(np.ones((20, 1))), DataError, r"one class only \(0 in every"),
    "the label nan": (
        [{NAN, "a"}] * 20,
        DataError,
        "sample 0 of y holds nan, a missing value, in its set; leave it out",
    ),
    "classes with nan": ([NAN, 1.0] * 10, DataError, "y contains NaN.*leave those samples out"),
    "continuous classes": (X[:, 0], DataError, "Unknown label type: continuous"),
    "strings and nan": (
        ["a", NAN] * 10,
        KindError,
        r"nan in sample 1; .* write set\(\) for no lab",
    ),
    "lists and nan": (
        [["a"], NAN] * 10,
        KindError,
        r"sample 1 of Y is .* write set\(\) for no lab",
    ),
    "strings and numbers": (["a", 1] * 10, KindError, "y mixes strings.*'a' and 1; pass classes"),
    "scores": (X, DataError, "only 0 and 1, but Y holds 0.*; threshold scores first, or pass sets"),
    "counts": (2 * Y, DataError, "only 0 and 1, but Y holds 2; threshold"),
    "sparse counts": (sparse.csr_array(2 * Y), DataError, "only 0 and 1, but Y holds 2; thr"),
    "nothing known but zeros": (np.where(Y, np.nan, 0), DataError, "every set in Y is empty"),
    "infinity": (np.where(Y, np.inf, 0), DataError, "only 0 and 1, but Y holds inf"),
    "a cube": (Y[None], DataError, r"Y has 3 dimension\(s\)"),
}


@pytest.mark.parametrize(("given", "error", "message"), BAD_Y.values(), ids=BAD_Y)
def test_bad_targets(given, error, message):
    built_in = TypeError if error is KindError else ValueError
    for scores in ("marginal", "softmax"):
        classifier = SetClassifier(LogisticRegression(), scores=scores, cv=2)
        check_error(error, built_in, message, lambda c=classifier: c.fit(X, given))


def test_too_few_samples_to_split():
    message = 'n_samples=1 cannot be split.*at least two samples.*cv="prefit"'
    check_error(DataError, ValueError, message, lambda: SetClassifier().fit(X[:1], [{"a", "b"}]))


BAD_KNOWN = {
    "a string": ("abc", KindError, "known is the str 'abc', not a list of sets; pass one set per"),
    "strings": (["abc"] * 20, KindError, r"sample 0 of known is the str 'abc'; write \{'abc'\}"),
    "numbers": ([1] * 20, KindError, "sample 0 of known is the int 1, not a set; pass a set"),
    "nothing": (None, KindError, "known is the NoneType None, not a list of sets"),
    "a dict": ({0: {"a"}}, KindError, "known is itself a dict.*pass a list of sets"),
    "unhashable": ([[["a"]]] * 20, KindError, "sample 0 of known.*cannot be hashed.*use tuples"),
    "unknown": (
        [{"a", "x"}, {"x", "y"}] + [set()] * 18,
        DataError,
        r'3 element\(s\) of known.*never seen in training: \'x\', \'y\'; leave.*unknown="ignore"',
    ),
    "many unknown": (
        [set("pqrstuvw")] * 20,
        DataError,
        "160 element.* and 3 more; leave",
    ),
    "too few": ([{"a"}] * 3, DataError, "X has 20 samples but known has 3 sets; pass one set per"),
    "columns": (np.ones((20, 3)), DataError, "known has 3 columns but there are 4 labels; pass"),
    "scores": (X, DataError, "only 0 and 1, but known holds 0"),
}


@pytest.mark.parametrize(("given", "error", "message"), BAD_KNOWN.values(), ids=BAD_KNOWN)
def test_bad_known_labels(given, error, message):
    built_in = TypeError if error is KindError else ValueError
    check_error(error, built_in, message, lambda: FITTED.complete(X, given))


def test_a_string_is_not_three_labels_in_a_trace():
    message = r"known is the str 'abc'; write \{'abc'\} for a set of one"
    check_error(KindError, TypeError, message, lambda: FITTED.trace(X[0], known="abc"))
    check_error(KindError, TypeError, "known is the str 'a'", lambda: FITTED.trace(X[0], "a"))
    check_error(KindError, TypeError, "known is the int 1", lambda: FITTED.trace(X[0], 1))
    message = r"1 element\(s\) of known.*'abc'; leave them out"
    check_error(DataError, ValueError, message, lambda: FITTED.trace(X[0], {"abc"}))


def test_a_trace_is_of_one_sample():
    message = r"trace shows one sample, got 2; pass a single row such as X\[0\]"
    for two in (X[:2], sparse.csr_array(X[:2]), pd.DataFrame(X[:2])):
        check_error(DataError, ValueError, message, lambda two=two: FITTED.trace(two))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (LinearRegression(), "LinearRegression gives no probabilities.*use a classifier such as"),
        (make_pipeline(LinearRegression()), "Pipeline gives no probabilities"),
        (LogisticRegression, "must be a scikit-learn classifier, got <class.*pass an instance"),
        ("logistic", "must be a scikit-learn classifier, got 'logistic'; pass an instance such"),
    ],
)
def test_learners_that_cannot_be(learner, message):
    check_error(KindError, TypeError, message, lambda: SetClassifier(learner).fit(X, SETS))


def test_the_error_of_a_wrong_learner_passes_through_a_search():
    search = GridSearchCV(SetClassifier(LinearRegression()), {"cv": [2]}, error_score="raise")
    check_error(KindError, TypeError, "gives no probabilities", lambda: search.fit(X, SETS))


class Untouched(LogisticRegression):
    """A learner that must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("the parameters are to be checked first")


BAD_PARAMETERS = {
    "λ below": ({"rule": Margin(-0.1)}, r"lam must be.*\[0, 1\].*got -0.1; 0 keeps the best"),
    "λ above": ({"rule": Margin(1.5)}, "lam must be.*got 1.5"),
    "λ above, nothing to learn": ({"rule": Margin(1.5, min_size=1)}, "lam must be.*got 1.5"),
    "λ nan": ({"rule": Margin(NAN)}, "lam must be finite.*got nan"),
    "λ a word": ({"rule": Margin("much")}, "lam must be a number.*got 'much'"),
    "ρ below": ({"rule": Margin(rho=-1)}, r"rho must lie in \[0, 1\), got -1; 0 stops at"),
    "ρ one": ({"rule": Margin(rho=1.0)}, r"rho must lie in \[0, 1\), got 1.0"),
    "ρ a word": ({"rule": Margin(rho="high")}, "rho must lie in.*got 'high'"),
    "multiplier": ({"rule": Margin(multiplier="x")}, "multiplier must be a positive.*got 'x'"),
    "space": ({"rule": Margin(space="odds")}, "space must be one of.*got 'odds'"),
    "size": ({"rule": Margin(min_size=-1)}, "min_size must be.*got -1"),
    "cut": (
        {"rule": Threshold(1.5)},
        r'cut must lie in .* or be "tuned" or "per label", got 1.5',
    ),
    "k": ({"rule": TopK(0)}, "k must be a whole number of at least 1, got 0"),
    "a rule's class": (
        {"rule": Margin},
        r'rule must be "auto" or one of setlearn.rules.*got <class',
    ),
    "a rule's name": ({"rule": "margin"}, r"such as Margin\(\), got 'margin'"),
    "scores": ({"scores": "sigmoid"}, '"marginal" or "softmax", got \'sigmoid\''),
}


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters_are_told_before_anything_is_fitted(parameters, message):
    classifier = SetClassifier(**{"estimator": Untouched(), **parameters})
    check_error(ParameterError, ValueError, message, lambda: classifier.fit(X, SETS))


@pytest.mark.parametrize("top", [0, -1, 1.5, "all"])
def test_bad_top(top):
    message = "top must be a whole number of at least 1, got"
    check_error(ParameterError, ValueError, message, lambda: FITTED.predict_ranked(X, top=top))


def test_questions_before_fit():
    for ask in (
        lambda c: c.predict(X),
        lambda c: c.predict_proba(X),
        lambda c: c.predict_ranked(X),
        lambda c: c.complete(X, SETS),
        lambda c: c.trace(X[0]),
        lambda c: c.score(X, SETS),
    ):
        message = r"this SetClassifier is not fitted; call fit\(X, y\) first"
        check_error(NotFittedError, ValueError, message, lambda ask=ask: ask(SetClassifier()))


def test_nothing_is_left_half_fitted():
    classifier = SetClassifier(LogisticRegression(), cv=2)
    with pytest.raises(DataError):
        classifier.fit(X, [set()] * 20)
    with pytest.raises(NotFittedError):
        classifier.predict(X)


def test_texts_without_a_word_are_refused():
    with pytest.raises(DataError, match="column 'text' has no words to learn from in 2 rows"):
        SetClassifier().fit(["! ?", "- +"], [{"x"}, {"y"}])


HUGE = "as large as .*e\\+300, but the learner takes none beyond 3.4e\\+38; use a smaller unit"


def test_numbers_that_are_too_large_are_named_with_their_columns():
    numbers, sets = np.random.RandomState(0).randn(40, 7), [{"a"}, {"b"}] * 20
    default = SetClassifier(rule=TopK(1), random_state=0)
    message = f"^columns 0, 1, 2, 3, 4 and 2 more of X have values {HUGE}"
    check_error(DataError, ValueError, message, lambda: default.fit(numbers * 1e300, sets))
    huge = numbers.copy()
    huge[3, 2] = -1e300
    fitted = default.fit(numbers, sets)
    message = f"^column 2 of X has values {HUGE}"
    check_error(DataError, ValueError, message, lambda: clone(default).fit(huge, sets))
    check_error(DataError, ValueError, message, lambda: fitted.predict(huge))
    for more in ({}, {"kind": ["red", "blue"] * 20}):
        table = pd.DataFrame(huge, columns=[*"tuvwxyz"]).assign(**more)
        message = f"^column 'v' of X has values {HUGE}"
        check_error(DataError, ValueError, message, lambda table=table: default.fit(table, sets))


def test_other_learners_may_take_them():
    numbers, sets = np.random.RandomState(0).randn(40, 3), [{"a"}, {"b"}] * 20
    SetClassifier(GaussianNB(), TopK(1)).fit(numbers * 1e60, sets).predict(numbers * 1e60)


OTHER_KINDS = {
    "texts": ["red"] * 20,
    "categories": pd.Categorical(["red"] * 20),
    "dates": pd.to_datetime(["2026-01-02"] * 20),
}


@pytest.mark.parametrize("values", OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_a_column_of_numbers_that_is_none_any_more(values):
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SetClassifier(SetMixture(5), Margin(), random_state=0).fit(table, SETS)
    message = r"column 'b' of X holds values such as '(red|2026-01-02).*pass numbers"
    check_error(DataError, ValueError, message, lambda: model.predict(table.assign(b=values)))
    gaps = table.assign(b=np.array([None] * 20))  # what pandas makes of missing values
    assert (model.predict_proba(gaps) == model.predict_proba(table.assign(b=np.nan))).all()


def test_dates_of_polars_where_numbers_were():
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = SetClassifier(SetMixture(5), Margin(), random_state=0).fit(table, SETS)
    dates = table.with_columns(b=pl.Series([datetime(2026, 1, 2)] * 20))
    message = "column 'b' of X holds values such as '2026-01-02.*pass numbers"
    check_error(DataError, ValueError, message, lambda: model.predict(dates))
    assert len(model.predict(table)) == 20


def test_columns_of_numbers_in_another_order():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SetClassifier(LogisticRegression(), Margin()).fit(table, SETS)
    message = r"(?s)must be in the same order.*Pass X\[model.feature_names_in_\]"
    other = table[["b", "a", "c", "d"]]
    check_error(DataError, ValueError, message, lambda: model.predict(other))
    assert model.predict(other[model.feature_names_in_]) == model.predict(table)


def test_texts_that_are_all_empty():
    message = "empty in all 20 rows.*pass texts, or leave the column out"
    check_error(DataError, ValueError, message, lambda: SetClassifier().fit([""] * 20, SETS))


def test_lists_of_tokens_need_a_column():
    tokens = [["a", "b"], ["b"]] * 10
    message = r"lists of different lengths, such as \['a', 'b'\]; pass rows.*pd.DataFrame"
    check_error(DataError, ValueError, message, lambda: SetClassifier().fit(tokens, SETS))
    message = r"each sample of X is a list, such as \['a', 'b'\]; pass a table.*not swapped"
    series = pd.Series(tokens)
    check_error(DataError, ValueError, message, lambda: SetClassifier().fit(series, SETS))
    table = pd.DataFrame({"tokens": tokens})
    assert SetClassifier(rule=Margin()).fit(table, SETS).features_.notes_ == ["tokens: tokens"]
