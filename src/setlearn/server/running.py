"""Running the server until it is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from setlearn.errors import ParameterError
from setlearn.server.settings import Settings

__all__ = ["serve"]

LONGEST_GOODBYE = 30
"""Seconds that running requests have to end in."""

MOST_CONNECTIONS = 1000


def serve(settings: Settings, say_address: Callable[[str], None]) -> None:
    """Serve the models; ends with SIGTERM or Ctrl-C, after what is running has been answered.

    ``say_address`` is called once requests can come. Port 0 takes any that is free.
    """
    try:
        import uvicorn

        from setlearn.server.app import create_app
        from setlearn.server.pool import started_workers
    except ImportError as error:
        raise ParameterError(
            f"the server needs packages that are not installed ({error.name}); "
            "pip install 'setlearn[server]'"
        ) from error
    with _listening(settings) as listening:
        workers = started_workers(settings)
        listening.listen()  # from here on clients can come, and wait a moment
        host, port = listening.getsockname()[:2]
        say_address(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
        config = uvicorn.Config(
            create_app(settings, workers),
            log_level="warning",
            access_log=False,  # the gate writes a better one
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=LONGEST_GOODBYE,
        )
        # uvicorn ends in peace, and then sends itself the signal again, which must not kill it.
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        uvicorn.Server(config).run(sockets=[listening])


def _listening(settings: Settings) -> socket.socket:
    """A socket at the address, taken before models are loaded, so that a mistake shows at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        raise ParameterError(
            f"the server cannot listen at {settings.host}:{settings.port} "
            f"({error.strerror or error}); choose another --host or --port"
        ) from error
    return listening
