"""The gate in front of the app: which requests it lets in, and how their bodies are read."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Callable, Coroutine, Mapping
from time import monotonic
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setlearn.server.monitoring import AccessLog
from setlearn.server.problems import Problem, problem_response
from setlearn.server.settings import Limits, Settings
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["Gate", "StrictRoute", "is_drained", "read_body"]

PUBLIC_PATHS = ("/", "/healthz", "/readyz")
PAGE_FILES = "/playground/"
"""The page and its files contain no secrets; the page asks for the token itself."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

CLIENT_LEFT = 499
"""The status in the log if the client left before it got an answer."""


class Gate:
    """Checks each request before the app sees it, and logs it afterwards.

    Parameters
    ----------
    app : ASGI app
    settings : Settings
    log : AccessLog
    """

    def __init__(self, app: ASGIApp, settings: Settings, log: AccessLog) -> None:
        self.app = app
        self.settings = settings
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, or answer it with a problem."""
        if scope["type"] != "http":  # the start and the end of the server
            await self.app(scope, receive, send)
            return
        started, status = monotonic(), CLIENT_LEFT

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            await send(message)

        try:
            await self._answer(scope, receive, send_and_note_status)
        finally:
            client = (scope.get("client") or ["-"])[0]
            seconds = monotonic() - started
            self.log.record(client, scope["method"], scope["path"], status, seconds)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        try:
            self._check_host(headers)
            self._check_token(scope["path"], headers)
            content = await read_body(headers, receive, self.settings.limits)
        except Problem as problem:
            response = problem_response(problem)
            if not await is_drained(headers, receive):
                response.headers["connection"] = "close"  # what follows is not a request
            await response(scope, receive, send)
            return
        # uvicorn leaves out the body of the answer to a HEAD request.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await _answer_while_connected(self.app, {**scope, "method": method}, content, receive, send)

    def _check_host(self, headers: Mapping[bytes, bytes]) -> None:
        if not self._is_allowed_host(headers.get(b"host", b"").decode("latin-1")):
            raise Problem(
                421,
                "unknown_host",
                "the server does not answer to this host name; it must be started with the name "
                "among its allowed hosts",
            )

    def _check_token(self, path: str, headers: Mapping[bytes, bytes]) -> None:
        token = self.settings.token
        if token is None or path in PUBLIC_PATHS or path.startswith(PAGE_FILES):
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        is_right = hmac.compare_digest(given.strip(), token.encode())
        if scheme.lower() != b"bearer" or not is_right:
            raise Problem(401, "no_token", "send the server's token: Authorization: Bearer TOKEN")

    def _is_allowed_host(self, host: str) -> bool:
        """Whether requests may use this host name.

        Anybody can register a name that points to this machine. A web page with such a name could
        then reach a server that only this machine should reach. Nobody can do that with a numeric
        address.
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


async def _answer_while_connected(
    app: ASGIApp, scope: Scope, content: bytes, receive: Receive, send: Send
) -> None:
    """Let the app answer a request whose body was read, until its client disconnects.

    Otherwise clients that give up and try again would fill the queue with requests that nobody
    waits for.
    """
    is_passed_on = False

    async def receive_from_gate() -> Message:
        nonlocal is_passed_on
        if not is_passed_on:
            is_passed_on = True
            return {"type": "http.request", "body": content, "more_body": False}
        await disconnected
        return {"type": "http.disconnect"}

    async def answer() -> None:
        await app(scope, receive_from_gate, send)

    disconnected = asyncio.create_task(_wait_for_disconnect(receive))
    answering = asyncio.create_task(answer())
    try:
        await asyncio.wait({answering, disconnected}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        answering.cancel()
        disconnected.cancel()
        await asyncio.gather(answering, disconnected, return_exceptions=True)
    if not answering.cancelled():
        answering.result()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


LONGEST_DRAIN = 1.0
"""Seconds in which the rest of a refused body must arrive."""

MAX_DEPTH = 32
INTEGER_BITS = 64
"""Limits on the nesting and the whole numbers of a body."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limits: Limits) -> bytes:
    """Read a whole body.

    Parameters
    ----------
    headers : mapping of bytes to bytes
    receive : ASGI callable
    limits : Limits

    Returns
    -------
    bytes

    Raises
    ------
    Problem
        If the body is too large, arrives too slowly, or ends too early.
    """
    if int(headers.get(b"content-length", b"0")) > limits.body_bytes:
        raise _too_large(limits)
    content = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Problem(
                        400, "incomplete_body", "the body ended too early; send all of it"
                    )
                content += message.get("body", b"")
                if len(content) > limits.body_bytes:
                    raise _too_large(limits)
                if not message.get("more_body", False):
                    return bytes(content)
    except TimeoutError:
        raise Problem(
            408, "slow_body", "the body did not arrive in time; send it at once"
        ) from None


async def is_drained(headers: Mapping[bytes, bytes], receive: Receive) -> bool:
    """Read the rest of a refused body without keeping it.

    Many clients look for an answer only after they have sent everything. If the server closed the
    connection earlier, they would see a broken connection instead of the answer.

    Parameters
    ----------
    headers : mapping of bytes to bytes
    receive : ASGI callable

    Returns
    -------
    bool
        Whether the end of the body was reached.
    """
    if b"expect" in headers:  # the client asks before it sends; reading would tell it to go on
        return False
    try:
        async with asyncio.timeout(LONGEST_DRAIN):
            while (await receive()).get("more_body", False):
                pass
    except TimeoutError:
        return False
    return True


def _too_large(limits: Limits) -> Problem:
    return Problem(
        413,
        "too_large",
        f"the body has more than {limits.body_bytes} bytes; send fewer inputs per request",
    )


class StrictRoute(APIRoute):
    """A route whose POST bodies must be declared as JSON, and are parsed as strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that reads requests strictly."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            if request.method == "POST":
                _check_content_type(request)
                request = _StrictRequest(request.scope, request.receive)
            return await handle(request)

        return handle_strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return parse_strict_json(
                await self.body(), max_depth=MAX_DEPTH, integer_bits=INTEGER_BITS
            )
        except StrictJsonError as error:
            message = f"the body cannot be read as JSON: {error}"
            raise Problem(400, "not_json", message) from None


def _check_content_type(request: Request) -> None:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type.lower() != "application/json":
        # This also stops forms that other web pages send here.
        raise Problem(415, "not_json", "send JSON, with Content-Type: application/json")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Problem(
            415, "compressed_body", "send the body uncompressed, without Content-Encoding"
        )
