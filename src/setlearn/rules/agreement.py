"""How well a kept set agrees with the right one: the metrics by which rules are chosen and tuned.

They are those of `setlearn.metrics`, per choice point, and 1 always means that the sets are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from setlearn.errors import ParameterError
from setlearn.metrics.sets import Overlaps
from setlearn.nodes import FloatArray, IntArray

__all__ = ["Metric", "agreement", "check_metric"]

Metric: TypeAlias = Literal["exact", "f1", "hamming", "jaccard"]

METRICS: Mapping[str, Callable[[Overlaps, IntArray | int], FloatArray]] = {
    "exact": lambda overlaps, _: overlaps.exact,
    "f1": lambda overlaps, _: overlaps.f1,
    "hamming": lambda overlaps, n_choices: 1 - overlaps.hamming(n_choices),
    "jaccard": lambda overlaps, _: overlaps.jaccard,
}


def check_metric(metric: object) -> None:
    """Raise unless there is a metric of that name.

    Parameters
    ----------
    metric : object

    Raises
    ------
    ParameterError
        It says the right name if another one was given, such as that of a function of
        `setlearn.metrics`, or the function itself.
    """
    if isinstance(metric, str) and metric in METRICS:
        return
    given = getattr(metric, "__name__", metric)
    name_given = given.lower() if isinstance(given, str) else ""
    other_mean = "macro" in name_given or "micro" in name_given
    meant = [name for name in METRICS if name in name_given and not other_mean]
    raise ParameterError(
        f"metric must be one of {sorted(METRICS)}, got {given!r}; "
        + (f"write metric={meant[0]!r}" if meant else "write one of these names")
    )


def agreement(
    metric: Metric, *, shared: IntArray, true: IntArray, kept: IntArray, n_choices: IntArray | int
) -> FloatArray:
    """The agreement of kept sets with the right ones, from their sizes.

    Parameters
    ----------
    metric : {"exact", "f1", "hamming", "jaccard"}
        "exact" is 1 if the sets are equal and 0 otherwise. "hamming" is the share of all choices
        on which they agree: 1 less the Hamming distance.
    shared, true, kept : int arrays
        The sizes of the intersection, of the right set and of the kept set. Their shapes are
        broadcast.
    n_choices : int or int array
        The number of choices.

    Returns
    -------
    array
        From 0 to 1, the higher the better.

    Examples
    --------
    >>> import numpy as np
    >>> sizes = dict(shared=np.array([2, 1]), true=np.array([2, 2]), kept=np.array([2, 1]))
    >>> for metric in ("f1", "exact", "hamming"):
    ...     print(metric, agreement(metric, n_choices=5, **sizes).round(2))
    f1 [1.   0.67]
    exact [1. 0.]
    hamming [1.  0.8]
    """
    return METRICS[metric](Overlaps(shared, true, kept, n_labels=0), n_choices)
