"""Writes that survive a crash of the whole machine."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["sync_file", "sync_folder", "write_durably"]


def write_durably(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk; call `sync_folder` for its name.

    Parameters
    ----------
    path : Path
    content : bytes
    """
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk.

    Parameters
    ----------
    path : Path
    """
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable; Windows has no such call and needs none."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
