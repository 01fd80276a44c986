"""What the tests of all formats ask: which records a file holds, and where."""

import os
from pathlib import Path

import pytest

from setlearn.files import open_rows

DATA = Path(os.environ.get("SETLEARN_DATA") or "no folder")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="SETLEARN_DATA names no folder")


def records(path, **options):
    return [row.record for row in open_rows(path, **options)]


def places(path, **options):
    return [row.place for row in open_rows(path, **options)]


def left_out(path, **options):
    """The records that remain without bad rows, and what was said of those."""
    with open_rows(path, skip_bad=True, **options) as rows:
        kept = [row.record for row in rows]
    assert rows.n_bad == len(rows.bad)
    return kept, rows.bad
