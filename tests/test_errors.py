"""The exception tree: every error is also the one that its users would catch."""

import inspect

import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from setlearn import errors


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (errors.DataError, ValueError),
        (errors.KindError, TypeError),
        (errors.ParameterError, ValueError),
        (errors.NotFittedError, SklearnNotFittedError),
        (errors.NotFittedError, ValueError),
        (errors.NotFittedError, AttributeError),
    ],
)
def test_each_is_also_a_known_one(error, built_in):
    assert issubclass(error, built_in)
    assert issubclass(error, errors.SetlearnError)


def test_the_tree_is_drawn_in_full():
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and kind.__module__ == errors.__name__:
            assert name in errors.__all__
            root = Warning if issubclass(kind, Warning) else errors.SetlearnError
            assert issubclass(kind, root)
            if not issubclass(kind, Warning):
                assert name in errors.__doc__


def test_warnings_are_users_warnings():
    assert issubclass(errors.UnknownLabelWarning, errors.SetlearnWarning)
    assert issubclass(errors.SetlearnWarning, UserWarning)
