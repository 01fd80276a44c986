"""Predict batches of rows in a plain pool of processes, without Ray.

A `BatchPredictor` holds the files of a model, so it can be sent to any process, which loads the
model when its first batch comes. Other engines call it in the same way: Ray Data in `map_batches`,
Dask in `map_partitions`, Spark in `mapInArrow`.
"""

from concurrent.futures import ProcessPoolExecutor

from setlearn import SetClassifier
from setlearn.records import plan_records
from setlearn.scale import BatchPredictor

BATCH = 250


def train():
    """A small model of what pictures show."""
    texts = ["sun over the sea", "a city at night", "sun on the city", "the night sea"] * 10
    tags = ["sun;sea", "city;night", "sun;city", "night;sea"] * 10
    records = [{"text": x, "tags": y} for x, y in zip(texts, tags, strict=True)]
    plan = plan_records(records, target="tags", kinds={"text": "text"})
    return plan.fit(records, SetClassifier(random_state=0, verbose=False))


def main():
    predict = BatchPredictor(train())
    texts = ["the sun at sea", "night in the city", "the city in the sun"] * 500
    batches = [{"text": texts[start : start + BATCH]} for start in range(0, len(texts), BATCH)]
    with ProcessPoolExecutor(max_workers=2) as pool:
        # map keeps the order of the batches.
        answers = [sets for batch in pool.map(predict, batches) for sets in batch["prediction"]]
    print(f"{len(answers)} rows in {len(batches)} batches")
    for text, found in zip(texts[:3], answers, strict=False):
        print(f"{text:<20} {', '.join(found)}")


if __name__ == "__main__":
    main()
