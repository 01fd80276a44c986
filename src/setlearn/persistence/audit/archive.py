"""A skops file seen from outside: how it is built, and how large it would become.

skops believes the file in both. So both are checked before anything in it is built; whether its
types are allowed is the question of `allowed_types`.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from setlearn.errors import ModelError
from setlearn.files.numpy_arrays import read_npy_header
from setlearn.strict_json import parse_strict_json

__all__ = ["SCHEMA", "Node", "read_archive", "unsound"]

Node = dict[str, Any]
"""An object in the schema: its class, its module, its loader and its content."""

SCHEMA = "schema.json"
MAX_DEPTH = 400
MAX_EXPANSION = 20
"""How many times the size of the file its compressed arrays may have; only sparse ones are."""
FREE_BYTES = 64 << 20


def unsound(reason: str) -> ModelError:
    """The error for objects of scikit-learn that are not as they must be."""
    return ModelError(
        f"the scikit-learn parts of the model are not sound: {reason}; it is damaged, or was not "
        "written by setlearn"
    )


def read_archive(content: bytes) -> tuple[Node, list[Node]]:
    """The schema of a skops file, and all objects in it, each checked as far as it can be unbuilt.

    Raises
    ------
    ModelError
        If the archive is not as skops writes it, or would become much larger than it is.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        sizes = {member.filename: member.file_size for member in members}
        if len(sizes) < len(members):
            raise unsound("it holds two files of the same name")
        # Entries may overlap: then few bytes would be read as many files.
        if any(m.compress_type for m in members) or sum(sizes.values()) > len(content):
            raise unsound("it is compressed, which skops does not do")
        files = set(sizes) - {SCHEMA}
        schema = parse_strict_json(archive.read(SCHEMA), max_depth=MAX_DEPTH, allow_surrogates=True)
        reader = _Reader(archive, files)
        reader.read(schema)
        if reader.used != files:
            raise unsound(f"{min(files - reader.used)!r:.80} is not part of any object")
        free = FREE_BYTES + MAX_EXPANSION * len(content)
        for name in files:
            free -= _checked_size(name, archive.read(name))
            if free < 0:
                raise unsound("its compressed arrays would become too large")
        for node in reader.nodes:
            if node["__loader__"] == "TreeNode":
                _check_tree_arguments(node, archive)
            elif node["__loader__"] == "RandomGeneratorNode":
                _check_generator_arguments(node)
    return schema, reader.nodes


FILE_LOADERS = {"BytearrayNode", "BytesNode", "SparseMatrixNode"}
"""Loaders whose objects are always in a file of the archive; arrays are if their type says so."""

CHILD_FIELDS: Mapping[str, tuple[str, ...]] = {
    "BytearrayNode": (),
    "BytesNode": (),
    "ConstructorFromReduceNode": ("content",),
    "DTypeNode": ("content",),
    "DefaultDictNode": ("content",),
    "DictNode": ("content", "key_types"),
    "FunctionNode": (),
    "JsonNode": (),
    "ListNode": ("content",),
    "LossNode": ("content", "__reduce__"),
    "MaskedArrayNode": ("content",),
    "MethodNode": ("content",),
    "NdArrayNode": ("content", "shape"),
    "ObjectNode": ("content",),
    "OperatorFuncNode": ("attrs",),
    "PartialNode": ("content",),
    "RandomGeneratorNode": ("content",),
    "RandomStateNode": ("content",),
    "SetNode": ("content",),
    "SliceNode": (),
    "SparseMatrixNode": (),
    "TreeNode": ("content", "__reduce__"),
    "TupleNode": ("content",),
    "TypeNode": (),
}
"""The fields of each loader in which skops looks for further objects. All others are plain JSON."""

NAMED_CHILDREN = {
    *("DefaultDictNode", "DictNode", "MaskedArrayNode", "MethodNode"),
    *("PartialNode", "RandomGeneratorNode"),
}
"""Loaders whose ``content`` maps names to objects. The names of a dictionary are the user's own,
so that they mean nothing here: a vocabulary may hold the words "file" and "__loader__"."""


class _Reader:
    """Walks the schema as skops does, and checks that a number always stands for one object.

    skops writes an object as often as it occurs, under the same number, and builds the first of
    them for all. If the others differed, the checks could look at the wrong one.
    """

    def __init__(self, archive: zipfile.ZipFile, files: set[str]) -> None:
        self.archive = archive
        self.files = files
        self.nodes: list[Node] = []
        self.used: set[str] = set()
        self.fingerprints: dict[int, bytes] = {}

    def read(self, node: Any) -> bytes:
        """The fingerprint of an object in the schema: its content, without its number."""
        loader = node.get("__loader__") if isinstance(node, dict) else None
        if not isinstance(loader, str) or loader not in CHILD_FIELDS:
            raise unsound(f"an object would be built by {loader!r:.40}")
        if not all(isinstance(node.get(name), str) for name in ("__class__", "__module__")):
            raise unsound("an object has no type")
        children = {name for name in CHILD_FIELDS[loader] if name in node}
        parts = [
            _digest([name.encode(), self._children(node, name)])
            if name in children
            else _digest(
                [name.encode(), _digest([json.dumps(node[name], sort_keys=True).encode()])]
            )
            for name in sorted(node)
            # An array that a property creates at each access has another file each time.
            if name not in ("__id__", "file")
        ]
        if loader in FILE_LOADERS or (loader == "NdArrayNode" and node.get("type") == "numpy"):
            parts.append(self._file(node))
        fingerprint = _digest(parts)
        self.nodes.append(node)
        if self.fingerprints.setdefault(_number(node), fingerprint) != fingerprint:
            raise unsound("two objects have the same number")
        return fingerprint

    def _children(self, node: Node, field: str) -> bytes:
        """The fingerprint of a field that holds one object, a list of objects, or a mapping."""
        value = node[field]
        if isinstance(value, list):
            return _digest([self.read(child) for child in value])
        is_mapping = field == "__reduce__" or (
            field == "content" and node["__loader__"] in NAMED_CHILDREN
        )
        if not is_mapping:
            return self.read(value)
        return _digest(
            [
                _digest([_digest([name.encode(errors="surrogatepass")]), self._named(child)])
                for name, child in value.items()
            ]
        )

    def _named(self, child: Any) -> bytes:
        # The name of a method is a plain string beside the object that it belongs to.
        return self.read(child) if isinstance(child, dict) else _digest([repr(child).encode()])

    def _file(self, node: Node) -> bytes:
        name = node.get("file")
        # Each array has its own file, so that few bytes cannot become many arrays.
        if name not in self.files or name.split(".")[0] != str(_number(node)):
            raise unsound(f"an object is in the file {name!r:.40}, which is not its own")
        self.used.add(name)
        return _digest([self.archive.read(name)])


def _digest(parts: list[bytes]) -> bytes:
    """A hash of parts that are hashes themselves, or one single part."""
    return hashlib.sha256(b"".join(parts)).digest()


def _number(node: Mapping[str, Any]) -> int:
    number = node.get("__id__")
    if type(number) is not int or number < 1:
        raise unsound("an object has no number")
    return number


def _checked_size(name: str, content: bytes) -> int:
    """The bytes that the arrays of a file take, which must be what their headers say."""
    if name.endswith("npy"):
        _check_npy(content, len(content))
        return len(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        for member in members:
            with archive.open(member) as file:
                _check_npy(file.read(10_000), member.file_size)
        return sum(member.file_size for member in members)


def _check_npy(start: bytes, size: int) -> None:
    """Raise unless an array is as large as its header says, so that no more memory is taken."""
    file = io.BytesIO(start)
    shape, _, dtype = read_npy_header(file)
    count = 1
    for length in shape:
        count *= int(length)  # Python's numbers do not overflow
    n_bytes = count * dtype.itemsize
    if dtype.hasobject or n_bytes != size - file.tell() or (count and not n_bytes):
        raise unsound("an array is not as large as it says")


def _check_tree_arguments(node: Mapping[str, Any], archive: zipfile.ZipFile) -> None:
    """Raise unless a decision tree has one class count per output.

    Its constructor copies that many without a check, so this must come before it runs.
    """
    _, classes, n_outputs = node["__reduce__"]["args"]["content"]
    plain = classes["__loader__"] == "NdArrayNode" and classes["type"] == "numpy"
    if not plain or n_outputs["__loader__"] != "JsonNode":
        raise unsound("a decision tree has outputs that are not numbers")
    counts = np.load(io.BytesIO(archive.read(classes["file"])), allow_pickle=False)
    n_outputs = json.loads(n_outputs["content"])
    if counts.shape != (n_outputs,) or type(n_outputs) is not int or not (counts >= 1).all():
        raise unsound("a decision tree has other outputs than it says")


def _check_generator_arguments(node: Mapping[str, Any]) -> None:
    """Raise unless the seed of a random generator has the usual size, which is allocated."""
    size = node["content"]["seed_seq"]["content"]["pool_size"]
    if size["__loader__"] != "JsonNode" or size["content"] != "4":
        raise unsound("a random generator has a seed of another size")
