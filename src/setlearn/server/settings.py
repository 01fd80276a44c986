"""What can be set about a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server takes on; what goes beyond is refused, and told how to do better."""

    body_bytes: int = 2_000_000
    rows: int = 1000
    seconds: float = 30.0
    queue: int = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """A server: which models, where, for whom.

    ``hosts`` are names that requests may call the server by, beside localhost and addresses in
    numbers; others are refused, so that no web page can reach a local server under its own name.
    """

    models: Mapping[str, Path]
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 2
    token: str | None = None
    hosts: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    access_log: bool = True
    limits: Limits = field(default_factory=Limits)
