"""Objects whose numbers compiled code uses as places in memory without a check.

These are trees of all kinds, support vector machines, nearest neighbours, and transformers that
turn texts and categories into columns of sparse matrices. A file with wrong numbers would crash
the process, or worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from setlearn.persistence.audit.archive import unsound

__all__ = ["INDEX_CHECKS", "SETTING_CHECKS"]

MAX_COLUMNS = 2**31 - 1
BITSET_WORDS = 8
"""A set of up to 256 categories, in words of 32 bits."""


def _check_tree(tree: Any) -> None:
    n = tree.node_count
    if n < 1 or n != tree.capacity:  # before anything else of it is read
        raise unsound("a decision tree has other nodes than it says")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != -1
    parents = np.flatnonzero(inner)
    children = np.concatenate([left[inner], right[inner]])
    # Each node but the root is the child of one node before it, so there is no cycle.
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
    from sklearn.tree import BaseDecisionTree

    n_features = _n_features(learner)
    trees = learner.estimators_
    for tree in trees.ravel():
        # Compiled code reads `tree_` itself, whatever class has it.
        if not isinstance(tree, BaseDecisionTree) or tree.tree_.n_features != n_features:
            raise unsound("boosted trees ask for other features than they say")
    # The trees of a row add their answers to the columns of this.
    if learner._raw_predict_init(np.zeros((1, n_features))).shape != (1, trees.shape[1]):
        raise unsound("boosted trees answer for other classes than they say")


def _check_histogram_trees(learner: Any) -> None:
    n_features, mapper = _n_features(learner), learner._bin_mapper
    categorical = np.asarray(mapper.is_categorical_, dtype=bool)
    if getattr(learner, "_in_fit", False) or len(categorical) != n_features:
        raise unsound("boosted trees know other features than they say")
    _check_preprocessor(learner._preprocessor, n_features)
    for predictor in chain.from_iterable(learner._predictors):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        feature = nodes["feature_idx"][inner].astype(np.int64)
        if (feature < 0).any() or (feature >= n_features).any():
            raise unsound("a boosted tree asks for features that do not exist")
        by_set = nodes["is_categorical"][inner] != 0
        if not categorical[feature[by_set]].all():
            raise unsound("a boosted tree asks for categories that do not exist")


def _check_preprocessor(preprocessor: Any, n_features: int) -> None:
    """Raise unless the encoder of categories returns as many columns as it takes."""
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
            raise unsound("a boosted tree asks for categories that do not exist")


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
    if sound and targets is not None and is_classifier(learner):
        classes = learner.classes_ if learner.outputs_2d_ else [learner.classes_]
        columns = targets.reshape(n, -1).T
        sound = len(columns) == len(classes) and all(
            ((column >= 0) & (column < len(names))).all()
            for column, names in zip(columns, classes, strict=True)
        )
    if not sound:
        raise unsound("nearest neighbours have other rows or classes than they say")


def _check_support_vectors(machine: Any) -> None:
    vectors, counts = machine.support_vectors_, np.asarray(machine._n_support)
    n, n_classes = vectors.shape[0], len(counts)
    n_pairs = n_classes * (n_classes - 1) // 2
    dual: Any = machine._dual_coef_
    sound = (
        machine.kernel in ("linear", "poly", "rbf", "sigmoid")
        and machine._impl == type(machine)._impl
        and vectors.shape[1] == _n_features(machine)
        and n == len(machine.support_)
        and n_classes >= 2
        and dual.shape == (n_classes - 1, n)
        and dual.size == dual.shape[0] * n  # a sparse one must store all of them
        and len(machine._intercept_) == n_pairs
        and len(machine._probA) in (0, n_pairs)
        and len(machine._probA) == len(machine._probB)
    )
    if sound and machine._impl in ("c_svc", "nu_svc"):
        sound = n_classes == len(machine.classes_) and (counts >= 0).all() and counts.sum() == n
    elif sound:  # regressors count twice, or once if their vectors are sparse
        sound = counts.tolist() in ([n, n], [n, 0])
    if not sound:
        raise unsound("a support vector machine has other vectors or classes than it says")


def _check_centres(clusters: Any) -> None:
    if clusters.cluster_centers_.shape[1] != _n_features(clusters):
        raise unsound("clusters have other features than they say")


def _check_random_state(random_state: Any) -> None:
    state = random_state.get_state(legacy=False)
    if state["bit_generator"] != "MT19937" or not 0 <= state["state"]["pos"] <= 624:
        raise unsound("a random state is not of the usual kind")


def _check_generator(generator: Any) -> None:
    if type(generator.bit_generator).__name__ != "PCG64":  # others count places of a buffer
        raise unsound("a random generator is of a kind that scikit-learn does not use")


def _n_features(learner: Any) -> int:
    """The width of the inputs, which the learner checks before it reads them."""
    n_features = learner.n_features_in_
    is_number = isinstance(n_features, int | np.integer) and not isinstance(n_features, bool)
    if not is_number or n_features < 1:
        raise unsound("a learner does not say how many features it takes")
    return int(n_features)


def _check_vocabulary(vectoriser: Any) -> None:
    columns = vectoriser.vocabulary_.values()
    if sorted(columns) != list(range(len(columns))):
        raise unsound("a vocabulary has columns that do not exist")


def _check_one_hot(encoder: Any) -> None:
    """Raise unless the categories of each feature become exactly the columns that it has."""
    categories, widths = encoder.categories_, encoder._n_features_outs
    sound = len(categories) == len(widths) == encoder.n_features_in_
    for feature, (names, width) in enumerate(zip(categories, widths, strict=False)):
        columns = _columns_of(encoder, feature)
        sound = (
            sound
            and _is_searchable(names)
            and type(width) is int
            and np.array_equal(np.unique(columns), np.arange(width))
        )
    if not sound:
        raise unsound("categories have columns that do not exist")


def _columns_of(encoder: Any, feature: int) -> NDArray[Any]:
    """Where `OneHotEncoder.transform` puts the categories of a feature, counted from its first."""
    columns = np.arange(len(encoder.categories_[feature]))
    if encoder._infrequent_enabled:
        mapping = encoder._default_to_infrequent_mappings[feature]
        if (mapping is None) != (encoder._infrequent_indices[feature] is None):
            raise unsound("rare categories have no column")
        columns = columns if mapping is None else np.ravel(mapping)
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None and dropped[feature] is not None:
        columns = columns[columns != dropped[feature]]
        columns = columns - (columns > dropped[feature])
    return columns


def _is_searchable(names: NDArray[Any]) -> bool:
    """Whether a binary search, which is made for numbers, finds none above the last one."""
    values = names.tolist()
    if not values or not isinstance(values[-1], int | float) or np.isnan(values[-1]):
        return True
    return all(value <= values[-1] for value in values if isinstance(value, int | float))


def _check_reads_texts(vectoriser: Any) -> None:
    if vectoriser.input != "content":
        raise unsound(
            f"a {type(vectoriser).__name__} with input={vectoriser.input!r:.40} would open files "
            'that the inputs name; only input="content" is read'
        )


def _check_hashed_columns(hasher: Any) -> None:
    if type(hasher.n_features) is not int or not 1 <= hasher.n_features <= MAX_COLUMNS:
        raise unsound("hashed features have no columns")


INDEX_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "numpy.random._generator.Generator": _check_generator,
    "numpy.random.mtrand.RandomState": _check_random_state,
    "sklearn.cluster._kmeans._BaseKMeans": _check_centres,
    "sklearn.ensemble._gb.BaseGradientBoosting": _check_boosted_trees,
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting": (
        _check_histogram_trees
    ),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_predictor,
    "sklearn.feature_extraction._dict_vectorizer.DictVectorizer": _check_vocabulary,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.neighbors._ball_tree.BinaryTree64": _check_neighbour_tree,
    "sklearn.neighbors._base.NeighborsBase": _check_neighbours,
    "sklearn.neighbors._kd_tree.BinaryTree64": _check_neighbour_tree,
    "sklearn.preprocessing._encoders.OneHotEncoder": _check_one_hot,
    "sklearn.svm._base.BaseLibSVM": _check_support_vectors,
    "sklearn.tree._classes.BaseDecisionTree": _check_tree_owner,
    "sklearn.tree._tree.Tree": _check_tree,
}
"""For fitted objects, by the full names of their classes: importing them all would take long."""

SETTING_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "sklearn.feature_extraction._hash.FeatureHasher": _check_hashed_columns,
    "sklearn.feature_extraction.text.HashingVectorizer": _check_hashed_columns,
    "sklearn.feature_extraction.text._VectorizerMixin": _check_reads_texts,
}
"""For transformers that can be used without having learned anything."""
