"""Examples run end to end; that of premise selection on a small file of the same form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import setlearn
from setlearn.persistence import read_model
from setlearn.records import reading_x
from tests.cli.files import orders

EXAMPLE = Path(__file__).parents[1] / "examples" / "2-advanced" / "premise_selection.py"
DEEPMATH = Path(os.environ.get("SETLEARN_DATA", "")) / "deepmath.jsonl.gz"


def run(*arguments):
    command = [sys.executable, EXAMPLE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def conjectures(tmp_path):
    """A file in which candidates are numbers of formulas."""
    rows = orders(200)
    formulas = sorted({word for row in rows for word in row["listed"]})
    lines = [{"formulas": formulas}]
    for row in rows:
        numbers = {key: [formulas.index(word) for word in row[key]] for key in ("listed", "chosen")}
        lines.append(
            {"query": row["ask"], "candidates": numbers["listed"], "chosen": numbers["chosen"]}
        )
    path = tmp_path / "conjectures.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_premise_selection(conjectures, tmp_path):
    ended = run(conjectures, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert "160 training conjectures, 40 test conjectures" in ended.stdout
    assert "RiskControl(0.9)" in ended.stdout
    assert (tmp_path / "out" / "precision_and_recall.png").read_bytes().startswith(b"\x89PNG")
    saved = read_model(tmp_path / "out" / "model")
    examples = saved.about["examples"]
    assert reading_x(saved.model).predict(examples) == setlearn.load(
        tmp_path / "out" / "model"
    ).predict([(each["query"], each["candidates"]) for each in examples])


def test_a_missing_file_is_named(tmp_path):
    ended = run(tmp_path / "none.jsonl")
    assert ended.returncode == 2
    assert "there is no file" in ended.stderr


@pytest.mark.skipif(not DEEPMATH.is_file(), reason="SETLEARN_DATA has no deepmath.jsonl.gz")
def test_premise_selection_on_conjectures(tmp_path):
    ended = run(DEEPMATH, "--most", 300, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    learned = next(
        line for line in ended.stdout.splitlines() if line.startswith("the learned rule")
    )
    assert float(learned.split()[-4]) > 0.667  # the mean F1 of keeping all candidates


def test_a_pool_of_processes():
    example = EXAMPLE.with_name("process_pool.py")
    ended = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[:2] == [
        "1500 rows in 6 batches",
        "the sun at sea       sea, sun",
    ]
