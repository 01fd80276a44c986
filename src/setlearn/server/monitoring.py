"""What operators see of a server: a log line per request, and metrics for Prometheus."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

__all__ = ["AccessLog", "Histogram", "Metrics", "write_log_line"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
OTHER = "other"


class Histogram:
    """Counts how many values were at most as large as each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        place = next((k for k, bound in enumerate(self.bounds) if value <= bound), -1)
        self.counts[place] += 1
        self.sum += value

    def lines(self, name: str, description: str) -> list[str]:
        """The histogram in the text format of Prometheus.

        Parameters
        ----------
        name, description : str
            The name of the metric, and what it measures.

        Returns
        -------
        list of str
            One line per bound, with the sum and the count at the end.
        """
        lines = [f"# HELP {name} {description}", f"# TYPE {name} histogram"]
        total = 0
        for bound, count in zip([*self.bounds, "+Inf"], self.counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self.sum:.6f}", f"{name}_count {total}"]


class Metrics:
    """Everything that the server counts."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds = Histogram(SECONDS)
        self.batch_rows = Histogram(ROWS)
        self.batch_seconds = Histogram(SECONDS)
        self.restarts = 0

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count an answered request.

        Parameters
        ----------
        method, path : str
            From a fixed list each, or "other": every combination is kept for ever.
        status : int
        seconds : float
        """
        self.requests[method, path, status] += 1
        self.seconds.add(seconds)

    def count_batch(self, n_rows: int, seconds: float) -> None:
        """Count a call of a model.

        Parameters
        ----------
        n_rows : int
            The number of inputs.
        seconds : float
        """
        self.batch_rows.add(n_rows)
        self.batch_seconds.add(seconds)

    def text(self, *, n_waiting: int, n_ready: int, n_busy: int) -> str:
        """All metrics in the text format of Prometheus.

        Parameters
        ----------
        n_waiting : int
            The number of requests in the queue.
        n_ready : int
            The number of workers that are there, busy or not.
        n_busy : int
            The number of workers that are answering requests.

        Returns
        -------
        str
        """
        name = "setlearn_requests_total"
        lines = [f"# HELP {name} Requests answered.", f"# TYPE {name} counter"]
        for (method, path, status), count in sorted(self.requests.items()):
            lines.append(f'{name}{{method="{method}",path="{path}",status="{status}"}} {count}')
        lines += self.seconds.lines("setlearn_request_seconds", "Time to answer a request.")
        lines += self.batch_rows.lines("setlearn_batch_rows", "Inputs in one call of a model.")
        lines += self.batch_seconds.lines("setlearn_batch_seconds", "Time of one call of a model.")
        for name, description, kind, value in (
            ("setlearn_waiting_requests", "Requests in the queue.", "gauge", n_waiting),
            ("setlearn_ready_workers", "Workers that can answer.", "gauge", n_ready),
            ("setlearn_busy_workers", "Workers that are answering.", "gauge", n_busy),
            ("setlearn_worker_restarts_total", "Workers replaced.", "counter", self.restarts),
        ):
            lines += [f"# HELP {name} {description}", f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"


class AccessLog:
    """Counts requests, and writes a line about each to stderr: nothing of what was sent.

    Paths that are not served and unusual methods are recorded as "other", so that a client can
    neither write into the log nor make the metrics grow without bound.

    Parameters
    ----------
    metrics : Metrics
    paths : collection of str
        The paths that are served.
    is_written : bool
        Whether to write lines; requests are counted in any case.
    """

    def __init__(self, metrics: Metrics, paths: Collection[str], *, is_written: bool) -> None:
        self.metrics = metrics
        self.paths = frozenset(paths)
        self.is_written = is_written

    def record(self, client: str, method: str, path: str, status: int, seconds: float) -> None:
        """Record a request that has ended.

        Parameters
        ----------
        client : str
            The address of the client.
        method, path : str
            As the client sent them.
        status : int
        seconds : float
        """
        method = method if method in METHODS else OTHER
        path = path if path in self.paths else OTHER
        self.metrics.count_request(method, path, status, seconds)
        if self.is_written:
            write_log_line(
                {
                    "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                    "client": client,
                    "method": method,
                    "path": path,
                    "status": status,
                    "ms": round(1000 * seconds, 2),
                }
            )


def write_log_line(document: Mapping[str, Any]) -> None:
    """Write a JSON document to stderr, as one line."""
    with suppress(OSError):  # nobody reads the log any more; the server goes on
        print(json.dumps(document), file=sys.stderr, flush=True)  # noqa: T201  # the log itself
