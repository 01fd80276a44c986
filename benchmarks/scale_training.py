"""What training by two processes costs and gains: one process against two on the same task.

Run by hand, on a machine with two free cores: ``python -m benchmarks.scale_training``. Trains a
transducer on Georgian pronunciations, with batches of the same size, by one process and by two
that share each batch, and once more by two workers of Ray. Prints the time and the mean F1 on test
samples with its standard error over seeds, and writes them to
``benchmarks/results/scale_training.json``. The quality can be compared with other machines, and of
the times only their ratios.
"""

import argparse
import json
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import torch
import torch.multiprocessing
from benchmarks.sequence_data import data_folder
from torch import distributed

from setlearn import SequenceSetGenerator
from setlearn.files import open_rows
from setlearn.networks import Training, Transducer
from setlearn.networks.replicas import trained_together
from setlearn.rules import Threshold

RESULT = Path(__file__).parent / "results" / "scale_training.json"
TASK = "g2p_geo.jsonl.gz"


def samples(n_train, n_test):
    """Words and their pronunciations, as lists of sounds."""
    with open_rows(data_folder() / TASK) as rows:
        records = [row.record for row in rows]
    parts = []
    for split, n in (("train", n_train), ("test", n_test)):
        part = [record for record in records if record["split"] == split][:n]
        X = [record["x"] for record in part]
        parts.append((X, [{tuple(y.split()) for y in record["y"]} for record in part]))
    return parts


def new_model(seed, n_steps):
    training = Training(max_steps=n_steps, evaluate_every=n_steps, batch_size=64, verbose=0)
    network = Transducer(width=96)
    return SequenceSetGenerator(network, Threshold(0.5), training=training, random_state=seed)


def fitted(model, train):
    """The model, with the CPU time and the time of its fit in this process."""
    cpu, started = process_time(), perf_counter()
    model.fit(*train)
    return {"cpu_seconds": process_time() - cpu, "seconds": perf_counter() - started}


def train_replica(rank, size, folder, seed, n_steps, train, test):
    """What each process does; the first one also says how good the model is."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=size)
    model = new_model(seed, n_steps)
    with trained_together():
        cost = fitted(model, train)
    distributed.destroy_process_group()
    if rank == 0:
        cost["mean_f1"] = float(model.score(*test))
    Path(folder, f"{rank}.json").write_text(json.dumps(cost))


def by_processes(size, seed, n_steps, train, test):
    with tempfile.TemporaryDirectory() as folder:
        arguments = (size, folder, seed, n_steps, train, test)
        torch.multiprocessing.spawn(train_replica, arguments, nprocs=size)
        costs = [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(size)]
    return {
        "cpu_seconds": sum(cost["cpu_seconds"] for cost in costs),
        "cpu_seconds_of_busiest": max(cost["cpu_seconds"] for cost in costs),
        "seconds": max(cost["seconds"] for cost in costs),
        "mean_f1": costs[0]["mean_f1"],
    }


def by_ray(seed, n_steps, train, test):
    from setlearn.scale import fit

    started = perf_counter()
    model = fit(new_model(seed, n_steps), *train, workers=2)
    return {"seconds": perf_counter() - started, "mean_f1": float(model.score(*test))}


def summary(runs):
    """The mean of each figure, and the standard error of the mean."""
    figures = {}
    for name in runs[0]:
        values = np.array([run[name] for run in runs])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        figures[name] = {"mean": round(values.mean(), 4), "error": round(error, 4)}
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--train", type=int, default=2000)
    arguments = parser.parse_args()
    train, test = samples(arguments.train, 500)
    ways = {
        "one process": lambda seed: by_processes(1, seed, arguments.steps, train, test),
        "two processes": lambda seed: by_processes(2, seed, arguments.steps, train, test),
        "two Ray workers": lambda seed: by_ray(seed, arguments.steps, train, test),
    }
    load = os.getloadavg()[0]
    runs = {name: [] for name in ways}
    for seed in range(arguments.seeds):
        for name, run in ways.items():
            runs[name].append(run(seed))
            print(f"seed {seed}, {name}: {json.dumps(runs[name][-1])}", flush=True)
    RESULT.write_text(
        json.dumps(
            {
                "command": "python -m benchmarks.scale_training",
                "task": TASK,
                **vars(arguments),
                "cores": os.cpu_count(),
                "load_of_other_work": [round(load, 1), round(os.getloadavg()[0], 1)],
                "python": platform.python_version(),
                "torch": version("torch"),
                "ray": version("ray"),
                "ways": {name: summary(of_way) for name, of_way in runs.items()},
                "runs": runs,
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
