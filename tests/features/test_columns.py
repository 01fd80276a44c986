"""Kinds of columns: guessed from values, said, and overruled."""

import uuid
from decimal import Decimal

import numpy as np
import pytest

from setlearn.errors import DataError, ParameterError
from setlearn.features import FeatureReader, guess_columns
from setlearn.features.column_guesses import sampled_rows
from setlearn.features.columns import Column, column_notes
from setlearn.files import Row
from tests.records.table import rows_of

SENTENCES = [f"sentence number {k}" for k in range(10)]


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([3, 1.5, None, True, 7, 2, 9, 4, 5, 6], "c: number"),
        (["3", " 1.5", "1e3", None, "7", "2", "9", "4", "5", "6"], "c: number"),
        (["1_0", *"2345678", "1_1", "10"], "c: text"),
        ([True, False] * 5, "c: number"),
        (["True", "false"] * 5, "c: number"),
        (["3", "NA", "n/a", *"456789", "5"], "c: number (2 values such as 'NA' are missing)"),
        (["3", " ? ", *"456789", "5", "2"], "c: number (1 value such as ' ? ' is missing)"),
        (["NA", "null"] * 5, "c: category (2 different)"),
        (["NA", "EU", "3"] * 5, "c: category (3 different)"),
        (["01234", "10115"] * 5, "c: category (2 different)"),
        (["0", "0.5", "-1", "00.5", "10", "0e1", "7", "8", "9", "6"], "c: number"),
        (["red", "blue"] * 5, "c: category (2 different)"),
        ([1, "n/a"] * 5, "c: category (2 different)"),
        (["x" * 41, "y" * 41] * 5, "c: text"),
        (SENTENCES, "c: text"),
        ([[1, 2.5], [3, None]] * 5, "c: vector (2 numbers)"),
        ([np.ones(3), np.zeros(3)] * 5, "c: vector (3 numbers)"),
        ([[1, 2], [3]] * 5, "c: tokens"),
        ([["a", "b"], []] * 5, "c: tokens"),
        ([{"a": 1}, {3: 0.5}, {}, None, {"b": "2"}] * 2, "c: bag"),
        (list(range(10)), "c: ignored (numbers the rows)"),
        ([str(k) for k in range(1, 11)], "c: ignored (numbers the rows)"),
        ([None, "", " ", float("nan"), np.float32("nan")] * 2, "c: ignored (always empty)"),
        (["a"] * 10, "c: ignored (always the same)"),
        ([np.ones(2)] * 10, "c: ignored (always the same)"),
        ([{"a": "b"}, {"a": 1}] * 5, "c: ignored (no kind fits values such as {'a': 'b'})"),
        ([[[1]], [[2]]] * 5, "c: ignored (no kind fits values such as [[1]])"),
        ([float("inf"), 1, 2] * 5, "c: number"),  # refused when it is read
        ([Decimal("1.50"), Decimal("3")] * 5, "c: number"),
        (["2024-05-31", "NA", "2024-06-30 12:00"] * 5, "c: date"),
    ],
)
def test_a_kind_is_told_by_the_values(values, note):
    [column] = guess_columns(rows_of(c=values))
    assert column.note == note


@pytest.mark.parametrize("name", ["id", "ID", "photo_id"])
def test_an_id_is_told_by_its_name(name):
    [column] = guess_columns(rows_of(**{name: [5, 3, 8]}))
    assert column.note == f"{name}: ignored (an id by its name)"


def test_the_target_is_no_input():
    columns = guess_columns(rows_of(x=[5, 3], tags=["a", "b"]), target_columns=["tags"])
    assert [column.name for column in columns] == ["x"]


def test_given_kinds_win():
    rows = rows_of(code=[3, 1, 3], tag_a=[1, 0, 1], id=["a", "b", "c"])
    columns = guess_columns(rows, given={"code": "category", "tag_*": "ignored", "id": "text"})
    assert [column.kind for column in columns] == ["category", "ignored", "text"]
    assert {column.remark for column in columns} == {"as given"}


def test_given_inputs_win_and_others_are_ignored():
    rows = rows_of(id=[0, 1, 2], same=[7, 7, 7], other=[5, 4, 3])
    columns = guess_columns(rows, inputs=["id", "same"])
    assert [column.note for column in columns] == [
        "id: number",
        "same: number",
        "other: ignored (not among the inputs)",
    ]


def test_inputs_win_over_kinds_of_other_columns():
    rows = rows_of(a=[5, 1, 3], b=[5, 4, 3])
    columns = guess_columns(rows, inputs=["a"], given={"*": "category"})
    assert [column.note for column in columns] == [
        "a: category (as given)",
        "b: ignored (not among the inputs)",
    ]


def test_what_a_file_declares_wins_over_guesses_alone():
    rows = rows_of(code=[3, 1, 3], size=[5, 4, 7], kind=["a", "b", "b"])
    declared = {"declared": ["code", "size", "kind"], "target_columns": ["kind"]}
    assert [column.note for column in guess_columns(rows, **declared)] == [
        "code: category (declared as such)",
        "size: category (declared as such)",
    ]
    assert [column.note for column in guess_columns(rows, **declared, inputs=["size"])] == [
        "code: ignored (not among the inputs)",
        "size: category (declared as such)",
    ]
    asked = guess_columns(rows, **declared, given={"size": "number"})
    assert asked[1].note == "size: number (as given)"


def test_missing_numbers_are_counted_in_all_rows():
    rows = rows_of(x=[k * k for k in range(6000)] + ["NA"] * 1001)
    assert guess_columns(rows)[0].remark == "1001 values such as 'NA' are missing"


def test_a_column_absent_from_some_rows_may_be_absent_again():
    rows = [Row("line 1", {"a": 1, "b": 5}), Row("line 2", {"a": 2})]
    assert [column.optional for column in guess_columns(rows)] == [False, True]


def test_a_name_that_is_not_there_is_answered_with_those_that_are():
    rows = rows_of(size=[1, 2], price=[5, 3], colour=["a", "b"])
    with pytest.raises(DataError) as error:
        guess_columns(rows, inputs=["prize"])
    assert str(error.value) == (
        "the data: there is no column 'prize'; did you mean 'price'? "
        "the columns are price, size, colour"
    )


def test_all_missing_columns_are_named():
    reader = FeatureReader.fit(
        rows_of(a=[1, 2], b=[2, 1], c=[3, 5]), [Column(n, "number") for n in "abc"]
    )
    with pytest.raises(DataError, match=r"there are no columns 'a', 'c'; the columns are b$"):
        reader.read(rows_of(b=[1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": ["tags"]}, "column 'tags' is the target"),
        ({"given": {"tags": "text"}}, "column 'tags' is the target"),
        ({"given": {"x": "numeric"}}, "kind of column 'x' must be one of number, .* got 'numeric'"),
    ],
)
def test_options_at_odds_are_refused(options, message):
    rows = rows_of(x=[5, 3], tags=["a", "b"])
    with pytest.raises(ParameterError, match=message):
        guess_columns(rows, target_columns=["tags"], **options)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None], "column 'x' is always empty"),
        ([{"a": "b"}, 3], "no kind of column fits all values of 'x', such as {'a': 'b'}"),
    ],
)
def test_an_input_that_cannot_be_read_is_an_error_if_it_was_named(values, message):
    with pytest.raises(DataError, match=message):
        guess_columns(rows_of(x=values), inputs=["x"])


def test_many_columns_of_a_kind_share_a_line():
    rows = rows_of(**{f"x{k}": [k, 2, 5] for k in range(7)}, text=["a b", "c d", "e f"])
    notes = column_notes(guess_columns(rows))
    assert notes == ["x0, x1, x2 and 4 more: number", "text: text"]


def test_a_large_table_is_looked_at_here_and_there():
    assert list(sampled_rows(3)) == [0, 1, 2]
    assert len(sampled_rows(5001)) == 2501
    assert sampled_rows(1_000_000)[-1] > 990_000
    late = rows_of(x=["a"] * 9000 + ["b"] * 3000)
    assert guess_columns(late)[0].kind == "category"
    counting = rows_of(x=list(range(12_000)))
    assert guess_columns(counting)[0].remark == "numbers the rows"


SIZES = [k % 7 for k in range(20)]
SKUS = [f"SKU-{10000 + 3 * k}" for k in range(20)]


@pytest.mark.parametrize(
    "codes",
    [
        SKUS,
        [*SKUS, None],
        [str(uuid.UUID(int=k * 2**100 + 10**30)) for k in range(20)],
        [f"https://shop.example/items/{k}" for k in range(20)],
    ],
    ids=["sku", "a gap", "uuid", "url"],
)
def test_a_different_code_in_each_row_is_an_id(codes):
    rows = rows_of(code=codes, size=[*SIZES, 9][: len(codes)])
    column, _ = guess_columns(rows)
    assert column.note == "code: ignored (a different code in each row)"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([*SKUS[:19], SKUS[0]], "text"),
        ([*SKUS[:19], "none"], "text"),
        ([*SKUS[:19], "SKU 3"], "text"),
        (SKUS[:19], "text"),
        ([f"{k},50" for k in range(20)], "text"),
        ([f"{k + 10}.12.2024" for k in range(20)], "date"),
        ([f"2024-01-{k + 10}" for k in range(20)], "date"),
        ([f"{k}e3" for k in range(20)], "number"),
    ],
    ids=["repeated", "no digit", "two words", "few", "prices", "dates", "ISO dates", "numbers"],
)
def test_other_values_are_no_ids(values, kind):
    column, _ = guess_columns(rows_of(c=values, size=SIZES[: len(values)]))
    assert column.kind == kind


@pytest.mark.parametrize(
    "asked", [{"given": {"sku": "text"}}, {"inputs": ["sku", "size"]}, {"ignore_codes": False}]
)
def test_codes_are_read_on_purpose(asked):
    sku, _ = guess_columns(rows_of(sku=SKUS, size=SIZES), **asked)
    assert sku.kind == "text"


def test_codes_are_read_if_there_is_nothing_else():
    assert guess_columns(rows_of(sku=SKUS))[0].kind == "text"
    columns = guess_columns(rows_of(sku=SKUS, same=["a"] * 20))
    assert [column.kind for column in columns] == ["text", "ignored"]


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        (["12,50", "1.234,5", "3"] * 4, "like numbers such as '12,50'; write them all as 1234.5"),
        (["12 %", "5%", "7.5 %"] * 4, "like numbers such as '12 %'"),
        (["$1,200", "€3.50", "£7"] * 4, "like numbers such as '$1,200'"),
        (["953", "1,422"] * 4, "like numbers such as '1,422'"),
        ([*[f"{k}.5" for k in range(19)], "unknown"], "like numbers, but not 'unknown'"),
        (["12/31/2024", "1/2/2024 14:30"] * 4, "like dates such as '12/31/2024'"),
        ([f"2024-01-{k + 10}" for k in range(19)] + ["soon"], "like dates, but not 'soon'"),
        (["5 May 2021", "May 6, 2021"] * 4, "like dates such as '5 May 2021'"),
        (["1.2.3", "2.3.4"] * 4, ""),
        (["01234", "04321"] * 4, ""),
        (["12,50", "cheap"] * 4, ""),
        (["eco, gift", "gift"] * 4, ""),
        (["3/4", "1/2"] * 4, ""),
    ],
)
def test_spellings_that_are_not_read_as_numbers_or_dates_are_remarked_on(values, remark):
    column, _ = guess_columns(rows_of(c=values, size=[k / 7 for k in range(len(values))]))
    assert column.kind == "text"
    assert column.remark[: len(remark) or None] == remark
