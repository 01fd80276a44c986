"""Rules: which of the choices at a choice point to keep. One file a rule."""

from setlearn.rules.base import Rule
from setlearn.rules.cnn import LambdaCNN
from setlearn.rules.margin import Margin
from setlearn.rules.rnn import LambdaRNN
from setlearn.rules.threshold import Threshold
from setlearn.rules.top_k import TopK

__all__ = ["LambdaCNN", "LambdaRNN", "Margin", "Rule", "Threshold", "TopK"]
