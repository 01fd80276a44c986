"""Prediction and training on many machines, with Ray: ``pip install 'setlearn[ray]'``."""

__all__: list[str] = []
