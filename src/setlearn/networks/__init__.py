"""Networks for sets of sequences. Importing this package does not import torch."""

from setlearn.networks.recipes import LSTM, Transformer
from setlearn.networks.training_settings import Training

__all__ = ["LSTM", "Training", "Transformer"]
