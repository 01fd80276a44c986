"""A fitted model that cannot be saved is kept in a rescue folder."""

import re

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.cli.fitting import save_or_rescue
from setlearn.errors import ModelError
from setlearn.persistence import check_can_save
from setlearn.records import plan_records
from setlearn.rules import TopK

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
