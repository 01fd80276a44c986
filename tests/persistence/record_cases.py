"""Models that read records, one for each kind of column and each task."""

from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.networks import LSTM, Training
from setlearn.records import plan_records
from setlearn.rules import Margin, TopK
from tests.persistence.cases import Case

TEXTS = ["sun over sea", "city at night", "sun on city", "night sea"] * 6
TAGS = ["sun;sea", "city", "sun;city", "sea"] * 6
WORDS = ["ab", "bc", "ca"] * 8


def record_cases():
    """All cases by name."""
    return {name: case() for name, case in CASES.items()}


def labelled(column, values, *, kind=None, text=None):
    rows = [{column: value, "tags": tags} for value, tags in zip(values, TAGS, strict=True)]
    kinds = {column: kind} if kind else {}
    plan = plan_records(rows, target="tags", kinds=kinds, text=text)
    model = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)
    return Case(lambda: plan.fit(rows, model), rows[:3], [{"sun"}, (), ()])


def spelled(inputs, elements, tokens, **others):
    columns = {"x": inputs, **others, "y": elements}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    plan = plan_records(rows, target="y", task="sequences", tokens=tokens)
    model = SequenceSetGenerator(
        LSTM(4, 4, 4),
        TopK(1),
        tokens=plan.tokens or "char",
        training=Training(max_steps=20),
        random_state=0,
    )
    return Case(lambda: plan.fit(rows, model), rows[:3])


RNG = np.random.RandomState(0)
CASES = {
    "tfidf": partial(labelled, "x", TEXTS, kind="text", text="tfidf"),
    "words": partial(labelled, "x", TEXTS, kind="text", text="words"),
    "chars": partial(labelled, "x", TEXTS, kind="text", text="chars"),
    "numbers": partial(labelled, "x", RNG.uniform(size=24).tolist()),
    "categories": partial(labelled, "x", ["red", "blue", "green"] * 8, kind="category"),
    "vectors": partial(labelled, "x", RNG.uniform(size=(24, 3)).tolist()),
    "bags": partial(labelled, "x", [{"a": 1.0, str(k % 5): 2.0} for k in range(24)]),
    "token lists": partial(labelled, "x", [text.split() for text in TEXTS]),
    "characters": partial(spelled, WORDS, [[x, x[::-1]] for x in WORDS], "char"),
    "lists of words": partial(spelled, TEXTS, [[text] for text in TEXTS], "word"),
    "joined texts": partial(spelled, WORDS, [[x] for x in WORDS], "char", z=["u", "v"] * 12),
    "tuples": partial(spelled, [list(x) for x in WORDS], [[list(x)] for x in WORDS], None),
}
