"""Bodies of requests: read within limits, parsed as strict JSON, checked against a schema."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.types import Receive

from setlearn.server.problems import Problem, problem_response
from setlearn.server.settings import Limits
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["RequestShape", "StrictRoute", "add_shape_handler", "is_drained", "read_body"]

LONGEST_DRAIN = 1.0
"""Seconds in which the rest of a refused body must arrive."""

MAX_DEPTH = 32
INTEGER_BITS = 64
"""Limits on the nesting and the whole numbers of a body."""

MOST_PLACES = 3
"""How many mistakes in the shape of a body are named."""


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
                    raise Problem(400, "half_sent", "the body ended too early; send all of it")
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
        raise Problem(415, "packed", "send the body uncompressed, without Content-Encoding")


class RequestShape(BaseModel):
    """The base of every schema that a body, or a part of one, must have."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())

    @classmethod
    def all_field_names(cls) -> set[str]:
        """The names of the fields of this schema and of all that inherit from it."""
        inherited = (shape.all_field_names() for shape in cls.__subclasses__())
        return set(cls.model_fields).union(*inherited)


def add_shape_handler(app: FastAPI) -> None:
    """Let an app say where a request does not match the schema."""
    app.add_exception_handler(RequestValidationError, _answer_wrong_shape)


async def _answer_wrong_shape(request: Request, error: Exception) -> JSONResponse:
    """Answer a request whose body or parameters do not match the schema."""
    assert isinstance(error, RequestValidationError)
    # Say where the mistake is and of what kind, but repeat nothing that was sent: only places
    # that the schemas themselves name.
    our_names = {"body", "query"} | RequestShape.all_field_names()
    places = []
    for mistake in error.errors():
        path = [str(p) for p in mistake["loc"] if isinstance(p, int) or p in our_names]
        places.append(f"{'.'.join(path)} ({str(mistake['type']).replace('_', ' ')})")
    message = (
        "the request does not match the schema: "
        f"{'; '.join(list(dict.fromkeys(places))[:MOST_PLACES])}. "
        "See GET /openapi.json for the schema, with examples"
    )
    return problem_response(Problem(422, "wrong_shape", message))
