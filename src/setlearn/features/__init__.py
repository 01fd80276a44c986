"""From tables to features: what each column holds, and how it becomes numbers."""

from setlearn.features.cells import KINDS, Kind
from setlearn.features.column_guesses import guess_columns
from setlearn.features.columns import Column, as_rows
from setlearn.features.feature_reader import FeatureReader
from setlearn.features.table_features import TableFeatures, is_table
from setlearn.features.text_terms import TextFeatures

__all__ = [
    "KINDS",
    "Column",
    "FeatureReader",
    "Kind",
    "TableFeatures",
    "TextFeatures",
    "as_rows",
    "guess_columns",
    "is_table",
]
