"""ARFF, and the labels that MULAN names in XML."""

import gzip
import shutil

import numpy as np
import pytest

from setlearn.errors import DataError
from setlearn.files import open_rows
from tests.files.gathered import DATA, left_out, needs_data, records

HEADER = """% birds
@RELATION birds
@attribute\twings\treal
@attribute 'beak shape' {hook, 'long one'}
@attribute n integer
@attribute red {0,1}
@attribute black {0,1}
@data
"""
XML = '<labels xmlns="m"><label name="black"><label name="red"/></label></labels>'


@pytest.fixture
def birds(tmp_path):
    def write(data, xml=XML, header=HEADER):
        (tmp_path / "birds-train.arff").write_text(header + data)
        if xml is not None:
            (tmp_path / "birds.xml").write_text(xml)
        return tmp_path / "birds-train.arff"

    return write


def test_dense_rows(birds):
    rows = open_rows(birds("% remark\n0.5,'long one',3,1,1\n?,hook,?,0,1\n"))
    assert rows.columns == ["wings", "beak shape", "n", "labels"]
    assert (rows.target, rows.notes) == ("labels", ["labels from birds.xml"])
    first, second = rows
    assert first.place == "birds-train.arff, line 10"
    assert first.record == {
        "wings": 0.5,
        "beak shape": "long one",
        "n": 3.0,
        "labels": ["black", "red"],
    }
    assert second.record == {"wings": None, "beak shape": "hook", "n": None, "labels": ["black"]}


def test_sparse_rows(birds):
    header = HEADER.replace("@data", "@attribute flies {0,1}\n@attribute walks {1,0}\n@data")
    rows = open_rows(birds("{0 0.5, 1 'long one', 3 1, 5 1}\n{}\n{6 0, 4 1}\n", header=header))
    assert rows.columns == ["x", "labels"]
    assert [row.record for row in rows] == [
        {
            "x": {"wings": 0.5, "beak shape": "long one", "flies": 1.0, "walks": 1.0},
            "labels": ["red"],
        },
        {"x": {"walks": 1.0}, "labels": []},
        {"x": {"walks": 0.0}, "labels": ["black"]},
    ]


def test_without_a_label_file_all_attributes_are_columns(birds):
    rows = open_rows(birds("0.5,hook,3,1,1\n", xml=None))
    assert (rows.target, rows.columns[-1]) == (None, "black")
    assert rows.notes == ["there is no label file, so all attributes are read as columns"]
    assert next(rows).record["red"] == "1"
    rows.close()
    assert records(birds("{0 1, 3 1}\n", xml=None)) == [{"x": {"wings": 1.0, "red": 1.0}}]


def test_a_label_file_can_be_given_and_the_full_name_is_tried_first(birds, tmp_path):
    path = birds("0.5,hook,3,1,1\n")
    (tmp_path / "birds-train.xml").write_text('<labels><label name="red"/></labels>')
    assert records(path)[0]["labels"] == ["red"]
    assert records(path, label_file=tmp_path / "birds.xml")[0]["labels"] == ["black", "red"]
    with pytest.raises(DataError, match=r"label file .*nowhere.xml cannot be read: No such file"):
        open_rows(path, label_file=tmp_path / "nowhere.xml")


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        ('<labels><label name="red"/><label name="pink"/></labels>', "1 label.* pink; check"),
        ('<labels><label name="beak shape"/></labels>', r"'beak shape' has the values \['hook'"),
        ("<labels/>", "birds.xml names no labels"),
        ("<labels>\n<label/></labels>", "birds.xml, line 2: a label has no name"),
        ("<labels>", "birds.xml is not XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><labels><label name="red"/></labels>', "has a DOCTYPE"),
    ],
)
def test_a_bad_label_file_is_an_error(birds, xml, problem):
    with pytest.raises(DataError, match=problem):
        open_rows(birds("0.5,hook,3,1,1\n", xml=xml), skip_bad=True)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1,hook,3", "does not match the declared attributes: '1,hook,3'"),
        ("x,hook,3,1,1", "does not match"),
        ("1,100%,3,1,1", "does not match"),
        ("1,hook,inf,1,1", "does not match"),
        ("1,'hook,3,1,1", "does not match"),
        ("{9 1}", "does not match"),
        ("1,hook,3,?,1", r"the label 'red' is \?, neither 0 nor 1"),
    ],
)
def test_a_bad_line_is_named_or_left_out(birds, line, problem):
    path = birds(f"1,hook,1,0,0\n{line}\n\n3,hook,3,0,0\n4,hook,4,0,0\n")
    with pytest.raises(DataError, match=f"birds-train.arff, line 10: {problem}"):
        records(path)
    kept, bad = left_out(path)
    assert [record["n"] for record in kept] == [1, 3, 4]
    assert len(bad) == 1


@pytest.mark.parametrize("line", ["1,hook,3,1,1", "{9 1}", "{0 x}", "{0}"])
def test_a_bad_sparse_line_is_named_or_left_out(birds, line):
    path = birds(f"{{0 1}}\n{line}\n{{0 3}}\n")
    with pytest.raises(DataError, match=r"birds-train.arff, line 10: does not match"):
        records(path)
    assert [record["x"]["wings"] for record in left_out(path)[0]] == [1, 3]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (HEADER.replace("integer", "date"), "arff, line 5: .* is not a declaration"),
        (
            HEADER.replace("wings", "n"),
            "arff, line 5: '@attribute n .* declares a name for the second time",
        ),
        (HEADER.replace("n integer", ""), "arff, line 5: '@attribute' is not a declaration"),
        ("@relation r\n@data\n", "arff, line 2: '@data' is not a declaration"),
        (HEADER.replace("@data", ""), "has no @data line"),
        (HEADER.replace("wings", "labels"), "has an attribute 'labels'"),
    ],
)
def test_a_bad_header_is_an_error(birds, header, problem):
    with pytest.raises(DataError, match=problem):
        open_rows(birds("1,hook,3,1,1\n", header=header), skip_bad=True)


@needs_data
def test_the_flags_agree_with_the_arrays_made_from_them(tmp_path):
    train, test = (records(DATA / "arff" / f"flags-{part}.arff") for part in ("train", "test"))
    arrays = records(DATA / "flags.npz")
    assert len(train) + len(test) == len(arrays) == 194
    with np.load(DATA / "flags.npz") as file:
        features, is_test = file["feature_names"].tolist(), file["is_test"]
    for part, mask in ((train, ~is_test), (test, is_test)):
        expected = [array for array, chosen in zip(arrays, mask, strict=True) if chosen]
        assert [record["labels"] for record in part] == [record["y"] for record in expected]
        for record, array in zip(part, expected, strict=True):
            assert [float(record[name]) for name in features] == array["x"].tolist()


@needs_data
def test_sparse_rows_of_corel5k(tmp_path):
    path = DATA / "arff" / "Corel5k-test-sparse.arff"
    with open_rows(path) as rows:
        assert rows.notes == ["labels from Corel5k.xml"]
        found = list(rows)
    lines = path.read_text().splitlines()
    assert len(found) == sum(line.startswith("{") for line in lines)
    assert found[0].place == f"{path.name}, line 878"
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    for row in found:
        line = lines[int(row.place.split()[-1]) - 1]
        ones = {names[int(pair.split()[0])] for pair in line.strip("{}").split(",")}
        assert {*row.record["x"], *row.record["labels"]} == ones
        assert set(row.record["x"].values()) <= {1.0}
    packed = tmp_path / "Corel5k-test-sparse.arff.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    shutil.copy(DATA / "arff" / "Corel5k.xml", tmp_path)
    assert records(packed) == [row.record for row in found]
