"""Models for the tests of the playground."""

import random

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier, SetSelector
from setlearn.networks import Training, Transformer
from setlearn.records import plan_records
from setlearn.rules import Margin, Threshold

EVIL = "<img src=x onerror=alert(1)>"
DISHES = {"fish": "trout", "grill": "grilled", "rice": "risotto", EVIL: "strange"}
N_POINTS = 32
TOKEN = "open sesame"
PLAIN_HOST = "plain.test"  # without HTTPS, so that browsers do not let its pages copy


def save_dishes(path):
    """Labels, from two columns, by a margin."""
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
    """Sequences."""
    words = ["ab", "ba", "aab", "bba"]
    model = SequenceSetGenerator(
        Transformer(width=16, heads=2, encoder_layers=1),
        Threshold(0.5),
        training=Training(max_steps=100, learning_rate=0.01),
        random_state=0,
    ).fit(words * 8, [{word, f"{word}s"} for word in words] * 8)
    setlearn.save(model, path, about={"examples": words})


def save_pictures(path):
    """Which points of a picture are black: more labels than a page can show, by a threshold."""
    X = np.random.RandomState(0).randint(2, size=(60, N_POINTS)).astype(float)
    Y = [{f"point {k}" for k in np.flatnonzero(x)} for x in X]
    model = SetClassifier(KNeighborsClassifier(1), Threshold(0.5), random_state=0).fit(X, Y)
    empty = [0] * N_POINTS
    setlearn.save(model, path, about={"examples": [empty], "image": {"height": 4, "width": 8}})


def save_claims(path):
    """Candidates that come with the input, some of them long."""
    rng = random.Random(0)
    topics = ["sea", "sky", "city", "night", "wood"]
    claims = {
        topic: f"what is known about the {topic} " + "and so on " * 12 + "and on"
        for topic in topics
    }
    records = []
    for _ in range(120):
        asked, listed = rng.sample(topics, rng.randint(1, 3)), rng.sample(topics, 4)
        records.append(
            {
                "query": " ".join(asked),
                "candidates": [claims[topic] for topic in listed],
                "chosen": [claims[topic] for topic in listed if topic in asked],
            }
        )
    plan = plan_records(records, target="chosen")
    model = plan.fit(records, SetSelector(rule=Margin(), cv=2, random_state=0, verbose=False))
    example = {"query": "sea sky", "candidates": ["a claim about the sea", claims["sky"], "no"]}
    setlearn.save(model, path, about={"examples": [example]})


SAVERS = {
    "dishes": save_dishes,
    "words": save_words,
    "pictures": save_pictures,
    "claims": save_claims,
}
