"""Models, servers and pages for the tests of the playground."""

import contextlib
import os
import random
import re
import subprocess
import sys

from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.networks import Transformer
from setlearn.records import plan_records
from setlearn.rules import Margin

EVIL = "<img src=x onerror=alert(1)>"
DISHES = {"fish": "trout", "grill": "grilled", "rice": "risotto", EVIL: "strange"}
TOKEN = "open sesame"


def save_models(folder):
    """A model of labels that reads two columns, and one of sequences."""
    save_dishes(folder / "dishes")
    save_words(folder / "words")
    return [f"dishes={folder / 'dishes'}", f"words={folder / 'words'}"]


def save_dishes(path):
    rng = random.Random(0)
    records = []
    for _ in range(80):
        tags = rng.sample(sorted(DISHES), rng.randint(1, 3))
        text = " ".join([*(DISHES[tag] for tag in tags), "with", rng.choice(["salt", "herbs"])])
        records.append({"text": text, "price": 4 * len(tags) + rng.random(), "tags": tags})
    plan = plan_records(records, target="tags")
    model = plan.fit(records, SetClassifier(LogisticRegression(), Margin(), cv=2, random_state=0))
    examples = [
        {"text": "grilled trout with herbs", "price": 8.5},
        {"text": "strange risotto with salt", "price": 8.0},
    ]
    setlearn.save(model, path, about={"examples": examples, "figures": {"mean F1": 0.9}})


def save_words(path):
    words = ["ab", "ba", "aab", "bba"]
    model = SequenceSetGenerator(
        Transformer(width=16, heads=2, encoder_layers=1), max_steps=120, random_state=0
    ).fit(words * 8, [{word, f"{word}s"} for word in words] * 8)
    setlearn.save(model, path, about={"examples": words})


@contextlib.contextmanager
def serving(models, token=""):
    """A server of its own process; gives a function that waits for its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "setlearn", "serve", *models, "--port", "0", "--workers", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SETLEARN_TOKEN": token, "COLUMNS": "200"},
    )

    def address():
        for line in process.stderr:
            if found := re.search(r"http://\S+", line):
                return found.group()
        raise AssertionError("the server ended before it served")

    try:
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=30)
