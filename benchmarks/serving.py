"""The server: what one row costs, and 50 connections against one, p99, memory, batching.

Run with ``python benchmarks/serving.py [seconds]``; it starts servers of its own on free ports.
With 0 seconds only the cost of one row is measured, and the figures under load are kept.
The client is plain asyncio, so that it takes little of the machine that both share.

One row at a time is measured in turns with a bare FastAPI app that answers a constant: it is the
floor. Beside the wall time there is the CPU time of all processes of the server, which depends
less on what else the machine does.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from setlearn import save
from setlearn.datasets import load_benchmark
from setlearn.estimators.set_classifier import SetClassifier

RESULTS = Path(__file__).parent / "results" / "serving.json"
CONNECTIONS = 50
TURNS, REQUESTS_PER_TURN = 6, 50

FLOOR = """
import json
import uvicorn
from fastapi import FastAPI

app = FastAPI()

@app.post("/v1/predict")
async def predict():
    return {"model": "floor", "predictions": [["a"]], "truncated": [False]}

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"address": f"http://127.0.0.1:{port}"}), flush=True)

Server(uvicorn.Config(app, port=0, http="h11", log_level="error", access_log=False)).run()
"""


def make_model(folder):
    """The library's default on strips of digits, and inputs to ask it for."""
    digits = load_benchmark("digits")
    model = SetClassifier(cv=3, random_state=0).fit(digits.X[:600], digits.Y[:600])
    save(model, folder)
    return [json.dumps({"inputs": [x.tolist()]}).encode() for x in np.asarray(digits.X[600:700])]


def yeast():
    """Dense vectors: 2417 rows, 103 features, 14 labels."""
    benchmark = load_benchmark("yeast")
    return benchmark.X, benchmark.Y, np.asarray(benchmark.X).tolist()


def texts(n=1500):
    """Made-up texts of some 35 words with 1 to 4 of 30 labels."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, 3001)
    topics = rng.choice(3000, size=(30, 15))
    X, Y = [], []
    for _ in range(n):
        labels = rng.choice(30, size=rng.integers(1, 5), replace=False)
        words = [*rng.choice(3000, size=25, p=frequency / frequency.sum())]
        words += [word for label in labels for word in rng.choice(topics[label], size=4)]
        X.append(" ".join(f"w{word}" for word in rng.permutation(words)))
        Y.append({f"label {label}" for label in labels})
    return X, Y, X


def table():
    """Numbers, categories and short texts in a DataFrame."""
    rng = np.random.default_rng(1)
    X, Y, _ = texts()
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=len(X)),
            "price": rng.gamma(2, 10, size=len(X)),
            "colour": rng.choice(["red", "blue", "green", "black"], size=len(X)),
            "shop": rng.choice([f"shop {k}" for k in range(12)], size=len(X)),
            "title": [" ".join(text.split()[:8]) for text in X],
        }
    )
    Y = [y | ({"big"} if size > 0.5 else set()) for y, size in zip(Y, frame["size"], strict=True)]
    return frame, Y, frame.to_dict("records")


def start_server(folder):
    options = ["--port", "0", "--workers", "1", "--quiet", "--json"]
    return start([sys.executable, "-m", "setlearn", "serve", str(folder), *options])


def start(command):
    """Start a server that writes a line of JSON with its address; its process and its port."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    started = process.stdout.readline()
    if not started:
        raise SystemExit("the server did not start")
    return process, urlsplit(json.loads(started)["address"]).port


async def ask_for(port, bodies, until, seconds, errors, most=None):
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.monotonic() < until and number != most:
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


def cost_of_one_row(data, floor, folder):
    """CPU and wall time per request of one row, beside those of a constant answer."""
    name, (X, Y, rows) = data.__name__, data()
    save(SetClassifier(random_state=0).fit(X, Y), folder / name)
    bodies = [json.dumps({"inputs": [row]}).encode() for row in rows[:100]]
    served = start_server(folder / name)
    seconds = {"server": [], "floor": []}
    cpu = {"server": [], "floor": []}
    try:
        for turn in range(-1, TURNS):  # the first one warms up
            for who, (process, port) in (("server", served), ("floor", floor)):
                before, times, errors = cpu_seconds(process.pid), [], []
                asyncio.run(ask_for(port, bodies, np.inf, times, errors, REQUESTS_PER_TURN))
                if errors:
                    raise SystemExit(f"{name}: {who} answered {errors[0]}")
                if turn >= 0:
                    seconds[who] += times
                    cpu[who].append((cpu_seconds(process.pid) - before) / len(times))
    finally:
        served[0].terminate()
        served[0].wait()
    found = {
        "cpu_ms": round(1000 * float(np.median(cpu["server"])), 2),
        "p50_ms": round(1000 * float(np.median(seconds["server"])), 2),
        "floor_cpu_ms": round(1000 * float(np.median(cpu["floor"])), 2),
        "floor_p50_ms": round(1000 * float(np.median(seconds["floor"])), 2),
        "load_average": round(os.getloadavg()[0], 1),
    }
    found["p50_to_floor"] = round(found["p50_ms"] / found["floor_p50_ms"], 1)
    print(name, found, flush=True)
    return found


def cpu_seconds(pid):
    """The time that all threads of a process and its children have run."""
    threads = (task for each in family(pid) for task in Path(f"/proc/{each}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in threads) / 1e9


def family(pid):
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def memory(pid):
    """Resident megabytes of a process and its children."""
    kilobytes = 0
    for each in family(pid):
        status = Path(f"/proc/{each}/status").read_text()
        kilobytes += int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return kilobytes / 1024


def main():
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        floor = start([sys.executable, "-c", FLOOR])
        try:
            found["one_row"] = {
                data.__name__: cost_of_one_row(data, floor, Path(folder))
                for data in (yeast, texts, table)
            }
        finally:
            floor[0].terminate()
            floor[0].wait()
    if duration:
        found |= under_load(duration)
    print(json.dumps(found, indent=2))
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")


def under_load(duration):
    """One connection against many, on strips of digits."""
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
    return {
        "one_at_a_time": alone,
        "together": together,
        "throughput_ratio": round(
            together["requests_per_second"] / alone["requests_per_second"], 2
        ),
        "memory_mb": [round(before, 1), round(after, 1)],
        "memory_drift": round(after / before - 1, 4),
        "stopped_with": process.returncode,
    }


if __name__ == "__main__":
    main()
