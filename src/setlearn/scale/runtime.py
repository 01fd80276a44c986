"""A session with Ray: a cluster that runs already, or a local one that ends with its block."""

from __future__ import annotations

import os
import platform
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from setlearn import __version__
from setlearn.errors import ClusterError, ParameterError

__all__ = ["folder_that_is_removed", "ray_session"]

OBJECT_STORE_BYTES = 200 * 2**20
"""What a local Ray may keep in shared memory. Batches are small, and only few are on their way."""

SECONDS_TO_ANSWER = 5.0
SECONDS_TO_CONNECT = 20.0
SECONDS_TO_TELL_VERSIONS = 60.0

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Processes use the cores, not the threads of each."""

LONGEST_FOLDER = 20
"""Ray puts Unix sockets into folders of up to 82 more bytes, and paths of these may have 103."""

TOKEN = secrets.token_hex(32)
"""What processes must send to a local Ray. Ray reads it once per process, so it stays the same."""

OWN_SETTINGS = {
    "RAY_AUTH_TOKEN": TOKEN,
    "RAY_AUTH_MODE": None,
    "RAY_USAGE_STATS_ENABLED": "0",
    # A single machine is not taken away by its owner, and nobody reads figures of a training.
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_TRAIN_METRICS_ENABLED": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
}
"""Of a local Ray, which asks for tokens unless a mode is set."""

CONNECT = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False, logging_level='error')"

REMOVE_AT_END = """
import os, shutil, sys, time
from pathlib import Path

folder, n_gone = sys.argv[1], 0
sys.stdin.read()  # ends with the process at the other end, however that ends
for count in range(600):
    if count == 50:  # a process that was just starting may not have noticed the end
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if os.fsencode(folder) in command.read_bytes():
                    if (process := int(command.parent.name)) != os.getpid():
                        os.kill(process, 9)
            except OSError:  # it has ended
                pass
    n_gone = 0 if os.path.lexists(folder) else n_gone + 1
    if n_gone == 2:
        break
    shutil.rmtree(folder, ignore_errors=True)
    time.sleep(0.1)
"""


@contextmanager
def ray_session(address: str | None = None, *, workers: int = 2) -> Iterator[Any]:
    """Use Ray for the length of a block.

    If this process is connected to a Ray already, that one is used and left as it is. Otherwise the
    cluster at the address is used, or a local Ray is started, which ends with the block. The local
    one listens on the loopback address only and asks for a token. It has no dashboard, reports
    nothing, and leaves no files and no processes behind, also if this process is killed.

    Parameters
    ----------
    address : str, optional
        "host:port" of a running cluster, "ray://host:port" for Ray's client, or "auto" for the one
        on this machine.
    workers : int, default=2
        For how many worker processes with one core each the local Ray has room.

    Yields
    ------
    module
        ``ray``, ready for use.

    Raises
    ------
    ParameterError
        If Ray is not installed.
    ClusterError
        If the address does not answer in time, or workers run another version of setlearn.

    Examples
    --------
    >>> from setlearn.scale.runtime import ray_session
    >>> with ray_session("127.0.0.1:1"):
    ...     pass
    Traceback (most recent call last):
    setlearn.errors.ClusterError: no Ray cluster answers at 127.0.0.1:1 (Connection refused); ...
    """
    try:
        import ray
    except ImportError as error:
        raise ParameterError("Ray is not installed; pip install 'setlearn[ray]'") from error
    if ray.is_initialized():
        _check_versions(ray)
        yield ray
    elif address is None:
        with _local_ray(ray, workers):
            yield ray
    else:
        with _connection(ray, address):
            _check_versions(ray)
            yield ray


@contextmanager
def _local_ray(ray: Any, workers: int) -> Iterator[None]:
    with _environment(OWN_SETTINGS), folder_that_is_removed() as folder:
        try:
            with (
                _environment({**ONE_THREAD, **_loopback_for_torch()}),
                _loopback_only(),
                _same_sigterm(),
            ):
                ray.init(
                    "local",
                    num_cpus=workers + 1,  # one for reading, where Ray plans that by itself
                    object_store_memory=OBJECT_STORE_BYTES,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="error",
                    _temp_dir=folder,
                )
            yield
        finally:
            ray.shutdown()


@contextmanager
def _connection(ray: Any, address: str) -> Iterator[None]:
    _check_answers(address)
    variables = dict(ONE_THREAD)
    if "PYTHONPATH" in os.environ:
        variables["PYTHONPATH"] = os.environ["PYTHONPATH"]
    try:
        with _same_sigterm():
            ray.init(
                address,
                runtime_env={"env_vars": variables},
                log_to_driver=False,
                logging_level="error",
            )
        yield
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Connect from another process, which can be ended: Ray itself would wait for minutes."""
    refusal = f"no Ray cluster answers at {address}"
    advice = "check the address, and that `ray status` shows the cluster on this machine"
    if address != "auto":
        try:
            socket.create_connection(_place(address), SECONDS_TO_ANSWER).close()
        except OSError as error:
            raise ClusterError(f"{refusal} ({error.strerror or error}); {advice}") from error
    command = [sys.executable, "-c", CONNECT, address]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_TO_CONNECT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"{refusal} within {SECONDS_TO_CONNECT:.0f} s; {advice}") from error
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
        raise ClusterError(f"{refusal} ({reason:.300}); {advice}")


def _place(address: str) -> tuple[str, int]:
    """The host and the port."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:  # the port is no number
        host, port = None, None
    if host is None or port is None:
        raise ClusterError(f"{address!r} is no address of a Ray cluster; write host:port, or auto")
    return host, port


def _check_versions(ray: Any) -> None:
    """Ask each machine of the cluster for its version of setlearn."""

    def version() -> str | None:  # sent as code, because setlearn may be missing there
        try:
            import setlearn
        except ImportError:
            return None
        return setlearn.__version__

    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(version)
    machines = {node["NodeID"]: node["NodeName"] for node in ray.nodes() if node["Alive"]}
    answers = [
        ask.options(
            num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(machine, soft=False)
        ).remote()
        for machine in machines
    ]
    try:
        versions = ray.get(answers, timeout=SECONDS_TO_TELL_VERSIONS)
    except ray.exceptions.RayError as error:
        raise ClusterError(
            f"the workers of the Ray cluster cannot be used: {_first_line(error)}; check that they "
            f"run Python {platform.python_version()} and Ray {ray.__version__}, as this process"
        ) from error
    for name, theirs in zip(machines.values(), versions, strict=True):
        if theirs != __version__:
            got = "no setlearn" if theirs is None else f"setlearn {theirs}"
            raise ClusterError(
                f"the Ray workers on {name} have {got}, but this process has setlearn "
                f"{__version__}; install the same version there: pip install "
                f"'setlearn[ray]=={__version__}'"
            )


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _loopback_only() -> Iterator[None]:
    """Let a Ray that starts in this block use the loopback address, as it does on a Mac.

    There is no public setting for other systems.
    """
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def _loopback_for_torch() -> dict[str, str]:
    """How torch's processes are told to use the loopback interface; they would use another."""
    names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    return {"GLOO_SOCKET_IFNAME": names[0]} if names else {}


@contextmanager
def folder_that_is_removed() -> Iterator[str]:
    """A temporary folder that another process removes when this one leaves the block, or dies."""
    parent = tempfile.gettempdir()
    if len(parent) > LONGEST_FOLDER:
        parent = "/tmp"
    folder = tempfile.mkdtemp(prefix="setlearn-", dir=parent)
    command = [sys.executable, "-I", "-S", "-c", REMOVE_AT_END, folder]
    # Its own session, so that Ctrl-C does not end it.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):
        yield folder


@contextmanager
def _same_sigterm() -> Iterator[None]:
    """Keep what SIGTERM does; with a Ray that starts in this block it would end in a core dump."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _environment(settings: Mapping[str, str | None]) -> Iterator[None]:
    """Set environment variables, or remove them, also for processes that start in this block."""
    before = {name: os.environ.get(name) for name in settings}
    _set_variables(settings)
    try:
        yield
    finally:
        _set_variables(before)


def _set_variables(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
