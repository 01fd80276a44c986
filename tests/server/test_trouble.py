"""Killed and stuck workers, more requests than can be answered, slow clients, signals."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.server.live_server import problem, read_all, running, until
from tests.server.small_models import texts

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's /proc")

QUEUE = 3
SECONDS = 2
MANY_ROWS = 40_000
ASKED = {"inputs": texts(2)}


@pytest.fixture(scope="module")
def model(small_model_folders):
    """A model that loads quickly."""
    return f"tags={small_model_folders['tags']}"


@pytest.fixture(scope="module")
def busy(model):
    """A server with one worker, a short time limit and a short queue."""
    limits = ("--max-seconds", SECONDS, "--max-queue", QUEUE, "--max-rows", MANY_ROWS)
    with running(model, "--workers", 1, *limits) as server:
        yield server
        assert "Traceback" not in "".join(server.lines)
        assert not [line for line in server.log() if line["status"] == 500]


@pytest.fixture
def ready(busy):
    """The same server, once its worker is ready again."""
    until(lambda: httpx.get(f"{busy.address}/readyz").status_code == 200, 60)
    return busy


def ask(server):
    return httpx.post(f"{server.address}/v1/predict", json=ASKED, timeout=60)


def is_fine(server):
    return httpx.get(f"{server.address}/healthz", timeout=5).json() == {"status": "ok"}


class TestWorkers:
    def test_killed_while_idle(self, ready):
        [worker] = ready.workers()
        os.kill(worker, signal.SIGKILL)
        statuses = {ask(ready).status_code}
        assert statuses <= {200, 503}
        until(lambda: ask(ready).status_code == 200, 60)
        assert ready.workers() != [worker]

    def test_killed_while_it_answers(self, ready):
        n_restarts = ready.figure("setlearn_worker_restarts_total")
        [worker] = ready.workers()
        with ready.halted_workers(), ThreadPoolExecutor(1) as threads:
            asked = threads.submit(ask, ready)
            until(lambda: _is_taken(ready))
            os.kill(worker, signal.SIGKILL)
            response = asked.result()
        assert response.status_code == 503
        assert problem(response)[0] == "worker_died"
        assert is_fine(ready)
        until(lambda: ask(ready).status_code == 200, 60)
        assert ready.figure("setlearn_worker_restarts_total") == n_restarts + 1

    def test_stuck(self, ready):
        workers = ready.workers()
        with ready.halted_workers():
            response = ask(ready)
            assert response.status_code == 504
            assert f"no answer within {SECONDS} seconds" in problem(response)[1]
            until(lambda: ready.figure("setlearn_ready_workers") == 0)
            not_ready = httpx.get(f"{ready.address}/readyz")
            assert (not_ready.status_code, problem(not_ready)[0]) == (503, "not_ready")
        until(lambda: ask(ready).status_code == 200, 60)
        assert ready.workers() != workers

    def test_too_much_for_one_request(self, ready):
        body = {"inputs": ["a wave"] * MANY_ROWS}
        response = httpx.post(f"{ready.address}/v1/trace", json=body, timeout=60)
        assert response.status_code == 504
        until(lambda: ask(ready).status_code == 200, 60)

    def test_gone_with_the_server(self, model):
        with running(model, "--workers", 1) as server:
            [worker] = server.workers()
            server.end(signal.SIGKILL)
            until(lambda: not _is_alive(worker))
            assert "Traceback" not in "".join(server.lines)


def _is_taken(server):
    """Whether a request has reached a worker."""
    return server.figure("setlearn_busy_workers") == 1


def _is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_overload_is_refused_not_queued(ready):
    n_clients = 10 * (QUEUE + 1)
    with ready.halted_workers(), ThreadPoolExecutor(n_clients) as threads:
        answers = list(threads.map(lambda _: ask(ready), range(n_clients)))
        assert is_fine(ready)
    codes = [problem(answer)[0] for answer in answers]
    assert set(codes) == {"too_busy", "too_slow"}
    # Those in the queue, and those that the worker took as one batch, wait until time is up.
    assert codes.count("too_busy") >= n_clients - 2 * QUEUE - 1
    until(lambda: ask(ready).status_code == 200, 60)


def test_retries_are_answered_in_the_end(ready):
    def ask_again(_):
        for _ in range(100):
            answer = ask(ready)
            if answer.status_code == 200:
                return True
            assert answer.status_code in (503, 504)
            time.sleep(0.1)
        return False

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(ask_again, range(40)))


def test_requests_of_clients_that_left_are_dropped(ready):
    body = json.dumps(ASKED).encode()
    head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with ready.halted_workers():
        asked = [socket.create_connection(("127.0.0.1", ready.port)) for _ in range(QUEUE)]
        for connection in asked:
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(0.1)
        until(lambda: ready.figure("setlearn_waiting_requests") == QUEUE - 1)
        for connection in asked:
            connection.close()
        until(lambda: ready.figure("setlearn_waiting_requests") == 0)
    until(lambda: [line["status"] for line in ready.log()].count(499) >= QUEUE)


class TestSlowClients:
    HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    @pytest.fixture
    def connect(self, ready):
        with contextlib.ExitStack() as opened:
            yield lambda: opened.enter_context(
                socket.create_connection(("127.0.0.1", ready.port), 30)
            )

    def test_half_sent_headers_block_nobody(self, ready, connect):
        slow = [connect() for _ in range(200)]
        for connection in slow:
            connection.sendall(self.HEAD)
        assert ask(ready).status_code == 200
        assert [connection.recv(100) for connection in slow[:3]] == [b"", b"", b""]

    def test_half_sent_bodies_block_nobody(self, ready, connect):
        slow = [connect() for _ in range(50)]
        for connection in slow:
            connection.sendall(self.HEAD + b'Content-Length: 500\r\n\r\n{"inputs"')
        assert ask(ready).status_code == 200
        answers = [read_all(connection) for connection in slow]
        assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers)
        assert all(b'"slow_body"' in answer for answer in answers)

    def test_trickled_body_is_cut_off(self, ready, connect):
        connection = connect()
        connection.sendall(self.HEAD + b"Content-Length: 500\r\n\r\n")
        end = time.monotonic() + 20
        with contextlib.suppress(OSError):  # broken off by the server
            while time.monotonic() < end:
                connection.sendall(b"[")
                time.sleep(0.1)
        assert time.monotonic() < end
        assert is_fine(ready)

    def test_body_that_ends_too_early(self, ready, connect):
        connection = connect()
        connection.sendall(self.HEAD + b'Content-Length: 500\r\n\r\n{"inputs"')
        connection.close()
        until(lambda: any(line["status"] == 400 for line in ready.log()))

    def test_answers_that_nobody_reads(self, ready, connect):
        body = json.dumps({"inputs": texts(40)}).encode()
        for _ in range(5):
            connection = connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.sendall(self.HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert is_fine(ready)

    def test_two_requests_in_one_go(self, ready, connect):
        connection = connect()
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
        got = b""
        while got.count(b'"ok"') < 2:
            part = connection.recv(4000)
            assert part
            got += part


def _answers(server):
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{server.address}/healthz").status_code == 200
    return False


class TestSignals:
    def test_sigterm_lets_requests_end(self, model):
        with running(model, "--workers", 1) as server, ThreadPoolExecutor(1) as threads:
            with server.halted_workers():
                asked = threads.submit(ask, server)
                until(lambda: _is_taken(server))
                server.process.send_signal(signal.SIGTERM)
                until(lambda: not _answers(server))
                time.sleep(0.2)
                assert server.process.poll() is None
            assert asked.result().status_code == 200
            assert server.wait() == 0
        assert [line["status"] for line in server.log() if line["method"] == "POST"] == [200]
        assert all(line.startswith(("serving ", "{")) for line in server.lines)

    def test_ctrl_c_is_quiet(self, model):
        with running(model, "--workers", 1) as server:
            assert server.end(signal.SIGINT) == 130
        assert server.lines[1:] == ["setlearn: interrupted\n"]

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
    def test_while_models_are_loaded(self, model, number, code):
        """The signal goes to the whole group, as from a terminal; workers must stay silent too."""
        command = [sys.executable, "-m", "setlearn", "serve", model, "--port", "0"]
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                until(lambda: _has_child(process.pid))
                time.sleep(0.3)
                os.killpg(process.pid, number)
                _, stderr = process.communicate(timeout=60)
            finally:
                process.kill()  # otherwise the end of the block would wait for it
        assert process.returncode == code
        assert stderr == ("setlearn: interrupted\n" if code else "")


def _has_child(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().count(" ") > 1
