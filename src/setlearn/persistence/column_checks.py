"""What turns texts and categories into columns: the columns must be ones that there are.

Sparse matrices are made from their numbers without a look, and compiled code then reads and
writes there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setlearn.persistence.archive_checks import unsound

__all__ = ["COLUMN_CHECKS", "SETTING_CHECKS"]

MOST_COLUMNS = 2**31 - 1


def _check_vocabulary(vectoriser: Any) -> None:
    columns = vectoriser.vocabulary_.values()
    if sorted(columns) != list(range(len(columns))):
        raise unsound("a vocabulary has columns that are not there")


def _check_one_hot(encoder: Any) -> None:
    """Raise unless the categories of each feature become just the columns that it has."""
    categories, widths = encoder.categories_, encoder._n_features_outs
    sound = len(categories) == len(widths) == encoder.n_features_in_
    for feature, (names, width) in enumerate(zip(categories, widths, strict=False)):
        columns = _columns_of(encoder, feature)
        sound = (
            sound
            and _found_in_order(names)
            and type(width) is int
            and np.array_equal(np.unique(columns), np.arange(width))
        )
    if not sound:
        raise unsound("categories have columns that are not there")


def _columns_of(encoder: Any, feature: int) -> NDArray[Any]:
    """Where `OneHotEncoder.transform` puts the categories of a feature, counted from its first."""
    columns = np.arange(len(encoder.categories_[feature]))
    if encoder._infrequent_enabled:
        mapping = encoder._default_to_infrequent_mappings[feature]
        if (mapping is None) != (encoder._infrequent_indices[feature] is None):
            raise unsound("rare categories have no column")
        columns = columns if mapping is None else np.ravel(mapping)
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None and dropped[feature] is not None:
        columns = columns[columns != dropped[feature]]
        columns = columns - (columns > dropped[feature])
    return columns


def _found_in_order(names: NDArray[Any]) -> bool:
    """Whether a binary search, which is made for numbers, finds none behind the last one."""
    values = names.tolist()
    if not values or not isinstance(values[-1], int | float) or np.isnan(values[-1]):
        return True
    return all(value <= values[-1] for value in values if isinstance(value, int | float))


def _check_reads_texts(vectoriser: Any) -> None:
    if vectoriser.input != "content":
        raise unsound(
            f"a {type(vectoriser).__name__} with input={vectoriser.input!r:.40} would open files "
            'that the inputs name; only input="content" is read'
        )


def _check_hashed_columns(hasher: Any) -> None:
    if type(hasher.n_features) is not int or not 1 <= hasher.n_features <= MOST_COLUMNS:
        raise unsound("hashed features have no columns")


COLUMN_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "sklearn.feature_extraction._dict_vectorizer.DictVectorizer": _check_vocabulary,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.preprocessing._encoders.OneHotEncoder": _check_one_hot,
}
"""Of what has learned its columns, by the full names of the classes."""

SETTING_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "sklearn.feature_extraction._hash.FeatureHasher": _check_hashed_columns,
    "sklearn.feature_extraction.text.HashingVectorizer": _check_hashed_columns,
    "sklearn.feature_extraction.text._VectorizerMixin": _check_reads_texts,
}
"""Of what is used without having learned anything."""
