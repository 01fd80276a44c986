"""Routes that take strict JSON, declared as such, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from setlearn.server.problems import Problem
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["StrictRoute"]

MAX_DEPTH = 32
INTEGER_BITS = 64


class StrictRoute(APIRoute):
    """Reads bodies as strict JSON, which must be declared as such."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Let requests be read by `_StrictRequest`."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            if request.method == "POST":
                _check_declared(request)
                request = _StrictRequest(request.scope, request.receive)
            return await handle(request)

        return strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return parse_strict_json(
                await self.body(), max_depth=MAX_DEPTH, integer_bits=INTEGER_BITS
            )
        except StrictJsonError as error:
            message = f"the body cannot be read as JSON: {error}"
            raise Problem(400, "not_json", message) from None


def _check_declared(request: Request) -> None:
    declared = request.headers.get("content-type", "").partition(";")[0].strip()
    if declared.lower() != "application/json":
        # Also keeps web pages of others from sending forms here.
        raise Problem(415, "not_json", "send JSON, as Content-Type: application/json")
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed != "identity":
        raise Problem(415, "packed", "send the body as it is, without Content-Encoding")
