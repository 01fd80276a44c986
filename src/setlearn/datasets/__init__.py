"""Data sets for set prediction, and functions that split them."""

from setlearn.datasets.benchmarks import load_benchmark
from setlearn.datasets.splitting import random_split, stratified_split
from setlearn.datasets.tasks import leading_digits, substrings

__all__ = ["leading_digits", "load_benchmark", "random_split", "stratified_split", "substrings"]
