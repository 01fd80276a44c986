"""The settings of a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server accepts. Requests beyond a limit are refused, and told why.

    Attributes
    ----------
    body_bytes : int
        The largest body of a request.
    rows : int
        The most inputs in a request, and in one call of a model.
    seconds : float
        The longest wait for a body, and again for its answer.
    queue : int
        The most requests that wait for a worker.
    """

    body_bytes: int = 2_000_000
    rows: int = 1000
    seconds: float = 30.0
    queue: int = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server serves, where, and for whom.

    Attributes
    ----------
    models : mapping of str to Path
        The folder of each model, by name. The first one is the default.
    host, port : str, int
        The address to listen at. Port 0 takes any free port.
    workers : int
        How many processes answer requests. Each holds all models.
    token : str or None
        What clients must send to get answers; None if everybody may ask.
    hosts : tuple of str
        Host names that requests may use, besides localhost and numeric addresses. All others are
        refused, so that no web page can reach a local server through a name of its own.
        "*" allows every name.
    trusted : tuple of str
        Types that the models may contain, as in `setlearn.load`.
    access_log : bool
        Whether to write a line per request to stderr.
    limits : Limits
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
