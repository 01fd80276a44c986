"""Data to learn sets from."""

from setlearn.datasets.benchmarks import load_benchmark
from setlearn.datasets.tasks import leading_digits, substrings

__all__ = ["leading_digits", "load_benchmark", "substrings"]
