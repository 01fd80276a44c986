"""Labels in an order of their own, and containers read and answered without loss."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setlearn.errors import DataError, SetlearnWarning
from setlearn.estimators.label_space import LabelSpace, as_label_array
from setlearn.missing_values import is_missing
from setlearn.ordering import canonical_rank

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.floats(allow_nan=False)
    | st.binary(max_size=2)
)
labels = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
label_lists = st.lists(labels, min_size=1, max_size=6, unique=True)


def is_undoubted(label):
    """Whether nobody would ask what a label means: no missing value, and no text but a word."""
    return label.isalnum() if isinstance(label, str) else not is_missing(label)


@settings(max_examples=300, deadline=None)
@given(label_lists, st.randoms())
def test_the_order_of_labels_does_not_depend_on_how_they_came(given_labels, random):
    shuffled = list(given_labels)
    random.shuffle(shuffled)
    assert sorted(shuffled, key=canonical_rank) == sorted(given_labels, key=canonical_rank)
    assert set(given_labels) == set(given_labels)


@pytest.mark.parametrize(
    "given_labels",
    [
        [frozenset({1}), frozenset({2}), frozenset({1, 2})],
        [(0, frozenset({1})), (0, frozenset({2}))],
        [frozenset({"ab", "cd"}), frozenset({"cd", "ef"}), frozenset()],
    ],
)
def test_sets_as_labels_have_an_order_too(given_labels):
    orders = {
        tuple(sorted(shuffled, key=canonical_rank)) for shuffled in permutations(given_labels)
    }
    assert len(orders) == 1


@pytest.mark.parametrize(
    ("given_labels", "expected"),
    [
        ([10, 9, -1], [-1, 9, 10]),
        (["b", "a", "B"], ["B", "a", "b"]),
        ([(2, 1), (1, 10), (1, 9)], [(1, 9), (1, 10), (2, 1)]),
        (np.array([3, 1, 2]), [1, 2, 3]),
    ],
)
def test_comparable_labels_are_in_their_natural_order(given_labels, expected):
    assert sorted(given_labels, key=canonical_rank) == expected


@settings(max_examples=300, deadline=None)
@given(label_lists)
def test_an_array_of_labels_gives_them_back(given_labels):
    array = as_label_array(given_labels)
    assert array.shape == (len(given_labels),)
    assert array.tolist() == given_labels
    assert [type(label) for label in array.tolist()] == [type(label) for label in given_labels]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.frozensets(labels.filter(is_undoubted), max_size=4), min_size=1, max_size=5))
def test_sets_survive_the_indicator(sets):
    space, targets = LabelSpace.read(sets)
    right = targets.right
    assert space.kind == "sets"
    assert space.answer(right) == sets
    assert (space.encode(sets, "error") != right).nnz == 0


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from([np.array, sparse.csr_array, sparse.csr_matrix, sparse.coo_array, list]),
)
def test_indicators_survive_too(rows, container):
    space, targets = LabelSpace.read(container(rows))
    answer = space.answer(targets.right)
    assert type(answer) is (np.ndarray if container in (list, np.array) else type(container(rows)))
    dense = answer.toarray() if sparse.issparse(answer) else answer
    assert dense.tolist() == rows


def test_what_is_read_is_not_changed():
    thin = sparse.csr_array((np.array([1, 0, 1]), ([0, 0, 1], [2, 1, 0])), shape=(2, 3))
    before = thin.nnz
    _, targets = LabelSpace.read(thin)
    assert (thin.nnz, targets.right.nnz) == (before, 2)


@pytest.mark.parametrize("container", [np.array, sparse.csr_array, list])
def test_the_columns_of_an_indicator_are_plain_numbers(container):
    space, _ = LabelSpace.read(container([[0, 1], [1, 0]]))
    assert space.classes.dtype.kind == "i"
    assert space.classes.tolist() == [0, 1]


@pytest.mark.parametrize("separator", [";", "|", ",", ", "])
def test_labels_that_are_joined_to_texts_are_asked_about(separator):
    names = ["sun", "sea", "city", "night", "snow"]
    y = [separator.join(pair) for pair in permutations(names, 2)]
    with pytest.raises(DataError, match=r"y holds texts such as '.*' between them; pass sets"):
        LabelSpace.read([*y, *names] * 3)


def test_the_advice_on_joined_labels_gives_the_labels():
    y = ["eco, gift", "gift", "eco", "", "gift, eco,", "eco,gift"]
    with pytest.raises(DataError) as caught:
        LabelSpace.read(y)
    advice = str(caught.value).split("such as ")[-1].split(", or, if")[0]
    both = {"eco", "gift"}
    assert eval(advice, {"y": y}) == [both, {"gift"}, {"eco"}, set(), both, both]


@pytest.mark.parametrize(
    "y",
    [
        ["Lee, Ann", "Ray, Bo", "Kim, Cy"],
        ["0|0", "0|1", "1|1"],
        ["1,5", "2,5", "none"],
        [
            f"{city}, {city[0]}"
            for city in (["Rome", "Oslo", "Bern", "Paris", "Lyon", "Bonn", "Kiel", "Riga", "Pisa"])
        ]
        + ["Berlin, B"],
    ],
)
def test_classes_may_have_commas(y):
    assert LabelSpace.read(y)[0].kind == "classes"


@pytest.mark.parametrize(
    "y",
    [
        ["law,music", "law", "music", "math,law"],
        ["sun,sea", "sun", "sea", "snow", "wind"],
        ["car", "car, fast", "car, fast, red", "red"],
        ["['car']", "['car', 'red']", "[]"],
    ],
)
def test_few_joined_labels_are_asked_about_too(y):
    with pytest.raises(DataError, match=r"y holds texts such as .* pass sets"):
        LabelSpace.read(y * 5)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_with_one_column_of_lists_is_that_column(frame):
    sets = [["a", "b"], [], ["c"]]
    space, targets = LabelSpace.read(frame({"tags": sets}))
    expected, same = LabelSpace.read(sets)
    assert space.classes.tolist() == expected.classes.tolist()
    assert (targets.right != same.right).nnz == 0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([{"a", None}, {"b"}], "sample 0 of y holds None, a missing value"),
        ([{"a"}, {"b", ""}], "sample 1 of y holds '', a missing value"),
        ([{"a"}, {"b", pd.NA}], "sample 1 of y holds <NA>, a missing value"),
        ([set("sun, sea"), set("sea")], "single characters, among them ' '"),
        ([["['a', 'b']"], ["['c']"]], r"lists that were written .*set\(ast.literal_eval\(text\)\)"),
        (
            ["['a' 'b']", "['c']", "[]"],
            r"set\(written_list\(text, 'y'\)\) for text in y\] with setl",
        ),
        (["{'a', 'b'}", "{'c'}", "set()"], "lists that were written"),
        (pd.DataFrame([[1, 0, 1]] * 2, columns=["a", "b", "a"]), "several columns called 'a'"),
    ],
)
def test_labels_that_nobody_means_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        LabelSpace.read(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([{"car", " red"}, {"red"}], "1 label.* such as ' red' begin or end with a blank"),
        ([{"car, red"}, {"red"}, {"car"}], "such as 'car, red' look like several labels with ','"),
        ([{"car red"}, {"red"}, {"car"}], "such as 'car red' consist of other labels"),
        (["car red", "red", "car", "red"], "such as 'car red' consist of other labels"),
        ([{"N/A"}, {"red"}, {"car"}], "a label of y is 'N/A', which is how missing values are"),
        (["null", "red", "car", "red"], "a label of y is 'null', which is how missing values are"),
    ],
)
def test_doubtful_labels_of_sets_give_a_warning(y, message):
    with pytest.warns(SetlearnWarning, match=message):
        LabelSpace.read(y)


@pytest.mark.parametrize(
    "y",
    [
        [{"New York, NY"}, {"Rome, GA"}],
        [{"a"}, {"b", "c"}],
        [{"-"}, {"+"}],
        [{"York"}, {"New York"}],
    ],
)
def test_other_labels_of_sets_give_none(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LabelSpace.read(y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_tables_are_found_by_their_names(frame):
    rows = {"sea": [1, 0, 0], "sun": [0, 1, 0], "city": [1, 1, 0]}
    space, targets = LabelSpace.read(frame(rows))
    moved = frame({name: rows[name] for name in ("city", "sea", "sun")})
    assert (space.targets(moved).right != targets.right).nnz == 0
    assert (space.encode(moved, "error") != targets.right).nnz == 0
    for wrong in ({**rows, "car": [0, 0, 0]}, {"sea": [1, 0, 0]}, {"a": [1], "b": [1], "c": [0]}):
        with pytest.raises(DataError, match="must be those of fit, sea, sun, city, got"):
            space.encode(frame(wrong), "error")
    unnamed, _ = LabelSpace.read(np.array([*zip(*rows.values(), strict=True)]))
    assert (unnamed.encode(frame(rows), "error") != targets.right).nnz == 0


@pytest.mark.parametrize("values", [[1, 0, 1], [True, False, True], [1.0, 0.0, float("nan")]])
def test_a_table_with_one_label_is_an_indicator(values):
    space, targets = LabelSpace.read(pd.DataFrame({"sun": values}))
    assert space.kind == "indicator"
    assert space.classes.tolist() == ["sun"]
    assert targets.right.toarray()[:2].ravel().tolist() == [True, False]
