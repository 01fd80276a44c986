"""Taking a learner that somebody fitted before: which of its columns is which label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.estimators.label_space import LabelSpace, as_label_array
from setlearn.nodes import IntArray

__all__ = ["check_prefit", "in_order_of_learner", "refuse_fit_params"]


def check_prefit(learner: BaseEstimator) -> None:
    """Raise unless the learner is fitted and gives probabilities as it is."""
    try:
        check_is_fitted(learner)
    except SklearnNotFittedError as error:
        raise NotFittedError(
            f'cv="prefit" needs a fitted estimator, but this {type(learner).__name__} is not; '
            "fit it first, or leave cv at its default"
        ) from error
    if not hasattr(learner, "predict_proba"):
        raise DataError(
            f'cv="prefit" takes the estimator as it is, and {type(learner).__name__} has no '
            "predict_proba; calibrate it first (sklearn.calibration.CalibratedClassifierCV)"
        )


def refuse_fit_params(sample_weight: Any, fit_params: Mapping[str, Any]) -> None:
    """Raise where something is meant for the fit of a learner that is fitted already."""
    given = [*(["sample_weight"] if sample_weight is not None else []), *fit_params]
    if given:
        raise ParameterError(
            f'{", ".join(given)} was given, but with cv="prefit" no learner is fitted that could '
            "use it; leave it out, or leave cv at its default"
        )


def in_order_of_learner(
    learner: BaseEstimator, space: LabelSpace, right: sparse.csr_array
) -> tuple[LabelSpace, sparse.csr_array, IntArray]:
    """For a multi-class learner: the labels that it knows, and the column of each of its classes.

    Its classes may include labels that Y never shows; an indicator's columns stay as they are.
    """
    theirs = np.asarray(learner.classes_).tolist()
    ours = space.classes.tolist()
    missing = [label for label in ours if label not in theirs]
    if space.kind in ("indicator", "sparse"):
        strange = [label for label in theirs if label not in ours]
        if strange:
            raise DataError(
                f"the fitted estimator knows the class {strange[0]!r}, which is no column of Y; "
                "fit it on column numbers, or give Y as sets of its classes"
            )
        return space, right, np.array([ours.index(label) for label in theirs])
    if missing:
        raise DataError(
            f"Y holds {len(missing)} label(s) that the fitted estimator does not know, such as "
            f"{missing[0]!r}; fit it on all labels first"
        )
    column = np.array([theirs.index(label) for label in ours])
    moved = sparse.csr_array(
        (right.data, column[right.indices], right.indptr), shape=(right.shape[0], len(theirs))
    )
    moved.sort_indices()
    return replace(space, classes=as_label_array(theirs)), moved, np.arange(len(theirs))
