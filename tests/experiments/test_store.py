"""Cells on disk: named by their settings, whole or not there, and damage is noticed."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from setlearn.experiments import cell as cell_module
from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.samples import TaskSource
from setlearn.experiments.store import CellStore, CorruptCellError, write_atomically
from setlearn.experiments.tables import TABLES
from setlearn.rules import Margin
from tests.experiments.tiny import SEQUENCES

CELL = ExperimentCell(SEQUENCES, 0)
SAMPLES = SEQUENCES.source.load(0)
RESULTS = {"seconds": 1.5, "answers": {"λ": [1, 2, None]}}


@pytest.fixture
def store(tmp_path):
    store = CellStore(tmp_path / "cells")
    store.write(CELL, "abc", RESULTS)
    return store


def test_what_was_written_is_read(store):
    assert store.read(CELL, "abc") == RESULTS
    assert store.read(CELL, "xyz") is None
    assert [path.name for path in store.folder.iterdir()] == ["task2-abc.json"]


@pytest.mark.parametrize(
    "damage", ["empty", "cut off", "changed", "not json", "other json", "deep", "repeated"]
)
def test_damage_is_noticed(store, damage):
    path = store.path(CELL, "abc")
    text = path.read_text()
    path.write_text(
        {
            "empty": "",
            "cut off": text[:-9],
            "changed": text.replace("1.5", "2.5"),
            "not json": "once upon a time",
            "other json": json.dumps([1, 2]),
            "deep": "[" * 99999,
            "repeated": text.replace("{", '{"format": 0, ', 1),
        }[damage]
    )
    with pytest.raises(CorruptCellError, match=r"task2-abc\.json is not"):
        store.read(CELL, "abc")


def test_bytes_that_are_no_text_are_damage_too(store):
    store.path(CELL, "abc").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CorruptCellError, match="cannot be read"):
        store.read(CELL, "abc")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(store, monkeypatch):
    def no_replace(*_):
        raise OSError("disk on fire")

    monkeypatch.setattr("os.replace", no_replace)
    with pytest.raises(OSError, match="fire"):
        write_atomically(store.path(CELL, "abc"), "new")
    assert store.read(CELL, "abc") == RESULTS
    assert len(list(store.folder.iterdir())) == 1


class TestKey:
    def test_the_same_settings_have_the_same_key(self):
        assert CELL.key(SAMPLES) == ExperimentCell(replace(SEQUENCES, title="x"), 0).key(SAMPLES)

    def test_it_depends_on_split_share_data_and_scorer(self):
        cells = [
            CELL,
            ExperimentCell(SEQUENCES, 1),
            ExperimentCell(SEQUENCES, 0, 0.5),
            ExperimentCell(TABLES["task2"], 0),
        ]
        keys = {cell.key(SAMPLES) for cell in cells}
        keys.add(CELL.key(TaskSource("substrings", n_samples=61).load(0)))
        assert len(keys) == 5

    def test_it_depends_on_rules_versions_and_code(self, monkeypatch):
        keys = {CELL.key(SAMPLES)}
        rules = {**SEQUENCES.rules, "Margin": Margin(multiplier=10)}
        keys.add(ExperimentCell(replace(SEQUENCES, rules=rules), 0).key(SAMPLES))
        monkeypatch.setattr(cell_module, "CODE_VERSION", 99)
        keys.add(CELL.key(SAMPLES))
        monkeypatch.setattr(cell_module, "versions", lambda: {"torch": "0"})
        keys.add(CELL.key(SAMPLES))
        assert len(keys) == 4

    def test_it_is_the_same_in_another_process(self):
        code = (
            "from setlearn.experiments.cell import ExperimentCell; "
            "from setlearn.experiments.tables import TABLES; t = TABLES['task1']; "
            "print(ExperimentCell(t, 2).key(t.source.load(2)))"
        )
        answer = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        table = TABLES["task1"]
        assert answer.stdout.strip() == ExperimentCell(table, 2).key(table.source.load(2))
