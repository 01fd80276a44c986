"""Rules: which of the choices at a choice point to keep. One file per rule."""

from setlearn.rules.auto import Auto
from setlearn.rules.base import Rule
from setlearn.rules.expected_f import ExpectedF
from setlearn.rules.lambda_cnn import LambdaCNN
from setlearn.rules.lambda_rnn import LambdaRNN
from setlearn.rules.lambda_set import LambdaSet
from setlearn.rules.margin import Margin
from setlearn.rules.most_probable import MostProbable
from setlearn.rules.on_sequences import OnSequences
from setlearn.rules.risk_control import RiskControl
from setlearn.rules.threshold import Threshold
from setlearn.rules.top_k import TopK

__all__ = [
    "Auto",
    "ExpectedF",
    "LambdaCNN",
    "LambdaRNN",
    "LambdaSet",
    "Margin",
    "MostProbable",
    "OnSequences",
    "RiskControl",
    "Rule",
    "Threshold",
    "TopK",
]
