"""Learners that use numbers as places in memory without a look: what must hold of those numbers.

Trees of all kinds, support vectors and neighbours are read by compiled code that believes them.
A file with wrong ones would bring the process down, or worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setlearn.persistence.archive_checks import unsound
from setlearn.persistence.column_checks import COLUMN_CHECKS, SETTING_CHECKS

__all__ = ["check_indices", "check_settings"]

BITSET_WORDS = 8
"""A set of up to 256 categories, in words of 32 bits."""


def check_indices(thing: Any) -> None:
    """Raise unless all numbers of a learner that are places in memory are ones it has."""
    _check_by_kind(thing, CHECKS)


def check_settings(thing: Any) -> None:
    """Raise unless what can be used without learning is set in a way that is safe."""
    _check_by_kind(thing, SETTING_CHECKS)


def _check_by_kind(thing: Any, checks: Mapping[str, Callable[[Any], None]]) -> None:
    for kind in type(thing).__mro__:
        check = checks.get(f"{kind.__module__}.{kind.__name__}")
        if check is not None:
            check(thing)


def _check_tree(tree: Any) -> None:
    n = tree.node_count
    if n < 1 or n != tree.capacity:  # before anything else of it is read
        raise unsound("a decision tree has other nodes than it says")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != -1
    parents = np.flatnonzero(inner)
    children = np.concatenate([left[inner], right[inner]])
    # Each node but the root is one node's child, and stands behind it: there is no circle.
    sound = (
        np.array_equal(np.sort(children), np.arange(1, n))
        and (left[inner] > parents).all()
        and (right[inner] > parents).all()
        and (right[~inner] == -1).all()
        and ((feature[inner] >= 0) & (feature[inner] < tree.n_features)).all()
        and tree.max_depth >= _depth(left, right)
        and np.isfinite(tree.value).all()
    )
    if not sound:
        raise unsound("a decision tree has branches that lead nowhere")


def _depth(left: NDArray[Any], right: NDArray[Any]) -> int:
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while True:
        level = level[left[level] != -1]
        if len(level) == 0:
            return depth
        level = np.concatenate([left[level], right[level]])
        depth += 1


def _check_tree_owner(learner: Any) -> None:
    n_features = _n_features(learner)
    if hasattr(learner, "tree_") and learner.tree_.n_features != n_features:
        raise unsound("a decision tree asks for other features than it says")


def _check_boosted_trees(learner: Any) -> None:
    n_features = _n_features(learner)
    trees = learner.estimators_
    if any(_n_features(tree) != n_features for tree in trees.ravel()):
        raise unsound("boosted trees ask for other features than they say")
    # The trees write their answers into what this gives, a column for each of a row.
    if learner._raw_predict_init(np.zeros((1, n_features))).shape != (1, trees.shape[1]):
        raise unsound("boosted trees answer for other classes than they say")


def _check_histogram_trees(learner: Any) -> None:
    n_features, mapper = _n_features(learner), learner._bin_mapper
    categorical = np.asarray(mapper.is_categorical_, dtype=bool)
    if getattr(learner, "_in_fit", False) or len(categorical) != n_features:
        raise unsound("boosted trees know other features than they say")
    _check_preprocessor(learner._preprocessor, n_features)
    for predictor in (one for iteration in learner._predictors for one in iteration):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        feature = nodes["feature_idx"][inner].astype(np.int64)
        if (feature < 0).any() or (feature >= n_features).any():
            raise unsound("a boosted tree asks for features that are not there")
        by_set = nodes["is_categorical"][inner] != 0
        if not categorical[feature[by_set]].all():
            raise unsound("a boosted tree asks for categories that are not there")


def _check_preprocessor(preprocessor: Any, n_features: int) -> None:
    """Raise unless what encodes categories gives as many columns as it takes."""
    if preprocessor is None:
        return
    taken = preprocessor._transformer_to_input_indices.values()
    kinds = {type(step).__name__ for _, step, _ in preprocessor.transformers_ if step != "drop"}
    columns = sorted(int(column) for columns in taken for column in columns)
    if kinds - {"FunctionTransformer", "OrdinalEncoder"} or columns != list(range(n_features)):
        raise unsound("boosted trees prepare other features than they say")


def _check_predictor(predictor: Any) -> None:
    nodes = predictor.nodes
    n, inner = len(nodes), nodes["is_leaf"] == 0
    after = np.arange(n)[inner]
    for side in ("left", "right"):
        child = nodes[side][inner].astype(np.int64)
        if n == 0 or (child >= n).any() or (child <= after).any():
            raise unsound("a boosted tree has branches that lead nowhere")
    if not np.isfinite(nodes["value"]).all():
        raise unsound("a boosted tree answers with NaN or infinity")
    by_set = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    for sets in (predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets):
        if len(by_set) and (sets.shape[1] != BITSET_WORDS or (by_set >= len(sets)).any()):
            raise unsound("a boosted tree asks for categories that are not there")


def _check_neighbour_tree(tree: Any) -> None:
    state = tree.__getstate__()
    n_levels, n_nodes, metric, weight = state[5], state[6], state[11], state[12]
    if not 1 <= n_levels < 64 or metric is None:
        raise unsound("a tree of neighbours has no distances")
    data, order, nodes, _ = (np.asarray(array) for array in tree.get_arrays())
    bounds = np.asarray(tree.node_bounds)
    n, sides = len(data), 2 if type(tree).__name__.startswith("KD") else 1
    last = np.arange(len(nodes)) >= len(nodes) // 2  # these have no nodes below them
    sound = (
        np.array_equal(np.sort(order), np.arange(n))
        and n_nodes == len(nodes) == 2**n_levels - 1
        and bounds.shape == (sides, n_nodes, data.shape[1])
        and (nodes["idx_start"] >= 0).all()
        and (nodes["idx_start"] <= nodes["idx_end"]).all()
        and (nodes["idx_end"] <= n).all()
        and (nodes["is_leaf"][last] != 0).all()
        and (weight is None or len(weight) == n)
    )
    if not sound:
        raise unsound("a tree of neighbours leads nowhere")


def _check_neighbours(learner: Any) -> None:
    rows = learner._fit_X
    n = rows.shape[0]
    tree: Any = learner._tree
    sound = (
        learner.n_samples_fit_ == n
        and rows.shape[1] == _n_features(learner)
        and (learner.n_neighbors is None or 1 <= learner.n_neighbors <= n)
        and (tree is None or np.asarray(tree.data).shape == rows.shape)
    )
    targets: Any = getattr(learner, "_y", None)
    if sound and targets is not None:
        classes = learner.classes_ if learner.outputs_2d_ else [learner.classes_]
        columns = targets.reshape(n, -1).T
        sound = len(columns) == len(classes) and all(
            ((column >= 0) & (column < len(names))).all()
            for column, names in zip(columns, classes, strict=True)
        )
    if not sound:
        raise unsound("neighbours are others than they say")


def _check_support_vectors(machine: Any) -> None:
    vectors, told = machine.support_vectors_, np.asarray(machine._n_support)
    n, n_classes = vectors.shape[0], len(told)
    n_pairs = n_classes * (n_classes - 1) // 2
    dual: Any = machine._dual_coef_
    sound = (
        machine.kernel in ("linear", "poly", "rbf", "sigmoid")
        and machine._impl == type(machine)._impl
        and vectors.shape[1] == _n_features(machine)
        and n == len(machine.support_)
        and n_classes >= 2
        and dual.shape == (n_classes - 1, n)
        and dual.size == dual.shape[0] * n  # of a sparse one: all of them are there
        and len(machine._intercept_) == n_pairs
        and len(machine._probA) in (0, n_pairs)
        and len(machine._probA) == len(machine._probB)
    )
    if sound and machine._impl in ("c_svc", "nu_svc"):
        sound = n_classes == len(machine.classes_) and (told >= 0).all() and told.sum() == n
    elif sound:  # those without classes say it twice, or once if their vectors are sparse
        sound = told.tolist() in ([n, n], [n, 0])
    if not sound:
        raise unsound("a support vector machine has other vectors or classes than it says")


def _check_centres(clusters: Any) -> None:
    if clusters.cluster_centers_.shape[1] != _n_features(clusters):
        raise unsound("clusters have other features than they say")


def _check_random_state(random_state: Any) -> None:
    state = random_state.get_state(legacy=False)
    if state["bit_generator"] != "MT19937" or not 0 <= state["state"]["pos"] <= 624:
        raise unsound("a random state is none")


def _check_generator(generator: Any) -> None:
    if type(generator.bit_generator).__name__ != "PCG64":  # others count places of a buffer
        raise unsound("a random generator is of a kind that scikit-learn does not use")


def _n_features(learner: Any) -> int:
    """What the learner compares with the width of its inputs, before it reads them."""
    told = learner.n_features_in_
    if isinstance(told, bool) or not isinstance(told, int | np.integer) or told < 1:
        raise unsound("a learner does not say how many features it takes")
    return int(told)


CHECKS: Mapping[str, Callable[[Any], None]] = {
    **COLUMN_CHECKS,
    "numpy.random._generator.Generator": _check_generator,
    "numpy.random.mtrand.RandomState": _check_random_state,
    "sklearn.cluster._kmeans._BaseKMeans": _check_centres,
    "sklearn.ensemble._gb.BaseGradientBoosting": _check_boosted_trees,
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting": (
        _check_histogram_trees
    ),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_predictor,
    "sklearn.neighbors._ball_tree.BinaryTree64": _check_neighbour_tree,
    "sklearn.neighbors._base.NeighborsBase": _check_neighbours,
    "sklearn.neighbors._kd_tree.BinaryTree64": _check_neighbour_tree,
    "sklearn.svm._base.BaseLibSVM": _check_support_vectors,
    "sklearn.tree._classes.BaseDecisionTree": _check_tree_owner,
    "sklearn.tree._tree.Tree": _check_tree,
}
"""By the full names of the classes, for importing them all would take long."""
