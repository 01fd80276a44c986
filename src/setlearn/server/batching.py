"""Batching: requests that wait at the same time are answered in one call of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any

from setlearn.server.monitoring import Metrics
from setlearn.server.problems import Problem
from setlearn.server.served_model import Answer, Ask, Refusal
from setlearn.server.settings import Limits
from setlearn.server.workers import Worker, WorkerDied

__all__ = ["Batcher"]


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    model: str
    ask: Ask
    answer: asyncio.Future[Answer | Refusal]

    @property
    def batch_key(self) -> tuple[Any, ...]:
        return self.model, self.ask.batch_key


class Batcher:
    """Queues requests, and gives each free worker all those that it can answer in one call.

    No request waits for a batch to fill. Requests queue up only while all workers are busy, so
    batches grow with the load.

    Parameters
    ----------
    workers : list of Worker
        Workers that were started.
    limits : Limits
    metrics : Metrics
    """

    def __init__(self, workers: list[Worker], limits: Limits, metrics: Metrics) -> None:
        self.workers = workers
        self.limits = limits
        self.metrics = metrics
        self.n_ready = 0
        self.n_busy = 0
        self._waiting: list[_Waiting] = []
        self._arrival = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._threads = ThreadPoolExecutor(len(workers))  # each waits for a worker

    @property
    def n_waiting(self) -> int:
        """The number of requests that no worker has taken yet."""
        return len(self._waiting)

    def start(self) -> None:
        """Let all workers take requests."""
        self.n_ready = len(self.workers)
        self._tasks = [asyncio.create_task(self._serve(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """Stop all workers; requests that they are still answering are lost."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers:
            worker.stop()
        self._threads.shutdown()

    async def answer(self, model: str, ask: Ask) -> Answer:
        """Queue a request, and wait for its answer.

        Parameters
        ----------
        model : str
            The name of the model.
        ask : Ask

        Returns
        -------
        Answer

        Raises
        ------
        Problem
            If the queue is full, the input does not fit the model, the worker dies, or time is
            up.
        """
        if len(self._waiting) >= self.limits.queue:
            raise Problem(
                503, "too_busy", "too many requests are waiting; try again", retry_after=1
            )
        waiting = _Waiting(model, ask, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._arrival.set()
        try:
            async with asyncio.timeout(self.limits.seconds):
                answer = await waiting.answer
        except TimeoutError:
            raise _too_slow(self.limits) from None
        finally:
            if waiting in self._waiting:  # time was up, or the client has left
                self._waiting.remove(waiting)
        if isinstance(answer, Refusal):
            raise Problem(422, "bad_input", answer.message)
        return answer

    async def _serve(self, worker: Worker) -> None:
        while True:
            batch = await self._next_batch()
            asks = [waiting.ask for waiting in batch]
            started = monotonic()
            self.n_busy += 1
            try:
                async with asyncio.timeout(self.limits.seconds):
                    answers = await self._call(worker, worker.ask, batch[0].model, asks)
            except (WorkerDied, TimeoutError) as error:
                self._give_up(batch, is_late=isinstance(error, TimeoutError))
                self.n_busy -= 1
                await self._replace(worker)
                continue
            self.n_busy -= 1
            self.metrics.count_batch(sum(len(ask.inputs) for ask in asks), monotonic() - started)
            for waiting, answer in zip(batch, answers, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)

    async def _call(self, worker: Worker, method: Callable[..., Any], *given: Any) -> Any:
        """Call a method of a worker in a thread; if the call is cancelled, kill the worker."""
        call = asyncio.get_running_loop().run_in_executor(self._threads, method, *given)
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            worker.kill()
            await asyncio.gather(call, return_exceptions=True)
            raise

    async def _next_batch(self) -> list[_Waiting]:
        """Take the request that has waited longest, and all others that fit into its batch."""
        while not self._waiting:
            self._arrival.clear()
            await self._arrival.wait()
        batch_key = self._waiting[0].batch_key
        batch: list[_Waiting] = []
        others: list[_Waiting] = []
        n_rows = 0
        for waiting in self._waiting:
            fits = n_rows + len(waiting.ask.inputs) <= self.limits.rows or not batch
            if waiting.batch_key == batch_key and fits:
                batch.append(waiting)
                n_rows += len(waiting.ask.inputs)
            else:
                others.append(waiting)
        self._waiting = others
        return batch

    def _give_up(self, batch: list[_Waiting], *, is_late: bool) -> None:
        for waiting in batch:
            if not waiting.answer.done():
                waiting.answer.set_exception(_too_slow(self.limits) if is_late else _died())

    async def _replace(self, worker: Worker) -> None:
        self.n_ready -= 1
        self.metrics.restarts += 1
        while True:
            try:
                await self._call(worker, worker.restart)
            except Exception:  # the models loaded before, so their folder may be back in a moment
                await asyncio.sleep(1)
            else:
                break
        self.n_ready += 1


def _too_slow(limits: Limits) -> Problem:
    return Problem(
        504,
        "too_slow",
        f"there was no answer within {limits.seconds:g} seconds; send fewer or shorter inputs, or "
        "try again later",
    )


def _died() -> Problem:
    return Problem(503, "worker_died", "the process with the model ended; try again", retry_after=2)
