"""Prediction and training on many machines, with Ray: ``pip install 'setlearn[ray]'``."""

from setlearn.scale.training import fit

__all__ = ["fit"]
