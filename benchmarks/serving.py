"""The server under load: 50 connections against one, p99, memory, and the effect of batching.

Run with ``python benchmarks/serving.py [seconds]``; it starts a server of its own on a free port.
The client is plain asyncio, so that it takes little of the machine that both share.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from setlearn import save
from setlearn.datasets import load_benchmark
from setlearn.estimators.set_classifier import SetClassifier

RESULTS = Path(__file__).parent / "results" / "serving.json"
CONNECTIONS = 50


def make_model(folder):
    """The library's default on strips of digits, and inputs to ask it for."""
    digits = load_benchmark("digits")
    model = SetClassifier(cv=3, random_state=0).fit(digits.X[:600], digits.Y[:600])
    save(model, folder)
    return [json.dumps({"inputs": [x.tolist()]}).encode() for x in np.asarray(digits.X[600:700])]


def start_server(folder):
    options = ["--port", "0", "--workers", "1", "--quiet", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "setlearn", "serve", str(folder), *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    started = process.stdout.readline()
    if not started:
        raise SystemExit("the server did not start")
    return process, urlsplit(json.loads(started)["address"]).port


async def ask_for(port, bodies, until, seconds, errors):
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.monotonic() < until:
        body = bodies[number % len(bodies)]
        number += 1
        head = (
            "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        started = time.monotonic()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)[1])
        await reader.readexactly(length)
        seconds.append(time.monotonic() - started)
        if not answer.startswith(b"HTTP/1.1 200"):
            errors.append(answer.split(b"\r\n")[0].decode())
    writer.close()


async def load(port, bodies, n_connections, duration):
    seconds, errors = [], []
    started = time.monotonic()
    await asyncio.gather(
        *(ask_for(port, bodies, started + duration, seconds, errors) for _ in range(n_connections))
    )
    spent = time.monotonic() - started
    return {
        "connections": n_connections,
        "seconds": round(spent, 1),
        "requests": len(seconds),
        "requests_per_second": round(len(seconds) / spent, 1),
        "p50_ms": round(1000 * float(np.percentile(seconds, 50)), 1),
        "p99_ms": round(1000 * float(np.percentile(seconds, 99)), 1),
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
    }


def memory(pid):
    """Resident megabytes of a process and its children."""
    pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    kilobytes = 0
    for each in pids:
        status = Path(f"/proc/{each}/status").read_text()
        kilobytes += int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return kilobytes / 1024


def main():
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as folder:
        bodies = make_model(Path(folder) / "digits")
        process, port = start_server(Path(folder) / "digits")
        try:
            asyncio.run(load(port, bodies, CONNECTIONS, 5))  # warm
            alone = asyncio.run(load(port, bodies, 1, min(duration, 20)))
            before = memory(process.pid)
            together = asyncio.run(load(port, bodies, CONNECTIONS, duration))
            after = memory(process.pid)
        finally:
            process.terminate()
            process.wait()
    found = {
        "one_at_a_time": alone,
        "together": together,
        "throughput_ratio": round(
            together["requests_per_second"] / alone["requests_per_second"], 2
        ),
        "memory_mb": [round(before, 1), round(after, 1)],
        "memory_drift": round(after / before - 1, 4),
        "stopped_with": process.returncode,
    }
    print(json.dumps(found, indent=2))
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
