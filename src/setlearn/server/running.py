"""Running the server until it is told to stop."""

from __future__ import annotations

import math
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from setlearn.errors import ParameterError
from setlearn.server.settings import Settings

__all__ = ["serve"]


def serve(settings: Settings, say_address: Callable[[str], None]) -> None:
    """Serve the models; ends with SIGTERM or Ctrl-C, after what is running has been answered.

    ``say_address`` is called once requests can come. Port 0 takes any that is free.
    """
    try:
        import uvicorn

        from setlearn.server.app import create_app
        from setlearn.server.connections import impatient_connections
        from setlearn.server.pool import started_workers
    except ImportError as error:
        raise ParameterError(
            f"the server needs packages that are not installed ({error.name}); "
            "pip install 'setlearn[server]'"
        ) from error

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            say_address(_address(listening))  # from here on signals end the server in peace

    with _ending_with_sigterm(), _listening(settings) as listening:
        app = create_app(settings, *started_workers(settings))
        config = uvicorn.Config(
            app,
            http=impatient_connections(app.log, settings.limits),
            ws="none",
            log_level="error",
            access_log=False,  # the gate has a better one
            proxy_headers=False,  # or clients could choose what the log calls them
            server_header=False,
            # Time for a body, which may be on its way, and for its answer.
            timeout_graceful_shutdown=math.ceil(2 * settings.limits.seconds) + 1,
        )
        Server(config).run(sockets=[listening])


@contextmanager
def _ending_with_sigterm() -> Iterator[None]:
    """Let SIGTERM end the program like its own will does, also while models are loaded.

    uvicorn takes signals over while it runs, and sends itself the same one again when it is done.
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _listening(settings: Settings) -> socket.socket:
    """A socket at the address, taken before models are loaded, so that a mistake shows at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # For clients that never read their answers: the system ends such connections.
            patience = int(1000 * settings.limits.seconds)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise ParameterError(
            f"the server cannot listen at {settings.host}:{settings.port} "
            f"({error.strerror or error}); choose another --host or --port"
        ) from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
