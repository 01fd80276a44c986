"""How a long command is stopped: by Ctrl-C, or in the same way by SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from joblib import parallel_config

__all__ = ["stopped_by_signals"]


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM do the same as Ctrl-C; batch systems and containers stop processes by it.

    A terminal sends Ctrl-C to all its processes. Worker processes ignore it once they have started,
    because this process ends them; they would only print tracebacks.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        with parallel_config("loky", initializer=ignore):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
