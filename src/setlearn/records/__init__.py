"""From the rows of a file to a fitted set predictor, and back."""

from setlearn.estimators.base import Task
from setlearn.records.model import RecordModel, reading_x, record_model_for
from setlearn.records.plan import RecordPlan, plan_records, plan_to_continue
from setlearn.records.readers import JoinedTextReader, RecordReader, TextReader
from setlearn.records.target_guesses import guess_targets
from setlearn.records.targets import TargetReader
from setlearn.token_guesses import TokenSplit

__all__ = [
    "JoinedTextReader",
    "RecordModel",
    "RecordPlan",
    "RecordReader",
    "TargetReader",
    "Task",
    "TextReader",
    "TokenSplit",
    "guess_targets",
    "plan_records",
    "plan_to_continue",
    "reading_x",
    "record_model_for",
]
