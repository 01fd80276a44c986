"""A line for each request: when, who, what, and how it ended; nothing of what was sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime

from setlearn.server.counters import Counters

__all__ = ["AccessLog"]

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
OTHER = "other"


class AccessLog:
    """Counts requests, and writes a JSON document about each to stderr.

    Paths that are not served, and methods of the client's own, are told as "other": whoever sends
    them must not write into the log, nor make the counters grow without end.
    """

    def __init__(self, counters: Counters, paths: Collection[str], *, is_written: bool) -> None:
        self.counters = counters
        self.paths = frozenset(paths)
        self.is_written = is_written

    def tell(self, client: str, method: str, path: str, status: int, seconds: float) -> None:
        """Tell of a request that has ended."""
        method = method if method in METHODS else OTHER
        path = path if path in self.paths else OTHER
        self.counters.count_request(method, path, status, seconds)
        if not self.is_written:
            return
        told = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client,
            "method": method,
            "path": path,
            "status": status,
            "ms": round(1000 * seconds, 2),
        }
        with suppress(OSError):  # nobody reads the log any more, which is no reason to stop
            print(json.dumps(told), file=sys.stderr, flush=True)  # noqa: T201  # the log itself
