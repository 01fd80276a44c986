"""From the rows of a file to a fitted set predictor, and back."""

from setlearn.records.bare_models import reading_x, record_model_for
from setlearn.records.columns import Column, guess_columns
from setlearn.records.kinds import Kind
from setlearn.records.model import RecordModel
from setlearn.records.plan import RecordPlan, plan_records
from setlearn.records.readers import FeatureReader, RecordReader, TextReader
from setlearn.records.rows import as_rows
from setlearn.records.target_guess import guess_targets
from setlearn.records.targets import TargetReader, Task
from setlearn.records.text_features import TextFeatures
from setlearn.records.text_guess import TokenSplit

__all__ = [
    "Column",
    "FeatureReader",
    "Kind",
    "RecordModel",
    "RecordPlan",
    "RecordReader",
    "TargetReader",
    "Task",
    "TextFeatures",
    "TextReader",
    "TokenSplit",
    "as_rows",
    "guess_columns",
    "guess_targets",
    "plan_records",
    "reading_x",
    "record_model_for",
]
