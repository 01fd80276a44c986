import pytest

from setlearn.experiments.cell import ExperimentCell
from setlearn.experiments.runner import run_cells
from setlearn.experiments.store import CellStore
from setlearn.experiments.summary import summarise
from tests.experiments.tiny import LABELS, SEQUENCES, NoSource, Watcher, one_system


@pytest.fixture(scope="session")
def tables():
    return [LABELS, SEQUENCES, one_system(source=NoSource())]


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory, tables):
    """A whole run in real processes: two splits, a curve, and a table without data."""
    folder = tmp_path_factory.mktemp("cells")
    labels, sequences, nothing = tables
    cells = [
        ExperimentCell(labels, 0),
        ExperimentCell(labels, 1),
        ExperimentCell(sequences, 0),
        ExperimentCell(sequences, 0, 0.5),
    ]
    cells += [ExperimentCell(nothing, 0), ExperimentCell(nothing, 1)]
    return cells, folder, run_cells(cells, CellStore(folder), jobs=2, display=Watcher())


@pytest.fixture(scope="session")
def results(tables, tiny_run):
    return summarise(tables, tiny_run[2])
