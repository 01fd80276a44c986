"""Texts as weighted terms: words, pairs of words and parts of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from scipy import sparse

from setlearn.nodes import FloatArray
from setlearn.savable import savable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TextFeatures", "TextTerms"]

TextFeatures: TypeAlias = Literal["subwords", "tfidf", "words", "chars"]
"""TF-IDF of words, pairs of words and parts of words; of words and pairs of words; which words
occur; or TF-IDF of parts of words."""

WORD = r"\b\w+\b"
ROWS_FOR_RARE_TERMS = 1000
"""From this number of texts on, terms that occur in only one text are left out."""


@savable(names=("terms_",), skipped=("vectorisers_",))
class TextTerms:
    """Turns texts into weights of terms, with the vectorisers of scikit-learn.

    What they have learned is kept as lists of terms and arrays of weights, which are loaded in a
    fraction of the time that a saved vectoriser takes.

    Parameters
    ----------
    features : {"subwords", "tfidf", "words", "chars"}

    Examples
    --------
    >>> terms = TextTerms("words").fit(["sun over the sea", "the night"])
    >>> terms.get_feature_names_out()
    array(['night', 'over', 'sea', 'sun', 'the'], dtype=object)
    >>> terms.transform(["night and day"]).toarray()
    array([[1., 0., 0., 0., 0.]])
    """

    def __init__(self, features: TextFeatures) -> None:
        self.features = features

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn the terms.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are none.
        """
        min_df = 1 if len(texts) < ROWS_FOR_RARE_TERMS else 2
        self.terms_: list[list[str]] = []
        self.weights_: list[FloatArray | None] = []
        for kind in self._kinds:
            fitted = _vectoriser(kind, min_df=min_df).fit(texts)
            self.terms_.append(fitted.get_feature_names_out().tolist())
            self.weights_.append(getattr(fitted, "idf_", None))
        return self

    def transform(self, texts: Sequence[str]) -> sparse.csr_array:
        """The weights of the terms.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        csr_array of shape (n, terms)
        """
        if not hasattr(self, "vectorisers_"):
            kinds = zip(self._kinds, self.terms_, self.weights_, strict=True)
            self.vectorisers_ = [_restored(kind, terms, idf) for kind, terms, idf in kinds]
        blocks = [vectoriser.transform(texts) for vectoriser in self.vectorisers_]
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))

    def get_feature_names_out(self) -> NDArray[Any]:
        """The terms, (terms,)."""
        return np.array([term for terms in self.terms_ for term in terms], dtype=object)

    @property
    def _kinds(self) -> tuple[TextFeatures, ...]:
        return ("tfidf", "chars") if self.features == "subwords" else (self.features,)


def _vectoriser(kind: TextFeatures, **settings: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if kind == "words":
        return CountVectorizer(binary=True, token_pattern=WORD, dtype=np.float64, **settings)
    if kind == "chars":
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, **settings
        )
    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD, sublinear_tf=True, **settings)


def _restored(kind: TextFeatures, terms: Sequence[str], idf: FloatArray | None) -> Any:
    """A fitted vectoriser."""
    vectoriser = _vectoriser(kind, vocabulary=terms)
    if idf is not None:
        vectoriser.idf_ = idf
    return vectoriser
