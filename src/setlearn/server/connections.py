"""Connections that do not wait for ever: neither for slow clients, nor for too many of them."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from setlearn.server.access_log import AccessLog
from setlearn.server.problems import Problem, problem_response
from setlearn.server.settings import Limits

__all__ = ["impatient_connections"]

MOST_CONNECTIONS = 800
"""Below the 1024 files that many systems let a process open."""

LONGEST_SILENCE = 10.0
"""Seconds in which a client must send all headers of a request, if it has not even fewer."""


def impatient_connections(log: AccessLog, limits: Limits) -> type[H11Protocol]:
    """The kind of connection that uvicorn is to use.

    uvicorn itself waits as long as a client likes for its headers, so that a few hundred idle
    clients would keep all others out. What goes wrong before there is a request is also answered
    in JSON here, and written to the log.
    """
    patience = min(LONGEST_SILENCE, limits.seconds)

    class ImpatientConnection(H11Protocol):
        deadline: asyncio.TimerHandle | None = None

        def connection_made(  # type: ignore[override]  # as uvicorn has it
            self, transport: asyncio.Transport
        ) -> None:
            super().connection_made(transport)
            self._watch()
            if len(self.connections) > MOST_CONNECTIONS:
                self._refuse(
                    Problem(503, "too_busy", "there are too many clients; try again", retry_after=5)
                )

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop_watch()

        def send_400_response(self, msg: str) -> None:
            self._refuse(Problem(400, "not_http", "the request is not HTTP as it should be"))

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
                if not self._is_asked():  # or the gate will tell
                    client = self.client[0] if self.client else "-"
                    log.tell(client, "-", "-", problem.status_code, 0.0)
            self.transport.close()

        def _is_asked(self) -> bool:
            """Whether a request is there which has not been answered."""
            return self.cycle is not None and not self.cycle.response_complete

        def _watch(self) -> None:
            if self._is_asked():
                self._stop_watch()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(patience, self.transport.abort)

        def _stop_watch(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return ImpatientConnection
