"""``setlearn reproduce``, once as people call it: in a process of its own."""

import numpy as np
import pytest

from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.reproduce import CURVE_SHARES
from setlearn.experiments.store import CellStore
from setlearn.experiments.tables import TABLES
from tests.cli.running import run, run_process


@pytest.fixture
def data(tmp_path):
    """A folder with a tiny data set by the name of yeast."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > -9])
    np.savez(
        folder / "yeast.npz",
        X=X,
        Y_indptr=np.append(0, np.cumsum(Y.sum(axis=1))),
        Y_indices=np.nonzero(Y)[1].astype(np.int16),
        n_labels=3,
        label_names=np.array(["a", "b", "c"]),
        feature_names=np.array(list("wxyz")),
    )
    return folder


def keep_curve(cells):
    """Put the three smaller sizes there, as if an earlier run had been stopped after them."""
    table = TABLES["yeast"]
    answer = {"sigmoid network · λ-CNN": {"metrics": {"mean_f1": 0.5}}}
    for share in CURVE_SHARES:
        cell = ExperimentCell(table, 0, share)
        results = {"n_train": round(42 * share), "answers": answer, "seconds": 1.0}
        CellStore(cells).write(cell, cell.key(table.source.load(0)), results)


def test_reproduce_what_is_missing_and_then_nothing(data, tmp_path, monkeypatch):
    monkeypatch.setenv("SETLEARN_DATA", str(data))
    keep_curve(tmp_path / "out" / "cells")
    command = ("reproduce", "--only", "yeast", "--splits", "1", "--out", str(tmp_path / "out"))
    first = run_process(*command)
    assert first.code == 0, first.err
    assert first.out.startswith("## YEAST (mF1, higher is better)")
    assert "| SSG-CNN" in first.out
    assert "1 cells to run, 3 finished earlier" in first.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["cells", "index.html", "report.md", "results.json"]
    again = run(*command, "--cells", str(tmp_path / "out" / "cells"))
    assert "0 cells to run, 4 finished earlier" in again.err
    assert again.out == first.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "--only", "yeast,nothing"), "there is no table 'nothing'"),
        (("reproduce", "--system", "SSG-X"), "there is no system 'SSG-X'"),
        (("reproduce", "--splits", "0"), "--splits"),
        (("reproduce", "--jobs", "many"), "--jobs"),
    ],
)
def test_a_mistake_in_what_is_asked(arguments, message):
    answer = run(*arguments)
    assert answer.code == 2
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


class TestTrouble:
    def test_a_folder_that_cannot_be_written_to(self, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        answer = run("reproduce", "--only", "task2", "--out", str(tmp_path / "file" / "out"))
        assert answer.code == 1
        [line] = answer.err.splitlines()
        assert line.startswith("setlearn: the folder")
        assert "cannot be written to (Not a directory); choose another one" in line

    def test_debug_shows_where(self, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        answer = run_process("reproduce", "--debug", "--out", str(tmp_path / "file" / "out"))
        assert "Traceback" in answer.err
        assert "_check_writable" in answer.err

    def test_data_that_cannot_be_read(self, data, tmp_path, monkeypatch):
        monkeypatch.setenv("SETLEARN_DATA", str(data))
        (data / "yeast.npz").write_bytes(b"PK is not enough")
        out = tmp_path / "out"
        answer = run("reproduce", "--only", "yeast", "--out", str(out))
        assert answer.code == 1
        assert "Not run: yeast split 0 and 12 more: yeast.npz in the folder" in answer.out
        assert answer.err.splitlines()[-1] == ("setlearn: no experiment could be run; see above")
        assert "Not run" in (out / "index.html").read_text()
