"""A folder of files that is written whole or not at all, and checked before it is believed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from setlearn.durable_files import sync_folder, write_durably
from setlearn.errors import ModelError, ParameterError
from setlearn.persistence.manifest import MANIFEST_NAME, FileFacts, Manifest
from setlearn.persistence.unfinished import unfinished_folder

__all__ = ["check_place", "read_folder", "write_folder"]

LARGEST_MANIFEST = 1_000_000

MOST_READINGS = 100
"""How often a model may be replaced while it is read, before that is given up."""

# Never through a link, and never waiting at a pipe; not all systems know both.
CAREFULLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a model's folder. A crash at any moment leaves the old one or the new one, whole.

    The new folder is finished under another name. The old one then steps aside, and is deleted
    only when the new one stands in its place; `read_folder` finds it where it has stepped to.
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
            f"the model could not be written to {path} ({error.strerror or error}); make room "
            "there or choose another place. A model that was there before still is"
        ) from error


def read_folder(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest and the content of every file: each read once, and checked as it was read.

    A model that is replaced while it is read is read again.
    """
    for _ in range(MOST_READINGS):
        before = _identity(path)
        try:
            return _read_now(path)
        except ModelError:
            if _identity(path) == before:
                raise
    return _read_now(path)


def _read_now(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    folder = path if path.is_dir() else _stepped_aside(path)
    if not folder.is_dir():
        kind = "is a file, but a model is a folder" if path.exists() else "is not there"
        raise ModelError(f"the model {path} {kind}; give the folder that save wrote")
    content = _read_file(folder, MANIFEST_NAME, LARGEST_MANIFEST)
    manifest = Manifest.parse(content)
    _check_no_others(folder, manifest)
    files = {}
    for name, facts in manifest.files.items():
        files[name] = _read_file(folder, name, facts.size)
        if FileFacts.of(files[name]) != facts:
            raise ModelError(
                f"{folder / name} is not as it was saved (its size or SHA-256 differs from the "
                "manifest's); the model is damaged or was changed: get it again"
            )
    return manifest, files


def _identity(path: Path) -> tuple[int, ...] | None:
    """What changes when another folder takes the place; None where there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_ctime_ns


def _put_in_place(new: Path, path: Path) -> None:
    aside = _stepped_aside(path)
    if path.exists():
        shutil.rmtree(aside, ignore_errors=True)  # left by a crash after the new one was in place
        os.rename(path, aside)
    os.rename(new, path)
    sync_folder(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _stepped_aside(path: Path) -> Path:
    path = path.absolute()
    return path.parent / f".{path.name}.before"


def check_place(path: Path) -> None:
    """Raise unless the place is free, or holds a model and nothing else: all of it will go."""
    if path.is_symlink():
        raise ParameterError(f"{path} is a symbolic link; give the folder itself")
    if path.is_dir():
        _check_only_a_model(path)
    elif path.exists():
        raise ParameterError(f"{path} is a file; choose another name for the model's folder")


def _check_only_a_model(folder: Path) -> None:
    """Raise where more than a model would be lost; a damaged model is no loss."""
    try:
        there = list(folder.iterdir())
        if not there:
            return
        manifest = Manifest.parse(_read_file(folder, MANIFEST_NAME, LARGEST_MANIFEST))
    except (ModelError, OSError) as error:
        raise ParameterError(
            f"{folder} holds other things than a model of setlearn; choose another name, or move "
            "them elsewhere"
        ) from error
    own = {MANIFEST_NAME, *manifest.files}
    others = sorted(
        one.name for one in there if one.name not in own or (one.is_dir() and not one.is_symlink())
    )
    if others:
        raise ParameterError(
            f"{folder} holds other things than a model, such as {others[0]!r:.80}, which would be "
            "lost; choose another name, or move them elsewhere"
        )


def _check_no_others(folder: Path, manifest: Manifest) -> None:
    try:
        there = {name for name in os.listdir(folder) if not name.startswith(".")}
    except OSError as error:
        raise ModelError(
            f"{folder} cannot be read ({error.strerror}); is it still there?"
        ) from error
    others = sorted(there - {MANIFEST_NAME, *manifest.files})
    if others:
        raise ModelError(
            f"{folder} also holds {others[0]!r:.80}, which is not in the manifest; a model has no "
            "other files: move it elsewhere, or get the model again"
        )


def _read_file(folder: Path, name: str, largest: int) -> bytes:
    """A regular file of the folder itself, no larger than it should be."""
    path = folder / name
    try:
        with open(os.open(path, CAREFULLY), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or path.is_symlink():
                raise ModelError(f"{path} is not a regular file; a model holds nothing else")
            if facts.st_size > largest:
                raise ModelError(f"{path} is larger than it should be; the model is damaged")
            # Not by what the manifest says: room is made for all that is asked for.
            return file.read(facts.st_size + 1)
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read ({error.strerror or error}); the model is not whole, or it is "
            "not one of setlearn's"
        ) from error
