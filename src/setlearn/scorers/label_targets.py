"""Label sets to learn from, of which parts may be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from setlearn.nodes import IntArray, Nodes

__all__ = ["LabelTargets"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelTargets:
    """Which labels each sample has, and of which labels that is not known."""

    right: sparse.csr_array  # (n, labels) bool
    unknown: sparse.csr_array | None = None  # (n, labels) bool; None if all is known

    def __len__(self) -> int:
        return int(self.right.shape[0])

    def __getitem__(self, rows: IntArray) -> LabelTargets:
        return LabelTargets(self.right[rows], None if self.unknown is None else self.unknown[rows])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.right.shape[1])

    @property
    def n_unknown(self) -> int:
        """The number of unknown entries."""
        return 0 if self.unknown is None else int(self.unknown.nnz)

    @property
    def counts(self) -> IntArray:
        """How many samples have each label, (labels,)."""
        counts: IntArray = np.asarray(self.right.sum(axis=0)).ravel()
        return counts

    @property
    def n_known(self) -> IntArray:
        """For how many samples each label is known, (labels,)."""
        known = np.full(self.n_labels, len(self))
        return known if self.unknown is None else known - np.asarray(self.unknown.sum(axis=0))

    def groups(self, labels: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Divide labels into groups that are known for the same samples.

        Parameters
        ----------
        labels : array of int

        Yields
        ------
        labels, samples : arrays of int
        """
        everything = np.arange(len(self))
        if self.unknown is None:
            yield labels, everything
            return
        columns = sparse.csc_array(self.unknown)
        columns.sort_indices()
        members: dict[bytes, list[int]] = {}
        for label in labels.tolist():
            missing = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
            members.setdefault(missing.tobytes(), []).append(label)
        for missing_bytes, group in members.items():
            missing = np.frombuffer(missing_bytes, dtype=columns.indices.dtype)
            yield np.array(group), np.setdiff1d(everything, missing)

    def known_choices(self, nodes: Nodes) -> tuple[Nodes, LabelTargets]:
        """The choice points of samples without the labels that are unknown there.

        Parameters
        ----------
        nodes : Nodes
            Their ``sample`` is the row of the targets.

        Returns
        -------
        nodes : Nodes
            Unknown labels are padding. Samples of which nothing is known are left out.
        targets : LabelTargets
            Those of the nodes.
        """
        targets = self[nodes.sample]
        if targets.unknown is None:
            return nodes, targets
        available = ~nodes.mask_of(targets.unknown)
        if nodes.available is not None:
            available &= nodes.available
        scores = np.where(available, nodes.probabilities, 0.0)
        rows = np.flatnonzero(available.any(axis=1))
        return replace(nodes, probabilities=scores, available=available)[rows], targets[rows]
