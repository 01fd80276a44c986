"""Data to learn sets from."""

from setlearn.datasets.tasks import leading_digits, substrings

__all__ = ["leading_digits", "substrings"]
