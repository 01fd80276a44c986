"""Random damage to the files of a model: to bytes, to files, and to what JSON says."""

import json
import random

NUMBERS = (0, -1, 1, 2, 7, 255, 2**31, 2**63, 10**12, 10**30, 0.5, -1e300, 1e308)
TEXTS = (
    "",
    "a",
    "nan",
    "os.system",
    "!tuple",
    "../x",
    "__class__",
    "ä",
    "lstm",
    "LogisticRegression",
)


def damaged_bytes(content, rng):
    """Flip, insert, delete, repeat, zero or cut off some bytes."""
    if not content:
        return b"x"
    start = rng.randrange(len(content))
    stop = min(start + rng.choice((1, 1, 1, 4, 8, 100)), len(content))
    found = content[start:stop]
    return {
        "flip": lambda: content[:start] + flipped(found, rng) + content[stop:],
        "insert": lambda: content[:start] + rng.randbytes(len(found)) + content[start:],
        "delete": lambda: content[:start] + content[stop:],
        "repeat": lambda: content[:stop] + content[start:],
        "zero": lambda: content[:start] + bytes(len(found)) + content[stop:],
        "cut": lambda: content[:start],
    }[rng.choice(["flip", "flip", "insert", "delete", "repeat", "zero", "cut"])]()


def flipped(content, rng):
    place, bit = rng.randrange(len(content)), 1 << rng.randrange(8)
    return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


def damaged_files(files, rng):
    """The files with one thing wrong: in one of them, or with the folder as a whole."""
    files, name = dict(files), rng.choice(sorted(files))
    kind = rng.choice(["bytes"] * 6 + ["json"] * 3 + ["swap", "delete", "add", "rename"])
    if kind == "bytes":
        files[name] = damaged_bytes(files[name], rng)
    elif kind == "json":
        name = rng.choice([n for n in sorted(files) if n.endswith(".json")])
        files[name] = damaged_json(files[name], rng)
    elif kind == "swap":
        other = rng.choice(sorted(set(files) - {name}))
        files[name], files[other] = files[other], files[name]
    elif kind == "delete":
        del files[name]
    elif kind == "add":
        files[rng.choice(["x.json", "model.pkl", "x.skops", "x"])] = rng.randbytes(20)
    else:
        files[rng.choice([name.upper(), "x.json", f"{name}~", f"a{name}"])] = files.pop(name)
    return files


def damaged_json(content, rng):
    """One value or name in the JSON is another one, or two of them have changed places."""
    document = json.loads(content)
    places = list(all_places(document))
    holder, key = rng.choice(places)
    kind = rng.choice(["value", "value", "value", "swap", "delete", "name", "repeat"])
    if kind == "swap":
        other, place = rng.choice(places)
        holder[key], other[place] = other[place], holder[key]
    elif kind == "delete":
        del holder[key]
    elif kind == "name" and isinstance(holder, dict):
        holder[rng.choice([*TEXTS, *holder])] = holder.pop(key)
    elif kind == "repeat" and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = other_value(holder[key], rng)
    try:
        return json.dumps(document).encode()
    except ValueError:  # two that changed places were one within the other
        return damaged_json(content, rng)


def all_places(document):
    """Everything in the JSON by what holds it and its name there."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(items):
        yield document, key
        if isinstance(value, dict | list):
            yield from all_places(value)


def other_value(value, rng):
    if isinstance(value, bool) or value is None:
        return rng.choice([True, False, None, 1, "a", [], {}])
    if isinstance(value, int | float):
        return rng.choice([*NUMBERS, value + 1, -value, str(value), None, [value]])
    if isinstance(value, str):
        return rng.choice([*TEXTS, value[1:], value + value[:1], 1, None, [value]])
    return rng.choice([None, 1, "a", [], {}, [value]])


def seeded(number):
    """Its own random numbers for each mutation, so that one can be run again by itself."""
    return random.Random(number)
