"""Networks that score or choose. Importing this package does not import torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setlearn.networks.recipes import LSTM, Transformer

if TYPE_CHECKING:
    from setlearn.networks.sequence_sigmoid import SequenceSigmoidNetwork
    from setlearn.networks.sigmoid import SigmoidNetwork

__all__ = ["LSTM", "SequenceSigmoidNetwork", "SigmoidNetwork", "Transformer"]


def __getattr__(name: str) -> object:
    if name == "SequenceSigmoidNetwork":
        from setlearn.networks.sequence_sigmoid import SequenceSigmoidNetwork

        return SequenceSigmoidNetwork
    if name == "SigmoidNetwork":
        from setlearn.networks.sigmoid import SigmoidNetwork

        return SigmoidNetwork
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
