"""The gate in front of the app: whom it lets in, and how much they may bring."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setlearn.server.access_log import AccessLog
from setlearn.server.bodies import is_drained, read_body
from setlearn.server.client_disconnect import answer_while_there
from setlearn.server.problems import Problem, problem_response
from setlearn.server.settings import Settings

__all__ = ["Gate"]

OPEN_TO_ALL = ("/", "/healthz", "/readyz")
PAGE = "/playground/"
"""The page and its parts hold no secrets; it asks for the token itself."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

CLIENT_LEFT = 499
"""What the log says where there was nobody left to answer."""


class Gate:
    """Checks each request before the app sees it, and tells the log of it after."""

    def __init__(self, app: ASGIApp, settings: Settings, log: AccessLog) -> None:
        self.app = app
        self.settings = settings
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem."""
        if scope["type"] != "http":  # the start and the end of the server
            await self.app(scope, receive, send)
            return
        started, status = monotonic(), CLIENT_LEFT

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            await send(message)

        try:
            await self._answer(scope, receive, note_status)
        finally:
            client = (scope.get("client") or ["-"])[0]
            seconds = monotonic() - started
            self.log.tell(client, scope["method"], scope["path"], status, seconds)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        try:
            self._check(scope["path"], headers)
            content = await read_body(headers, receive, self.settings.limits)
        except Problem as problem:
            response = problem_response(problem)
            if not await is_drained(headers, receive):
                response.headers["connection"] = "close"  # what else comes is not a request
            await response(scope, receive, send)
            return
        # The server leaves out the body where the client asked for the head alone.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await answer_while_there(self.app, {**scope, "method": method}, content, receive, send)

    def _check(self, path: str, headers: Mapping[bytes, bytes]) -> None:
        if not self._is_host(headers.get(b"host", b"").decode("latin-1")):
            raise Problem(
                421,
                "unknown_host",
                "the server is not known by this name; start it with --allow-host NAME",
            )
        token = self.settings.token
        if token is None or path in OPEN_TO_ALL or path.startswith(PAGE):
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        is_right = hmac.compare_digest(given.strip(), token.encode())
        if scheme.lower() != b"bearer" or not is_right:
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
