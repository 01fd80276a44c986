"""A fitted model is not lost if it cannot be evaluated or saved."""

import json
import re

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.cli.fitting import save_or_rescue
from setlearn.errors import DataError, ModelError
from setlearn.persistence import check_can_save
from setlearn.records import plan_records
from setlearn.rules import TopK
from tests.cli.running import run

RECORDS = [{"x": k / 7, "y": ["a"] if k % 2 else ["b"]} for k in range(8)]


def test_a_model_that_cannot_be_saved_is_kept_and_given_back(tmp_path):
    plan = plan_records(RECORDS, task="labels")
    model = plan.fit(RECORDS, SetClassifier(LogisticRegression(), TopK(1)))
    model.model.extra_ = np.array([1j])  # a kind of number that no model file holds
    with pytest.raises(ModelError, match=r"cannot be saved: .*complex128") as caught:
        save_or_rescue(model, tmp_path / "model", {})
    file = re.search(r"it is in (\S+)\. In Python", str(caught.value))[1]
    assert joblib.load(file).predict(RECORDS) == model.predict(RECORDS)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("error", "shown"),
    [(RecursionError("too deep"), "RecursionError: too deep"), (MemoryError(), "MemoryError")],
)
def test_a_model_is_kept_whatever_fails(photos, tmp_path, monkeypatch, error, shown):
    monkeypatch.setattr("setlearn.persistence.models._put_together", raising(error))
    ended = run("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
    assert ended.code == 4
    assert (
        f"setlearn: the model cannot be saved: {shown}. The fitted model is not lost" in ended.err
    )
    [file] = tmp_path.glob("model.rescue-*/model.joblib")
    assert joblib.load(file).predict([{"text": "a boat on a wave"}]) == [{"sea"}]


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (ValueError("no figures"), 4, "ValueError: no figures"),
        (DataError("line 3: bad"), 3, "line 3: bad"),
    ],
)
def test_a_model_that_cannot_be_evaluated_is_saved(
    photos, tmp_path, monkeypatch, error, code, shown
):
    monkeypatch.setattr("setlearn.cli.fitting.evaluate_sets", raising(error))
    out = tmp_path / "model"
    ended = run("fit", photos, "--learner", "logistic", "--validation", 0.2, "-o", out)
    assert (ended.code, ended.out) == (code, "")
    assert f"setlearn: the model is saved in {out}, but without figures" in ended.err
    assert ended.err.endswith(f"could not be evaluated on the rows held out: {shown}\n")
    about = json.loads((out / "config.json").read_text())["about"]
    assert (about["data"]["file"], "figures" in about) == ("photos.csv", False)
    assert setlearn.load(out).predict([{"text": "a boat on a wave"}]) == [{"sea"}]


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    "model",
    [
        SetClassifier(make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())),
        SequenceSetGenerator(tokens=str.split),
    ],
)
def test_what_no_file_can_hold_is_found_before_training(model):
    with pytest.raises(ModelError, match="cannot be saved"):
        check_can_save(model)
    check_can_save(SetClassifier(LogisticRegression()))
