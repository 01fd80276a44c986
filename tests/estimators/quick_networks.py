"""Small networks, and trainings that learn fast."""

from setlearn.networks import LSTM, Training

SMALL = {"network": LSTM(16, 16, 32), "random_state": 0}


def steps(n, **settings):
    """A training of that many steps, which learns fast."""
    return Training(max_steps=n, learning_rate=0.01, **settings)
