"""Features of pairs of a query and a candidate."""

from setlearn.pairs.pair_features import PairFeatures, ReadPairs
from setlearn.pairs.sources import FunctionSource, MatrixSource, PairFunction, Source, TextSource

__all__ = [
    "FunctionSource",
    "MatrixSource",
    "PairFeatures",
    "PairFunction",
    "ReadPairs",
    "Source",
    "TextSource",
]
