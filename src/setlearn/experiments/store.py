"""Finished cells on disk: one JSON file each, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from setlearn.errors import SetlearnError
from setlearn.experiments.cell import Cell

__all__ = ["CellStore", "CorruptCellError", "write_whole"]

FORMAT = 1


class CorruptCellError(SetlearnError):
    """A cell file is there, but is not what was written."""


class CellStore:
    """A folder of cells, each named by the hash of its settings.

    A file carries a digest of its content, so that a damaged one is found out.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell, key: str) -> Path:
        """Where the cell is or will be."""
        return self.folder / f"{cell.table.name}-{key}.json"

    def read(self, cell: Cell, key: str) -> dict[str, Any] | None:
        """What the cell found, None if it is not there; raises if the file is corrupt."""
        path = self.path(cell, key)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise CorruptCellError(f"{path.name} cannot be read: {error}") from error
        try:
            filed = json.loads(text)
            found: dict[str, Any] = filed["found"]
            intact = filed["format"] == FORMAT and filed["digest"] == _digest(found)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptCellError(f"{path.name} is not a cell file: {error}") from error
        if not intact:
            raise CorruptCellError(f"{path.name} is not what was written: its digest differs")
        return found

    def write(self, cell: Cell, key: str, found: dict[str, Any]) -> None:
        """Keep what the cell found."""
        filed = {"format": FORMAT, "digest": _digest(found), "found": found}
        write_whole(self.path(cell, key), json.dumps(filed, allow_nan=False))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp's files are for their owner alone
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _digest(found: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
