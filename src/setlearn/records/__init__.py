"""From the rows of a file to a fitted set predictor, and back."""

from setlearn.estimators.base import Task
from setlearn.records.candidate_reader import CandidateReader
from setlearn.records.model import RecordModel, RecordReader, reading_x, record_model_for
from setlearn.records.plan import plan_records, plan_to_continue
from setlearn.records.readers import JoinedTextReader, TextReader
from setlearn.records.record_plan import RecordPlan
from setlearn.records.target_guesses import guess_targets
from setlearn.records.targets import TargetReader
from setlearn.token_guesses import TokenSplit

__all__ = [
    "CandidateReader",
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
