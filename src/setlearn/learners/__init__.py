"""Label learners of our own, as scikit-learn classifiers. Importing this does not import torch."""

from setlearn.learners.sequence_sigmoid_network import SequenceSigmoidNetwork
from setlearn.learners.set_mixture import SetMixture
from setlearn.learners.sigmoid_network import SigmoidNetwork

__all__ = ["SequenceSigmoidNetwork", "SetMixture", "SigmoidNetwork"]
