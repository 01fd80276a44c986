"""SVMlight with many labels."""

import pytest

from setlearn.errors import DataError
from setlearn.files import open_rows
from tests.files.gathered import left_out, records


def test_labels_and_features(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(
        "# made by hand\n1,5 3:0.5 7:1 # remark 9:9\n 2:1\n4:-1e3\n\nsea,-1,2.5 qid:4 1:1\n+1\n"
    )
    with open_rows(path) as rows:
        assert (rows.target, rows.notes) == ("labels", [])
        found = list(rows)
    assert [row.record for row in found] == [
        {"labels": [1, 5], "x": {3: 0.5, 7: 1.0}},
        {"labels": [], "x": {2: 1.0}},
        {"labels": [], "x": {4: -1000.0}},
        {"labels": ["sea", -1, "2.5"], "x": {1: 1.0}},
        {"labels": [1], "x": {}},
    ]
    assert found[3].place == "a.svm, line 6"


def test_the_header_of_the_extreme_classification_repository(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_text("2 10 4\n1 1:1\n2 2:1\n")
    with open_rows(path) as rows:
        assert rows.notes == ["the first line is a header: 2 rows, 10 features, 4 labels"]
        assert [row.record["labels"] for row in rows] == [[1], [2]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 2 3", "has '2' instead of index:value"),
        ("1 3:x", "has '3:x' instead of index:value"),
        ("1 -3:1", "has '-3:1' instead of"),
        ("1 ٣:1", "has '٣:1' instead of"),
        ("1 3:1 3:2", "has the index 3 twice"),
        ("1,,2 3:1", "has an empty label in '1,,2'"),
    ],
)
def test_a_bad_line_is_named_or_left_out(tmp_path, line, problem):
    path = tmp_path / "a.svm"
    path.write_text(f"1 1:1\n{line}\n2 2:2\n")
    with pytest.raises(DataError, match=f"a.svm, line 2: {problem}"):
        records(path)
    kept, bad = left_out(path)
    assert [record["labels"] for record in kept] == [[1], [2]]
    assert len(bad) == 1
