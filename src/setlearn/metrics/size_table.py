"""How large true and predicted sets are, side by side."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from setlearn.errors import ParameterError
from setlearn.metrics._aligned_table import aligned_table
from setlearn.metrics.sets import Overlaps
from setlearn.set_reading import Samples

__all__ = ["SizeTable", "size_table"]


@dataclass(frozen=True, slots=True)
class SizeTable:
    """What `size_table` counted; ``str()`` is a table, ``to_dict()`` is ready for JSON.

    Attributes
    ----------
    sizes : tuple of str
        What the rows and the columns stand for: "0", "1" and so on up to the largest size met
        on either side; the last may be a group such as "8+".
    counts : tuple of tuples of int
        How many samples have a true set of the row's size and a predicted one of the column's.

    Examples
    --------
    >>> table = size_table([{"sea", "sun"}, {"city"}], [{"sea"}, set()])
    >>> table.sizes
    ('0', '1', '2')
    >>> table.counts
    ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    """

    sizes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """The sizes and, a row for each true one, the counts of the predicted ones."""
        return {"sizes": list(self.sizes), "counts": [list(row) for row in self.counts]}

    def __str__(self) -> str:
        with_sums = [(*row, sum(row)) for row in self.counts]
        with_sums.append(tuple(map(sum, zip(*with_sums, strict=True))))
        names = (*self.sizes, "all")
        rows = [(name, *map(str, row)) for name, row in zip(names, with_sums, strict=True)]
        return aligned_table([("true / predicted", *names), *rows])


def size_table(Y_true: Samples, Y_pred: Samples, *, most: int = 8) -> SizeTable:
    """Count the samples by the size of their true and of their predicted set.

    Parameters
    ----------
    Y_true, Y_pred : iterable of sets, or indicator matrix of shape (n_samples, n_labels)
        What `mean_f1` takes.
    most : int
        Sets of this size and larger ones are counted together.

    Returns
    -------
    SizeTable
        The counts; print it for a table with sums.

    Examples
    --------
    >>> print(size_table([{1, 2}, {3}, {4, 5, 6}], [{1}, {3}, {4, 5}], most=2))
    true / predicted  0  1  2+  all
    0                 0  0   0    0
    1                 0  1   0    1
    2+                0  1   1    2
    all               0  2   1    3
    """
    if not isinstance(most, Integral) or isinstance(most, bool) or most < 1:
        raise ParameterError(
            f"most must be a whole number of 1 or more, got {most!r}; "
            f"give the size from which on sets are counted together"
        )
    overlaps = Overlaps.of(Y_true, Y_pred)
    true, predicted = np.minimum(overlaps.true, most), np.minimum(overlaps.predicted, most)
    largest = int(max(true.max(), predicted.max()))
    counts = np.zeros((largest + 1, largest + 1), dtype=np.intp)
    np.add.at(counts, (true, predicted), 1)
    sizes = [str(size) for size in range(largest + 1)]
    if largest == most:
        sizes[-1] += "+"
    return SizeTable(tuple(sizes), tuple(map(tuple, counts.tolist())))
