"""A model of each kind, fitted on a file of a few rows, and saved."""

from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier, SetSelector, save
from setlearn.networks import Training
from setlearn.records import plan_records
from setlearn.rules import Threshold, TopK
from tests.cli.files import orders, tagged_texts, word_forms

KINDS = ("labels", "candidates", "sequences")


def samples(kind, n_rows, seed=0):
    """Rows for a kind of model."""
    make = {"labels": tagged_texts, "candidates": orders, "sequences": word_forms}[kind]
    return make(n_rows, seed)


def save_model(kind, folder):
    """Fit a model quickly, and save it in a folder."""
    rows = samples(kind, 60)
    if kind == "labels":
        plan = plan_records(rows, target="tags")
        model = plan.fit(rows, SetClassifier(LogisticRegression(), Threshold(0.5), random_state=0))
    elif kind == "candidates":
        plan = plan_records(rows, target="chosen")
        model = plan.fit(rows, SetSelector(rule=Threshold(0.5), random_state=0))
    else:
        plan = plan_records(rows, target="forms", task="sequences")
        network = SequenceSetGenerator(
            "lstm", TopK(2), training=Training(max_steps=3), random_state=0
        )
        model = plan.fit(rows, network)
    save(model, folder)
    return folder
