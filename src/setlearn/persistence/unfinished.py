"""Folders that are still being written: held by their writer, swept away once it is dead."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["unfinished_folder"]

HOUR = 3600.0


@contextmanager
def unfinished_folder(path: Path) -> Iterator[Path]:
    """Give a new folder beside ``path`` to write in; what is left of it at the end is deleted.

    Whoever writes holds a lock on the folder, which the system takes away from a process that
    dies. So what killed processes left behind is known, and deleted here too.
    """
    for leftover in path.parent.glob(f".{_literal(path.name)}.saving-*"):
        if (lock := _locked(leftover)) is not None:
            shutil.rmtree(leftover, ignore_errors=True)
            os.close(lock)
        elif not _can_lock() and time.time() - leftover.stat().st_mtime > HOUR:
            shutil.rmtree(leftover, ignore_errors=True)
    folder, lock = _new_folder(path)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _new_folder(path: Path) -> tuple[Path, int | None]:
    while True:
        folder = path.parent / f".{path.name}.saving-{secrets.token_hex(4)}"
        folder.mkdir()
        lock = _locked(folder)
        # Another process may have taken it for a leftover in the moment before the lock.
        if folder.exists() and (lock is not None or not _can_lock()):
            return folder, lock
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """A handle that holds the folder's lock; None if another has it, or there are no locks."""
    if not _can_lock():
        return None
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None  # it has gone
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _can_lock() -> bool:
    return os.name == "posix"


def _literal(name: str) -> str:
    """A name as a pattern that matches itself alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
