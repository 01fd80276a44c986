"""What the server has done so far, in the text form that Prometheus reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

__all__ = ["Counters", "Histogram"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class Histogram:
    """How many values were at most as large as each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        place = next((k for k, bound in enumerate(self.bounds) if value <= bound), -1)
        self.counts[place] += 1
        self.sum += value

    def lines(self, name: str, about: str) -> list[str]:
        """The histogram, bound by bound."""
        lines = [f"# HELP {name} {about}", f"# TYPE {name} histogram"]
        total = 0
        for bound, count in zip([*self.bounds, "+Inf"], self.counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self.sum:.6f}", f"{name}_count {total}"]


class Counters:
    """All of the server's figures."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds = Histogram(SECONDS)
        self.batch_rows = Histogram(ROWS)
        self.batch_seconds = Histogram(SECONDS)
        self.restarts = 0

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count an answered request; ``path`` is one that is served, or "other"."""
        self.requests[method, path, status] += 1
        self.seconds.add(seconds)

    def count_batch(self, n_rows: int, seconds: float) -> None:
        """Count one call of a model."""
        self.batch_rows.add(n_rows)
        self.batch_seconds.add(seconds)

    def text(self, *, n_waiting: int, n_ready: int) -> str:
        """Everything, one figure a line."""
        name = "setlearn_requests_total"
        lines = [f"# HELP {name} Requests answered.", f"# TYPE {name} counter"]
        for (method, path, status), count in sorted(self.requests.items()):
            lines.append(f'{name}{{method="{method}",path="{path}",status="{status}"}} {count}')
        lines += self.seconds.lines("setlearn_request_seconds", "Time to answer a request.")
        lines += self.batch_rows.lines("setlearn_batch_rows", "Inputs in one call of a model.")
        lines += self.batch_seconds.lines("setlearn_batch_seconds", "Time of one call of a model.")
        for name, about, kind, value in (
            ("setlearn_waiting_requests", "Requests in the queue.", "gauge", n_waiting),
            ("setlearn_ready_workers", "Workers that can answer.", "gauge", n_ready),
            ("setlearn_worker_restarts_total", "Workers replaced.", "counter", self.restarts),
        ):
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"
