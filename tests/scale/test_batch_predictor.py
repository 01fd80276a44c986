"""A predictor of batches needs no engine, only its own bytes."""

import pickle
import subprocess
import sys

import pytest

import setlearn
from setlearn.errors import DataError, KindError, ModelError, ParameterError
from setlearn.files.plain_values import plain
from setlearn.rules import TopK
from setlearn.scale import BatchPredictor
from tests.scale.models import KINDS, samples

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")

IN_ANOTHER_PROCESS = """
import pickle, sys
predict, batch = pickle.load(sys.stdin.buffer)
answer = predict(batch)
assert "ray" not in sys.modules
sys.stdout.buffer.write(pickle.dumps(answer))
"""


def as_columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_and_dicts_get_the_same_sets_as_rows(models, kind):
    rows = samples(kind, 30, seed=1)
    expected = plain(setlearn.load(models[kind]).predict(rows))
    predict = BatchPredictor(models[kind])
    columns = as_columns(rows)
    assert predict(columns) == {**columns, "prediction": expected}
    table = predict(pyarrow.table(columns))
    assert table.column("prediction").to_pylist() == expected
    assert table.drop_columns("prediction") == pyarrow.table(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_the_type_of_the_column_is_that_of_every_batch(models, kind):
    rows = samples(kind, 3)
    nothing = BatchPredictor(models[kind], rule=setlearn.rules.Threshold(0.999))
    everything = BatchPredictor(models[kind], rule=TopK(1))
    tables = [predict(pyarrow.table(as_columns(rows))) for predict in (nothing, everything)]
    assert tables[0].schema == tables[1].schema
    ranked = BatchPredictor(models[kind], top=2)(pyarrow.table(as_columns(rows)))
    [best, *_] = ranked.column("prediction").to_pylist()[0]
    assert set(best) == {"element", "score"}


def test_it_works_where_there_is_nothing_but_its_bytes(models):
    batch = as_columns(samples("labels", 5))
    predict = BatchPredictor(str(models["labels"]))
    sent = pickle.dumps((predict, batch))
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    ended = subprocess.run(command, input=sent, capture_output=True, check=True)
    assert pickle.loads(ended.stdout) == predict(batch)


def test_a_fitted_model_does_as_well_as_its_folder(models):
    batch = as_columns(samples("labels", 5))
    model = setlearn.load(models["labels"])
    assert BatchPredictor(model)(batch) == BatchPredictor(models["labels"])(batch)


def test_models_without_columns_read_those_that_are_named():
    X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 5
    bare = setlearn.SetClassifier(rule=TopK(1), random_state=0).fit(X, [{"a"}, {"b"}] * 10)
    batch = {"id": [7, 8], "height": [0.0, 1.0], "width": [1.0, 0.0]}
    answer = BatchPredictor(bare, inputs=["height", "width"])(batch)
    assert answer["prediction"] == [["a"], ["b"]]


@pytest.mark.parametrize("kind", KINDS)
def test_engines_may_send_empty_batches(models, kind):
    table = pyarrow.table(as_columns(samples(kind, 3)))
    predict = BatchPredictor(models[kind])
    assert predict(table[:0]).num_rows == 0
    assert predict(table[:0]).column_names == predict(table).column_names
    assert predict({"text": []}) == {"text": [], "prediction": []}


def test_what_is_wrong_with_a_batch_is_said(models):
    predict = BatchPredictor(models["labels"])
    with pytest.raises(ParameterError, match="already"):
        predict({"text": ["a"], "prediction": ["b"]})
    with pytest.raises(KindError, match="got a list"):
        predict([{"text": "a"}])
    with pytest.raises(DataError, match="row 1 of the batch"):
        predict({"title": ["a"]})
    with pytest.raises(ModelError, match="does not exist"):
        BatchPredictor("nowhere")
