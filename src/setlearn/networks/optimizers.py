"""Adam and AdamW without torch's compiler.

The methods of torch's optimizers import the compiler when they are first called, only to tell it
to leave them alone. That takes seconds, longer than a short training.
"""

from __future__ import annotations

from inspect import unwrap

import torch
from torch.optim import Adam, AdamW, Optimizer

__all__ = ["PlainAdam", "PlainAdamW"]


class _Plain:
    """The methods as torch defines them, before it wraps them for the compiler."""

    add_param_group = unwrap(Optimizer.add_param_group)
    load_state_dict = unwrap(Optimizer.load_state_dict)
    state_dict = unwrap(Optimizer.state_dict)
    step = torch.no_grad()(unwrap(Adam.step))
    zero_grad = unwrap(Optimizer.zero_grad)


class PlainAdam(_Plain, Adam):
    """`torch.optim.Adam`."""


class PlainAdamW(_Plain, AdamW):
    """`torch.optim.AdamW`."""
