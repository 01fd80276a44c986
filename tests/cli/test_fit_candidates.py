"""Choosing from lists of candidates, on the command line."""

import pytest

from tests.cli.files import orders, write_csv, write_jsonl
from tests.cli.running import run

ORDERS = orders(150)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    data = write_jsonl(folder / "orders.jsonl", ORDERS)
    ended = run("fit", data, "--target", "chosen", "-o", folder / "model")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines() == [
        "listed: holds all chosen elements, so they are chosen from it; if they are labels all the "
        "same, choose the task labels",
        "chosen: candidates (12 different)",
        "id: ignored (an id by its name)",
        "ask: text",
        "listed: candidates (3.9 per row)",
        "learner: gradient boosting on features of query and candidate (by default)",
    ]
    assert f"model: {folder / 'model'} (candidates, from 150 rows, rule" in ended.out
    return folder / "model"


def test_other_verbs(model, tmp_path):
    new = write_jsonl(tmp_path / "new.jsonl", orders(60, seed=1))
    report = run("evaluate", model, new, "--json")
    assert report.code == 0, report.err
    assert report.document["report"]["mean_f1"] > 0.8
    ask = {"ask": "please tram and moon", "listed": ["tram", "moon", "salt"], "in": ["tram"]}
    one = write_jsonl(tmp_path / "one.jsonl", [ask])
    assert run("predict", model, one).answers == [{"prediction": ["moon", "tram"]}]
    assert "stopped:" in run("trace", model, one).out
    completed = run("complete", model, one, "--known", "in").answers
    assert completed == [{"known": ["tram"], "prediction": ["moon"]}]
    assert run("predict", model, one, "--top", "3").answers[0]["prediction"][2][0] == "salt"


def test_errors_while_predicting(model, tmp_path):
    lacking = write_jsonl(tmp_path / "lacking.jsonl", [{"ask": "please tram"}])
    refused = run("predict", model, lacking)
    assert refused.code == 3
    assert "there is no column 'listed'" in refused.err
    strange = {"ask": "please tram", "listed": ["tram"], "in": ["pizza"]}
    known = write_jsonl(tmp_path / "known.jsonl", [strange])
    refused = run("complete", model, known, "--known", "in")
    assert refused.code == 3
    assert "'pizza'" in refused.err
    assert "Traceback" not in refused.err


def test_a_table(tmp_path):
    data = write_csv(tmp_path / "orders.csv", ORDERS)
    ended = run("fit", data, "--target", "chosen", "--candidates", "listed", "-o", tmp_path / "m")
    assert ended.code == 0, ended.err
    assert "(candidates, from 150 rows" in ended.out


def test_the_task_may_be_another(tmp_path):
    data = write_jsonl(tmp_path / "orders.jsonl", ORDERS)
    asked = ("--target", "chosen", "--learner", "logistic", "-o", tmp_path / "model")
    ended = run("fit", data, *asked, "--task", "labels")
    assert "(labels, from 150 rows" in ended.out
    refused = run("fit", data, *asked)
    assert refused.code == 2
    assert "--learner" in refused.err


def test_bad_rows_are_named_or_skipped(tmp_path):
    bad = {**ORDERS[0], "chosen": ["pizza"]}
    data = write_jsonl(tmp_path / "orders.jsonl", [*ORDERS, bad])
    asked = ("fit", data, "--target", "chosen", "-o", tmp_path / "model")
    refused = run(*asked)
    assert refused.code == 3
    assert "line 151: 'pizza' is chosen, but it is not among the" in refused.err
    assert "--skip-bad" in refused.err
    skipped = run(*asked, "--skip-bad", "--json").document
    assert (skipped["rows"], skipped["left_out"]) == (150, 1)


def test_the_query_must_be_somewhere(tmp_path):
    rows = [{"listed": row["listed"], "chosen": row["chosen"]} for row in ORDERS]
    data = write_jsonl(tmp_path / "orders.jsonl", rows)
    asked = ("--target", "chosen", "--candidates", "listed", "-o", tmp_path / "model")
    refused = run("fit", data, *asked)
    assert refused.code == 3
    assert "there is no column with the query" in refused.err
    assert "Traceback" not in refused.err
