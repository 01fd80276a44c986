"""Formats as declarations: everything else about a format is derived from them."""

import io
import sys
from pathlib import Path

import pytest

from setlearn.errors import ParameterError
from setlearn.files import FORMATS, Format, Row, Rows, open_rows, write_rows
from setlearn.files.formats import add_formats, format_of_name, format_of_start


def read_words(source):
    rows = (Row(source.place(n), {"word": line.strip()}) for n, line in source.lines())
    return Rows(source, rows, columns=["word"])


def write_words(rows):
    for record in rows:
        yield f"{record['word']}\n".encode()


WORDS = Format(
    "words",
    (".words",),
    read=read_words,
    write=write_words,
    options=frozenset({"delimiter"}),
    description="one word per line",
    start=b"~",
)


@pytest.fixture
def added():
    """WORDS in the table of formats, as one line in ``files/__init__.py`` would put it there."""
    before = dict(FORMATS)
    add_formats(WORDS)
    yield WORDS
    FORMATS.clear()
    FORMATS.update(before)


def test_a_format_from_outside_is_passed_as_it_is(tmp_path):
    path = tmp_path / "birds.txt.gz"
    write_rows(path, [{"word": "robin"}, {"word": "raven"}], format=WORDS)
    with open_rows(path, format=WORDS) as rows:
        assert (rows.format, rows.columns) == ("words", ["word"])
        assert [row.place for row in rows] == ["birds.txt.gz, line 1", "birds.txt.gz, line 2"]
    with pytest.raises(ParameterError, match=r"label_file is only for arff, .* read as words"):
        open_rows(path, format=WORDS, label_file="a.xml")
    assert "words" not in FORMATS


def test_one_line_adds_a_format(tmp_path, monkeypatch, added):
    path = tmp_path / "birds.words"
    write_rows(path, [{"word": "~robin"}])
    assert [row.record for row in open_rows(path)] == [{"word": "~robin"}]
    assert [row.record for row in open_rows(path, format="words")] == [{"word": "~robin"}]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert open_rows("-").format == "words"
    (tmp_path / "a.txt").write_text("robin")
    for action, message in [
        (lambda: open_rows(path, format="excel"), "choose one of jsonl.*, words"),
        (lambda: open_rows(tmp_path / "a.txt"), "one of jsonl.*, words"),
        (lambda: open_rows(path, format="json", delimiter=","), "only for csv and tsv and words"),
        (lambda: write_rows(path, [], format="arff"), "write one of jsonl, csv, tsv, words"),
    ]:
        with pytest.raises(ParameterError, match=message):
            action()


def test_names_and_suffixes_are_unique(added):
    for twin in (
        Format("words", (".other",), read=read_words),
        Format("other", (".csv",), read=read_words),
    ):
        with pytest.raises(ParameterError, match="there is already a format for"):
            add_formats(twin)
    assert "other" not in FORMATS


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ({"suffixes": ("words",)}, "start with a dot and are in lower case, got 'words'"),
        ({"suffixes": (".Words",)}, "got '.Words' for words"),
        ({"options": frozenset({"colour"})}, "the unknown option 'colour'; .* delimiter"),
    ],
)
def test_a_wrong_declaration_is_refused(declaration, message):
    with pytest.raises(ParameterError, match=message):
        Format(**{"name": "words", "suffixes": (".words",), "read": read_words, **declaration})


@pytest.mark.parametrize("declared", FORMATS.values(), ids=FORMATS)
def test_every_format_of_the_package(declared):
    assert declared.description
    for suffix in declared.suffixes:
        assert format_of_name(Path(f"a{suffix}")) is declared
        assert format_of_name(Path(f"A{suffix}.gz".upper())) is declared
    if declared.start:
        assert format_of_start(b"\n " + declared.start) is declared
