"""Models that several files of tests ask, fitted once, and a place for temporary files."""

import tempfile

import numpy as np
import pytest

import setlearn
from setlearn.rules import TopK
from tests.cli.files import tagged_texts, word_forms, write_csv, write_jsonl
from tests.cli.running import run


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path_factory, monkeypatch):
    """The folder for temporary files, also of the processes that a test starts."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)  # found anew by the variable
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def photos(folder):
    """A table of texts with tags."""
    return write_csv(folder / "photos.csv", tagged_texts(90))


@pytest.fixture(scope="session")
def tagger(folder, photos):
    """A model of labels, fitted on the table."""
    ended = run("fit", photos, "--target", "tags", "--learner", "logistic", "-o", folder / "tagger")
    assert ended.code == 0, ended.err
    return folder / "tagger"


@pytest.fixture(scope="session")
def words(folder):
    """Words with their forms."""
    return write_jsonl(folder / "words.jsonl", word_forms(16))


@pytest.fixture(scope="session")
def speller(folder, words):
    """A model of sequences, hardly trained."""
    command = ("fit", words, "--target", "forms", "--task", "sequences", "--network", "lstm")
    ended = run(*command, "--max-steps", 3, "-o", folder / "speller")
    assert ended.code == 0, ended.err
    return folder / "speller"


@pytest.fixture(scope="session")
def bare(folder):
    """A model without columns, saved from Python."""
    X = np.random.RandomState(0).normal(size=(40, 2))
    Y = [{"high" if x[0] > 0 else "low"} for x in X]
    model = setlearn.SetClassifier(rule=TopK(1), random_state=0).fit(X, Y)
    setlearn.save(model, folder / "bare")
    return folder / "bare"
