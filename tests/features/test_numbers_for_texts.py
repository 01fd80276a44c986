"""Numbers in a column that held only texts: one warning per call."""

import warnings

import pandas as pd
import pytest

from setlearn import SetClassifier
from setlearn.errors import NumbersForTextsWarning
from setlearn.rules import Threshold

TEXTS = [f"{word} and other words of row {k}" for k in range(30) for word in ("sea", "city")]
TRAIN = pd.DataFrame({"size": [k % 7 for k in range(60)], "title": TEXTS})
SETS = [{text.split()[0]} for text in TEXTS]


def fitted(titles):
    return SetClassifier(rule=Threshold(0.5), random_state=0, verbose=False).fit(
        TRAIN.assign(title=titles), SETS
    )


@pytest.mark.parametrize("value", [3.5, True, 7])
def test_they_give_a_warning(value):
    with pytest.warns(
        NumbersForTextsWarning, match="2 rows with numbers in columns of texts: title"
    ):
        fitted(TEXTS).predict(TRAIN[:2].assign(title=[value] * 2))


def test_texts_and_gaps_give_none():
    model = fitted(TEXTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(TRAIN[:3].assign(title=["3.5", None, float("nan")]))


def test_a_column_that_had_numbers_before_gives_none():
    model = fitted([1984, *TEXTS[1:]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(TRAIN[:2].assign(title=[2001, "sea"]))
