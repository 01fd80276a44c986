"""All metrics of predicted sets at once."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from setlearn.metrics._reading import sample_mean
from setlearn.metrics.sequences import (
    StringSplit,
    matched_distances,
    mean_distances,
    pair_sequences,
    read_sequence_sets,
)
from setlearn.metrics.sets import Overlaps
from setlearn.nodes import FloatArray
from setlearn.set_reading import Samples

__all__ = ["SetReport", "set_report"]


@dataclass(frozen=True, slots=True)
class SetReport:
    """The result of `set_report`; ``str()`` is a table, ``to_dict()`` is ready for JSON.

    Attributes
    ----------
    n_samples : int
        The number of pairs of a true and a predicted set, without samples of which nothing is
        known.
    mean_f1, mean_f1_error : float
        The mean F1 and its standard error, which is nan for a single sample.
    exact_match, mean_precision, mean_recall, mean_jaccard, hamming_distance : float
        See the functions of these names.
    controlled_precision : float
        What ``RiskControl(precision=...)`` guarantees: the mean precision if an empty predicted
        set always counts as right, because nothing in it is wrong. In ``mean_precision`` it counts
        as 0 unless the true set is empty too. The table shows it where the two differ.
    controlled_recall : float
        What ``RiskControl(recall=...)`` guarantees: the mean recall if nothing is ever missing from
        an empty true set.
    mean_true_size, mean_predicted_size : float
        Mean set sizes.
    n_empty_true, n_empty_predicted : int
        The number of empty sets.
    mean_edit_distance, matched_edit_distance : float or None
        See the functions of these names; None without ``sequences=True``.
    n_without_pairs : int or None
        The number of samples that the mean edit distance leaves out because a set is empty.
    n_unknown : int
        The number of entries of an indicator ``Y_true`` that are unknown, and left out.

    Examples
    --------
    >>> report = set_report([{"sea", "sun"}, {"city"}], [{"sea", "sun"}, set()])
    >>> report.exact_match, report.n_empty_predicted
    (0.5, 1)
    """

    n_samples: int
    mean_f1: float
    mean_f1_error: float
    exact_match: float
    mean_precision: float
    controlled_precision: float
    mean_recall: float
    controlled_recall: float
    mean_jaccard: float
    hamming_distance: float
    mean_true_size: float
    mean_predicted_size: float
    n_empty_true: int
    n_empty_predicted: int
    mean_edit_distance: float | None = None
    matched_edit_distance: float | None = None
    n_without_pairs: int | None = None
    n_unknown: int = 0

    def to_dict(self) -> dict[str, float | int | None]:
        """Return all figures by name, with None instead of nan, which JSON cannot hold.

        Examples
        --------
        >>> report = set_report([{"sea"}], [{"sea"}])
        >>> report.to_dict()["mean_f1"], report.to_dict()["mean_f1_error"]
        (1.0, None)
        """
        return {name: None if _is_nan(value) else value for name, value in asdict(self).items()}

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {remark}" for name, figure, remark in rows
        )
        return "\n".join(line.rstrip() for line in lines)

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [
            ("samples", str(self.n_samples), ""),
            ("mean F1", _figure(self.mean_f1), f"± {_figure(self.mean_f1_error)}"),
            ("exact match", _figure(self.exact_match), ""),
            ("mean precision", _figure(self.mean_precision), ""),
            *_controlled("precision", self.controlled_precision, self.mean_precision),
            ("mean recall", _figure(self.mean_recall), ""),
            *_controlled("recall", self.controlled_recall, self.mean_recall),
            ("mean Jaccard", _figure(self.mean_jaccard), ""),
            ("Hamming distance", _figure(self.hamming_distance), ""),
            ("mean true size", _figure(self.mean_true_size), f"{self.n_empty_true} empty"),
            (
                "mean predicted size",
                _figure(self.mean_predicted_size),
                f"{self.n_empty_predicted} empty",
            ),
        ]
        if self.n_unknown:
            rows.append(("unknown entries", str(self.n_unknown), "left out"))
        if self.matched_edit_distance is not None and self.mean_edit_distance is not None:
            left_out = f"of all pairs; samples left out: {self.n_without_pairs}"
            rows += [
                ("matched edit distance", _figure(self.matched_edit_distance), ""),
                ("mean edit distance", _figure(self.mean_edit_distance), left_out),
            ]
        return rows


def set_report(
    Y_true: Samples, Y_pred: Samples, *, sequences: bool = False, tokens: StringSplit = None
) -> SetReport:
    """Compute all metrics of this package that are means over samples.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        As for `mean_f1`; with ``sequences=True``, as for `mean_edit_distance`.
    sequences : bool
        Whether the elements are sequences. Their edit distances are then reported too.
    tokens : {"char", "word", "text"} or function, optional
        How strings are split into the tokens that edit distances count, by default into
        characters. A `SequenceSetGenerator` has what it uses in ``tokens_[1]``.

    Returns
    -------
    SetReport
        The figures by name. Print it for a table.

    Raises
    ------
    DataError
        If the shapes differ, or there are no samples.
    KindError
        If one side has sets and the other is an indicator, or if sequences are expected and the
        elements are none.
    ParameterError
        If sequences cannot be split in this way.

    Examples
    --------
    >>> print(set_report([{"10551", "2"}, {"7"}], [{"1055", "2"}, set()], sequences=True))
    samples                     2
    mean F1                0.2500  ± 0.2500
    exact match            0.0000
    mean precision         0.2500
    controlled precision   0.7500  empty predicted sets count as right
    mean recall            0.2500
    mean Jaccard           0.1667
    Hamming distance       0.3750
    mean true size         1.5000  0 empty
    mean predicted size    1.0000  1 empty
    matched edit distance  0.7500
    mean edit distance     2.5000  of all pairs; samples left out: 1
    """
    if not sequences:
        return SetReport(**_set_figures(Overlaps.of(Y_true, Y_pred)))
    true, predicted = read_sequence_sets(Y_true, Y_pred)
    pairings = pair_sequences(true, predicted, tokens)
    means = mean_distances(pairings)
    return SetReport(
        **_set_figures(Overlaps.of(true, predicted)),
        mean_edit_distance=sample_mean(means),
        matched_edit_distance=sample_mean(matched_distances(pairings)),
        n_without_pairs=int(np.isnan(means).sum()),
    )


def _set_figures(overlaps: Overlaps) -> dict[str, Any]:
    return {
        "n_samples": int(overlaps.is_labelled.sum()),
        "mean_f1": sample_mean(overlaps.f1),
        "mean_f1_error": _standard_error(overlaps.f1),
        "exact_match": sample_mean(overlaps.exact),
        "mean_precision": sample_mean(overlaps.precision),
        "controlled_precision": sample_mean(overlaps.controlled_precision),
        "mean_recall": sample_mean(overlaps.recall),
        "controlled_recall": sample_mean(overlaps.controlled_recall),
        "mean_jaccard": sample_mean(overlaps.jaccard),
        "hamming_distance": sample_mean(overlaps.hamming()),
        "mean_true_size": sample_mean(overlaps.sizes(overlaps.true)),
        "mean_predicted_size": sample_mean(overlaps.sizes(overlaps.predicted)),
        "n_empty_true": int((overlaps.sizes(overlaps.true) == 0).sum()),
        "n_empty_predicted": int((overlaps.sizes(overlaps.predicted) == 0).sum()),
        "n_unknown": overlaps.n_unknown,
    }


def _controlled(what: str, controlled: float, mean: float) -> list[tuple[str, str, str]]:
    """The row of what `RiskControl` guarantees, where it differs from the ordinary mean."""
    empty = {"precision": "predicted", "recall": "true"}[what]
    remark = f"empty {empty} sets count as right"
    return [] if controlled == mean else [(f"controlled {what}", _figure(controlled), remark)]


def _standard_error(values: FloatArray) -> float:
    values = values[~np.isnan(values)]
    n = len(values)
    return float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def _figure(value: float) -> str:
    return f"{value:.4f}"


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
