"""Every error that setlearn raises on purpose, in one tree.

::

    SetlearnError
    ├── DataError          (ValueError)      X, Y or known elements that cannot be used
    ├── KindError          (TypeError)       a value of the wrong kind, such as a string for a set
    ├── ParameterError     (ValueError)      a parameter out of range or at odds with another
    ├── NotFittedError     (sklearn's)       a question asked before ``fit``
    └── ModelError                           a saved model that cannot be read, or a model not saved
        └── UntrustedModelError              one that holds types which nobody has allowed

Each is also the built-in or scikit-learn error that its users would catch. A message says what
is wrong, what was got, and what to do. Warnings form a tree of their own under
``SetlearnWarning``.
"""

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "DataError",
    "KindError",
    "ModelError",
    "NotFittedError",
    "ParameterError",
    "SetlearnError",
    "SetlearnWarning",
    "TruncationWarning",
    "UnknownLabelWarning",
    "UntrustedModelError",
]


class SetlearnError(Exception):
    """The root of all errors that setlearn raises on purpose."""


class DataError(SetlearnError, ValueError):
    """X, Y or known elements cannot be used as they are."""


class KindError(SetlearnError, TypeError):
    """A value is of the wrong kind, such as a string where a set is meant."""


class ParameterError(SetlearnError, ValueError):
    """A parameter is out of range or at odds with another."""


class NotFittedError(SetlearnError, _SklearnNotFittedError):  # type: ignore[misc]  # untyped
    """A question was asked before ``fit``."""


class ModelError(SetlearnError):
    """A saved model is damaged or of another kind, or a model cannot be saved."""


class UntrustedModelError(ModelError):
    """A saved model holds types that are not on the list of allowed ones."""


class SetlearnWarning(UserWarning):
    """The root of all warnings that setlearn gives."""


class UnknownLabelWarning(SetlearnWarning):
    """Labels never seen in training were left out, as ``unknown="ignore"`` asks."""


class TruncationWarning(SetlearnWarning):
    """Some predicted sets were cut off at a bound: they may lack elements."""
