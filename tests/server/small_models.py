"""Small models of every kind that is served, and inputs for each."""

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier, SetSelector
from setlearn.networks import Training
from setlearn.records import plan_records
from setlearn.rules import Margin
from tests.cli.files import orders, tagged_texts, word_forms

ABOUT = {"examples": ["a wave at night"], "figures": {"mean F1": 0.9}}


class SavedModels(Mapping):
    """The folders of models by name. A model is fitted and saved when it is first asked for.

    Several test processes may share the folder: each writes a model on the side, and moves it to
    its place when it is complete.
    """

    def __init__(self, savers, folder):
        self.savers = savers
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def __getitem__(self, name):
        path = self.folder / name
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=self.folder) as aside:
                self.savers[name](Path(aside) / name)
                with suppress(OSError):  # another process was faster
                    (Path(aside) / name).rename(path)
        return path

    def __iter__(self):
        return iter(self.savers)

    def __len__(self):
        return len(self.savers)


def vectors(n_rows, seed=0):
    return np.random.default_rng(seed).random((n_rows, 4)).tolist()


def texts(n_rows, seed=0):
    return [row["text"] for row in tagged_texts(n_rows, seed)]


def words(n_rows, seed=0):
    return [row["word"] for row in word_forms(n_rows, seed)]


def asked_orders(n_rows, seed=0):
    return [{"ask": row["ask"], "listed": row["listed"]} for row in orders(n_rows, seed)]


INPUTS = {
    "tags": texts,
    "texts": texts,
    "vectors": vectors,
    "forms": words,
    "spelling": words,
    "orders": asked_orders,
}
"""By the name of a model, what makes inputs for it."""


def save_tags(path):
    """Records with texts, logistic regression."""
    photos = tagged_texts(60)
    model = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)
    setlearn.save(plan_records(photos, target="tags").fit(photos, model), path, about=ABOUT)


def save_texts(path):
    """Records with texts, the default model."""
    photos = tagged_texts(60)
    model = SetClassifier(cv=2, random_state=0)
    setlearn.save(plan_records(photos, target="tags").fit(photos, model), path)


def save_vectors(path):
    """Arrays without records, the default model."""
    X = vectors(60)
    sets = [{name for name, value in zip("abcd", row, strict=True) if value > 0.4} for row in X]
    setlearn.save(SetClassifier(cv=2, random_state=0).fit(X, sets), path)


def save_forms(path):
    """Records with words, sequences by an LSTM."""
    forms = word_forms(16)
    model = SequenceSetGenerator("lstm", training=Training(max_steps=3), random_state=0)
    plan = plan_records(forms, target="forms", task="sequences")
    setlearn.save(plan.fit(forms, model), path)


def save_spelling(path):
    """Strings without records, sequences by a transformer."""
    model = SequenceSetGenerator("transformer", training=Training(max_steps=3), random_state=7)
    setlearn.save(model.fit(words(16), [row["forms"] for row in word_forms(16)]), path)


def save_orders(path):
    """Records with a query and candidates, the default model."""
    plan = plan_records(orders(100), target="chosen")
    model = SetSelector(cv=2, random_state=0, verbose=False)
    setlearn.save(plan.fit(orders(100), model), path)


SAVERS = {
    "tags": save_tags,
    "texts": save_texts,
    "vectors": save_vectors,
    "forms": save_forms,
    "spelling": save_spelling,
    "orders": save_orders,
}
