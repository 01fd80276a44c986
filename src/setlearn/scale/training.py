"""Fits models with Ray: networks in several workers, label learners fold by fold."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

from joblib import parallel_config

from setlearn.estimators.sequence_parameters import as_list
from setlearn.files import open_rows
from setlearn.parameter_checks import check_count
from setlearn.records import RecordModel, plan_records
from setlearn.scale.joblib_backend import RayTasks
from setlearn.scale.replica_training import fit_by_replicas
from setlearn.scale.runtime import ray_session

__all__ = ["fit"]


def fit(
    estimator: Any, X: Any, y: Any = None, *, address: str | None = None, workers: int = 2
) -> Any:
    """Fit a copy of an estimator in several worker processes of Ray.

    A `SequenceSetGenerator` with a network is fitted by Ray Train: each worker takes a share of
    every batch, and the weights are those that one process gets, up to rounding and to what is
    drawn at random. If a worker is lost, all start again from the last checkpoint. A call that was
    interrupted goes on where it stopped if the estimator has ``training.checkpoint``; on several
    machines, that is a folder that all of them share. For other estimators, the parallel work of
    the fit, such as the folds of a learner, is done by Ray tasks, with the same result as without
    Ray.

    Parameters
    ----------
    estimator : SequenceSetGenerator, SetClassifier or SetSelector
    X : inputs, records, a path, or a Ray Dataset
        Inputs as for the estimator's own ``fit``. Without ``y``: records, one or several data
        files, or a Ray Dataset, of which columns and sets are guessed as `setlearn.records.
        plan_records` does.
    y : iterable of sets, optional
    address : str, optional
        That of a Ray cluster. By default a Ray of this process is used, or a local one is started
        for this call.
    workers : int, default=2
        How many processes share the work, with one core or GPU each.

    Returns
    -------
    fitted estimator, or RecordModel
        The latter without ``y``. A network comes back as `setlearn.load` returns it, so without
        its held-out samples: pass some to ``with_rule``.

    Raises
    ------
    ParameterError
        If Ray is not installed, or a parameter is out of range.
    ClusterError
        If the cluster does not answer, is too small, or loses workers again and again.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from setlearn import SetClassifier
    >>> from setlearn.scale import fit
    >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [{"low"}, {"low"}, {"high"}, {"high"}]
    >>> model = fit(SetClassifier(LogisticRegression(), cv=2, random_state=0), X, Y, workers=2)
    >>> model.predict([[1.5]])
    [frozenset({'low'})]
    """
    check_count("workers", workers)
    if y is None:
        return _fit_on_records(estimator, X, address, workers)
    with ray_session(address, workers=workers) as ray:
        if estimator.keeps_checkpoints:
            return fit_by_replicas(ray, estimator, as_list(X, "X"), as_list(y, "y"), workers)
        return _fit_by_tasks(ray, estimator, X, y, workers)


def _fit_on_records(estimator: Any, data: Any, address: str | None, workers: int) -> RecordModel:
    about: dict[str, Any] = {}
    if hasattr(data, "iter_rows"):  # a Ray Dataset
        data = list(data.iter_rows())
    elif _is_path(data) or (isinstance(data, Sequence) and data and all(map(_is_path, data))):
        data, about = _read([data] if _is_path(data) else data)
    plan = plan_records(data, task=estimator.task, **about)
    return plan.fit(data, estimator, fitted_by=partial(fit, address=address, workers=workers))


def _is_path(value: Any) -> bool:
    return isinstance(value, str | Path)


def _read(paths: Sequence[str | Path]) -> tuple[list[Any], dict[str, Any]]:
    """The rows of data files, and what the files say about their columns."""
    records: list[Any] = []
    about: dict[str, Any] = {}
    for path in paths:
        with open_rows(path) as rows:
            records += rows
        about = {"target": rows.target, "declared": rows.categories}
    return records, about


def _fit_by_tasks(ray: Any, estimator: Any, X: Any, y: Any, workers: int) -> Any:
    """Fit with joblib's parallel work, such as the folds of a learner, done by Ray."""
    with parallel_config(RayTasks(ray), n_jobs=workers):
        return copy(estimator).fit(X, y)  # a clone would forget what a reader has told it
