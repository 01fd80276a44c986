"""Finished cells on disk: one JSON file each, always complete."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from setlearn.errors import SetlearnError
from setlearn.experiments.cell import ExperimentCell
from setlearn.strict_json import parse_strict_json

__all__ = ["CellStore", "CorruptCellError", "write_atomically"]

FORMAT = 2


class CorruptCellError(SetlearnError):
    """The file of a cell exists, but its content is not what was written."""


class CellStore:
    """A folder of finished cells, each named by the hash of its settings.

    Each file contains a digest of its content, so damage is detected.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: ExperimentCell, key: str) -> Path:
        """The file of a cell, whether it exists or not.

        Parameters
        ----------
        cell : ExperimentCell
        key : str
            The hash of its settings.

        Returns
        -------
        Path
        """
        return self.folder / f"{cell.table.name}-{key}.json"

    def read(self, cell: ExperimentCell, key: str) -> dict[str, Any] | None:
        """The results of a cell.

        Parameters
        ----------
        cell : ExperimentCell
        key : str
            The hash of its settings.

        Returns
        -------
        dict or None
            None if the cell is not in the store.

        Raises
        ------
        CorruptCellError
            If the file is damaged.
        """
        path = self.path(cell, key)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise CorruptCellError(f"{path.name} cannot be read: {error}") from error
        try:
            content = parse_strict_json(text, allow_surrogates=True)
            results: dict[str, Any] = content["results"]
            intact = content["format"] == FORMAT and content["digest"] == _digest(results)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptCellError(f"{path.name} is not the file of a cell: {error}") from error
        if not intact:
            raise CorruptCellError(f"{path.name} is not what was written: its digest differs")
        return results

    def write(self, cell: ExperimentCell, key: str, results: dict[str, Any]) -> None:
        """Keep the results of a cell.

        Parameters
        ----------
        cell : ExperimentCell
        key : str
            The hash of its settings.
        results : dict
            Ready for JSON.
        """
        content = {"format": FORMAT, "digest": _digest(results), "results": results}
        write_atomically(self.path(cell, key), json.dumps(content, allow_nan=False))


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it.

    Parameters
    ----------
    path : Path
        Missing folders are created.
    text : str
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # files of mkstemp can be read by their owner only
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _digest(results: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()
