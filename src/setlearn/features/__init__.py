"""From tables to features: what each column holds, and how it becomes numbers."""

from setlearn.features.cells import KINDS, Kind
from setlearn.features.column_guesses import guess_columns
from setlearn.features.columns import Column, as_rows
from setlearn.features.encoders import TextFeatures
from setlearn.features.feature_reader import FeatureReader

__all__ = [
    "KINDS",
    "Column",
    "FeatureReader",
    "Kind",
    "TextFeatures",
    "as_rows",
    "guess_columns",
]
