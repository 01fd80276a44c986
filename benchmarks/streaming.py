"""Whether ``setlearn predict`` keeps its memory flat, however many rows there are.

Run by hand; takes some minutes. Writes JSON lines of short texts, answers them with the real
command in a process of its own, and measures the memory of that process meanwhile. Prints the
result and writes it to ``benchmarks/results/streaming.json``. Only the ratio of memory at the end
to memory after a tenth of the rows can be compared with other machines. The memory of the process
is read from ``/proc``, so this runs on Linux only.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
TARGET = 1.1

WORDS = {
    "sea": ["wave", "beach", "boat", "salt"],
    "city": ["street", "tower", "tram", "crowd"],
    "night": ["moon", "star", "dark", "lamp"],
    "food": ["bread", "soup", "apple", "spoon"],
}
FILLERS = ["a", "the", "with", "and", "very", "old", "small", "new"]


def write_texts(path, n_rows, rng):
    """Short texts, each tagged according to some of its words."""
    with path.open("w") as file:
        for _ in range(n_rows):
            tags = rng.sample(sorted(WORDS), rng.randint(1, 2))
            words = [rng.choice(WORDS[tag]) for tag in tags for _ in range(2)]
            words += rng.choices(FILLERS, k=4)
            rng.shuffle(words)
            file.write(json.dumps({"text": " ".join(words), "tags": tags}) + "\n")


class Watch(threading.Thread):
    """Records the memory of a process and its number of answers at regular intervals."""

    def __init__(self, process, seconds):
        super().__init__(daemon=True)
        self.process, self.seconds = process, seconds
        self.n_answers, self.samples = 0, []
        self.finished = threading.Event()

    def run(self):
        status = Path(f"/proc/{self.process.pid}/status")
        while not self.finished.wait(self.seconds):
            lines = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
            if lines:  # a process that has just ended has no memory any more
                self.samples.append((self.n_answers, int(lines[0].split()[1]) / 1024))


def predict(model, data, n_rows, seconds):
    """Answer all rows, counting the answers as they come."""
    command = [sys.executable, "-m", "setlearn", "predict", "--quiet", str(model), str(data)]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        watch = Watch(process, seconds)
        watch.start()
        for _ in process.stdout:
            watch.n_answers += 1
        watch.finished.set()
        watch.join()
    if process.returncode or watch.n_answers != n_rows:
        sys.exit(f"{watch.n_answers} of {n_rows} rows were answered")
    return perf_counter() - start, watch.samples


def measure(n_rows, seconds):
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder / "train.jsonl", 200, rng)
        write_texts(folder / "rows.jsonl", n_rows, rng)
        fit = [sys.executable, "-m", "setlearn", "fit", str(folder / "train.jsonl"), "--quiet"]
        fit += ["--learner", "logistic", "--out", str(folder / "model")]
        subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
        took, samples = predict(folder / "model", folder / "rows.jsonl", n_rows, seconds)
    early = next(memory for answers, memory in samples if answers >= n_rows / 10)
    ratio = samples[-1][1] / early
    return {
        "rows": n_rows,
        "rows_per_second": round(n_rows / took),
        "mb_after_a_tenth": round(early, 1),
        "mb_at_the_end": round(samples[-1][1], 1),
        "ratio": round(ratio, 3),
        "target": f"<= {TARGET}",
        "met": ratio <= TARGET,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between measurements")
    arguments = parser.parse_args()
    result = measure(arguments.rows, arguments.every)
    for name, value in result.items():
        print(f"{name:<18} {value}")
    out = ROOT / "benchmarks" / "results" / "streaming.json"
    about = {
        "python": platform.python_version(),
        "scikit-learn": version("scikit-learn"),
        "cores": os.cpu_count(),
    }
    out.write_text(json.dumps({"about": about, "result": result}, indent=1) + "\n")
    print(f"written: {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
