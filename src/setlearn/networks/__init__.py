"""Networks for sets of sequences. Importing this package does not import torch."""

from setlearn.networks.recipes import LSTM, Transformer

__all__ = ["LSTM", "Transformer"]
