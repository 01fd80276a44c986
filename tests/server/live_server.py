"""A server in a process of its own, started as people start it."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

LONGEST_START = 120
CANARY = "canary7f3a"
"""A text in requests that no answer and no log may repeat."""

JSON = {"Content-Type": "application/json"}


class LiveServer:
    """A running ``setlearn serve``; it keeps all lines that the server writes to stderr."""

    def __init__(self, *arguments, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "setlearn", "serve", *map(str, arguments), "--port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.lines = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.address = until(self._find_address, LONGEST_START)
        self.port = httpx.URL(self.address).port

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def _find_address(self):
        address = re.search(r"http://\S+(?=/ \(Ctrl-C)", "".join(self.lines))
        assert address or self.process.poll() is None, self.lines
        return address and address.group()

    def client(self, **options):
        return httpx.Client(base_url=self.address, timeout=60, **options)

    def workers(self):
        """The process ids of the workers."""
        pids = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                command = (stat.parent / "cmdline").read_bytes()
                if parent == self.process.pid and b"spawn_main" in command:
                    pids.append(int(stat.parent.name))
        return sorted(pids)

    @contextlib.contextmanager
    def halted_workers(self):
        """Stop all workers for a while, without ending them."""
        workers = self.workers()
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def figure(self, name):
        """The value of a metric."""
        with self.client() as client:
            text = client.get("/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))

    def log(self):
        """The documents of the access log, without those that workers write."""
        documents = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [document for document in documents if "client" in document]

    def end(self, number=signal.SIGTERM):
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        code = self.process.wait(60)
        self._reader.join(60)
        self.process.stderr.close()
        return code


def until(condition, seconds=30):
    """Call the condition until it is true; return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not true within {seconds} seconds"
        time.sleep(0.05)
    return value


@contextlib.contextmanager
def running(*arguments, **environment):
    """A server that runs while the block does."""
    server = LiveServer(*arguments, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


def problem(response):
    """The code and the message of a problem, whose shape is checked."""
    assert response.headers["content-type"] == "application/json", response.text
    document = response.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"code", "message"}
    if response.status_code == 503:
        assert int(response.headers["retry-after"]) > 0
    return document["error"]["code"], document["error"]["message"]


def refused(response, status, code):
    """Check a refusal, and return its message."""
    assert response.status_code == status, response.text
    assert CANARY not in response.text
    assert CANARY not in str(response.headers)
    got, message = problem(response)
    assert got == code
    return message


def raw(server, text):
    """Send a text as it is, and read until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(text.encode())
        return read_all(connection)


def read_all(connection):
    """Everything until the other side closes the connection."""
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer
