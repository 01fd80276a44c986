"""Damage by someone who knows the formats: inside archives and arrays, with hashes that match."""

import io
import json
import zipfile

import numpy as np

from tests.persistence.mutations import damaged_bytes, damaged_json
from tests.persistence.small_models import with_matching_manifest

EXTREMES = (0, 1, -1, 2, 3, 127, 255, 10**4, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**62))


def forged(files, rng):
    """The files of a model with one thing changed and a manifest that says so."""
    content = {
        "config.json": damaged_json,
        "vocabulary.json": damaged_json,
        "weights.safetensors": forged_tensors,
        "sklearn.skops": forged_skops,
    }
    names = [name for name in content if name in files]
    # Where compiled code reads most, most is tried.
    name = rng.choice(names + ["sklearn.skops"] * 3 if "sklearn.skops" in files else names)
    return with_matching_manifest({**files, name: content[name](files[name], rng)})


def forged_tensors(content, rng):
    size = int.from_bytes(content[:8], "little")
    header, data = content[8 : 8 + size], content[8 + size :]
    if rng.random() < 0.5:
        return content[: 8 + size] + damaged_bytes(data, rng)
    header = damaged_json(header, rng)
    size = len(header) if rng.random() < 0.9 else rng.choice([0, 2**40, 2**63])
    return size.to_bytes(8, "little") + header + data


def forged_skops(content, rng):
    members = unzipped(content)
    arrays = [name for name in sorted(members) if name != "schema.json"]
    name = rng.choice(arrays) if arrays and rng.random() < 0.6 else "schema.json"
    change = {"json": damaged_schema, "npy": forged_array, "npz": forged_sparse}
    members[name] = change[name.rpartition(".")[2]](members[name], rng)
    if rng.random() < 0.05 and arrays:
        del members[rng.choice(arrays)]
    return zipped(members, zipfile.ZIP_STORED)


def damaged_schema(content, rng):
    """Damage that mostly hits what is in the objects, which stands as JSON within the JSON."""
    schema = json.loads(content)
    texts = [node for node in dicts(schema) if isinstance(node.get("content"), str)]
    if not texts or rng.random() < 0.4:
        return damaged_json(content, rng)
    node = rng.choice(texts)
    document = json.loads(damaged_json(json.dumps([json.loads(node["content"])]), rng))
    value = document[0] if document else None
    same = [other for other in texts if other["__id__"] == node["__id__"]]
    for other in same if rng.random() < 0.9 else [node]:
        other["content"] = json.dumps(value)
    return json.dumps(schema).encode()


def dicts(document):
    if isinstance(document, dict):
        yield document
    for part in document.values() if isinstance(document, dict) else document:
        if isinstance(part, dict | list):
            yield from dicts(part)


def forged_sparse(content, rng):
    members = unzipped(content)
    name = rng.choice(sorted(members))
    members[name] = forged_array(members[name], rng)
    return zipped(members, zipfile.ZIP_DEFLATED)


def forged_array(content, rng):
    """An array with some other numbers, of another shape or of another kind."""
    array = np.load(io.BytesIO(content)).copy()
    kind = rng.choice(["number"] * 6 + ["shape", "kind", "shorter", "longer", "bytes"])
    with np.errstate(all="ignore"):
        if kind == "number" and array.size and array.dtype.kind in "biufV":
            part = array[rng.choice(array.dtype.names)] if array.dtype.names else array
            place = np.unravel_index(rng.randrange(part.size), part.shape)
            part[place] = np.array(rng.choice(EXTREMES)).astype(part.dtype)
        elif kind == "shape":
            array = array.reshape(rng.choice([(-1,), (1, -1), (-1, 1), (*array.shape, 1)]))
        elif kind == "kind" and not array.dtype.names:
            array = array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?", "U3"]))
        elif kind == "shorter":
            array = array[..., : array.shape[-1] // 2] if array.ndim else array
        elif kind == "longer":
            array = np.concatenate([array, array]) if array.ndim else array
        elif kind == "bytes":
            return damaged_bytes(content, rng)
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members, compression):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
