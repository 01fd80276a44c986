"""Checkpoints: one file that holds all of a training run, written whole or not at all.

Tensors in safetensors, the small things as JSON in its metadata; nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import torch
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
    "filed",
    "read_checkpoint",
    "unfiled",
    "write_checkpoint",
]

CHECKPOINT_NAME = "checkpoint.safetensors"
CHECKPOINT_FORMAT = 1

MOST_DIFFERENCES = 3

Weights: TypeAlias = dict[str, Tensor]


def copies(tensors: Mapping[str, Tensor]) -> Weights:
    """Tensors on the CPU that share memory with nothing."""
    # Clones, because tied weights share memory, which safetensors refuses to write.
    return {name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}


def filed(folder: str, tensors: Mapping[str, Tensor]) -> Weights:
    """Copies under names that begin with a folder."""
    return {f"{folder}/{name}": tensor for name, tensor in copies(tensors).items()}


def unfiled(folder: str, tensors: Weights) -> Weights:
    """What was filed under a folder, by its own names."""
    prefix = f"{folder}/"
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}


def _digest(tensors: Weights, about: str) -> str:
    digest = hashlib.blake2b(about.encode(), digest_size=16)
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def write_checkpoint(folder: Path, tensors: Weights, about: dict[str, Any]) -> None:
    """Write one file so that a crash at any moment leaves the old one or the new one, whole."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ParameterError(f"checkpoint must be a folder, but {folder} is a file") from error
    text = json.dumps(about)
    content = save(tensors, {"about": text, "digest": _digest(tensors, text)})
    path = folder / CHECKPOINT_NAME
    unfinished = path.with_suffix(".tmp")
    write_durably(unfinished, content)
    os.replace(unfinished, path)
    sync_folder(folder)


def read_checkpoint(folder: Path) -> tuple[Weights, dict[str, Any]]:
    """The tensors and what is said of them; a file that is not whole is refused."""
    path = folder / CHECKPOINT_NAME
    try:
        with safe_open(path, framework="pt") as file:
            tensors: Weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
            metadata = file.metadata()
        about = json.loads(metadata["about"])
        if metadata["digest"] != _digest(tensors, metadata["about"]):
            raise ValueError("its content does not match its checksum")
        if about["format"] != CHECKPOINT_FORMAT:
            raise ValueError(f"format {about['format']}, but this version reads format 1")
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the checkpoint {path} cannot be read ({error}); delete it to train from the start"
        ) from error
    return tensors, about


def check_same_run(folder: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise, saying what differs, unless a checkpoint is of the run that asks for it."""
    now = json.loads(json.dumps(now))  # numbers and lists as the file would hold them
    differences = [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]
    if differences:
        more = len(differences) - MOST_DIFFERENCES  # other data change every shape
        shown = "; ".join(differences[:MOST_DIFFERENCES]) + (f"; {more} more" if more > 0 else "")
        raise ParameterError(
            f"the checkpoint in {folder} is of another run: {shown}; "
            "pass another folder, or the arguments of that run"
        )
