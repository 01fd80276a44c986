"""Sets of records: how they are written, and what their elements are."""

import numpy as np
import pytest

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records import TargetReader, guess_targets
from tests.records.table import rows_of

LABELS = TargetReader(("tags",), ";", "labels")
SEQUENCES = TargetReader(("tags",), ";", "sequences")


@pytest.mark.parametrize(
    ("value", "elements"),
    [
        ("sun; sea", {"sun", "sea"}),
        ("sun;;sun;", {"sun"}),
        ('["a;b", "c"]', {"a;b", "c"}),
        ("[draft]; [x]", {"[draft]", "[x]"}),
        (None, set()),
        (" ", set()),
        ("[]", set()),
        (float("nan"), set()),
        ([], set()),
        (["a", 3, 2.5], {"a", 3, 2.5}),
        ({"a", "b"}, {"a", "b"}),
        (np.array([3, 4]), {3, 4}),
        (7, {7}),
        ([["h", "e"], ["y"]], {("h", "e"), ("y",)}),
    ],
)
def test_a_set_is_read_however_it_is_written(value, elements):
    assert LABELS.read(Row("here", {"tags": value})) == elements


@pytest.mark.parametrize(
    "value", [{"a": 1}, [None], [""], [[]], [["a", None]], [{"a": 1}], ["a", "\t"]]
)
def test_what_is_no_element_is_refused_with_its_place(value):
    with pytest.raises(
        DataError, match=r"^data.csv, line 7: 'tags' holds .* cannot be an element of a set;"
    ):
        LABELS.read(Row("data.csv, line 7", {"tags": value}))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 900 + "]" * 900, "nested more than 200 deep"),
        ("[" * 99999 + "]" * 99999, "nested more than 200 deep"),
        ("[1e999]", "a number that is too large"),
        ('["a", NaN]', "NaN and Infinity are not JSON"),
        ('[{"a": 1, "a": 2}]', "the same key twice"),
    ],
    ids=["deep", "very deep", "large", "nan", "repeated key"],
)
def test_a_list_that_no_file_should_hold_is_refused_with_its_place(text, reason):
    row = Row("line 7", {"tags": text})
    for read in (LABELS.read, lambda row: guess_targets([row], "tags", task="labels")):
        with pytest.raises(DataError, match=rf"^line 7: 'tags' is a list that .*{reason}"):
            read(row)


def test_a_matrix_is_no_set():
    with pytest.raises(DataError, match=r"^line 7: 'tags' is array.* not a set; write a list"):
        LABELS.read(Row("line 7", {"tags": np.ones((2, 2))}))


def test_a_number_is_no_sequence():
    with pytest.raises(DataError, match=r"^line 7: 'tags' holds 3, which is not a sequence;"):
        SEQUENCES.read(Row("line 7", {"tags": ["a", 3]}))


def test_a_row_without_the_target_is_an_error():
    with pytest.raises(DataError, match=r"^line 7: .* no column 'tags'; did you mean 'tag'\?"):
        LABELS.read(Row("line 7", {"text": "a", "tag": "b"}))


def test_one_column_a_label():
    flags = TargetReader(("sun", "sea", "city"), None, "labels")
    assert flags.read(Row("", {"sun": "1", "sea": "No", "city": None})) == {"sun"}
    assert flags.read(Row("", {"sun": True, "sea": 0.0, "city": " yes"})) == {"sun", "city"}
    with pytest.raises(DataError, match=r"^line 7: 'sea' holds '2', but with one column per label"):
        flags.read(Row("line 7", {"sun": 1, "sea": "2", "city": 0}))


@pytest.mark.parametrize(
    ("values", "separator"),
    [
        (["sun;sea", "sea", "sun"], ";"),
        (["sun|sea", "sea", "sun"], "|"),
        (["sun, sea", "sea", "sun"], ","),
        (["a, b; c", "c; a, b"], ";"),
        (["sun sea", "sea sun", "sun"], " "),
        (["sun sea", "sea side", "sun"], None),
        (["sun", "sea"], None),
        (["he came, saw and won the war", "one sentence, with a comma or so in it"], None),
        (["a;b"] + ["c"] * 10, None),
        (["New York", "Los Angeles", "Rio de Janeiro", "Berlin"] * 5, None),
        (["New York", "New Orleans", "Los Angeles", "Paris"] * 5, None),
        (["sun sea", "sun", "sea", "city"] * 5, " "),
        (["sun sea", "sun city", "sea city"], " "),
        ([["a;b"], ["c;d"]], ";"),
        (['["a;b"]', '["c;d"]'], ";"),
        ([None, None], ";"),
    ],
)
def test_the_separator_is_the_one_in_use(values, separator):
    reader, _ = guess_targets(rows_of(tags=values), "tags")
    assert reader.separator == separator


def test_a_given_separator_wins_and_an_empty_one_keeps_texts_whole():
    rows = rows_of(tags=["a;b/c", "b/c"])
    assert guess_targets(rows, "tags", separator="/")[0].read(rows[1]) == {"b", "c"}
    whole, notes = guess_targets(rows, "tags", separator="")
    assert whole.read(rows[0]) == {"a;b/c"}
    assert "tags: sequences, each value one element (2 different)" in notes


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        (["a;b", "b;c", "a;c"] * 3, ['tags: labels, separated by ";" (3 different)']),
        ([[1, 2], [3]], ["tags: labels (3 different)"]),
        ([[], []], ["tags: labels (0 different)"]),
        (
            ["a;b", "", "b;a", "nan"] * 3,
            [
                'tags: labels, separated by ";" (2 different)',
                "6 empty cell(s) in tags: taken for the empty set",
            ],
        ),
        (
            ["go;goes", "do;does", "be;is"],
            [
                'tags: sequences, separated by ";" (6 different)',
                "task: sequences (6 of 6 elements occur once)",
            ],
        ),
        (
            [[["a", "b"]], [["a", "b"]]],
            ["tags: sequences (1 different)", "task: sequences (the elements are lists of tokens)"],
        ),
    ],
)
def test_the_task_is_told_by_how_often_elements_come_again(values, notes):
    assert guess_targets(rows_of(tags=values), "tags")[1] == notes


def test_labels_may_have_a_long_tail():
    tags = ["a", "b", "a", "b"] * 5 + [f"rare {k}" for k in range(8)]
    assert guess_targets(rows_of(tags=tags), "tags")[0].task == "labels"


def test_a_given_task_wins_without_a_word():
    rows = rows_of(tags=["go;goes", "do;does"])
    reader, notes = guess_targets(rows, "tags", task="labels")
    assert reader.task == "labels"
    assert notes == ['tags: labels, separated by ";" (4 different)']
    with pytest.raises(
        DataError, match=r"^data.csv, line 3: 'tags' holds 3, which is not a sequence"
    ):
        guess_targets(rows_of(tags=[["a"], [3]]), "tags", task="sequences")
    with pytest.raises(ParameterError, match=r"task must be .* got 'trees'"):
        guess_targets(rows, "tags", task="trees")


def test_a_usual_name_is_found():
    reader, notes = guess_targets(rows_of(text=["x", "y"], labels=["a", "a"]))
    assert reader.columns == ("labels",)
    assert notes[0] == "target: labels (by its name)"
    assert guess_targets(rows_of(labels=["a", "a"]), [])[0] == reader


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("text", "kind"), "no column has a usual name; name the target, one of text, kind"),
        (("text", "y", "tags"), "it could be tags, y; .* one of tags, y, text"),
    ],
)
def test_without_a_usual_name_the_columns_are_listed(columns, message):
    with pytest.raises(DataError, match=message):
        guess_targets(rows_of(**{name: ["a", "b"] for name in columns}))


def test_several_columns_are_one_a_label():
    rows = rows_of(tag_sun=["1", "0"], tag_sea=["yes", ""], x=["5", "7"])
    for target in ("tag_*", ["tag_sun", "tag_sea"]):
        reader, notes = guess_targets(rows, target)
        assert reader.columns == ("tag_sun", "tag_sea")
        assert reader.read(rows[0]) == {"tag_sun", "tag_sea"}
        assert notes[0] == "tag_sun, tag_sea: labels, one column per label (2 in use)"
    with pytest.raises(ParameterError, match="cannot hold sequences, got tag_sun"):
        guess_targets(rows, "tag_*", task="sequences")
    with pytest.raises(DataError, match=r"^data.csv, line 2: 'x' holds '5'"):
        guess_targets(rows, ["tag_sun", "x"])
    with pytest.raises(DataError, match=r"no column 'tags_\*'"):
        guess_targets(rows, "tags_*")


def test_the_only_column_that_a_pattern_matches_is_one_a_label_if_it_says_yes_or_no():
    rows = rows_of(is_red=["1", "0", None], city=["Rome", "Oslo", "Rome"])
    reader, notes = guess_targets(rows, "is_*")
    assert [reader.read(row) for row in rows] == [{"is_red"}, set(), set()]
    assert notes[0] == "is_red: labels, one column per label (1 in use)"
    assert guess_targets(rows, "is_red")[0].read(rows[1]) == {"0"}
    assert guess_targets(rows, "c*")[0].read(rows[1]) == {"Oslo"}


def test_tags_with_many_rare_ones_are_labels_also_in_few_rows():
    """Half of the tags occur once, and there are more tags than rows."""
    common = [f"common{k}" for k in range(60)]
    sets = [[common[k % 60], common[k * 7 % 60], common[k * 3 % 60], f"rare{k}"] for k in range(50)]
    sets += [common[k : k + 6] for k in range(0, 50, 2)]
    assert guess_targets(rows_of(tags=sets))[0].task == "labels"


def test_long_sequences_that_recur_are_no_labels():
    """As many occur once as of such tags, but they have many words."""
    common = [f"( a{k} -> b{k} ) = c{k}" for k in range(60)]
    sets = [[common[k % 60], common[k * 7 % 60], f"( x{k} -> y{k} ) = z"] for k in range(80)]
    assert guess_targets(rows_of(y=sets))[0].task == "sequences"


def test_empty_flags_are_counted_in_a_note():
    rows = [Row("", {"sun": flag, "sea": "1"}) for flag in ("1", "", None, "0")]
    reader, notes = guess_targets(rows, ["sun", "sea"])
    assert notes[-1] == "2 empty cell(s) in these columns: taken for 0 (absent)"
    assert reader.read(rows[1]) == {"sea"}
    assert "empty" not in guess_targets(rows[:1], ["sun", "sea"])[1][-1]


def test_a_cell_with_the_word_nan_is_an_empty_set():
    reader = TargetReader(("tags",), ";", "labels")
    assert reader.elements("nan", "cell") == reader.elements(" NaN ", "cell") == frozenset()
    assert reader.elements("nan;bread", "cell") == {"nan", "bread"}
