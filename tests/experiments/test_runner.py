"""Cells run in processes of their own; what is finished is never run again."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from setlearn.experiments import runner
from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.reproduce import ProgressDisplay, seconds_left
from setlearn.experiments.runner import Outcome, run_as_ray_tasks, run_cells
from setlearn.experiments.store import CellStore
from setlearn.experiments.tables.tasks import DECODER
from tests.experiments.tiny import SEQUENCES, FailingPredictor, NoSource, Watcher, one_system


def test_all_cells_find_something_but_the_one_without_data(tiny_run):
    _, folder, outcomes = tiny_run
    assert [bool(outcome.results) for outcome in outcomes] == [True] * 4 + [False] * 2
    assert {o.failure for o in outcomes if not o.results} == {"there is no such data"}
    assert len(list(folder.iterdir())) == 4


def test_a_cell_says_all_that_a_report_needs(tiny_run):
    results = tiny_run[2][2].results
    assert results["n_train"] == 42
    assert results["n_test"] == sum(results["true"]) == 18
    assert results["peak_mb"] > 50
    assert results["seconds"] > 0
    assert len(results["examples"]) == 10
    assert "(root)" in results["examples"][0]["trace"]
    for answer in results["answers"].values():
        assert answer["metrics"]["mean_f1"] is not None
        assert sum(answer["sizes"]) == 18
    scorer = results["scorers"][DECODER]
    assert scorer["history"][-1]["step"] == 10
    assert [gap["depth"] for gap in scorer["gaps"]] == list(range(len(scorer["gaps"])))
    assert not tiny_run[2][1].results["examples"]  # split 0 is enough


def test_a_second_run_does_nothing(tiny_run, monkeypatch):
    cells, folder, before = tiny_run
    monkeypatch.setattr(runner, "_start", None)
    again = run_cells(cells, CellStore(folder), jobs=2, display=Watcher())
    assert [outcome.results for outcome in again] == [outcome.results for outcome in before]
    assert all(outcome.reused for outcome in again if outcome.results)


def test_ray_tasks_get_the_same_results(tiny_run, tmp_path):
    cells, _, before = tiny_run
    cells = [*cells[1:3], ExperimentCell(one_system(scorer=FailingPredictor()), 0)]
    outcomes = run_cells(
        cells, CellStore(tmp_path), jobs=2, display=Watcher(), run_missing=run_as_ray_tasks
    )
    for outcome, expected in zip(outcomes, before[1:3], strict=False):
        answers, right = (o.results["answers"] for o in (outcome, expected))
        assert {k: a["metrics"] for k, a in answers.items()} == {
            k: a["metrics"] for k, a in right.items()
        }
    assert outcomes[2].failure == "ValueError: it does not work"
    again = run_cells(cells[:2], CellStore(tmp_path), jobs=2, display=Watcher())
    assert all(outcome.reused for outcome in again)


def test_a_corrupt_cell_is_done_again_to_the_same_end_and_said_so(tiny_run, tmp_path):
    cells, folder, before = tiny_run
    store, watcher = CellStore(shutil.copytree(folder, tmp_path / "cells")), Watcher()
    path = store.path(cells[2], cells[2].key(SEQUENCES.source.load(0)))
    path.write_text(path.read_text()[:100])
    after = run_cells(cells, store, jobs=1, display=watcher)
    assert watcher.missing == [cells[2]]
    [note] = watcher.notes
    assert note.startswith("task2 split 0 is run again: task2-")
    first, second = (outcomes[2].results["answers"] for outcomes in (before, after))
    assert {k: a["metrics"] for k, a in first.items()} == {
        k: a["metrics"] for k, a in second.items()
    }


def test_failing_and_dying_cells_say_why_and_the_others_run(tmp_path):
    tables = [
        one_system(scorer=FailingPredictor()),
        one_system(scorer=FailingPredictor(deadly=True)),
        one_system(source=NoSource()),
        one_system(),
    ]
    cells = [ExperimentCell(table, 0) for table in tables]
    outcomes = run_cells(cells, CellStore(tmp_path), jobs=2, display=Watcher())
    assert [outcome.failure for outcome in outcomes] == [
        "ValueError: it does not work",
        "its process died with exit code 3",
        "there is no such data",
        "",
    ]
    assert outcomes[3].results
    assert len(list(tmp_path.iterdir())) == 1  # failures are not kept: they are tried again


def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process(tmp_path):
    table = one_system()
    cells, store = [ExperimentCell(table, split) for split in range(3)], CellStore(tmp_path)
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, store, jobs=1, display=Watcher(stop_after=1))
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    assert set(multiprocessing.active_children()) <= before  # other tests may have left theirs


RUN = """
import sys
from pathlib import Path
from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.runner import run_cells
from setlearn.experiments.store import CellStore
from tests.experiments.tiny import EndlessPredictor, Watcher, one_system
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    table = one_system(scorer=EndlessPredictor(str(folder / "process")))
    store = CellStore(folder / "cells")
    run_cells([ExperimentCell(table, 0)], store, jobs=1, display=Watcher())
"""


def is_running(process):
    """Whether there is such a process, and it has not ended."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_processes_of_cells_end_with_a_killed_run(tmp_path, ending):
    (tmp_path / "run.py").write_text(RUN)
    command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, env=environment) as run:
        while not (tmp_path / "process").exists():
            assert run.poll() is None
            time.sleep(0.05)
        worker = int((tmp_path / "process").read_text())
        assert is_running(worker)
        run.send_signal(ending)
    latest = time.monotonic() + 20
    while is_running(worker) and time.monotonic() < latest:
        time.sleep(0.05)
    still = is_running(worker)
    if still:
        os.kill(worker, signal.SIGKILL)
    assert not still


class TestTimeLeft:
    a, b = one_system(), one_system()

    def test_unknown_before_anything_is_finished(self):
        assert seconds_left({}, {ExperimentCell(self.a, 0): 3.0}, [], 2) is None

    def test_what_cells_of_the_table_took_scaled_by_share(self):
        finished = {ExperimentCell(self.a, 0): 10.0, ExperimentCell(self.a, 1): 20.0}
        waiting = [ExperimentCell(self.a, 2), ExperimentCell(self.a, 0, 0.5)]
        assert seconds_left(finished, {}, waiting, 1) == pytest.approx(22.5)
        assert seconds_left(finished, {}, waiting, 2) == pytest.approx(11.25)

    def test_running_cells_count_for_what_they_have_left(self):
        finished = {ExperimentCell(self.a, 0): 10.0}
        assert seconds_left(finished, {ExperimentCell(self.b, 1): 4.0}, [], 2) == pytest.approx(6)
        assert seconds_left(finished, {ExperimentCell(self.b, 1): 40.0}, [], 2) == 0


def test_the_display_tells_in_lines_where_there_is_no_terminal(capsys):
    display = ProgressDisplay(jobs=2)
    first, second = (ExperimentCell(SEQUENCES, split) for split in (0, 1))
    known = Outcome(ExperimentCell(SEQUENCES, 0, 0.5), None, "")
    display.begin([first, second], [known])
    for cell in (first, second):
        display.started(cell)
    assert "running task2 split 0 | task2 split 1" in str(display._line())
    display.finished(Outcome(first, {}))
    display.finished(Outcome(second, None, "it broke"))
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "2 cells to run, 0 finished earlier"
    assert lines[1].startswith("task2 split 0 took 0 s, about 0 s left")
    assert lines[2] == "task2 split 1 failed after 0 s: it broke"
