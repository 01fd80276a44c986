"""Writing, and reading again what was written."""

import errno
import gzip
import os
import subprocess
import sys
import tracemalloc
from datetime import date
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.files import write_rows
from tests.files.gathered import records

EVERY_CHARACTER = st.text(st.characters(), max_size=6)  # half surrogate pairs too
NASTY = st.text(st.sampled_from("ab ,;|\t\"'\r\n[]{}\ufeff\u2028\x1aé\\#"), max_size=6)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | EVERY_CHARACTER
    | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(EVERY_CHARACTER, inner, max_size=3),
    max_leaves=6,
)
in_one_folder = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example writes it anew
)


@given(st.lists(st.dictionaries(EVERY_CHARACTER, JSON, max_size=3), min_size=1, max_size=4))
@in_one_folder
def test_json_lines_come_back_as_they_were(tmp_path, rows):
    for name in ("a.jsonl", "a.jsonl.gz"):
        write_rows(tmp_path / name, rows)
        assert records(tmp_path / name) == rows


@st.composite
def tables(draw):
    cell = NASTY | TEXT
    name = cell.map(str.strip).filter(bool)
    columns = draw(st.lists(name, min_size=1, max_size=3, unique=True))
    rows = st.lists(cell, min_size=len(columns), max_size=len(columns))
    return [dict(zip(columns, row, strict=True)) for row in draw(st.lists(rows, min_size=1))]


@given(tables())
@in_one_folder
def test_tables_come_back_as_they_were_with_none_for_empty_cells(tmp_path, rows):
    for name in ("a.csv", "a.tsv.gz"):
        write_rows(tmp_path / name, rows)
        expected = [{key: cell or None for key, cell in row.items()} for row in rows]
        assert records(tmp_path / name) == expected


def test_values_of_many_kinds(tmp_path):
    row = {
        "set": {"sun", "sea", 3},
        "sets": {frozenset("ba"), frozenset()},
        "array": np.array([[1, 2]]),
        "number": np.float32(0.5),
        "flag": np.bool_(True),
        "nan": float("nan"),
        "infinite": [np.inf],
        "day": date(2024, 2, 29),
        "sparse": {np.int64(3): 0.5},
    }
    write_rows(tmp_path / "a.jsonl", [row])
    assert records(tmp_path / "a.jsonl") == [
        {
            "set": [3, "sea", "sun"],
            "sets": [[], ["a", "b"]],
            "array": [[1, 2]],
            "number": 0.5,
            "flag": True,
            "nan": None,
            "infinite": [None],
            "day": "2024-02-29",
            "sparse": {"3": 0.5},
        }
    ]
    with pytest.raises(KindError, match="cannot hold the bytes"):
        write_rows(tmp_path / "a.jsonl", [{"x": b"raw"}])


def test_text_is_written_as_it_is(tmp_path):
    write_rows(tmp_path / "a.jsonl", [{"x": "é"}, {"x": "é\ud800"}])
    assert (tmp_path / "a.jsonl").read_text("utf-8") == '{"x": "é"}\n{"x": "\\u00e9\\ud800"}\n'


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ({"sun", "sea"}, "sea;sun"),
        ([2, 1.5], "2;1.5"),
        ([], None),
        (["a;b", "c"], '["a;b", "c"]'),
        ([""], '[""]'),
        ([" a"], '[" a"]'),
        (["[a"], '["[a"]'),
        ([None, "é"], '[null, "é"]'),
        ([["a"], ["b"]], '[["a"], ["b"]]'),
        ({"a": 1}, '{"a": 1}'),
        (True, "true"),
        (None, None),
        (0.1, "0.1"),
    ],
)
def test_lists_and_other_values_in_a_cell(tmp_path, value, cell):
    write_rows(tmp_path / "a.csv", [{"x": value, "y": 1}])
    assert records(tmp_path / "a.csv") == [{"x": cell, "y": "1"}]


def test_a_table_has_the_columns_of_its_first_record(tmp_path):
    path = tmp_path / "a.csv"
    write_rows(path, [{"a": 1, "b": 2}, {"b": 3}])
    assert path.read_text() == "a,b\n1,2\n,3\n"
    for rows, problem in [
        ([{"a": 1}, {"a": 1, "c": 2}], "record 2 has the column 'c', which the first one lacks"),
        ([{"a": 1, "": 2}], "the first record: column 2 of the header has no name"),
        ([{"a": 1, " ": 2}], "the first record: column 2 of the header has no name"),
        ([{"a": 1, "a ": 2}], "the first record: the header has more than one column 'a'"),
        ([{}], "the first record: there are no columns"),
        ([{"a": 1}, {"a": "\ud800"}], r"record 2 holds '\\ud800', which a table cannot hold"),
        ([{"a\0": 1}], r"record 1 holds '\\x00'"),
    ]:
        with pytest.raises(DataError, match=problem):
            write_rows(path, rows)
    assert path.read_text() == "a,b\n1,2\n,3\n"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_formats_that_cannot_be_written(tmp_path):
    with pytest.raises(ParameterError, match="arff can only be read; write one of jsonl, csv, tsv"):
        write_rows(tmp_path / "a.arff", [])
    with pytest.raises(ParameterError, match="has no suffix of a known format"):
        write_rows(tmp_path / "a.txt", [])
    write_rows(tmp_path / "a.txt", [{"x": 1}], format="jsonl")
    assert records(tmp_path / "a.txt", format="jsonl") == [{"x": 1}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv.gz"])
def test_a_failure_leaves_the_older_file_as_it_was(tmp_path, name):
    path = tmp_path / name
    for error in (RuntimeError("no more"), KeyboardInterrupt(), OSError(errno.EIO, "not ours")):

        def rows(error=error):
            yield {"x": 1}
            raise error

        path.write_text("old")
        with pytest.raises(type(error)):
            write_rows(path, rows())
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == [name]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a.jsonl", tmp_path / "link.jsonl"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_rows(link, [{"x": 1}])
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert records(path) == [{"x": 1}]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names here")
def test_a_pipe_with_a_name_is_written_to_and_not_replaced():
    end_to_read, end_to_write = os.pipe()
    with open(end_to_read, "rb") as reader:
        write_rows(f"/dev/fd/{end_to_write}", [{"x": 1}], format="jsonl")
        os.close(end_to_write)
        assert reader.read() == b'{"x": 1}\n'


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_rows(tmp_path / name, [{"x": {"b", "a", "c"}}])
    first, second = ((tmp_path / name).read_bytes() for name in ("a.jsonl.gz", "b.jsonl.gz"))
    assert first == second
    assert gzip.decompress(first) == b'{"x": ["a", "b", "c"]}\n'


def test_places_that_cannot_be_written_to(tmp_path):
    with pytest.raises(DataError, match=r"a.jsonl cannot be written: No such file or directory"):
        write_rows(tmp_path / "nowhere" / "a.jsonl", [{"x": 1}])
    with pytest.raises(DataError, match=r"is a folder; name a file in it"):
        write_rows(tmp_path, [{"x": 1}], format="jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("n_rows", [1, 100_000], ids=["at the end", "on the way"])
def test_a_full_disk_is_reported(n_rows):
    with pytest.raises(DataError, match="/dev/full cannot be written: No space left on device"):
        write_rows("/dev/full", ({"x": i} for i in range(n_rows)), format="jsonl")
    assert not Path("/dev/full").is_file()


def test_a_file_over_the_limit_is_reported_and_its_part_removed(tmp_path):
    """With a limit on the size of files, which stands for a disk that fills up."""
    code = (
        "import resource, signal, sys\n"
        "from setlearn.files import write_rows\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_rows(sys.argv[1], ({'x': i} for i in range(10_000)))\n"
    )
    path = tmp_path / "a.jsonl"
    path.write_text("old")
    answer = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "a.jsonl cannot be written: File too large" in answer.stderr
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_standard_output(capsysbinary):
    sys.stdout.write("before\n")
    write_rows("-", [{"x": "é"}])
    write_rows("/dev/stdout", [{"x": "é"}], format="csv")
    assert capsysbinary.readouterr().out == 'before\n{"x": "é"}\nx\né\n'.encode()


def test_a_reader_that_has_had_enough(monkeypatch):
    end_to_read, end_to_write = os.pipe()
    writer = open(end_to_write, "w")  # noqa: SIM115  # closing it fails, as its buffer is not empty
    with open(end_to_read, "rb") as reader:
        monkeypatch.setattr(sys, "stdout", writer)
        write_rows("-", [{"x": 0}])
        assert reader.readline() == b'{"x": 0}\n'
    with pytest.raises(BrokenPipeError):
        write_rows("-", ({"x": i} for i in count()))
    with pytest.raises(BrokenPipeError):
        writer.close()


def test_rows_are_written_one_at_a_time(tmp_path):
    tracemalloc.start()
    try:
        write_rows(tmp_path / "a.csv", ({"x": "some text" * 20, "y": ["a"]} for _ in range(10_000)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
