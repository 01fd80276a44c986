"""The benchmark of growth: its data, its cells and its slopes."""

import json

import numpy as np
import pytest
from benchmarks.growth_data import bags_to_predict, words_and_labels

from benchmarks import growth

DENSE = growth.SERIES[0]


@pytest.mark.parametrize("n_labels", [60, 200_000])
def test_words_and_labels(n_labels):
    X, Y, X_test, Y_test = words_and_labels(2000, n_labels)
    assert X.format == Y.format == "csr"
    assert X.shape[0] == Y.shape[0] == 2000
    assert Y.shape[1] == Y_test.shape[1] == n_labels
    assert X_test.shape[0] == Y_test.shape[0] == 1000
    sizes = Y.sum(axis=1)
    assert set(sizes.tolist()) == {3, 4, 5}
    assert Y.max() == 1
    counts = Y.sum(axis=0)
    assert counts[:10].mean() > 3 * counts[-10:].mean()


def test_words_tell_the_labels():
    """Rows that share a label share more words than others."""
    X, Y, *_ = words_and_labels(500, 60)
    shared_words, shared_labels = (X @ X.T).toarray(), (Y @ Y.T).toarray()
    np.fill_diagonal(shared_labels, -1)
    assert shared_words[shared_labels > 1].mean() > 1.2 * shared_words[shared_labels == 0].mean()


def test_rows_to_predict_are_repeated():
    _, Y, X_test, Y_test = bags_to_predict(2500)
    assert len(Y) == 4000
    assert (X_test[:500] == X_test[2000:]).all()
    assert Y_test.shape == (2500, 30)


def test_a_size_runs_in_a_process_of_its_own():
    cell = growth.in_own_process(DENSE, 60, max_seconds=300)
    assert cell["fit_peak_mb"] > 50
    assert 0 < cell["mean_f1"] < 1
    assert growth.in_own_process(DENSE, 60, max_seconds=0.01) == {"failed": "took more than 0 s"}


def test_stored_sizes_are_not_run_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(growth, "RESULTS", tmp_path / "growth.json")
    monkeypatch.setattr(growth, "PLOT", tmp_path / "growth.svg")
    cells = {str(n): {"fit_s": n**1.5, "mean_f1": 0.5} for n in DENSE.sizes}
    growth.store({"cells": {DENSE.name: cells}})
    before = growth.RESULTS.read_text()
    monkeypatch.setattr("sys.argv", ["growth", "--only", "dense"])
    growth.main()
    assert growth.RESULTS.read_text() == before
    assert capsys.readouterr().out == ""
    assert "dense rows, slope 1.50" in growth.PLOT.read_text()
    assert json.loads(before)["cells"][DENSE.name]["1000"]["mean_f1"] == 0.5


def test_slopes_are_those_of_logarithms():
    sizes = np.array([10.0, 100, 1000])
    assert growth.slope(sizes, 3 * sizes**0.7) == pytest.approx(0.7)
