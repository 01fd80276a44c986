import sys

import pytest
from benchmarks.sequence_cell import error_rate
from benchmarks.sequence_data import DATA_SETS
from benchmarks.sequence_systems import SYSTEMS, SYSTEMS_OF

from benchmarks import real_sequences

FIGURES = {name: 0.5 for name, _ in real_sequences.COLUMNS.values()}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the command with cells that take no time; returns the seeds that ran and the output."""

    def run_command(*arguments, failing=()):
        seeds = []

        def run_in_process(cell):
            seeds.append(cell["seed"])
            if cell["seed"] in failing:
                return {**cell, "error": "exit code 1: MemoryError"}
            return {**cell, **FIGURES, "version": "abc"}

        command = ["real_sequences", "--only", "lemminflect", "--systems", "suffix", *arguments]
        monkeypatch.setattr(sys, "argv", [*command, "--results", str(tmp_path / "results.json")])
        monkeypatch.setattr(real_sequences, "run_in_process", run_in_process)
        real_sequences.main()
        return sorted(seeds), capsys.readouterr().out

    return run_command


def test_finished_cells_are_not_run_again(run):
    assert run("--seeds", "0,1")[0] == [0, 1]
    assert run("--seeds", "0,1,2")[0] == [2]
    assert run("--seeds", "0", "--development")[0] == [0]
    assert run("--seeds", "0,1", "--force")[0] == [0, 1]


def test_an_error_is_recorded_and_its_cell_is_tried_again(run):
    seeds, output = run(failing=[1])
    assert seeds == [0, 1, 2]
    assert "benchmark lemminflect suffix 1: exit code 1: MemoryError" in output
    assert "| lemminflect | suffix | 2 | 0.500 ± 0.000 |" in output
    assert run()[0] == [1]


def test_unknown_names_are_refused(run, capsys):
    with pytest.raises(SystemExit):
        run("--only", "imagenet")
    assert "got imagenet; choose from cmudict_multi" in capsys.readouterr().err


def test_a_process_that_fails_says_why():
    cell = {"split": "benchmark", "data": "imagenet", "system": "suffix", "seed": 0}
    assert "there is no data set 'imagenet'" in real_sequences.run_in_process(cell)["error"]


def test_each_data_set_has_goals_and_known_systems():
    assert set(DATA_SETS) == set(SYSTEMS_OF) == set(real_sequences.GOALS)
    assert all(set(systems) <= set(SYSTEMS) for systems in SYSTEMS_OF.values())


def test_an_answer_is_right_if_it_is_any_of_the_references():
    Y = [frozenset([("a",), ("b",)]), frozenset([("c",)]), frozenset([("d",)])]
    assert error_rate(Y, [("b",), ("a",), None]) == pytest.approx(2 / 3)


def test_the_documentation_has_the_table_of_the_results():
    cells = [
        cell
        for (split, *_), cell in real_sequences.read_cells(real_sequences.RESULTS).items()
        if split == "benchmark"
    ]
    shown = (real_sequences.ROOT / "docs" / "sequences.md").read_text(encoding="utf-8")
    assert real_sequences.summary(cells) in shown
