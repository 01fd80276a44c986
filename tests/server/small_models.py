"""Models of every kind that is served, and inputs for each."""

import numpy as np
from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.networks import Training
from setlearn.records import plan_records
from setlearn.rules import Margin
from tests.cli.files import tagged_texts, word_forms

ABOUT = {"examples": ["a wave at night"], "figures": {"mean F1": 0.9}}


def vectors(n_rows, seed=0):
    return np.random.default_rng(seed).random((n_rows, 4)).tolist()


def texts(n_rows, seed=0):
    return [row["text"] for row in tagged_texts(n_rows, seed)]


def words(n_rows, seed=0):
    return [row["word"] for row in word_forms(n_rows, seed)]


INPUTS = {"tags": texts, "texts": texts, "vectors": vectors, "forms": words, "spelling": words}
"""By the name of a model, what makes inputs for it."""


def save_models(folder):
    """Records with logistic regression or the default, a bare estimator; sequences of both."""
    photos, forms = tagged_texts(60), word_forms(16)
    plan = plan_records(photos, target="tags")
    logistic = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)
    save = setlearn.save
    save(plan.fit(photos, logistic), folder / "tags", about=ABOUT)
    save(plan.fit(photos, SetClassifier(cv=2, random_state=0)), folder / "texts")
    save_vectors(folder / "vectors")
    plan = plan_records(forms, target="forms", task="sequences")
    network = SequenceSetGenerator("lstm", training=Training(max_steps=3), random_state=0)
    save(plan.fit(forms, network), folder / "forms")
    network = SequenceSetGenerator("transformer", training=Training(max_steps=3), random_state=0)
    save(network.fit(words(16), [row["forms"] for row in forms]), folder / "spelling")
    return {name: folder / name for name in INPUTS}


def save_vectors(path):
    X = vectors(60)
    sets = [{name for name, value in zip("abcd", row, strict=True) if value > 0.4} for row in X]
    setlearn.save(SetClassifier(cv=2, random_state=0).fit(X, sets), path)
