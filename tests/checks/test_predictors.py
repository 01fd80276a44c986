"""Every set predictor passes the same checks."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier, SetSelector
from setlearn.networks import LSTM, Training, Transformer
from setlearn.nodes import Nodes, Step
from setlearn.records import plan_records
from setlearn.rules import ExpectedF, Margin
from tests.checks.predictors import CHECKS, PredictorCase

NUMBERS = np.random.default_rng(0).uniform(size=(40, 3))
TAGS = [frozenset(t for t, v in zip("abc", row, strict=True) if v > 0.5) for row in NUMBERS]
DISHES = ["fish", "meat", "rice", "soup", "tea"]
ORDERS = [(f"{a} with {b}", DISHES[k % 2 :]) for k in range(3) for a in DISHES for b in DISHES]
ORDERED = [frozenset(dish for dish in dishes if dish in query) for query, dishes in ORDERS]
MATRICES = [np.random.default_rng(k).uniform(size=(3 + k % 3, 4)) for k in range(40)]
ROWS = [frozenset(np.flatnonzero(matrix[:, 0] > 0.5).tolist()) for matrix in MATRICES]
WORDS = ["ab", "ba", "aab", "bb", "abab", "b"] * 4
FORMS = [frozenset({word, word[::-1]}) for word in WORDS]
RECORDS = [
    {"size": float(row[0]), "height": float(row[1]), "width": float(row[2]), "y": sorted(tags)}
    for row, tags in zip(NUMBERS, TAGS, strict=True)
]
SPELLED = [{"word": word, "y": sorted(forms)} for word, forms in zip(WORDS, FORMS, strict=True)]


class Copier:
    """A scorer from outside the library: it knows the letters, and copies its input."""

    def start(self, X):
        self.letters = {1: "a", 2: "b"}
        probabilities = np.array([[0.0, *(float(x[0] == c) for c in "ab")] for x in X])
        return Step(Nodes.roots(probabilities * 0.9 + 0.02), list(X))

    def advance(self, step, parent, token):
        nodes = step.nodes
        sample, depth = nodes.sample[parent], nodes.depth[parent] + 1
        rows = []
        for s, d in zip(sample, depth, strict=True):
            x = step.state[s]
            rows.append([float(d >= len(x)), *(float(d < len(x) and x[d] == c) for c in "ab")])
        probabilities = np.array(rows).reshape(len(rows), 3) * 0.9 + 0.02
        way = nodes.membership[parent, token]
        return Step(Nodes(sample, depth, probabilities, prefix_probability=way), step.state)


def labels(rule=None, **settings):
    model = SetClassifier(LogisticRegression(), rule or Margin(), cv=2, random_state=0, **settings)
    return PredictorCase(lambda: model.fit(NUMBERS, TAGS), list(NUMBERS[:8]), TAGS[:8], model)


def sequences(network, rule=None, steps=60, **settings):
    model = SequenceSetGenerator(
        network, rule, training=Training(max_steps=steps), max_nodes=400, random_state=0, **settings
    )
    return PredictorCase(
        lambda: model.fit(WORDS, FORMS),
        WORDS[:6],
        FORMS[:6],
        model,
        savable=isinstance(network, str | LSTM | Transformer),
    )


def candidates(X, sets, rule=None, **settings):
    model = SetSelector(rule=rule or ExpectedF(), cv=2, random_state=0, **settings)
    return PredictorCase(lambda: model.fit(X, sets), X[:8], sets[:8], model)


def records(rows, model, task):
    plan = plan_records(rows, target="y", task=task)
    sets = [frozenset(row["y"]) for row in rows]
    return PredictorCase(lambda: plan.fit(rows, model), rows[:6], sets[:6])


SMALL = Transformer(width=16, encoder_layers=1)
QUICK = Training(max_steps=40)

CASES = {
    "labels": labels(),
    "labels, expected F": labels(ExpectedF()),
    "labels, softmax": labels(scores="softmax"),
    "labels, conditional": labels(conditional=True),
    "candidates, texts": candidates(ORDERS, ORDERED),
    "candidates, margin": candidates(ORDERS, ORDERED, Margin()),
    "candidates, matrices": candidates(MATRICES, ROWS),
    "candidates, own learner": candidates(MATRICES, ROWS, estimator=LogisticRegression()),
    "sequences, transformer": sequences(SMALL, steps=200),
    "sequences, LSTM": sequences(LSTM(8, 8, 16), steps=200),
    "sequences, scorer from outside": sequences(Copier(), max_length=6),
    "records, labels": records(
        RECORDS, SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0), "labels"
    ),
    "records, sequences": records(
        SPELLED, SequenceSetGenerator(SMALL, training=QUICK, random_state=0), "sequences"
    ),
}


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_predictor(case, check, tmp_path):
    check(case, tmp_path)
