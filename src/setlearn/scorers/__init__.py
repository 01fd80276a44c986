"""Scorers: models of P(next choice | x, prefix), in batches."""

from setlearn.scorers.aligned_trees import AlignedTrees
from setlearn.scorers.analogy import AnalogyScorer
from setlearn.scorers.base import Scorer
from setlearn.scorers.joint_ngrams import JointNgrams
from setlearn.scorers.labels import LabelScorer, MarginalScorer, SoftmaxScorer
from setlearn.scorers.listed import ListedScorer, lists_labels
from setlearn.scorers.out_of_fold import fit_out_of_fold

__all__ = [
    "AlignedTrees",
    "AnalogyScorer",
    "JointNgrams",
    "LabelScorer",
    "ListedScorer",
    "MarginalScorer",
    "Scorer",
    "SoftmaxScorer",
    "fit_out_of_fold",
    "lists_labels",
]
