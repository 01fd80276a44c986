"""Parquet."""

import gzip
import subprocess
import sys

import pytest

from setlearn.errors import DataError
from setlearn.files import open_rows
from tests.files.gathered import records

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")


@pytest.fixture
def written(tmp_path):
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table(
        {"text": [f"t{i}" for i in range(3000)], "y": [["a", "b"], None, []] * 1000}
    )
    parquet.write_table(table, path)
    return path


def test_records_have_plain_values(written):
    with open_rows(written) as rows:
        assert rows.columns == ["text", "y"]
        found = list(rows)
    assert len(found) == 3000
    assert found[0].record == {"text": "t0", "y": ["a", "b"]}
    assert found[2999].place == "a.parquet, row 3000"
    assert [row.record["y"] for row in found[1:3]] == [None, []]


def test_compressed_once_more(written):
    packed = written.with_name("a.parquet.gz")
    packed.write_bytes(gzip.compress(written.read_bytes()))
    assert records(packed) == records(written)


def test_damaged_files_are_an_error(written):
    content = written.read_bytes()
    for damaged in (b"hello", content[:-20], content[:4] + b"\xff" * 2000 + content[2004:]):
        written.write_bytes(damaged)
        with pytest.raises(DataError, match=r"a.parquet cannot be read"):
            records(written, skip_bad=True)


def test_no_rows(tmp_path):
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": pyarrow.array([], "int64")}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a.parquet holds no rows"):
        records(tmp_path / "a.parquet")


def test_without_pyarrow_it_says_what_to_install(written):
    """In a process of its own, where the import fails as it does without the package."""
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from setlearn.files import open_rows\n"
        f"open_rows({str(written)!r})"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pyarrow is not installed; pip install 'setlearn[parquet]'" in answer.stderr
