"""What holds for files of all formats: how they are opened, named, unpacked and decoded."""

import gzip
import io
import os
import sys
import tracemalloc

import pytest

from setlearn.errors import DataError, ParameterError
from setlearn.files import FORMATS, open_rows
from tests.files.gathered import left_out, places, records

TABLE = "name,colour\nrobin,red\nraven,black\n"
BIRDS = [{"name": "robin", "colour": "red"}, {"name": "raven", "colour": "black"}]


@pytest.fixture
def standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


@pytest.mark.parametrize("name", ["birds.csv", "birds.CSV", "birds.2024.csv.gz", "birds.csv.GZ"])
def test_the_suffix_tells_the_format_and_the_first_bytes_the_compression(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(TABLE.encode())
    assert records(path) == BIRDS
    path.write_bytes(gzip.compress(TABLE.encode()))
    assert records(path) == BIRDS
    assert records(str(path)) == BIRDS


def test_a_format_can_be_given(tmp_path):
    path = tmp_path / "birds.txt"
    path.write_text(TABLE)
    with pytest.raises(
        ParameterError, match=r"'birds.txt' has no suffix.*pass format=, one of jsonl, json"
    ):
        open_rows(path)
    with pytest.raises(ParameterError, match="no format 'excel'; choose one of jsonl"):
        open_rows(path, format="excel")
    with open_rows(path, format="csv") as rows:
        assert (rows.name, rows.format, rows.notes) == ("birds.txt", "csv", [])


def test_the_format_of_standard_input_is_guessed_and_noted(standard_input):
    for content, format_name in [(b'\xef\xbb\xbf {"x": 1}', "jsonl"), (b'[{"x": 1}]', "json")]:
        standard_input(content)
        rows = open_rows("-")
        assert (rows.name, rows.format) == ("standard input", format_name)
        assert rows.notes == [f"standard input looks like {format_name}, and is read as such"]
        assert [row.record for row in rows] == [{"x": 1}]
    standard_input(gzip.compress(TABLE.encode()))
    assert places("-") == ["standard input, line 2", "standard input, line 3"]
    standard_input(b"1 3:0.5\n")
    assert records("-", format="svmlight") == [{"labels": [1], "x": {3: 0.5}}]


def test_a_pipe_is_read_while_it_is_still_written_to(monkeypatch):
    end_to_read, end_to_write = os.pipe()
    with open(end_to_read) as reader, open(end_to_write, "wb", buffering=0) as writer:
        monkeypatch.setattr(sys, "stdin", reader)
        writer.write(b'{"x": 1}\n')
        with open_rows("-") as rows:
            assert next(rows).record == {"x": 1}


@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_what_cannot_be_opened_is_named(tmp_path, suffix):
    with pytest.raises(DataError, match=rf"there is no file .*nowhere{suffix}; check the path"):
        open_rows(tmp_path / f"nowhere{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(DataError, match=rf"folder{suffix} is a folder, not a file"):
        open_rows(tmp_path / f"folder{suffix}")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_without_permission_is_named(tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text(TABLE)
    path.chmod(0)
    with pytest.raises(DataError, match=r"secret.csv cannot be read: Permission denied"):
        open_rows(path)


@pytest.mark.parametrize("format_name", FORMATS)
def test_an_empty_file_holds_no_rows(tmp_path, format_name):
    path = tmp_path / "nothing"
    for content in (b"", gzip.compress(b"")):
        path.write_bytes(content)
        with pytest.raises(DataError, match="nothing is empty: it holds no rows"):
            open_rows(path, format=format_name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", "\n \n"),
        ("a.json", "[]"),
        ("a.csv", "\n\n"),
        ("a.csv", "name\n\n"),
        ("a.svm", "# remark\n\n"),
        ("a.arff", "@relation r\n@attribute a numeric\n@data\n% remark\n"),
    ],
)
def test_a_file_that_holds_no_rows_is_an_error(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError, match=f"{name} holds no rows"):
        records(path)


def test_a_file_of_bad_rows_alone_says_so(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("1\n2\n")
    with pytest.raises(DataError, match=r"no rows that can be used: all 2 .* a.jsonl, line 1"):
        records(path, skip_bad=True)


def test_damaged_compression_is_an_error_in_spite_of_skip_bad(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"".join(b'{"x": %d}\n' % i for i in range(50_000)))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"a.jsonl.gz is compressed, but incomplete or damaged"):
        records(path, skip_bad=True)
    path.write_bytes(whole[:20] + b"\xff" * 50 + whole[70:])
    with pytest.raises(DataError, match="incomplete or damaged"):
        records(path, skip_bad=True)
    path.write_bytes(whole[:2] + b"\xff" + whole[3:])
    with pytest.raises(DataError, match="incomplete or damaged"):
        open_rows(path)


def test_a_wrong_encoding_says_where_and_what_to_do(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("name\nlove\ncafé\n".encode("latin-1"))
    with pytest.raises(
        DataError, match=r"a.csv, line 3: byte 13 of the file is not utf-8.*latin-1"
    ):
        records(path, skip_bad=True)
    assert records(path, encoding="latin-1")[1] == {"name": "café"}
    path.write_bytes(b"name\ncaf\xc3")
    with pytest.raises(DataError, match=r"a.csv, line 2: byte"):
        records(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_and_their_marks(tmp_path, encoding):
    path = tmp_path / "a.csv"
    # Ċ and the letters of Gurmukhi have bytes that look like the end of a line.
    path.write_bytes('name,x\r\nĊਊ,\n"\n",2\n'.encode(encoding))
    assert records(path, encoding=encoding) == [{"name": "Ċਊ", "x": None}, {"name": "\n", "x": "2"}]
    path.write_bytes("\ufeffname\nrobin\n".encode("utf-16-le"))
    assert records(path, encoding="utf-16-le") == [{"name": "robin"}]


def test_a_mark_at_the_start_is_dropped_by_default(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"x": 1}\n')
    assert records(path) == [{"x": 1}]


@pytest.mark.parametrize("encoding", ["klingon", "base64", "a\0b"])
def test_an_unknown_encoding_is_refused(tmp_path, encoding):
    with pytest.raises(ParameterError, match="no text encoding"):
        open_rows(tmp_path / "a.csv", encoding=encoding)


def test_options_of_other_formats_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    with pytest.raises(
        ParameterError, match=r"delimiter is only for csv and tsv, but a.jsonl is read as jsonl"
    ):
        open_rows(path, delimiter=";")
    with pytest.raises(ParameterError, match=r"label_file is only for arff, .*jsonl"):
        open_rows(path, label_file="a.xml")


def test_only_the_first_bad_rows_are_remembered(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n" + "[]\n" * 25)
    rows = open_rows(path, skip_bad=True)
    assert len(list(rows)) == 1
    assert (rows.n_bad, len(rows.bad)) == (25, 10)


def test_rows_can_be_peeked_at_and_closed_early(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    rows = open_rows(path)
    assert next(rows).record == BIRDS[0]
    assert [row.record for row in rows] == BIRDS[1:]
    assert list(rows) == []
    with open_rows(path) as rows:
        next(rows)
    assert list(rows) == []
    with open_rows(path) as rows:
        pass
    assert list(rows) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.svm", "a.arff"])
def test_a_long_file_is_never_in_memory_as_a_whole(tmp_path, name):
    path = tmp_path / name
    padding = "x" * 200
    header, row = {
        "jsonl": ("", f'{{"x": "{padding}", "y": ["a", "b"]}}'),
        "csv": ("x,y", f"{padding},a;b"),
        "svm": ("", f"1,2 3:0.5 # {padding}"),
        "arff": ("@relation r\n@attribute a string\n@data", padding),
    }[name.split(".")[1]]
    with gzip.open(path, "wt") if name.endswith(".gz") else path.open("w") as file:
        file.write(f"{header}\n")
        for _ in range(n_rows := 20_000):
            file.write(f"{row}\n")
    tracemalloc.start()
    try:
        assert sum(1 for _ in open_rows(path)) == n_rows
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_left_out_rows_keep_their_places(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1}\n\n3\n{"x": 2}')
    kept, bad = left_out(path)
    assert kept == [{"x": 1}, {"x": 2}]
    assert bad == ['a.jsonl, line 3: holds 3, not an object such as {"x": ..., "y": [...]}']
