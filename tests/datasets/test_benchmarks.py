"""Benchmarks: from a folder, from river, from the net, or made here; and what is said if not."""

import gzip
import sys
import urllib.error

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.utils import Bunch

from setlearn.datasets import load_benchmark
from setlearn.datasets.benchmarks import digit_strips
from setlearn.errors import DataError, ParameterError


def parts(**changes):
    """Three samples with two features and the label sets {a}, {} and {a, b}."""
    arrays = {
        "X": np.arange(6, dtype=np.float32).reshape(3, 2),
        "Y_indptr": np.array([0, 1, 1, 3], np.int32),
        "Y_indices": np.array([0, 0, 1], np.int16),
        "n_labels": np.int32(2),
        "label_names": np.array(["a", "b"]),
        **changes,
    }
    return {name: array for name, array in arrays.items() if array is not None}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SETLEARN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def nowhere(monkeypatch):
    """No folder, no river, no net."""
    monkeypatch.delenv("SETLEARN_DATA", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)


def unreachable(**_):
    raise urllib.error.URLError("no route to host")


class TestFolder:
    @pytest.mark.parametrize("name", ["yeast", "scene", "flags", "bibtex"])
    def test_dense(self, folder, name):
        np.savez(folder / f"{name}.npz", **parts())
        data = load_benchmark(name)
        assert data.X.tolist() == [[0, 1], [2, 3], [4, 5]]
        assert data.X.dtype == np.float64
        assert data.Y.toarray().tolist() == [[True, False], [False, False], [True, True]]
        assert data.sets() == [{"a"}, set(), {"a", "b"}]
        assert data.label_names == ("a", "b")
        assert str(folder) not in data.source

    @pytest.mark.parametrize("values", [None, np.array([2.0, 3.0])])
    def test_sparse_with_and_without_values(self, folder, values):
        inputs = {
            "X": None,
            "X_indptr": np.array([0, 1, 1, 2]),
            "X_indices": np.array([4, 0]),
            "X_shape": np.array([3, 5]),
            "X_data": values,
        }
        np.savez(folder / "bibtex.npz", **parts(**inputs))
        data = load_benchmark("bibtex")
        assert isinstance(data.X, sparse.csr_array)
        assert data.X.shape == (3, 5)
        first, last = (1, 1) if values is None else values
        assert data.X[0, 4] == first
        assert data.X[2, 0] == last

    @pytest.mark.parametrize(
        "changes",
        [
            {"n_labels": None},
            {"label_names": np.array(["a"])},
            {"X": np.ones((2, 2))},
            {"Y_indices": np.array([0, 0, 7])},
            {"Y_indptr": np.array([0, 2, 1, 3])},
            {"label_names": np.array([{"a": 1}, None], dtype=object)},
        ],
        ids=["missing", "names", "rows", "label", "order", "pickle"],
    )
    def test_a_file_that_does_not_fit_together(self, folder, changes):
        np.savez(folder / "yeast.npz", **parts(**changes))
        with pytest.raises(DataError, match=r"yeast\.npz .* cannot be read: .*download it again"):
            load_benchmark("yeast")

    @pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04 cut off"])
    def test_a_corrupt_file_is_not_passed_over(self, folder, content):
        (folder / "yeast.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"yeast\.npz .* cannot be read"):
            load_benchmark("yeast")


class TestRiver:
    @pytest.fixture
    def river(self, tmp_path, monkeypatch):
        monkeypatch.delenv("SETLEARN_DATA", raising=False)
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
        home = tmp_path / "river"
        (home / "datasets").mkdir(parents=True)
        (home / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "river", raising=False)
        return home / "datasets" / "yeast.csv.gz"

    def test_its_file_is_read_without_importing_it(self, river):
        with gzip.open(river, "wt") as file:
            file.write("Att1,Att2,Class1,Class2\n0.5,-1,1,0\n2,3,1,1\n")
        data = load_benchmark("yeast")
        assert data.X.tolist() == [[0.5, -1], [2, 3]]
        assert data.sets() == [{"Class1"}, {"Class1", "Class2"}]
        assert "river" not in sys.modules

    def test_an_old_river_has_no_yeast(self, river):
        with pytest.raises(DataError, match=r"too old \(before 0.26\)"):
            load_benchmark("yeast")

    def test_a_corrupt_file(self, river):
        river.write_bytes(b"nothing gzipped")
        with pytest.raises(DataError, match="install river again"):
            load_benchmark("yeast")

    def test_scene_is_not_there(self, river):
        with pytest.raises(DataError, match="river does not hold scene"):
            load_benchmark("scene")


class TestOpenML:
    @pytest.mark.parametrize("truth", [("TRUE", "FALSE"), ("1", "0")])
    def test_targets_of_words_or_numbers(self, nowhere, monkeypatch, truth):
        yes, no = truth

        def fetch(data_id, **_):
            assert data_id == 40595
            target = np.array([[yes, no], [no, no]], dtype=object)
            return Bunch(data=np.eye(2), target=target, target_names=["Beach", "Sunset"])

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        data = load_benchmark("scene")
        assert data.sets() == [{"Beach"}, set()]
        assert data.source == "OpenML data set 40595"

    def test_every_way_that_was_tried_is_told(self, nowhere):
        with pytest.raises(DataError) as caught:
            load_benchmark("yeast")
        said = str(caught.value)
        for part in (
            "SETLEARN_DATA is not set",
            "river is not installed",
            "no route to host",
            "set SETLEARN_DATA to a folder that holds yeast.npz",
            "pip install 'setlearn[datasets]'",
            "40597",
        ):
            assert part in said
        assert "\n" not in said

    def test_where_there_is_no_other_source(self, nowhere, monkeypatch, tmp_path):
        monkeypatch.setenv("SETLEARN_DATA", str(tmp_path))
        with pytest.raises(DataError, match=r"holds no flags\.npz; .* not fetched from OpenML"):
            load_benchmark("flags")


class TestDigits:
    def test_the_set_is_what_is_on_the_strip(self):
        strips = digit_strips(300, random_state=1)
        images, digits = sklearn.datasets.load_digits(return_X_y=True)
        known = {image.tobytes(): str(digit) for image, digit in zip(images, digits, strict=True)}
        sizes = set()
        for row, labels in zip(strips.X, strips.sets(), strict=True):
            pieces = row.reshape(8, 6, 8).swapaxes(0, 1).reshape(6, 64)
            found = [known[piece.tobytes()] for piece in pieces if piece.any()]
            assert labels == set(found)
            assert not pieces[len(found) :].any()  # blank on the right only
            sizes.add(len(found))
        assert sizes == {1, 2, 3, 4, 5, 6}

    def test_seeded(self):
        assert np.array_equal(digit_strips(5).X, digit_strips(5).X)
        assert not np.array_equal(digit_strips(5).X, digit_strips(5, random_state=1).X)

    def test_always_there(self, nowhere):
        assert load_benchmark("digits").Y.shape == (2000, 10)

    @pytest.mark.parametrize("n_samples", [0, 2.5])
    def test_how_many(self, n_samples):
        with pytest.raises(ParameterError, match="n_samples must be"):
            digit_strips(n_samples)


def test_an_unknown_name():
    with pytest.raises(ParameterError, match="no benchmark 'yest'; choose one of bibtex, digits"):
        load_benchmark("yest")
