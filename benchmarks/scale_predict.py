"""What a row costs when workers predict it, compared with one process.

Run by hand; takes some minutes. Predicts the same file in this process, with one Ray worker and
with two, in one run and in turn. Prints the result and writes it to
``benchmarks/results/scale_predict.json``. CPU seconds are those of this process and of all that it
has started, read from ``/proc``, so this runs on Linux only. Rows per CPU second hardly depend on
what else runs on the machine; wall times do. The start of Ray and of the workers is measured apart.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

from streaming import write_texts

from setlearn.files import open_rows, write_rows
from setlearn.scale import BatchPredictor
from setlearn.scale.prediction import predict_files
from setlearn.scale.runtime import ray_session

ROOT = Path(__file__).resolve().parents[1]
TARGET = 0.8
"""Rows per CPU second with two workers, as a share of those of one process."""

FITS = {
    "labels": ("--target", "tags"),
    "sequences": (
        "--target",
        "forms",
        "--task",
        "sequences",
        "--network",
        "transformer",
        "--max-steps",
        "100",
    ),
}


def write_words(path, n_rows, rng):
    """Made-up words with their forms."""
    with path.open("w") as file:
        for _ in range(n_rows):
            stem = "".join(rng.choice("bdgklmnprst") + rng.choice("aeiou") for _ in range(3))
            forms = [stem, f"{stem}s", *([f"{stem}ed"] if rng.random() < 0.5 else [])]
            file.write(json.dumps({"word": stem, "forms": forms}) + "\n")


WRITERS = {"labels": write_texts, "sequences": write_words}


def cpu_seconds():
    """The CPU time of this process and of all that run below it."""
    parents, times = {}, {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(number)] = int(fields[1])
        times[int(number)] = int(fields[11]) + int(fields[12])

    def is_below(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return sum(times[process] for process in times if is_below(process)) / os.sysconf("SC_CLK_TCK")


class Measured:
    """The CPU and wall time of a block."""

    def __enter__(self):
        self.cpu, self.wall = cpu_seconds(), perf_counter()
        return self

    def __exit__(self, *_):
        self.wall = perf_counter() - self.wall
        self.cpu = cpu_seconds() - self.cpu


def alone(predictor, data, out):
    with open_rows(data) as rows:
        model = predictor.model_for(rows.first())
        write_rows(out, predictor.form.records(model, rows))


def shared(predictor, data, out, workers, rows_per_part):
    predict_files(
        predictor,
        predictor.form,
        [data],
        out,
        address=None,
        workers=workers,
        reading={},
        rows_per_part=rows_per_part,
    )


def measure(kind, n_rows, rounds):
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, n in (("train", 300), ("few", 100), ("rows", n_rows)):
            WRITERS[kind](folder / f"{file}.jsonl", n, rng)
        fit = [sys.executable, "-m", "setlearn", "fit", str(folder / "train.jsonl"), "--quiet"]
        fit += [*FITS[kind], "--out", str(folder / "model")]
        subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
        predictor = BatchPredictor(folder / "model")
        few, rows = folder / "few.jsonl", folder / "rows.jsonl"
        alone(predictor, few, folder / "few-answers.jsonl")
        before = perf_counter()
        with ray_session(workers=2):
            seconds_to_start = perf_counter() - before
            with Measured() as first:  # the workers load the model
                shared(predictor, few, folder / "few", 2, rows_per_part=10)
            spent = {"one process": [], "one worker": [], "two workers": []}
            per_part = n_rows // 20
            for count in range(rounds):
                with Measured() as took:
                    alone(predictor, rows, folder / f"{count}.jsonl")
                spent["one process"].append(took)
                for workers, way in ((1, "one worker"), (2, "two workers")):
                    with Measured() as took:
                        shared(predictor, rows, folder / f"{count}-{workers}", workers, per_part)
                    spent[way].append(took)
    ways = {way: summary(n_rows, times) for way, times in spent.items()}
    per_cpu = {way: each["rows_per_cpu_second"] for way, each in ways.items()}
    share = per_cpu["two workers"] / per_cpu["one process"]
    return {
        "rows": n_rows,
        "rounds": rounds,
        "model_mb": round(sum(map(len, predictor.files.values())) / 1e6, 2),
        "seconds_until_ray_runs": round(seconds_to_start, 1),
        "seconds_until_workers_have_the_model": round(first.wall, 1),
        **ways,
        "share_of_one_process": round(share, 2),
        "target": f">= {TARGET}",
        "met": share >= TARGET,
    }


def summary(n_rows, times):
    cpu = median(took.cpu for took in times)
    wall = median(took.wall for took in times)
    return {
        "cpu_seconds": round(cpu, 2),
        "wall_seconds": round(wall, 2),
        "rows_per_cpu_second": round(n_rows / cpu),
        "rows_per_second": round(n_rows / wall),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", type=int, default=100_000, help="rows with labels")
    parser.add_argument("--sequences", type=int, default=10_000, help="rows with sequences")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    results = {kind: measure(kind, getattr(arguments, kind), arguments.rounds) for kind in FITS}
    for kind, result in results.items():
        print(kind)
        for name, value in result.items():
            print(f"  {name:<38} {value}")
    out = ROOT / "benchmarks" / "results" / "scale_predict.json"
    about = {
        "python": platform.python_version(),
        "ray": version("ray"),
        "scikit-learn": version("scikit-learn"),
        "torch": version("torch"),
        "cores": os.cpu_count(),
        "load_of_the_machine": [round(load, 1) for load in os.getloadavg()],
    }
    out.write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")
    print(f"written: {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
