"""Where and how a network runs: its device, its threads and its random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from setlearn.errors import ParameterError

__all__ = ["CPU", "one_thread", "pick_device", "rng_states", "seeded", "set_rng_states"]

CPU = torch.device("cpu")


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" is CUDA, else MPS, else the CPU."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps") if torch.backends.mps.is_available() else CPU
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # fails unless the device exists
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ParameterError(
            f"device {name!r} cannot be used here ({str(error).splitlines()[0]}); "
            'pass "cpu", or "auto" for the best device available',
            advice={"device": None},
        ) from error
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block on one thread, then restore torch's number of threads.

    The steps of a small network are too short to be split: on a busy machine, two threads that
    wait for each other at every step took up to twenty times as long as one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, device: torch.device = CPU) -> Iterator[None]:
    """Run a block with torch's global random generators seeded, then restore them.

    Initial weights and dropout use the global generators, so a generator of our own would not be
    enough. Threads of one process share them: fit in processes, not in threads.

    Parameters
    ----------
    seed : int
    device : torch.device
        The device that the block computes on.

    Returns
    -------
    context manager
    """
    before = rng_states(device)
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)
    try:
        yield
    finally:
        set_rng_states(before, device)


def rng_states(device: torch.device) -> dict[str, Tensor]:
    """The states of the global generators that computations on a device use."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_rng_states(states: dict[str, Tensor], device: torch.device) -> None:
    """Restore the states that `rng_states` returned.

    Parameters
    ----------
    states : dict
    device : torch.device
    """
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps":
        torch.mps.set_rng_state(states["mps"])
