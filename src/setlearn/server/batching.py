"""Requests that wait together are answered in one call of the model."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from setlearn.server.counters import Counters
from setlearn.server.pool import Worker, WorkerDied, WorkerTooSlow
from setlearn.server.problems import Problem
from setlearn.server.served_model import Ask, Refusal
from setlearn.server.settings import Limits

__all__ = ["Batcher"]


@dataclass(slots=True, eq=False)
class _Waiting:
    model: str
    ask: Ask
    answer: asyncio.Future[Any] = field(default_factory=asyncio.Future)

    @property
    def key(self) -> tuple[Any, ...]:
        return self.model, self.ask.manner


class Batcher:
    """Takes requests, and gives each free worker all those that can be answered in one call.

    Nobody waits for a batch to fill. While workers are busy requests gather by themselves, so
    that batches are as large as the load asks for.
    """

    def __init__(self, workers: list[Worker], limits: Limits, counters: Counters) -> None:
        self.workers = workers
        self.limits = limits
        self.counters = counters
        self.n_ready = 0
        self._waiting: deque[_Waiting] = deque()
        self._news = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Let all workers, which have been started, take requests."""
        self.n_ready = len(self.workers)
        self._tasks = [asyncio.create_task(self._serve(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """Stop all workers; what they were doing is lost, so let requests end before."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(asyncio.to_thread(worker.stop) for worker in self.workers))

    async def answer(self, model: str, ask: Ask) -> Any:
        """The answer to a request, or the problem with it."""
        waiting = _Waiting(model, ask)
        async with self._news:
            if len(self._waiting) >= self.limits.queue:
                raise Problem(
                    503, "too_busy", "too many requests are waiting; try again", retry_after=1
                )
            self._waiting.append(waiting)
            self.counters.waiting = len(self._waiting)
            self._news.notify()
        try:
            answer = await asyncio.wait_for(waiting.answer, self.limits.seconds)
        except TimeoutError:
            raise Problem(
                504,
                "too_slow",
                f"there was no answer within {self.limits.seconds:g} seconds; send fewer or "
                "shorter inputs",
            ) from None
        if isinstance(answer, Refusal):
            raise Problem(422, "bad_input", answer.message)
        return answer

    async def _serve(self, worker: Worker) -> None:
        while True:
            batch = await self._next_batch()
            asks = [waiting.ask for waiting in batch]
            started = monotonic()
            try:
                answers = await asyncio.to_thread(
                    worker.ask, batch[0].model, asks, self.limits.seconds
                )
            except (WorkerDied, WorkerTooSlow) as error:
                self._give_up(batch, error)
                await self._restart(worker)
                continue
            self.counters.count_batch(sum(len(ask.inputs) for ask in asks), monotonic() - started)
            for waiting, answer in zip(batch, answers, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)

    async def _next_batch(self) -> list[_Waiting]:
        """The request that has waited longest, and all others that can go with it."""
        async with self._news:
            while True:
                # Those whose clients have gone need no answer.
                self._waiting = deque(w for w in self._waiting if not w.answer.done())
                if self._waiting:
                    break
                await self._news.wait()
            key = self._waiting[0].key
            batch: list[_Waiting] = []
            others: deque[_Waiting] = deque()
            n_rows = 0
            for waiting in self._waiting:
                fits = n_rows + len(waiting.ask.inputs) <= self.limits.rows or not batch
                if waiting.key == key and fits:
                    batch.append(waiting)
                    n_rows += len(waiting.ask.inputs)
                else:
                    others.append(waiting)
            self._waiting = others
            self.counters.waiting = len(others)
            return batch

    def _give_up(self, batch: list[_Waiting], error: Exception) -> None:
        problem = (
            Problem(504, "too_slow", "the model took too long; send fewer or shorter inputs")
            if isinstance(error, WorkerTooSlow)
            else Problem(503, "worker_died", "the model's process died; try again", retry_after=2)
        )
        for waiting in batch:
            if not waiting.answer.done():
                waiting.answer.set_exception(problem)

    async def _restart(self, worker: Worker) -> None:
        self.n_ready -= 1
        self.counters.restarts += 1
        while True:
            try:
                await asyncio.to_thread(worker.start)
            except Exception:  # its folder may be gone for a moment; what was loaded was sound
                await asyncio.sleep(1)
            else:
                break
        self.n_ready += 1
