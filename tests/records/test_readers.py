"""Records as features, texts or tokens; what is missing is filled, what is wrong has a place."""

import numpy as np
import pytest
from scipy import sparse

from setlearn.errors import DataError, UnseenCategoryWarning
from setlearn.features import Column, FeatureReader
from setlearn.files import Row
from setlearn.records import JoinedTextReader, TextReader
from tests.records.table import rows_of


def fitted(kind, values, **options):
    return FeatureReader.fit(rows_of(c=values), [Column("c", kind)], **options)


def test_numbers_stay_as_they_are_and_missing_ones_are_the_median():
    reader = fitted("number", ["1", 10, None, 3.5, True])
    read = reader.read(rows_of(c=[None, " ", "-2", False, 1e9]))
    assert read.dtype == np.float64
    assert read.ravel().tolist() == [1, 1, -2, 0, 1e9]


def test_words_for_missing_and_for_true_are_read_in_a_column_of_numbers():
    reader = fitted("number", [True, "NA", True, False])
    read = reader.read(rows_of(c=["true", "False", "NaN", "-", "None", True]))
    assert read.ravel().tolist() == [1, 0, 1, 1, 1, 1]
    with pytest.raises(DataError, match="column 'c' holds 'unknown', which is not a finite number"):
        reader.read(rows_of(c=["unknown"]))


def test_the_median_is_in_range_however_large_the_numbers():
    assert fitted("number", [1.5e308, 1.7e308]).read(rows_of(c=[None])) == 1.5e308


def test_categories_are_flags_and_unseen_ones_have_none():
    reader = fitted("category", ["red", "blue", None])
    with pytest.warns(UnseenCategoryWarning, match=r"1 row with .*: c \('green'\)"):
        read = reader.read(rows_of(c=["blue", "green", None, "red"]))
    assert read.tolist() == [[1, 0], [0, 0], [0, 0], [0, 1]]


def test_vectors_stay_as_they_are_and_gaps_are_medians():
    reader = fitted("vector", [[1, 5], [2, None], np.array([3.0, 7.0])])
    read = reader.read(rows_of(c=[[9, 9], [None, 8], None, np.array([np.nan, 1])]))
    assert read.tolist() == [[9, 9], [2, 8], [2, 5], [2, 1]]


def test_bags_are_sparse_with_sorted_names():
    read = fitted("bag", [{"b": 2, 10: 1}, {"a": 0.5, "z": 0}]).read(
        rows_of(c=[{"a": 1, 10: 3}, {"new": 5}, None, {"b": None}])
    )
    assert isinstance(read, sparse.csr_array)
    assert read.toarray().tolist() == [[3, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_tokens_are_counted():
    read = fitted("tokens", [["a", "b"], "c c"]).read(rows_of(c=[["b", "a", "b"], "c", []]))
    assert read.toarray().tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("features", ["tfidf", "words", "chars"])
def test_texts_are_sparse_and_a_missing_one_is_empty(features):
    reader = fitted("text", ["sun and sea", "a city", None, 7], text={"c": features})
    read = reader.read(rows_of(c=["the sun and the sea", None]))
    assert isinstance(read, sparse.csr_array)
    assert read.dtype == np.float64
    assert np.diff(read.indptr)[0] > 0 == np.diff(read.indptr)[1]


def test_rare_words_are_left_out_of_many_texts():
    texts = [f"word{k} the sea" for k in range(1000)]
    assert fitted("text", texts).read(rows_of(c=["word3 the sea"])).shape[1] == 3


def test_texts_without_a_word_are_an_error():
    with pytest.raises(DataError, match="column 'c' has no words to learn from in 2 rows"):
        fitted("text", ["!", "?"])


def test_columns_stand_side_by_side_in_their_order():
    rows = rows_of(size=[1, 3], colour=["red", "blue"], at=[[5, 6], [7, 8]])
    columns = [Column("size", "number"), Column("colour", "category"), Column("at", "vector")]
    read = FeatureReader.fit(rows, columns).read(rows)
    assert read.tolist() == [[1, 0, 1, 5, 6], [3, 1, 0, 7, 8]]


def test_beside_texts_all_columns_are_on_one_scale():
    rows = rows_of(price=[100, 900, 500], text=["sun sea", "sea", "sun"], bag=[{"a": 30}] * 3)
    columns = [Column("price", "number"), Column("text", "text"), Column("bag", "bag")]
    reader = FeatureReader.fit(rows, columns)
    read = reader.read([*rows, Row("", {"price": 1e9, "text": None, "bag": None})]).toarray()
    assert read[:, 0].tolist() == [0, 1, 0.5, 1]
    assert read[:3, -1].tolist() == [1, 1, 1]
    assert np.allclose((read[:3, 1:-1] ** 2).sum(axis=1), 1)


def test_beside_texts_it_is_known_which_features_are_no_words():
    rows = rows_of(text=["sun sea", "sea", "sun"], price=[100, 900, 500], size=["s", "m", "s"])
    kinds = {"text": "text", "price": "number", "size": "category"}
    columns = [Column(name, kind) for name, kind in kinds.items()]
    assert FeatureReader.fit(rows, columns).dense_features == [3, 4, 5]
    assert FeatureReader.fit(rows, columns[:1]).dense_features is None
    assert FeatureReader.fit(rows, columns[1:]).dense_features is None


def test_sequence_models_read_texts_or_tokens():
    assert TextReader(Column("c", "text")).read(rows_of(c=["ab", 7])) == ["ab", "7"]
    read = TextReader(Column("c", "tokens")).read(rows_of(c=[["a", 1], [], "x y"]))
    assert read == [["a", "1"], [], ["x", "y"]]


def test_joined_texts_keep_the_places_of_missing_ones():
    reader = JoinedTextReader((Column("a", "text"), Column("b", "text")))
    rows = rows_of(a=["go", None, "go"], b=["past", "past", None])
    assert reader.read(rows) == ["go past", " past", "go "]


@pytest.mark.parametrize("missing", [None, "", "  ", float("nan")])
def test_sequence_models_need_an_input(missing):
    for kind in ("text", "tokens"):
        with pytest.raises(DataError, match=r"^data.csv, line 3: .* column 'c' is empty"):
            TextReader(Column("c", kind)).read(rows_of(c=["ab", missing]))
    joined = JoinedTextReader((Column("a", "text"), Column("b", "text")))
    with pytest.raises(DataError, match=r"^data.csv, line 3: .* columns 'a' and 'b' are empty"):
        joined.read(rows_of(a=["go", missing], b=["past", missing]))


@pytest.mark.parametrize(
    ("kind", "good", "bad", "why"),
    [
        ("number", 1, "cheap", "'cheap', which is not a finite number"),
        ("number", 1, float("inf"), "inf, which is not a finite number"),
        ("number", 1, 10**400, ", which is not a finite number"),
        ("number", 1, [1], r"\[1\], which is not a finite number"),
        ("category", "a", ["a"], r"\['a'\], which is not a text"),
        ("text", "a", {"a": 1}, "{'a': 1}, which is not a text"),
        ("vector", [1, 2], [1], r"\[1\], which has 1 numbers where others have 2"),
        ("vector", [1, 2], "1 2", "'1 2', which is not a list of finite numbers"),
        ("vector", [1, 2], ["a", 2], r"\['a', 2\], which is not a list of numbers"),
        ("vector", [1, 2], [1, float("inf")], r"\[1, inf\], which is not a list of finite numbers"),
        ("tokens", ["a"], ["a", None], r"\['a', None\], which is not a list of texts"),
        ("tokens", ["a"], 3, "3, which is not a list of texts"),
        ("bag", {"a": 1}, "a", "'a', which is not an object with a number for each name"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_its_place(kind, good, bad, why):
    reader = fitted(kind, [good])
    with pytest.raises(DataError, match=rf"^data.csv, line 3: column 'c' holds .*{why}; correct"):
        reader.read(rows_of(c=[good, bad]))


def test_a_name_in_a_bag_without_a_number_is_refused():
    with pytest.raises(DataError, match="line 2: 'a' in column 'c' has the value 'b', which is no"):
        fitted("bag", [{"a": "b"}])


def test_a_row_without_the_column_is_an_error_unless_training_rows_lacked_it_too():
    rows = rows_of(size=[1, 2])
    elsewhere = [Row("other.csv, line 2", {"sizes": 3, "x": 1})]
    with pytest.raises(DataError) as error:
        FeatureReader.fit(rows, [Column("size", "number")]).read(elsewhere)
    assert str(error.value) == (
        "other.csv, line 2: there is no column 'size'; did you mean 'sizes'? "
        "the columns are sizes, x"
    )
    optional = FeatureReader.fit(rows, [Column("size", "number", optional=True)])
    assert optional.read(elsewhere) == 1
