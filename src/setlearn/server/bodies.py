"""The bodies of requests: read whole, but neither for ever nor without end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import Receive

from setlearn.server.problems import Problem
from setlearn.server.settings import Limits

__all__ = ["is_drained", "read_body"]

LONGEST_DRAIN = 1.0
"""Seconds for the rest of a refused body."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limits: Limits) -> bytes:
    """All of a body, or the problem that it is too large, too slow, or not whole."""
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
    """Read the rest of a refused body without keeping it; tells whether its end was reached.

    Many clients look for an answer only when they have sent everything, and would find the
    connection broken instead of the answer.
    """
    if b"expect" in headers:  # a client that asks before it sends; reading would say yes
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
        f"the body has more than {limits.body_bytes} bytes; send fewer inputs at once",
    )
