"""Every kind of model answers in a fresh process, from files alone, exactly as it did before."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

import setlearn
from setlearn import SetClassifier
from setlearn.errors import TruncationWarning
from tests.estimators.data import tagged
from tests.persistence.cases import answers
from tests.persistence.label_cases import label_cases
from tests.persistence.record_cases import record_cases
from tests.persistence.sequence_cases import sequence_cases

ROOT = Path(__file__).parents[2]


FUNCTIONS = (label_cases, record_cases, sequence_cases)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """By function, what each model said before it was saved, and after it was loaded elsewhere."""
    folder = tmp_path_factory.mktemp("models")
    before = {}
    for function in FUNCTIONS:
        (folder / function.__name__).mkdir()
        before[function] = answers_before(function(), folder / function.__name__)
    names = [f"{function.__module__}:{function.__name__}" for function in FUNCTIONS]
    subprocess.run(
        [sys.executable, "-m", "tests.persistence.fresh_process", folder, *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
    )
    return {
        function: (
            before[function],
            json.loads((folder / function.__name__ / "answers.json").read_text()),
        )
        for function in FUNCTIONS
    }


def answers_before(cases, folder):
    """Fit, ask and save the models."""
    before = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", TruncationWarning)
        for number, (name, case) in enumerate(cases.items()):
            model = case.fit()
            before[name] = json.loads(json.dumps(answers(model, case)))
            setlearn.save(model, folder / str(number))
    return before


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_fresh_process_answers_the_same(function, compared):
    before, after = compared[function]
    assert list(after) == list(before)
    assert {name for name in before if not equal(after[name], before[name])} == set()


def equal(after, before):
    """Whether answers are the same, but for the last digits of scores in single precision."""
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(equal(after[k], before[k]) for k in before)
    if isinstance(before, list):
        return len(after) == len(before) and all(map(equal, after, before))
    return after == (pytest.approx(before, abs=1e-5) if isinstance(before, float) else before)


def test_the_scores_of_all_rules_are_saved(tmp_path):
    X, Y = tagged(60)
    model = SetClassifier(GaussianNB(), "auto", cv=2, random_state=0).fit(X, Y)
    setlearn.save(model, tmp_path / "model")
    again = setlearn.load(tmp_path / "model")
    assert again.rule_scores_ == model.rule_scores_
    learned = {name: score.learned for name, score in model.rule_scores_.items()}
    assert {name: score.learned for name, score in again.rule_scores_.items()} == learned
    assert learned["Threshold(cut='tuned', min_size=None)"].keys() == {"cut"}
    assert again.facts() == model.facts()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "## Rules tried" in card
    assert f"| Margin() | {model.rule_scores_['Margin()']} |" in card
