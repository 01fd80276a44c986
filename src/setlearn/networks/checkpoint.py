"""Checkpoints: one file that holds the whole state of a training run, written atomically.

Tensors are stored in safetensors, everything else as JSON in its metadata. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from setlearn.durable_files import sync_folder, write_durably
from setlearn.errors import DataError, ParameterError

__all__ = [
    "CHECKPOINT_FORMAT",
    "CHECKPOINT_NAME",
    "Weights",
    "check_same_run",
    "copies",
    "read_checkpoint",
    "with_prefix",
    "without_prefix",
    "write_checkpoint",
]

CHECKPOINT_NAME = "checkpoint.safetensors"
CHECKPOINT_FORMAT = 3

MOST_DIFFERENCES = 3

Weights: TypeAlias = dict[str, Tensor]


def copies(tensors: Mapping[str, Tensor]) -> Weights:
    """Copies of tensors on the CPU that share no memory."""
    # Tied weights share memory, which safetensors refuses to write.
    return {name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> Weights:
    """Copies of tensors, with a prefix before their names.

    Parameters
    ----------
    prefix : str
    tensors : mapping of tensors by name

    Returns
    -------
    dict
        By the names ``prefix/name``.
    """
    return {f"{prefix}/{name}": tensor for name, tensor in copies(tensors).items()}


def without_prefix(prefix: str, tensors: Weights) -> Weights:
    """The tensors whose names have a prefix, by the rest of their names.

    Parameters
    ----------
    prefix : str
    tensors : dict of tensors by name

    Returns
    -------
    dict
    """
    start = f"{prefix}/"
    return {k.removeprefix(start): t for k, t in tensors.items() if k.startswith(start)}


def _digest(tensors: Weights, about: str) -> str:
    digest = hashlib.blake2b(about.encode(), digest_size=16)
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()


def write_checkpoint(folder: Path, tensors: Weights, about: dict[str, Any]) -> None:
    """Write the checkpoint file; after a crash either the old or the new one is complete.

    Parameters
    ----------
    folder : Path
        It is made if it does not exist.
    tensors : dict of tensors by name
    about : dict
        Everything else, as JSON.

    Raises
    ------
    ParameterError
        If the folder is a file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ParameterError(
            f"checkpoint must be a folder, but {folder} is a file", advice={"checkpoint": None}
        ) from error
    text = json.dumps(about)
    content = save(tensors, {"about": text, "digest": _digest(tensors, text)})
    path = folder / CHECKPOINT_NAME
    unfinished = path.with_suffix(".tmp")
    write_durably(unfinished, content)
    os.replace(unfinished, path)
    sync_folder(folder)


def read_checkpoint(folder: Path) -> tuple[Weights, dict[str, Any]]:
    """Read the tensors and the rest of a checkpoint.

    Raises
    ------
    DataError
        If the file is damaged or has another format.
    """
    path = folder / CHECKPOINT_NAME
    try:
        with safe_open(path, framework="pt") as file:
            tensors: Weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
            metadata = file.metadata()
        about = json.loads(metadata["about"])
        if metadata["digest"] != _digest(tensors, metadata["about"]):
            raise ValueError("its content does not match its checksum")
        if about["format"] != CHECKPOINT_FORMAT:
            raise ValueError(
                f"format {about['format']}, but this version reads format {CHECKPOINT_FORMAT}"
            )
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the checkpoint {path} cannot be read ({error}); delete it to train from the start"
        ) from error
    return tensors, about


def check_same_run(
    folder: Path, then: dict[str, Any], now: dict[str, Any], may_differ: Collection[str] = ()
) -> None:
    """Check that a checkpoint belongs to the same run.

    Parameters
    ----------
    folder : Path
        Where the checkpoint is, for the message.
    then, now : dict
        What identifies the run that wrote the checkpoint, and the present one.
    may_differ : collection of str, optional
        What need not be equal.

    Raises
    ------
    ParameterError
        If they differ; the message says how.
    """
    now = json.loads(json.dumps(now))  # numbers and lists as JSON returns them
    differences = [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in {**then, **now}
        if name not in may_differ and then.get(name) != now.get(name)
    ]
    if differences:
        more = len(differences) - MOST_DIFFERENCES  # with other data every shape differs
        shown = "; ".join(differences[:MOST_DIFFERENCES]) + (f"; {more} more" if more > 0 else "")
        raise ParameterError(
            f"the checkpoint in {folder} is from another run: {shown}; "
            "use another folder, or the same arguments as in that run",
            advice={"checkpoint": None},
        )
