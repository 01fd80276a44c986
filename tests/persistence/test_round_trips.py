"""Every kind of model answers in a fresh process, from files alone, exactly as it did before."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

import setlearn
from setlearn.errors import TruncationWarning
from tests.persistence.cases import answers
from tests.persistence.label_cases import label_cases
from tests.persistence.record_cases import record_cases
from tests.persistence.sequence_cases import sequence_cases

ROOT = Path(__file__).parents[2]


def compared(cases, function, folder):
    """What each model said before it was saved, and after it was loaded elsewhere."""
    before = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", TruncationWarning)
        for number, (name, case) in enumerate(cases.items()):
            model = case.fit()
            before[name] = json.loads(json.dumps(answers(model, case)))
            setlearn.save(model, folder / str(number))
    module = function.__module__
    subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.persistence.fresh_process",
            folder,
            module,
            function.__name__,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
    )
    after = json.loads((folder / "answers.json").read_text())
    return before, after


@pytest.mark.parametrize("function", [label_cases, record_cases, sequence_cases])
def test_a_fresh_process_answers_the_same(function, tmp_path):
    before, after = compared(function(), function, tmp_path)
    assert list(after) == list(before)
    assert {name for name in before if not equal(after[name], before[name])} == set()


def equal(after, before):
    """Whether answers are the same, but for the last digits of scores in single precision."""
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(equal(after[k], before[k]) for k in before)
    if isinstance(before, list):
        return len(after) == len(before) and all(map(equal, after, before))
    return after == (pytest.approx(before, abs=1e-5) if isinstance(before, float) else before)
