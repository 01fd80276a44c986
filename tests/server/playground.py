"""Models, servers and pages for the tests of the playground."""

import contextlib
import os
import random
import re
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.networks import Training, Transformer
from setlearn.records import plan_records
from setlearn.rules import Margin, Threshold

EVIL = "<img src=x onerror=alert(1)>"
DISHES = {"fish": "trout", "grill": "grilled", "rice": "risotto", EVIL: "strange"}
N_POINTS = 32
TOKEN = "open sesame"
PLAIN_HOST = "plain.test"  # without HTTPS, so that browsers give its pages no clipboard


def save_models(folder):
    """A model of labels that reads two columns, one of sequences, one of many labels."""
    save_dishes(folder / "dishes")
    save_words(folder / "words")
    save_pictures(folder / "pictures")
    return [f"{name}={folder / name}" for name in ("dishes", "words", "pictures")]


def save_dishes(path):
    rng = random.Random(0)
    records = []
    for _ in range(80):
        tags = rng.sample(sorted(DISHES), rng.randint(1, 3))
        text = " ".join([*(DISHES[tag] for tag in tags), "with", rng.choice(["salt", "herbs"])])
        records.append({"text": text, "price": 4 * len(tags) + rng.random(), "tags": tags})
    plan = plan_records(records, target="tags")
    model = plan.fit(
        records, SetClassifier(LogisticRegression(C=100), Margin(), cv=2, random_state=0)
    )
    examples = [
        {"text": "grilled trout with herbs", "price": 8.5},
        {"text": "strange risotto with salt", "price": 8.0},
    ]
    setlearn.save(model, path, about={"examples": examples, "figures": {"mean F1": 0.9}})


def save_words(path):
    words = ["ab", "ba", "aab", "bba"]
    model = SequenceSetGenerator(
        Transformer(width=16, heads=2, encoder_layers=1),
        training=Training(max_steps=250),
        random_state=0,
    ).fit(words * 8, [{word, f"{word}s"} for word in words] * 8)
    setlearn.save(model, path, about={"examples": words})


def save_pictures(path):
    """Of each picture the points that are black, as labels: more of them than a page can show."""
    X = np.random.RandomState(0).randint(2, size=(60, N_POINTS)).astype(float)
    Y = [{f"point {k}" for k in np.flatnonzero(x)} for x in X]
    model = SetClassifier(KNeighborsClassifier(1), Threshold(0.5), random_state=0).fit(X, Y)
    empty = [0] * N_POINTS
    setlearn.save(model, path, about={"examples": [empty], "image": {"height": 4, "width": 8}})


@contextlib.contextmanager
def serving(models, log):
    """A server in a process of its own that asks for a token; gives its address."""
    # Into a file, for a pipe that nobody reads on would fill up and stop the server.
    options = ["--port", "0", "--workers", "1", "--allow-host", PLAIN_HOST]
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "setlearn", "serve", *models, *options],
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "SETLEARN_TOKEN": TOKEN, "COLUMNS": "200"},
        )
    try:
        while not (found := re.search(r"http://\S+", log.read_text())):
            assert process.poll() is None, f"the server ended: {log.read_text()}"
            time.sleep(0.1)
        yield found.group()
    finally:
        process.terminate()
        process.wait(timeout=30)
