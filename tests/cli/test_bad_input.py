"""Files and models that cannot be used: a line that says why, the right exit code, no traceback."""

import gzip
import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

import setlearn
from setlearn.rules import TopK
from tests.cli.files import tagged_texts, write_jsonl
from tests.cli.running import run

FILES = {
    "empty.csv": (b"", "empty.csv is empty"),
    "header.csv": (b"text,tags\n", "header.csv holds no rows"),
    "empty.jsonl": (b"\n\n", "empty.jsonl holds no rows"),
    "short.csv": (b"text,tags\na,b\nc\n", "short.csv, line 3: has 1 columns instead of 2"),
    "quote.csv": (b'text,tags\n"a,b\n', "quote.csv, line 2: has a quote that is never closed"),
    "latin.csv": (b"text,tags\ncaf\xe9,b\n", "latin.csv, line 2: byte 13 of the file is not utf-8"),
    "list.jsonl": (b"[1, 2]\n", "list.jsonl, line 1: holds [1, 2], not an object"),
    "broken.jsonl": (b'{"text": "a"}\n{"te', "broken.jsonl, line 2: is not JSON"),
    "other.jsonl": (b'{"txt": "a"}\n', "there is no column 'text'; did you mean 'txt'?"),
    "mixed.jsonl": (b'{"text": {"a": 1}}\n', "mixed.jsonl, line 1: column 'text' holds {'a': 1}"),
    "cut.csv.gz": (gzip.compress(b"text,tags\na,b\n")[:-9], "incomplete or damaged"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used(tagger, tmp_path, name):
    content, message = FILES[name]
    (tmp_path / name).write_bytes(content)
    ended = run("predict", tagger, tmp_path / name)
    assert ended.code == 3
    assert ended.err.startswith("setlearn: ")
    assert message in ended.err
    told = run("predict", tagger, tmp_path / name, "--json")
    assert told.code == 3
    assert told.document["error"]["code"] == 3
    assert message in told.document["error"]["message"]


@pytest.mark.parametrize("verb", ["predict", "evaluate"])
@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere"])
def test_a_file_that_is_not_there(tagger, verb, name):
    ended = run(verb, tagger, name)
    assert ended.code == 3
    assert ended.err == f"setlearn: there is no file {name}; check the path\n"


@pytest.mark.parametrize("text", ["nowhere.csv", "trout with rice", "a boat " * 100])
def test_a_text_where_trace_expects_a_file(tagger, text):
    ended = run("trace", tagger, text)
    assert ended.code == 3
    assert f"there is no file {text!r:.80}; check the path, or put --text before it" in ended.err


def test_a_model_that_is_not_there(photos, tmp_path):
    for path, problem in ((tmp_path / "m", "does not exist"), (photos, "is a file")):
        ended = run("predict", path, photos)
        assert ended.code == 4
        assert f"the model {path} {problem}" in ended.err
        assert ended.err.endswith("; pass the folder of a saved model\n")


@pytest.mark.parametrize("verb", ["predict", "evaluate", "trace"])
def test_a_folder_where_a_file_is_expected(tagger, verb):
    ended = run(verb, tagger, tagger)
    assert ended.code == 3
    assert ended.err == f"setlearn: {tagger} is a folder, not a file; name one file in it\n"


def test_the_right_encoding(tagger, tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"text\nboat caf\xe9\n")
    command = ("predict", tagger, tmp_path / "latin.csv")
    refused = run(*command).err
    assert "encoding='latin-1'" in refused
    assert "(--encoding NAME)" in refused
    assert run(*command, "--encoding", "latin-1").answers == [{"prediction": ["sea"]}]
    assert run(*command, "--encoding", "morse").code == 2


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (("--target", "tag"), 3, "there is no column 'tag'; did you mean 'tags'?"),
        (("--input", "txt"), 3, "the columns are text, tags"),
        (("--input", "tags"), 2, "'tags' is the target, so it cannot also be an input"),
        (("--format", "xls"), 2, "there is no format 'xls'; choose one of jsonl"),
    ],
)
def test_columns_and_formats_that_are_not_there(photos, tmp_path, asked, code, message):
    ended = run("fit", photos, *asked, "-o", tmp_path / "model")
    assert ended.code == code
    assert message in ended.err
    assert not (tmp_path / "model").exists()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.dictionaries(st.sampled_from(["text", "tags", "x"]), json_values)))
def test_whatever_json_says_there_is_no_traceback(tagger, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    ended = run("predict", tagger, "-", "--format", "jsonl", stdin=lines)
    assert ended.code == (0 if len(ended.answers) == len(rows) > 0 else 3)
    skipped = run("predict", tagger, "-", "--format", "jsonl", "--skip-bad", "--json", stdin=lines)
    if skipped.code == 0:
        assert skipped.document["n_answers"] + skipped.document["left_out"] == len(rows)
        assert skipped.document["n_answers"] > 0
    else:
        assert skipped.code == 3
        assert not ended.answers


@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=60))
def test_whatever_bytes_come_there_is_no_traceback(tagger, content):
    ended = run("predict", tagger, "-", stdin=content)
    assert ended.code in (0, 3)
    assert (ended.code == 0) == ("setlearn: " not in ended.err)


class OwnLearner(ClassifierMixin, BaseEstimator):
    """One that setlearn has never heard of."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.share_ = float(np.mean(y))
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))


class TestModels:
    def test_none(self, photos, tmp_path):
        for model in (tmp_path / "nothing", photos):
            ended = run("predict", model, photos, "--json")
            assert ended.code == 4
            assert ended.document["error"]["code"] == 4

    def test_a_damaged_one(self, tagger, photos, tmp_path):
        model = shutil.copytree(tagger, tmp_path / "model")
        weights = model / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1] + b"!")
        for command in (("predict", model, photos), ("inspect", model)):
            ended = run(*command)
            assert ended.code == 4
            assert "weights.safetensors is not as it was saved" in ended.err

    def test_one_that_holds_unknown_types(self, tmp_path):
        X, Y = np.eye(4), [{"a"}, {"a", "b"}, {"b"}, {"a"}]
        model = setlearn.SetClassifier(OwnLearner(), TopK(1), random_state=0).fit(X, Y)
        name = f"{OwnLearner.__module__}.OwnLearner"
        setlearn.save(model, tmp_path / "model", trusted=[name])
        data = write_jsonl(tmp_path / "rows.jsonl", [{"x": [0, 0, 0, 1]}])
        ended = run("predict", tmp_path / "model", data)
        assert ended.code == 4
        assert f"--trust {name}" in ended.err
        trusted = run("predict", tmp_path / "model", data, "--trust", name)
        assert trusted.code == 0, trusted.err
        assert len(trusted.answers) == 1

    def test_other_things_are_never_overwritten(self, photos, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        ended = run("fit", photos, "--learner", "logistic", "-o", tmp_path)
        assert ended.code != 0
        assert "holds other things than a setlearn model" in ended.err
        assert (tmp_path / "thesis.txt").read_text() == "years of work"

    def test_an_old_model_outlives_a_failed_fit(self, tagger, tmp_path):
        model = shutil.copytree(tagger, tmp_path / "model")
        data = write_jsonl(tmp_path / "rows.jsonl", [*tagged_texts(9), '{"text": '])
        assert run("fit", data, "-o", model).code == 3
        assert run("inspect", model).code == 0
