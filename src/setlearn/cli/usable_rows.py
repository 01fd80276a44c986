"""Rows to learn from: with ``--skip-bad``, those without a set that can be read are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from setlearn.errors import DataError
from setlearn.records import TargetReader, guess_targets

if TYPE_CHECKING:
    from setlearn.datasets.files import Row, Rows

__all__ = ["usable_rows"]


def usable_rows(
    rows: Rows, records: Sequence[Row], target: str | Sequence[str] | None
) -> Sequence[Row]:
    """The records whose sets can be read; the others are counted among the bad rows."""
    reader = _first_reader(records, target)
    if reader is None:
        return records  # the plan tells what is wrong with all of them
    usable = []
    for row in records:
        try:
            reader.read(row)
        except DataError as error:
            rows.leave_out(str(error))
        else:
            usable.append(row)
    return usable


def _first_reader(
    records: Sequence[Row], target: str | Sequence[str] | None
) -> TargetReader | None:
    for row in records:
        try:
            return guess_targets([row], target, task="labels")[0]
        except DataError:
            continue
    return None
