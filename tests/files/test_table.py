"""CSV and TSV."""

import csv

import pytest

from setlearn.errors import DataError, ParameterError
from setlearn.files import open_rows
from tests.files.gathered import left_out, places, records


@pytest.fixture
def table(tmp_path):
    def write(content, name="a.csv"):
        path = tmp_path / name
        path.write_text(content, newline="")
        return path

    return write


@pytest.mark.parametrize(
    ("delimiter", "notes"),
    [
        (",", []),
        (";", ["read as CSV with ';' between columns"]),
        ("\t", ["read as CSV with a tab between columns"]),
        ("|", ["read as CSV with '|' between columns"]),
    ],
)
def test_the_header_tells_the_delimiter(table, delimiter, notes):
    rows = open_rows(table(f'"a,;\t|,;\t|"{delimiter}b\n1{delimiter}\n'))
    assert rows.notes == notes
    assert rows.columns == ["a,;\t|,;\t|", "b"]
    assert [row.record["b"] for row in rows] == [None]


def test_a_delimiter_can_be_given(table):
    path = table("a,b;c\n1,2;3\n")
    assert records(path, delimiter=";") == [{"a,b": "1,2", "c": "3"}]
    assert records(table("a\tb\n1\t2\n"), delimiter=r"\t") == [{"a": "1", "b": "2"}]
    for unfit in ("", ";;", '"', "\n"):
        with pytest.raises(ParameterError, match="a delimiter is one character"):
            open_rows(path, delimiter=unfit)


def test_tsv_has_tabs_whatever_the_header_looks_like(table):
    path = table("a;b;c\td\n1\t2\n", "a.tsv")
    assert records(path) == [{"a;b;c": "1", "d": "2"}]


def test_a_column_alone_needs_no_delimiter(table):
    assert records(table("text\nhello world\n")) == [{"text": "hello world"}]


def test_a_record_is_placed_where_it_starts(table):
    path = table('\r\na,b\r\n"one\r\ntwo",1\r\n\r\n"say ""hi""",2\r\n')
    assert records(path) == [{"a": "one\r\ntwo", "b": "1"}, {"a": 'say "hi"', "b": "2"}]
    assert places(path) == ["a.csv, line 3", "a.csv, line 6"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1", "has 1 columns instead of 2"),
        ("1,2,3", "has 3 columns instead of 2"),
        ("1,\0", "holds a NUL byte"),
        ('"1"2,3', "is not CSV: ',' expected after '\"'"),
        ("1,2\rx,y", "is not CSV: new-line character"),
        (f"1,{'x' * 10_000_001}", "is not CSV: field larger than field limit"),
        ('"1,2', "has a quote that is never closed"),
    ],
)
def test_a_bad_line_is_named_or_left_out(table, line, problem):
    path = table(f'a,b\n"0\n0",0\n{line}\n3,3\n4,4\n')
    with pytest.raises(DataError, match=f"a.csv, line 4: {problem}"):
        records(path)
    kept, bad = left_out(path)
    assert [record["b"] for record in kept] == ["0", "3", "4"]
    assert len(bad) == 1


def test_long_cells_are_read_and_the_limit_of_others_is_left_alone(table):
    before = csv.field_size_limit()
    rows = open_rows(table(f"a,b\n1,{'x' * 1_000_000}\n2,3\n"))
    assert len(next(rows).record["b"]) == 1_000_000
    assert csv.field_size_limit() == before
    assert len(list(rows)) == 1


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("a,,b", "column 2 of the header has no name"),
        ("a,b,a", "more than one column 'a'"),
        ("a, a,b", "more than one column 'a'"),
        (",column 1,b", "more than one column 'column 1'"),
        ('"a"b,c', "the header cannot be read"),
    ],
)
def test_a_bad_header_is_never_left_out(table, header, problem):
    path = table(f"\n{header}\n1,2,3\n")
    with pytest.raises(DataError, match=f"a.csv, line 2: .*{problem}"):
        open_rows(path, skip_bad=True)


def test_the_index_that_pandas_writes_gets_a_name(table):
    rows = open_rows(table(",size,tags\n0,3,a\n1,5,b\n"))
    assert rows.columns == ["column 1", "size", "tags"]
    assert rows.notes == ["the first column has no name, so it is called 'column 1'"]
    assert [row.record["column 1"] for row in rows] == ["0", "1"]


def test_names_have_no_blanks_around(table):
    path = table(" my text ,\ttags \n a , b \n")
    assert records(path) == [{"my text": " a ", "tags": " b "}]
