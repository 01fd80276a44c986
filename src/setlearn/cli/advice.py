"""What the command line advises where the library advises a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from setlearn.errors import DataError

__all__ = ["advising"]

ADVICE_OF_PYTHON = ', or set unknown to "ignore"'


@contextmanager
def advising(advice: str) -> Iterator[None]:
    """Give this advice on unknown elements instead of the one that names a parameter of Python."""
    try:
        yield
    except DataError as error:
        if ADVICE_OF_PYTHON not in str(error):
            raise
        raise DataError(str(error).replace(ADVICE_OF_PYTHON, advice)) from error
