"""The gate in front of the app: whom it lets in, how much they may bring, and the access log."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setlearn.server.counters import Counters
from setlearn.server.problems import Problem, problem_response
from setlearn.server.settings import Settings

__all__ = ["Gate"]

OPEN_TO_ALL = ("/healthz", "/readyz")
PAGE = "/playground/"
"""The page and its parts hold no secrets; it asks for the token itself."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Gate:
    """Checks each request before the app sees it, and writes a line about it after."""

    def __init__(self, app: ASGIApp, settings: Settings, counters: Counters) -> None:
        self.app = app
        self.settings = settings
        self.counters = counters
        self.served: Callable[[str], str] = lambda path: path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = monotonic(), 499  # until there is an answer: the client may leave

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            await send(message)

        try:
            self._check(scope)
            body = await self._body(scope, receive)
        except Problem as problem:
            await problem_response(problem)(scope, receive, note_status)
        else:
            await self.app(scope, body, note_status)
        finally:
            self._tell(scope, status, monotonic() - started)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if not self._is_host(headers.get(b"host", b"").decode("latin-1")):
            raise Problem(
                421,
                "unknown_host",
                "the server is not known by this name; start it with --allow-host NAME",
            )
        path, token = scope["path"], self.settings.token
        if token is None or path in OPEN_TO_ALL or path == "/" or path.startswith(PAGE):
            return
        given = headers.get(b"authorization", b"")
        if not hmac.compare_digest(given, b"Bearer " + token.encode()):
            raise Problem(401, "no_token", "send the server's token: Authorization: Bearer TOKEN")

    def _is_host(self, host: str) -> bool:
        """Whether requests may call the server so.

        A name that anybody can point here is refused: a web page could use it to reach a server
        that only this machine should reach. Numbers are nobody's name.
        """
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower()
        if name in ("localhost", *(allowed.lower() for allowed in self.settings.hosts)):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return "*" in self.settings.hosts
        return True

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """Read all of the body, no more than allowed, and hand it on in one piece."""
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        try:
            content = await asyncio.wait_for(
                _read(receive, self.settings.limits.body_bytes), self.settings.limits.seconds
            )
        except TimeoutError:
            raise Problem(
                408, "slow_body", "the body did not arrive in time; send it at once"
            ) from None
        handed_on = False

        async def body() -> Message:
            nonlocal handed_on
            if handed_on:
                return await receive()
            handed_on = True
            return {"type": "http.request", "body": content, "more_body": False}

        return body

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path = self.served(scope["path"])
        self.counters.count_request(scope["method"], path, status, seconds)
        if self.settings.access_log:
            told: dict[str, Any] = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "client": (scope.get("client") or ["-"])[0],
                "method": scope["method"],
                "path": path,
                "status": status,
                "ms": round(1000 * seconds, 2),
            }
            print(json.dumps(told), file=sys.stderr, flush=True)  # noqa: T201  # the log itself


async def _read(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "half_sent", "the body ended too early; send all of it")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise Problem(
                413, "too_large", f"the body has more than {most} bytes; send fewer inputs at once"
            )
        if not message.get("more_body", False):
            return b"".join(parts)
