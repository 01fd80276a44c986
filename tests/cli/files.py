"""Files as people have them, small and always the same."""

import csv
import json
import random

WORDS = {
    "city": ["street", "tower", "tram", "crowd"],
    "night": ["moon", "star", "dark", "lamp"],
    "sea": ["wave", "beach", "boat", "salt"],
}
FILLERS = ["a", "the", "with", "old", "small"]


def tagged_texts(n_rows, seed=0):
    """Texts of which some words tell the tags, and some do not."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        tags = rng.sample(sorted(WORDS), rng.randint(1, 2))
        words = [rng.choice(WORDS[tag]) for tag in tags for _ in range(2)] + rng.choices(
            FILLERS, k=3
        )
        rng.shuffle(words)
        rows.append({"text": " ".join(words), "tags": sorted(tags)})
    return rows


def word_forms(n_rows, seed=0):
    """Words, each with its forms: sets of sequences."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcd", k=2)) for _ in range(n_rows)]
    return [{"word": word, "forms": [word, f"{word}s"]} for word in words]


def orders(n_rows, seed=0):
    """Queries that name some words; of the words listed beside them, those are chosen."""
    rng = random.Random(seed)
    words = sorted(word for listed in WORDS.values() for word in listed)
    rows = []
    for number in range(n_rows):
        named, listed = rng.sample(words, rng.randint(0, 4)), rng.sample(words, rng.randint(1, 7))
        rows.append(
            {
                "id": f"row {number}",
                "ask": f"please {' and '.join(named)}",
                "listed": listed,
                "chosen": [word for word in listed if word in named],
            }
        )
    return rows


def write_jsonl(path, rows):
    """Records as lines; a string is a line as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def write_csv(path, rows):
    """Records as a table, with lists as people write them into a cell."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: ";".join(v) if isinstance(v, list) else v for k, v in row.items()})
    return path
