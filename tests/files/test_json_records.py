"""JSON lines and arrays."""

import gzip
import json

import pytest

from setlearn.errors import DataError
from setlearn.files import open_rows
from tests.files.gathered import DATA, left_out, needs_data, places, records


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"x": 1', "is not JSON: it is broken at character 7"),
        ('{"x": NaN}', "is not JSON: NaN and Infinity are not JSON"),
        ('{"x": [-Infinity]}', "NaN and Infinity are not JSON"),
        ("[1, 2]", r"holds \[1, 2\], not an object"),
        ("null", "holds None, not an object"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested more than 200 deep"),
        ('{"x": 1, "x": 2}', "an object has the same key twice"),
        ('{"x": 1e999}', "a number that is too large"),
        ('{"x": ' + "9" * 5000 + "}", "a number that is too large"),
    ],
)
def test_a_bad_line_is_named_or_left_out(tmp_path, line, problem):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"x": 0}}\n\n{line}\n{{"x": 2}}\n')
    with pytest.raises(
        DataError, match=f"a.jsonl, line 3: .*{problem}.*; correct it, or pass skip_bad=True"
    ):
        records(path)
    kept, bad = left_out(path)
    assert kept == [{"x": 0}, {"x": 2}]
    assert bad[0].startswith("a.jsonl, line 3: ")


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_text('{"x": "a\u2028b\x85c"}\r\n{"x": 2}', newline="")
    assert records(path) == [{"x": "a\u2028b\x85c"}, {"x": 2}]
    assert places(path) == ["a.ndjson, line 1", "a.ndjson, line 2"]


def test_an_array_is_read_too(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('\n[\n{"x": 1},\n{"x": 2}, 3]')
    kept, bad = left_out(path)
    assert kept == [{"x": 1}, {"x": 2}]
    assert bad[0].startswith("a.json, item 3: holds 3")
    with pytest.raises(DataError, match=r"a.json, item 3"):
        records(path)
    path.write_text('\n[\n{"x": 1},\n{"x" 2}]')
    with pytest.raises(DataError, match=r"a.json, line 4: is not JSON"):
        open_rows(path)
    path.write_text('[{"x": NaN}]')
    with pytest.raises(DataError, match=r"a.json: is not JSON: NaN and Infinity"):
        open_rows(path)


def test_lines_under_the_name_of_an_array_are_read_as_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('\n{"x": 1}\n{"x": 2}\n')
    with open_rows(path) as rows:
        assert rows.notes == ["the file holds no array, so it is read as one JSON object per line"]
        assert [row.place for row in rows] == ["a.json, line 2", "a.json, line 3"]


@needs_data
@pytest.mark.parametrize("name", ["babi_qa8", "kg_umls"])
def test_real_sets_of_sequences(name):
    path = DATA / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        assert records(path) == [json.loads(line) for line in file]
