"""Clients that leave before they are answered: nobody works for them any longer."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["answer_while_there"]


async def answer_while_there(
    app: ASGIApp, scope: Scope, content: bytes, receive: Receive, send: Send
) -> None:
    """Let the app answer a request whose body has been read, until its client leaves.

    Otherwise those who give up and ask again would fill the queue with questions that nobody
    waits for.
    """
    is_handed_on = False

    async def body() -> Message:
        nonlocal is_handed_on
        if not is_handed_on:
            is_handed_on = True
            return {"type": "http.request", "body": content, "more_body": False}
        await gone
        return {"type": "http.disconnect"}

    async def answer() -> None:
        await app(scope, body, send)

    gone = asyncio.create_task(_left(receive))
    answering = asyncio.create_task(answer())
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        answering.cancel()
        gone.cancel()
        await asyncio.gather(answering, gone, return_exceptions=True)
    if not answering.cancelled():
        answering.result()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
