"""The folder of a model: written completely or not at all, and checked when it is read."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from setlearn.durable_files import sync_folder, write_durably
from setlearn.errors import ModelError, ParameterError
from setlearn.persistence.manifest import MANIFEST_NAME, FileFacts, Manifest

__all__ = ["check_place", "read_folder", "unfinished_folder", "write_folder"]

MAX_MANIFEST_BYTES = 1_000_000

MAX_READINGS = 100
"""How often a model may be replaced while it is read, before reading fails."""

HOUR = 3600.0

# Follow no link, and do not wait at a pipe; not all systems have both flags.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a model's folder. After a crash at any moment the old or the new one is there, whole.

    The new folder is finished under another name. The old one is then renamed, and deleted only
    when the new one is in its place. Until then `read_folder` finds it under that name.

    Parameters
    ----------
    path : Path
    files : mapping from str to bytes
        The content of each file but the manifest, which is made here.

    Raises
    ------
    ParameterError
        If the place is taken by something else than a model.
    ModelError
        If the files cannot be written.
    """
    path = path.absolute()
    check_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(path) as unfinished:
            for name, content in files.items():
                write_durably(unfinished / name, content)
            write_durably(unfinished / MANIFEST_NAME, Manifest.of(files).to_json())
            sync_folder(unfinished)
            read_folder(unfinished)
            _put_in_place(unfinished, path)
    except OSError as error:
        raise ModelError(
            f"the model could not be written to {path} ({error.strerror or error}); free some "
            "space or choose another folder. A model that was there before is still there"
        ) from error


def read_folder(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    """Read the manifest and every file. Each is read once, and what was read is checked.

    If the model is replaced meanwhile, it is read again.
    """
    for _ in range(MAX_READINGS):
        before = _identity(path)
        try:
            return _read_now(path)
        except ModelError:
            if _identity(path) == before:
                raise
    return _read_now(path)


def _read_now(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    folder = path if path.is_dir() else _old_name(path)
    if not folder.is_dir():
        kind = "is a file, but a model is a folder" if path.exists() else "does not exist"
        raise ModelError(f"the model {path} {kind}; pass the folder of a saved model")
    content = _read_file(folder, MANIFEST_NAME, MAX_MANIFEST_BYTES)
    manifest = Manifest.parse(content)
    _check_no_others(folder, manifest)
    files = {}
    for name, facts in manifest.files.items():
        files[name] = _read_file(folder, name, facts.size)
        if FileFacts.of(files[name]) != facts:
            raise ModelError(
                f"{folder / name} is not as it was saved (its size or SHA-256 differs from the "
                "manifest); the model is damaged or was changed: get it again"
            )
    return manifest, files


def _identity(path: Path) -> tuple[int, ...] | None:
    """What changes when another folder is put at the path; None if there is no folder."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_ctime_ns


def _put_in_place(new: Path, path: Path) -> None:
    old = _old_name(path)
    if path.exists():
        shutil.rmtree(old, ignore_errors=True)  # left by a crash
        os.rename(path, old)
    os.rename(new, path)
    sync_folder(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _old_name(path: Path) -> Path:
    path = path.absolute()
    return path.parent / f".{path.name}.before"


def check_place(path: Path) -> None:
    """Raise unless a model can be saved there.

    Either nothing is there yet, or an empty folder, or a model that may be replaced.

    Raises
    ------
    ParameterError
        If something else is there.
    """
    if path.is_symlink():
        raise ParameterError(f"{path} is a symbolic link; pass the folder itself")
    if path.is_dir():
        _check_only_a_model(path)
    elif path.exists():
        raise ParameterError(f"{path} is a file; choose another name for the model's folder")


def _check_only_a_model(folder: Path) -> None:
    """Raise if other files would be lost. A damaged model may be replaced."""
    try:
        entries = list(folder.iterdir())
        if not entries:
            return
        manifest = Manifest.parse(_read_file(folder, MANIFEST_NAME, MAX_MANIFEST_BYTES))
    except (ModelError, OSError) as error:
        raise ParameterError(
            f"{folder} holds other things than a setlearn model; choose another name, or move "
            "them elsewhere"
        ) from error
    own = {MANIFEST_NAME, *manifest.files}
    others = sorted(
        entry.name
        for entry in entries
        if entry.name not in own or (entry.is_dir() and not entry.is_symlink())
    )
    if others:
        raise ParameterError(
            f"{folder} holds other things than a model, such as {others[0]!r:.80}, which would be "
            "lost; choose another name, or move them elsewhere"
        )


def _check_no_others(folder: Path, manifest: Manifest) -> None:
    try:
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
    except OSError as error:
        raise ModelError(
            f"{folder} cannot be read ({error.strerror}); is it still there?"
        ) from error
    others = sorted(names - {MANIFEST_NAME, *manifest.files})
    if others:
        raise ModelError(
            f"{folder} also holds {others[0]!r:.80}, which is not in the manifest; a model has no "
            "other files: move it elsewhere, or get the model again"
        )


def _read_file(folder: Path, name: str, max_bytes: int) -> bytes:
    """A regular file of the folder itself, no larger than it should be."""
    path = folder / name
    try:
        with open(os.open(path, OPEN_FLAGS), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or path.is_symlink():
                raise ModelError(f"{path} is not a regular file; a model holds nothing else")
            if facts.st_size > max_bytes:
                raise ModelError(f"{path} is larger than it should be; the model is damaged")
            # Not the size of the manifest: memory is allocated for all that is asked for.
            return file.read(facts.st_size + 1)
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read ({error.strerror or error}); the model is incomplete, or it "
            "is not a setlearn model"
        ) from error


@contextmanager
def unfinished_folder(path: Path) -> Iterator[Path]:
    """A new folder beside ``path`` to write in. If it still exists at the end, it is deleted.

    The writer holds a lock on the folder, which the system releases if the process dies. So
    folders that killed processes left behind are recognised, and deleted here too.
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
        # Another process may have deleted it as a leftover just before the lock.
        if folder.exists() and (lock is not None or not _can_lock()):
            return folder, lock
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """A handle that holds the folder's lock; None if another process has it, or without locks."""
    if not _can_lock():
        return None
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None  # it was deleted
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _can_lock() -> bool:
    return os.name == "posix"


def _literal(name: str) -> str:
    """A glob pattern that matches this name only."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
