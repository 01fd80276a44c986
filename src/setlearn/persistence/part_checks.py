"""What must hold of scikit-learn's objects that come from a file, for some index blindly.

Trees of all kinds, sparse matrices and support vectors hold numbers that compiled code uses as
places in memory without a look. A file with wrong ones would bring the process down.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from setlearn.errors import ModelError

__all__ = ["check_archive", "check_objects"]

MEMBER = re.compile(r"[0-9]+\.(npy|npz)")
MOST_EXPANSION = 200
"""How many times its size a compressed array may have; sparse ones are written compressed."""
SMALL = 64 << 20

MAY_LACK_VALUES = (
    "sklearn.ensemble._hist_gradient_boosting",
    "sklearn.impute",
    "sklearn.model_selection",
    "sklearn.preprocessing",
)
"""Where NaN or infinity are ordinary: thresholds that catch all, categories, fills, scores."""


def check_archive(content: bytes) -> None:
    """Look at the archive from outside, before anything in it is built."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [member.filename for member in archive.infolist()]
        if len(set(names)) < len(names):
            raise _unsound("a file stands twice in it")
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED or member.file_size > len(content):
                raise _unsound(f"{member.filename!r:.40} is compressed, which skops does not do")
            if member.filename == "schema.json":
                continue
            if not MEMBER.fullmatch(member.filename):
                raise _unsound(f"it holds {member.filename!r:.80}")
            check = _check_npy if member.filename.endswith("npy") else _check_npz
            check(archive.read(member))
        _check_tree_sizes(json.loads(archive.read("schema.json")), archive)


def _check_npy(content: bytes, size: int | None = None) -> None:
    """Raise unless an array is as large as its header says, so that none is made larger."""
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    count = 1
    for length in shape:
        count *= int(length)  # Python's numbers do not overflow
    there = (len(content) if size is None else size) - file.tell()
    if dtype.hasobject or count * dtype.itemsize != there:
        raise _unsound("an array is not as large as it says")


def _check_npz(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(m.file_size for m in members) > SMALL + MOST_EXPANSION * len(content):
            raise _unsound("a compressed array would become too large")
        for member in members:
            with archive.open(member) as file:
                _check_npy(file.read(10_000), member.file_size)


def _check_tree_sizes(schema: Any, archive: zipfile.ZipFile) -> None:
    """Raise unless each decision tree is told as many class counts as it has outputs.

    Its constructor copies that many without a look, so this must come before it runs.
    """
    nodes = list(_dicts(schema))
    by_id = {node["__id__"]: node for node in nodes if {"content", "file"} & set(node)}
    for node in nodes:
        if node.get("__loader__") != "TreeNode" and node.get("__class__") != "Tree":
            continue
        args = [by_id.get(a.get("__id__"), a) for a in node["__reduce__"]["args"]["content"]]
        _, classes, n_outputs = args
        counts = np.load(
            io.BytesIO(archive.read(by_id.get(classes.get("__id__"), classes)["file"]))
        )
        told = json.loads(n_outputs["content"])
        if counts.ndim != 1 or type(told) is not int or told != len(counts) or counts.min() < 1:
            raise _unsound("a decision tree has other outputs than it says")


def _dicts(node: Any) -> Iterator[dict[str, Any]]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def check_objects(parts: Any) -> None:
    """Look at every object that was built, before any of them is used."""
    for thing, owner in _all_objects(parts):
        kind = type(thing).__name__
        if sparse.issparse(thing):
            _check_sparse(thing, owner)
        elif isinstance(thing, np.ndarray):
            _check_finite(thing, owner)
        elif kind == "Tree":
            _check_tree(thing)
        elif kind == "TreePredictor":
            _check_predictor(thing)
        elif kind in ("KDTree", "BallTree"):
            _check_neighbours(thing)
        elif hasattr(thing, "_n_support") and hasattr(thing, "support_vectors_"):
            _check_support(thing)


def _all_objects(root: Any) -> Iterator[tuple[Any, str]]:
    """Every object below the root with the module of the object that holds it."""
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        thing, owner = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | str | bytes | int | float | None):
            continue
        seen.add(id(thing))
        yield thing, owner
        if isinstance(thing, dict):
            waiting += [(part, owner) for pair in thing.items() for part in pair]
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += [(part, owner) for part in thing]
        elif isinstance(thing, np.ndarray):
            waiting += [(part, owner) for part in thing.ravel()] if thing.dtype == object else []
        elif hasattr(thing, "__dict__") and not sparse.issparse(thing):
            waiting += [(part, type(thing).__module__) for part in vars(thing).values()]


def _check_sparse(matrix: Any, owner: str) -> None:
    if matrix.format not in ("csr", "csc"):
        raise _unsound(f"it holds a sparse matrix in the layout {matrix.format}")
    matrix.check_format(full_check=True)
    _check_finite(matrix.data, owner)


def _check_finite(array: NDArray[Any], owner: str) -> None:
    if array.dtype.kind != "f" or owner.startswith(MAY_LACK_VALUES):
        return
    if not np.isfinite(array).all():
        raise _unsound(f"an array of {owner.rpartition('.')[2]} holds NaN or infinity")


def _check_tree(tree: Any) -> None:
    n = tree.node_count
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != -1
    # Children stand behind their parents, which also says that there is no circle.
    after = np.arange(n)
    children = np.concatenate([left[inner], right[inner]])
    behind = (left[inner] > after[inner]).all() and (right[inner] > after[inner]).all()
    inside = n > 0 and (children < n).all() and (right[~inner] == -1).all()
    features = feature[inner]
    if not (inside and behind and ((features >= 0) & (features < tree.n_features)).all()):
        raise _unsound("a decision tree has branches that lead nowhere")


def _check_predictor(predictor: Any) -> None:
    nodes = predictor.nodes
    n, inner = len(nodes), nodes["is_leaf"] == 0
    after = np.arange(n)[inner]
    for side in ("left", "right"):
        child = nodes[side][inner].astype(np.int64)
        if n == 0 or (child >= n).any() or (child <= after).any():
            raise _unsound("a boosted tree has branches that lead nowhere")
    categorical = inner & (nodes["is_categorical"] != 0)
    n_bitsets = min(len(predictor.raw_left_cat_bitsets), len(predictor.binned_left_cat_bitsets))
    if (nodes["bitset_idx"][categorical] >= n_bitsets).any() or (nodes["feature_idx"] < 0).any():
        raise _unsound("a boosted tree asks for what is not there")


def _check_neighbours(tree: Any) -> None:
    data, order, nodes, _ = (np.asarray(array) for array in tree.get_arrays())
    bounds = np.asarray(tree.node_bounds)
    n_levels, n_nodes = tree.__getstate__()[5:7]
    n = len(data)
    sound = (
        sorted(order.tolist()) == list(range(n))
        and n_nodes == len(nodes) == 2**n_levels - 1 == bounds.shape[1]
        and bounds.shape[2] == data.shape[1]
        and (nodes["idx_start"] >= 0).all()
        and (nodes["idx_start"] <= nodes["idx_end"]).all()
        and (nodes["idx_end"] <= n).all()
    )
    if not sound:
        raise _unsound("a tree of neighbours leads nowhere")


def _check_support(model: Any) -> None:
    n = model.support_vectors_.shape[0]
    sound = (
        int(np.sum(model._n_support)) == n
        and (np.asarray(model._n_support) >= 0).all()
        and model._dual_coef_.shape[1] == n
        and len(model.support_) in (n, 0)
    )
    if not sound:
        raise _unsound("a support vector machine has other vectors than it says")


def _unsound(what: str) -> ModelError:
    return ModelError(
        f"the scikit-learn parts of the model are not sound: {what}; it is damaged, or was not "
        "written by setlearn"
    )
