"""``setlearn fit``: files as they are, guesses that are said, and options that overrule them."""

import gzip
import json
import os
import random
from pathlib import Path

import pytest

from tests.cli.files import tagged_texts, word_forms, write_csv, write_jsonl
from tests.cli.running import run

LOGISTIC = ("--learner", "logistic")


def fitted(*arguments):
    ended = run("fit", *arguments)
    assert ended.code == 0, ended.err
    return ended


def test_all_but_the_target_is_guessed_and_said(photos, tmp_path):
    ended = fitted(photos, "--target", "tags", "-o", tmp_path / "model")
    assert ended.err.splitlines() == [
        'tags: labels, separated by ";" (3 different)',
        "text: text (by TF-IDF of words)",
        "learner: mixture (by default)",
    ]
    assert ended.out.startswith(f"model: {tmp_path / 'model'} (labels, from 90 rows, rule ")
    assert run("fit", photos, "--quiet", *LOGISTIC, "-o", tmp_path / "model").err == ""


def test_the_target_is_known_by_its_name(photos, tmp_path):
    ended = fitted(photos, *LOGISTIC, "-o", tmp_path / "model", "--json")
    assert ended.err.startswith("target: tags (by its name)\n")
    assert ended.document["guesses"] == ended.err.splitlines()
    assert ended.document["rows"] == 90
    assert ended.document["left_out"] == 0
    assert ended.document["validation"] is None


def test_guesses_are_overruled(photos, tmp_path):
    asked = ("--separator", "", "--text", "chars", "--rule", "top-k:k=1", "--kind", "text=text")
    ended = fitted(photos, *LOGISTIC, *asked, "-o", tmp_path / "model")
    assert "tags: labels, each value one element (6 different)" in ended.err
    assert "text: text (by TF-IDF of characters)" in ended.err
    assert "TopK" in ended.out


def test_a_table_of_numbers_categories_and_flags(tmp_path):
    rng = random.Random(0)
    rows = [
        {"id": n, "size": rng.random(), "colour": rng.choice(["red", "blue"])} for n in range(60)
    ]
    for row in rows:
        row |= {"is_big": int(row["size"] > 0.5), "is_red": int(row["colour"] == "red")}
    data = write_csv(tmp_path / "things.csv", rows)
    ended = fitted(data, "--target", "is_*", *LOGISTIC, "-o", tmp_path / "model")
    assert "is_big, is_red: labels, one a column (2 in use)" in ended.err
    assert "id: ignored" in ended.err
    assert "colour: category" in ended.err
    row = json.dumps({"size": 0.9, "colour": "red"}).encode()
    [answer] = run("predict", tmp_path / "model", "-", stdin=row).answers
    assert answer == {"prediction": ["is_big", "is_red"]}


def test_gzipped_lines_with_vectors(tmp_path):
    rng = random.Random(0)
    points = [[rng.random(), rng.random()] for _ in range(60)]
    rows = [{"x": [a, b], "y": [n for n, v in (("a", a), ("b", b)) if v > 0.5]} for a, b in points]
    plain = write_jsonl(tmp_path / "points.jsonl", rows)
    data = tmp_path / "points.jsonl.gz"
    data.write_bytes(gzip.compress(plain.read_bytes()))
    ended = fitted(data, *LOGISTIC, "-o", tmp_path / "model")
    assert "x: vector" in ended.err
    [answer] = run("predict", tmp_path / "model", "-", stdin=b'{"x": [0.9, 0.1]}').answers
    assert answer == {"prediction": ["a"]}


def test_svmlight(tmp_path):
    data = tmp_path / "songs.svm"
    data.write_text("".join(f"{n % 2},{2 + n % 3} {n % 2}:1 {5 + n % 3}:0.5\n" for n in range(60)))
    fitted(data, *LOGISTIC, "-o", tmp_path / "model")
    ended = run("evaluate", tmp_path / "model", data, "--json")
    assert ended.document["report"]["mean_f1"] > 0.9


def test_arff_of_mulan(tmp_path):
    found = [*Path(os.environ.get("SETLEARN_DATA", "nowhere")).rglob("flags*train*.arff")]
    if not found:
        pytest.skip("SETLEARN_DATA names no folder with the flags data set")
    ended = fitted(found[0], *LOGISTIC, "-o", tmp_path / "model", "--json")
    assert ended.document["task"] == "labels"
    assert len(run("inspect", tmp_path / "model", "--json").document["elements"]) == 7


def test_sequences(tmp_path):
    data = write_jsonl(tmp_path / "words.jsonl", word_forms(16))
    command = (data, "--target", "forms", "--max-steps", 2, "-o", tmp_path / "model")
    ended = fitted(*command, "--task", "sequences", "--tokens", "char")
    assert "network: transformer (by default)" in ended.err
    assert "elements: by characters" in ended.err
    assert not (tmp_path / "model.checkpoint").exists()


def test_rows_held_out(photos, tmp_path):
    command = (photos, *LOGISTIC, "--validation", 0.2, "--examples", 2, "-o", tmp_path / "model")
    ended = fitted(*command)
    assert "from 72 rows" in ended.out
    assert "rows held out" in ended.out
    document = fitted(*command, "--json").document
    assert document["validation"]["report"]["n_samples"] == 18
    about = run("inspect", tmp_path / "model", "--json").document["about"]
    assert about["figures"]["mean_f1"] == document["validation"]["report"]["mean_f1"]
    assert [list(example) for example in about["examples"]] == [["text"], ["text"]]


def test_rows_without_a_usable_set_are_left_out_and_counted(tmp_path):
    rows = tagged_texts(30)
    rows[3:3] = [{"text": "no tags"}, {"text": "odd", "tags": {"a": 1}}, '{"text": ']
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    refused = run("fit", data, *LOGISTIC, "-o", tmp_path / "model")
    assert refused.code == 3
    assert not (tmp_path / "model").exists()
    ended = fitted(data, *LOGISTIC, "--skip-bad", "-o", tmp_path / "model", "--json")
    assert ended.document["left_out"] == 3
    assert ended.document["rows"] == 30
    places = sorted(told.split(": ")[0] for told in ended.document["bad_rows"])
    assert places == [f"rows.jsonl, line {number}" for number in (4, 5, 6)]
    assert "left out: 3 bad row(s) of rows.jsonl" in ended.err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--network", "lstm"), "--network is for sequences"),
        (("--resume",), "--resume and --checkpoint are for sequences"),
        (("--learner", "magic"), "choose among mixture, logistic"),
        (("--rule", "magic"), "choose among auto, expected-f"),
        (("--rule", "threshold:cut"), "name=value"),
        (("--rule", "threshold:height=3"), "does not take that"),
        (("--kind", "text"), "--kind is written column=kind"),
        (("--kind", "text=colour"), "must be one of number, category"),
        (("--task", "sequences", "--tokens", "letters"), "--tokens is char or word"),
        (("--task", "sequences", "--conditional"), "--conditional is for labels"),
    ],
)
def test_options_that_do_not_fit(photos, tmp_path, asked, message):
    ended = run("fit", photos, *asked, "-o", tmp_path / "model")
    assert ended.code == 2
    assert message in ended.err
    assert ended.out == ""
