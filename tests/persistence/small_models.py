"""Two small models as files in memory, and files with a manifest that matches them."""

import warnings
from functools import cache

import numpy as np
from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.networks import LSTM, Training
from setlearn.persistence.manifest import MANIFEST_NAME, Manifest
from setlearn.records import plan_records
from setlearn.rules import Margin
from tests.estimators.data import as_sets, tagged
from tests.persistence.cases import Case, answers

WORDS = ["ab", "bc", "ca"] * 4


@cache
def label_case(seed=0):
    X, Y = tagged(40, 2, seed=seed)
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=seed)
    return Case(lambda: classifier.fit(X, as_sets(Y, ["a", "b"])), X[:4], [{"a"}, {"b"}, (), ()])


@cache
def sequence_case():
    generator = SequenceSetGenerator(
        LSTM(4, 4, 4), training=Training(max_steps=12), max_nodes=40, random_state=0
    )
    return Case(lambda: generator.fit(WORDS, [{x, x[::-1]} for x in WORDS]), WORDS[:3])


@cache
def record_case():
    texts = ["sun over sea", "city at night", "sun on city", "night sea"] * 5
    tags = ["sun;sea", "city", "sun;city", "sea"] * 5
    sizes = [str(size % 7) for size in range(20)]
    rows = [
        {"text": x, "size": size, "kind": "ab"[size < "3"], "tags": y}
        for x, size, y in zip(texts, sizes, tags, strict=True)
    ]
    classifier = SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0)
    plan = plan_records(rows, target="tags", kinds={"kind": "category", "text": "text"})
    return Case(lambda: plan.fit(rows, classifier), rows[:4], [{"sun"}, (), (), {"sea"}])


CASES = {"labels": label_case, "records": record_case, "sequences": sequence_case}


def saved_files(model, folder):
    """The files of a model that is saved there, the manifest among them."""
    setlearn.save(model, folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def written(files, folder):
    """Write files as they are, whatever they are."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def with_matching_manifest(files):
    """The same files with a manifest that says just what they are."""
    others = {name: content for name, content in files.items() if name != MANIFEST_NAME}
    return {**others, MANIFEST_NAME: Manifest.of(others).to_json()}


def quiet_answers(model, case):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return answers(model, case)
