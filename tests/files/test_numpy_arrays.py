"""NumPy files."""

import gzip
import io
import sys

import numpy as np
import pytest
from scipy import sparse

from setlearn.errors import DataError
from setlearn.files import open_rows
from tests.files.gathered import DATA, left_out, needs_data, records

X = np.array([[0.5, 0.0], [0.0, 2.0], [1.0, 1.0]], dtype=np.float32)
Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])


def comparable(found):
    return [
        {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in r.items()
        }
        for r in found
    ]


@pytest.mark.parametrize("part", ["Y", "y"])
def test_dense_arrays(tmp_path, part):
    path = tmp_path / "a.npz"
    np.savez(path, X=X, **{part: Y})
    with open_rows(path) as rows:
        assert (rows.target, rows.columns) == ("y", ["x", "y"])
        found = list(rows)
    assert found[0].place == "a.npz, row 1"
    assert found[0].record["x"].dtype == np.float64
    assert comparable(row.record for row in found) == [
        {"x": [0.5, 0.0], "y": [0, 2]},
        {"x": [0.0, 2.0], "y": []},
        {"x": [1.0, 1.0], "y": [1]},
    ]


def test_sparse_arrays_with_names(tmp_path):
    path = tmp_path / "a.npz"
    x, y = sparse.csr_array(X), sparse.csr_array(Y)
    parts = {
        "X_indptr": x.indptr,
        "X_indices": x.indices.astype(np.int16),
        "X_shape": x.shape,
        "Y_indptr": y.indptr,
        "Y_indices": y.indices,
        "label_names": ["sea", "sun", "city"],
    }
    np.savez(path, **parts, X_data=x.data)
    assert records(path) == [
        {"x": {0: 0.5}, "y": ["sea", "city"]},
        {"x": {1: 2.0}, "y": []},
        {"x": {0: 1.0, 1: 1.0}, "y": ["sun"]},
    ]
    np.savez(path, **parts)
    assert records(path)[1]["x"] == {1: 1.0}


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_alone(tmp_path, monkeypatch, order):
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(X, order=order))
    packed = tmp_path / "a.npy.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected = [{"x": row} for row in X.tolist()]
    assert comparable(records(path)) == comparable(records(packed)) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert comparable(records("-", format="numpy")) == expected
    with open_rows(path) as rows:
        assert (rows.target, rows.columns) == (None, ["x"])


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"Z": X, "Y": Y}, "it holds Y, Z, but no X"),
        ({}, "it holds no arrays, but no X"),
        ({"X": X[0]}, r"X has 1 dimension\(s\) of float32"),
        ({"X": X.astype(str)}, "X has 2 .* of <U32"),
        ({"X": X, "Y": Y[:2]}, "X has 3 rows, but Y has 2"),
        ({"X": X, "Y": Y, "label_names": ["a"]}, "Y has 3 columns, but there are 1 label_names"),
        ({"X": X, "Y_indptr": [0, 1, 2, 3]}, "Y_indices"),
        ({"X": X, "Y_indptr": [0, 1, 2, 9], "Y_indices": [0, 1, 2]}, "ind"),
    ],
)
def test_arrays_that_do_not_fit_are_an_error(tmp_path, arrays, problem):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=f"a.npz cannot be read: .*{problem}"):
        open_rows(path, skip_bad=True)


def test_objects_are_never_unpickled(tmp_path):
    objects = np.array([[{}]], dtype=object)
    np.savez(tmp_path / "a.npz", X=objects)
    np.save(tmp_path / "b.npy", objects)
    with pytest.raises(DataError, match=r"a.npz cannot be read: Object arrays cannot be loaded"):
        open_rows(tmp_path / "a.npz")
    with pytest.raises(DataError, match=r"b.npy cannot be read: the array has 2 .* of object"):
        open_rows(tmp_path / "b.npy")


@pytest.mark.parametrize("name", ["a.npz", "a.npy"])
def test_damaged_files_are_an_error(tmp_path, name):
    path = tmp_path / name
    np.savez(path, X=X) if name == "a.npz" else np.save(path, X)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=f"{name} cannot be read"):
        records(path)
    path.write_text("hello")
    with pytest.raises(DataError, match=f"{name} cannot be read"):
        records(path)


def test_a_row_of_other_numbers_is_named_or_left_out(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=X, Y=Y * [[1], [1], [2]])
    with pytest.raises(
        DataError, match=r"a.npz, row 3: Y holds 2, but label sets consist of 0 and 1"
    ):
        records(path)
    assert len(left_out(path)[0]) == 2


def test_no_rows(tmp_path):
    np.save(tmp_path / "a.npy", np.empty((0, 3)))
    with pytest.raises(DataError, match=r"a.npy holds no rows"):
        records(tmp_path / "a.npy")


@needs_data
def test_real_arrays():
    rows = list(open_rows(DATA / "bibtex.npz"))
    assert len(rows) == 7395
    assert sum(len(row.record["y"]) for row in rows) == 17762
    assert sum(len(row.record["x"]) for row in rows) == 507746
    assert all(label.startswith("TAG_") for row in rows for label in row.record["y"])
