"""Whatever records hold, reading them works or says what is wrong."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.errors import DataError, SetlearnError
from setlearn.features import FeatureReader, as_rows, guess_columns
from setlearn.features.columns import read_columns
from setlearn.records import TextReader, guess_targets, plan_records

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "id", "y"]), VALUES), min_size=1, max_size=8
)
COLUMNS = st.sampled_from(
    [SCALARS, st.floats(allow_nan=False), st.text(), st.lists(SCALARS), st.lists(st.floats())]
).flatmap(lambda values: st.lists(values, min_size=2, max_size=8))


@settings(max_examples=80, deadline=None)
@given(RECORDS, st.sampled_from([None, "y", "a", ["a", "b"], "*"]))
def test_any_record_is_read_or_refused(records, target):
    with suppress(SetlearnError):
        plan = plan_records(records, target=target)
        assert len(plan.notes) > 0
        rows = as_rows(records)
        reader = plan._reader(rows)
        X = reader.read(rows)
        n_rows = len(X) if isinstance(reader, TextReader) else X.shape[0]
        assert n_rows == len(records)


@settings(max_examples=80, deadline=None)
@given(COLUMNS)
def test_any_column_can_be_read_as_what_it_was_guessed_to_be(values):
    rows = as_rows([{"c": value} for value in values])
    columns = read_columns(guess_columns(rows))
    if columns:
        # Texts may be without words, which no guess looks for, but not without characters.
        try:
            reader = FeatureReader.fit(rows, columns, {"c": "chars"})
            assert reader.read(rows).shape[0] == len(rows)
        except DataError as error:
            assert "inf, which is not a finite number" in str(error)  # noqa: PT017  # the only one


@settings(max_examples=80, deadline=None)
@given(COLUMNS, st.sampled_from([None, "labels", "sequences"]))
def test_any_target_is_a_set_or_refused(values, task):
    rows = as_rows([{"c": value} for value in values])
    with suppress(SetlearnError):
        reader, _ = guess_targets(rows, "c", task=task)
        assert all(isinstance(reader.read(row), frozenset) for row in rows)
