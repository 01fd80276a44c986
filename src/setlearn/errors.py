"""The errors and warnings of setlearn.

::

    SetlearnError
    ├── DataError          (ValueError)      X, Y or known elements that cannot be used
    ├── KindError          (TypeError)       a value of the wrong type, such as a string for a set
    ├── ParameterError     (ValueError)      a parameter out of range or in conflict with another
    ├── NotFittedError     (sklearn's)       a method that needs ``fit`` was called before it
    ├── ClusterError                         a Ray cluster that cannot be used
    ├── LostReplicaError                     another process of a shared training has ended
    └── ModelError                           a model that cannot be loaded or saved
        └── UntrustedModelError              a saved model with types that were not allowed

The name in parentheses is the built-in or scikit-learn error that each one also is. A message
says what is wrong, which value was received, and what to do. All warnings are a
``SetlearnWarning``.
"""

import sys
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Self

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "ClusterError",
    "ConvergenceWarning",
    "DataError",
    "DateRangeWarning",
    "InterruptedFitWarning",
    "KindError",
    "LostReplicaError",
    "ModelError",
    "NotFittedError",
    "NumbersForTextsWarning",
    "ParameterError",
    "SetlearnError",
    "SetlearnWarning",
    "TruncationWarning",
    "UnknownLabelWarning",
    "UnseenCategoryWarning",
    "UnseenTokenWarning",
    "UnseenValueWarning",
    "UntrustedModelError",
    "warn_user",
]


class SetlearnError(Exception):
    """The base class of all errors that setlearn raises on purpose.

    Parameters
    ----------
    message : str
    advice : mapping of str to object, optional
        The parameters that the message advises to set, with the advised value of each; None where
        the user has to choose one, False where it should be left out. The command line names its
        own options for them.
    without_values : str, optional
        What is wrong, without the place and without any value of the data, for the answers of a
        server.

    Examples
    --------
    >>> from setlearn.records import plan_records
    >>> try:
    ...     plan_records([{"text": "a boat", "place": "sea"}])
    ... except SetlearnError as error:
    ...     print(error.advice)
    {'target': None}
    """

    def __init__(
        self,
        message: str,
        *,
        advice: Mapping[str, Any] | None = None,
        without_values: str | None = None,
    ) -> None:
        super().__init__(message)
        self.advice = dict(advice or {})
        self.without_values = without_values


class DataError(SetlearnError, ValueError):
    """X, Y or known elements cannot be used as they are."""


class KindError(SetlearnError, TypeError):
    """A value has the wrong type, such as a string instead of a set."""


class ParameterError(SetlearnError, ValueError):
    """A parameter is out of range or in conflict with another."""


class NotFittedError(SetlearnError, _SklearnNotFittedError):  # type: ignore[misc]  # untyped
    """A method that needs a fitted model was called before ``fit``."""


class ClusterError(SetlearnError):
    """A Ray cluster does not answer, or its workers cannot be used."""


class ModelError(SetlearnError):
    """A saved model is damaged or of an unknown kind, or a model cannot be saved."""


class UntrustedModelError(ModelError):
    """A model holds types that are not known to be safe.

    Parameters
    ----------
    message : str
    types : sequence of str, default=()
        Their full names, which ``save`` and ``load`` take as ``trusted``.
    """

    def __init__(self, message: str, types: Sequence[str] = ()) -> None:
        super().__init__(message, advice={"trusted": tuple(types)} if types else None)
        self.types = tuple(types)


class LostReplicaError(SetlearnError):
    """Another process of a training that several share has ended, or does not answer."""


class SetlearnWarning(UserWarning):
    """The base class of all warnings of setlearn.

    Parameters
    ----------
    message : str
    advice : mapping of str to object, optional
        As for `SetlearnError`.
    """

    def __init__(self, message: str, *, advice: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.advice = dict(advice or {})


class ConvergenceWarning(SetlearnWarning, _SklearnConvergenceWarning):  # type: ignore[misc]  # untyped
    """A training ended before the network had converged."""


class InterruptedFitWarning(SetlearnWarning):
    """A fit was interrupted, and its rule was fitted on a part of the folds.

    Parameters
    ----------
    n_finished : int
        The number of folds that were done.
    n_folds : int
        The number of all folds.
    """

    def __init__(self, n_finished: int, n_folds: int) -> None:
        self.moment = f"after {n_finished} of {n_folds} folds"
        super().__init__(
            f"the fit was interrupted {self.moment}; the learner is fitted "
            "on all samples, and the rule on the scores of these folds. Interrupt again to stop "
            "without a model"
        )
        self.n_finished = n_finished
        self.n_folds = n_folds


class UnknownLabelWarning(SetlearnWarning):
    """Labels not seen in training were ignored, because of ``unknown="ignore"``."""


class UnseenValueWarning(SetlearnWarning):
    """Some rows of a table have values that training has not seen; the base of other warnings.

    Parameters
    ----------
    samples : sequence of int
        The positions of these rows.
    values : mapping of str to sequence of str
        The different values of each column that has some, by first occurrence.
    """

    problem: ClassVar[str]
    """What these rows have, after "3 rows with"."""
    effect: ClassVar[str]
    """What becomes of the values, and what to do."""

    def __init__(self, samples: Sequence[int], values: Mapping[str, Sequence[str]]) -> None:
        columns = (f"{name} ({_some(new_values)})" for name, new_values in values.items())
        super().__init__(
            f"{len(samples)} row{'' if len(samples) == 1 else 's'} with {self.problem}: "
            f"{', '.join(columns)}; {self.effect}"
        )
        self.samples = tuple(samples)
        self.values = {name: tuple(new_values) for name, new_values in values.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        # Its message is made from these; other processes send warnings with what they answer.
        return type(self), (self.samples, self.values)

    @classmethod
    def of_batches(cls, parts: Sequence[Self]) -> Self:
        """One warning for all batches of a table; its samples are counted from each batch's start.

        Parameters
        ----------
        parts : sequence of UnseenValueWarning
            All of this class.

        Returns
        -------
        UnseenValueWarning
        """
        values: dict[str, dict[str, None]] = {}
        for part in parts:
            for name, new_values in part.values.items():
                values.setdefault(name, {}).update(dict.fromkeys(new_values))
        samples = [sample for part in parts for sample in part.samples]
        return cls(samples, {name: list(every) for name, every in values.items()})


class UnseenCategoryWarning(UnseenValueWarning):
    """Some rows of a table have categories that training has not seen."""

    problem = "categories never seen in training"
    effect = (
        "they have no features, as if the value were missing. Add rows with such values to the "
        "training data, or correct their spelling"
    )


class DateRangeWarning(UnseenValueWarning):
    """Some rows of a table have dates far outside of the range of the training data."""

    problem = "dates far outside of the range of training"
    effect = (
        "they are read as the nearest time in that range, in their own season, weekday and hour. "
        "Correct them, or add rows with such dates to the training data"
    )


class NumbersForTextsWarning(UnseenValueWarning):
    """Some rows of a table have numbers in a column that held texts alone in training."""

    problem = "numbers in columns of texts"
    effect = "they are read as texts. Check that these are the right columns"


def _some(values: Sequence[str]) -> str:
    """Up to three values, and how many more there are."""
    more = f" and {len(values) - 3} more" if len(values) > 3 else ""
    return ", ".join(f"{value!r:.60}" for value in values[:3]) + more


class UnseenTokenWarning(SetlearnWarning):
    """Some inputs have tokens that training has not seen.

    Parameters
    ----------
    message : str
    samples : sequence of int, default=()
        The positions of these inputs.
    tokens : sequence of tokens, default=()
        The different tokens, by first occurrence.
    lost : sequence of tokens, default=()
        Those among them that cannot be copied into predicted sets.
    """

    def __init__(
        self,
        message: str,
        samples: Sequence[int] = (),
        tokens: Sequence[Hashable] = (),
        lost: Sequence[Hashable] = (),
    ) -> None:
        super().__init__(message)
        self.samples = tuple(samples)
        self.tokens = tuple(tokens)
        self.lost = tuple(lost)


class TruncationWarning(SetlearnWarning):
    """Some predicted sets reached a limit and may lack elements.

    Parameters
    ----------
    message : str
    samples : sequence of int, default=()
        The positions of these sets among the inputs.
    """

    def __init__(self, message: str, samples: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.samples = tuple(samples)


def warn_user(warning: Warning) -> None:
    """Warn, as of the line outside of setlearn that called it.

    Parameters
    ----------
    warning : Warning
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("setlearn."):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)
