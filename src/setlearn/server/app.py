"""The app: put together from its parts, served at an address, and stopped by a signal."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from setlearn import __version__
from setlearn.errors import ParameterError
from setlearn.server.batching import Batcher
from setlearn.server.gate import Gate
from setlearn.server.monitoring import AccessLog, Metrics
from setlearn.server.problems import Problem, add_problem_handlers, problem_response
from setlearn.server.request_shape import add_shape_handler
from setlearn.server.routes import make_routers
from setlearn.server.settings import Limits, Settings
from setlearn.server.workers import Worker, start_workers

__all__ = ["create_app", "run"]

PAGE = Path(str(files("setlearn.server").joinpath("playground")))

CONTENT_SECURITY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

MOST_CONNECTIONS = 800
"""Below 1024, the number of files that many systems let a process open."""

LONGEST_HEADERS = 10.0
"""Seconds in which all headers of a request must arrive, unless the limit is lower still."""


def create_app(
    settings: Settings, workers: list[Worker], descriptions: Mapping[str, Mapping[str, Any]]
) -> Gate:
    """Put the app together, behind its gate.

    Parameters
    ----------
    settings : Settings
    workers : list of Worker
        Workers that were started; they are stopped when the app ends.
    descriptions : mapping of str to mapping
        What the models are, by name.

    Returns
    -------
    Gate
    """
    metrics = Metrics()
    batcher = Batcher(workers, settings.limits, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="setlearn",
        version=__version__,
        description="Predict, rank, complete and explain sets of labels or sequences.",
        lifespan=lifespan,
        docs_url=None,  # it would load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
    )
    add_problem_handlers(app)
    add_shape_handler(app)
    for router in make_routers(settings, batcher, descriptions, metrics):
        app.include_router(router)
    _add_page(app)
    paths = {*app.openapi()["paths"], "/", "/openapi.json"}
    log = AccessLog(metrics, paths, is_written=settings.access_log)
    return Gate(app, settings, log)


def _add_page(app: FastAPI) -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def playground() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY})

    app.mount("/playground", StaticFiles(directory=PAGE), name="playground")


def run(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serve models until a signal arrives.

    Parameters
    ----------
    settings : Settings
    on_ready : callable
        Called with the address of the server once it accepts requests.

    Raises
    ------
    ParameterError
        If the address cannot be used.
    ModelError
        If a model cannot be loaded.
    """

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready(_address(listening))  # from here on uvicorn handles signals

    with _sigterm_exits(), _listen(settings) as listening:
        app = create_app(settings, *start_workers(settings))
        config = uvicorn.Config(
            app,
            http=_protocol(app.log, settings.limits),
            ws="none",
            log_level="error",
            access_log=False,  # the gate writes its own
            proxy_headers=False,  # otherwise clients could choose their address in the log
            server_header=False,
            # Time for a body that is still arriving, and for its answer.
            timeout_graceful_shutdown=math.ceil(2 * settings.limits.seconds) + 1,
        )
        Server(config).run(sockets=[listening])


@contextmanager
def _sigterm_exits() -> Iterator[None]:
    """Exit in good order on SIGTERM, also while models are being loaded.

    While uvicorn runs, it handles signals itself; when it is done it sends itself the same one.
    """
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _listen(settings: Settings) -> socket.socket:
    """Open the socket: before models are loaded, so that a wrong address is reported at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio sends small packets at once (TCP_NODELAY) only if the protocol is named. Otherwise the
    # body of an answer waits until the client has acknowledged its headers, often for 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # The system then closes connections whose clients never read their answers.
            milliseconds = int(1000 * settings.limits.seconds)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise ParameterError(
            f"the server cannot listen at {settings.host}:{settings.port} "
            f"({error.strerror or error}); choose another host or port",
            advice={"host": None, "port": None},
        ) from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _protocol(log: AccessLog, limits: Limits) -> type[H11Protocol]:
    """The class that uvicorn uses for each connection.

    uvicorn itself waits for headers as long as a client likes, so that a few hundred idle clients
    would keep all others out. This class closes slow connections and refuses too many of them.
    It also answers in JSON if something goes wrong before there is a request, and logs it.
    """
    patience = min(LONGEST_HEADERS, limits.seconds)

    class Connection(H11Protocol):
        deadline: asyncio.TimerHandle | None = None

        def connection_made(  # type: ignore[override]  # as uvicorn declares it
            self, transport: asyncio.Transport
        ) -> None:
            super().connection_made(transport)
            self._update_deadline()
            if len(self.connections) > MOST_CONNECTIONS:
                self._refuse(
                    Problem(503, "too_busy", "there are too many clients; try again", retry_after=5)
                )

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._update_deadline()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._clear_deadline()

        def send_400_response(self, msg: str) -> None:
            self._refuse(Problem(400, "not_http", "the request is not valid HTTP"))

        def _refuse(self, problem: Problem) -> None:
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                response = problem_response(problem)
                headers = [*response.raw_headers, (b"connection", b"close")]
                for event in (
                    h11.Response(status_code=problem.status_code, headers=headers),
                    h11.Data(data=bytes(response.body)),
                    h11.EndOfMessage(),
                ):
                    self.transport.write(self.conn.send(event) or b"")
                if not self._has_open_request():  # otherwise the gate logs it
                    client = self.client[0] if self.client else "-"
                    log.record(client, "-", "-", problem.status_code, 0.0)
            self.transport.close()

        def _has_open_request(self) -> bool:
            """Whether a request has arrived that is not answered yet."""
            return self.cycle is not None and not self.cycle.response_complete

        def _update_deadline(self) -> None:
            if self._has_open_request():
                self._clear_deadline()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(patience, self.transport.abort)

        def _clear_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return Connection
