"""A backend for joblib that does parallel work as Ray tasks.

Ray has one too, but it cannot return results one by one, which the folds of a learner need for
their progress, and it changes joblib's own pools for the rest of the process. Tasks are also tried
again if their worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from joblib.parallel import ParallelBackendBase

from setlearn.errors import ClusterError

__all__ = ["RayTasks"]


class RayTasks(ParallelBackendBase):  # type: ignore[misc]  # joblib ships no types
    """Pass it to ``joblib.parallel_config``, inside of a session with Ray.

    Parameters
    ----------
    ray : module
        Ready for use.
    """

    supports_retrieve_callback = True

    def __init__(self, ray: Any, **options: Any) -> None:
        super().__init__(**options)
        self.ray = ray
        self._task = ray.remote(_call)
        self._running: set[Any] = set()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """How many tasks run at the same time; negative numbers mean all cores of the cluster.

        Parameters
        ----------
        n_jobs : int or None

        Returns
        -------
        int
        """
        if n_jobs is not None and n_jobs < 0:
            return max(int(self.ray.cluster_resources().get("CPU", 1)), 1)
        return n_jobs or 1

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Get ready for the work of one `joblib.Parallel`.

        Parameters
        ----------
        n_jobs : int
        parallel : joblib.Parallel
        **options : dict
            Not used.

        Returns
        -------
        int
            The effective number of jobs.
        """
        n_jobs = self.effective_n_jobs(n_jobs)
        self.parallel = parallel
        self._threads = ThreadPoolExecutor(n_jobs, "setlearn Ray task")
        return n_jobs

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Future[Any]], None] | None = None
    ) -> Future[Any]:
        """Start some work.

        Parameters
        ----------
        func : callable
        callback : callable, optional
            Called with the future once there is a result.

        Returns
        -------
        Future
        """
        future = self._threads.submit(self._result, func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """The result of a future that is done."""
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Stop all tasks, as after an error in one of them.

        Parameters
        ----------
        ensure_ready : bool
            Whether more work will follow.
        """
        self.terminate()
        if ensure_ready:
            self.configure(self.parallel.n_jobs, self.parallel)

    def terminate(self) -> None:
        """Stop all tasks, and let go of the threads that wait for them."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for reference in list(self._running):
            self.ray.cancel(reference)

    def _result(self, func: Callable[[], Any]) -> Any:
        reference = self._task.remote(func)
        self._running.add(reference)
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None  # what the work itself raised
        except self.ray.exceptions.TaskCancelledError:
            raise
        except self.ray.exceptions.RayError as error:
            raise ClusterError(
                f"a worker of Ray was lost, and its work could not be done again: {error}; "
                "use fewer workers if memory was short"
            ) from error
        finally:
            self._running.discard(reference)


def _call(func: Callable[[], Any]) -> Any:
    return func()
