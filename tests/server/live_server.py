"""A server in a process of its own, as people start it, and what can be done to it."""

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
"""What requests hold that no answer and no log may repeat."""

JSON = {"Content-Type": "application/json"}


class LiveServer:
    """A running ``setlearn serve``, all of whose lines on stderr are kept."""

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
        found = re.search(r"http://\S+(?=/\n)", "".join(self.lines))
        assert found or self.process.poll() is None, self.lines
        return found and found.group()

    def client(self, **options):
        return httpx.Client(base_url=self.address, timeout=60, **options)

    def workers(self):
        """The process ids of those children that hold models."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                command = (stat.parent / "cmdline").read_bytes()
                if parent == self.process.pid and b"spawn_main" in command:
                    found.append(int(stat.parent.name))
        return sorted(found)

    @contextlib.contextmanager
    def halted_workers(self):
        """Workers that neither work nor die meanwhile."""
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
        """One of the figures of /metrics."""
        with self.client() as client:
            text = client.get("/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))

    def log(self):
        """The documents of the access log; what workers tell of themselves is left out."""
        told = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [document for document in told if "client" in document]

    def end(self, number=signal.SIGTERM):
        """Send a signal, and give the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        code = self.process.wait(60)
        self._reader.join(60)
        self.process.stderr.close()
        return code


def until(found, seconds=30):
    """Ask again and again until there is an answer."""
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return answer


@contextlib.contextmanager
def running(*arguments, **environment):
    """A server for a while."""
    server = LiveServer(*arguments, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


def problem(response):
    """The code and the message of an answer that must be a problem, told as it should be."""
    assert response.headers["content-type"] == "application/json", response.text
    document = response.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"code", "message"}
    if response.status_code == 503:
        assert int(response.headers["retry-after"]) > 0
    return document["error"]["code"], document["error"]["message"]


def refused(response, status, code):
    """Check a refusal, and give its message."""
    assert response.status_code == status, response.text
    assert CANARY not in response.text
    assert CANARY not in str(response.headers)
    told, message = problem(response)
    assert told == code
    return message


def raw(server, text):
    """Send a text as it is, and read until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(text.encode())
        return read_all(connection)


def read_all(connection):
    """All that comes until the other side closes."""
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer
