"""``evaluate`` warns if the file is the one that the model was trained on."""

import gzip
import shutil

import pytest

import setlearn
from tests.cli.files import tagged_texts, write_csv, write_jsonl
from tests.cli.running import run

ADVICE = "so the figures are too good; evaluate it on rows that it has not seen\n"


def compressed(path, folder, level=9):
    packed = folder / f"packed-{level}-{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), level))
    return packed


def test_the_same_file(tagger, photos, tmp_path):
    for data in (photos, shutil.copy(photos, tmp_path / "copy.csv")):
        ended = run("evaluate", tagger, data, "--quiet")
        assert ended.code == 0
        assert "too good" not in ended.out
        name = data.name
        assert (
            ended.err == f"setlearn: warning: the model was trained on the rows of {name}, {ADVICE}"
        )
    ended = run("evaluate", tagger, photos, "--json")
    assert ended.document["rows_trained_on"] == 90
    assert ADVICE in ended.err


def test_rows_that_were_held_out(photos, tmp_path):
    fit = ("fit", photos, "--learner", "logistic", "--validation", "0.2", "-o", tmp_path / "model")
    n_trained = run(*fit, "--json").document["rows"]
    assert 0 < n_trained < 90
    ended = run("evaluate", tmp_path / "model", photos, "--json")
    some = f"the model was trained on {n_trained} of the 90 rows of photos.csv, "
    assert ended.err.endswith(f"setlearn: warning: {some}{ADVICE}")
    assert ended.document["rows_trained_on"] == n_trained


@pytest.mark.parametrize("trained_on", ["plain", "compressed"])
def test_compressed_or_not(photos, tmp_path, trained_on):
    files = [photos, compressed(photos, tmp_path), compressed(photos, tmp_path, level=1)]
    data = files[0] if trained_on == "plain" else files[1]
    model = tmp_path / "model"
    assert run("fit", data, "--learner", "logistic", "-o", model).code == 0
    for other in files:
        assert run("evaluate", model, other, "--json").document["rows_trained_on"] == 90


def test_other_rows(tagger, tmp_path):
    others = tagged_texts(30, seed=5)
    for data in (write_csv(tmp_path / "a.csv", others), write_jsonl(tmp_path / "b.jsonl", others)):
        for given in (data, compressed(data, tmp_path)):
            ended = run("evaluate", tagger, given, "--json")
            assert ended.document["rows_trained_on"] == 0
            assert "trained on" not in ended.err


def test_what_cannot_be_compared(tagger, photos, bare, tmp_path):
    piped = run("evaluate", tagger, "-", "--json", stdin=photos.read_bytes())
    assert piped.document["rows_trained_on"] is None
    assert "trained on" not in piped.err
    data = write_jsonl(tmp_path / "rows.jsonl", [{"a": 3, "b": 0, "labels": ["high"]}])
    assert run("evaluate", bare, data, "--json").document["rows_trained_on"] is None
    model = tmp_path / "model"
    trained = run("fit", "-", "--learner", "logistic", "-o", model, stdin=photos.read_bytes())
    assert trained.code == 0
    assert run("evaluate", model, photos, "--json").document["rows_trained_on"] is None


@pytest.mark.parametrize(
    "data", [None, "photos", 3, [], {"sha256": ["x"]}, {"sha256": "x", "rows": None}]
)
def test_other_words_about_the_data(tagger, photos, tmp_path, data):
    setlearn.save(setlearn.load(tagger), tmp_path / "model", about={"data": data})
    ended = run("evaluate", tmp_path / "model", photos, "--json")
    assert (ended.code, ended.document["rows_trained_on"]) == (0, None)
