"""Other learners for very many labels: each lists the best labels of a row, with scores.

napkinXC and omikuji are in the extra ``bench``. One-vs-rest logistic regression is a dumb but
strong baseline wherever it is not too slow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.yardsticks.cut import Ranking
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

Rankings = list[Ranking]
N_LISTED = 30
BEAM = 30
C_OF_ONE_VS_REST = 10.0


def napkin(X: Any, Y: sparse.csr_array, X_test: Any) -> Rankings:
    """A probabilistic label tree of napkinXC with its default parameters."""
    from napkinxc.models import PLT

    with tempfile.TemporaryDirectory() as folder:
        model = PLT(folder, threads=1, seed=0)
        model.fit(sparse.csr_matrix(X), [row.tolist() for row in _labels(Y)])
        answers = model.predict_proba(sparse.csr_matrix(X_test), top_k=N_LISTED)
        return [[(int(label), float(score)) for label, score in answer] for answer in answers]


def parabel(X: Any, Y: sparse.csr_array, X_test: Any) -> Rankings:
    """Omikuji with its default parameters, which are those of Parabel."""
    return _omikuji(X, Y, X_test, {})


def bonsai(X: Any, Y: sparse.csr_array, X_test: Any) -> Rankings:
    """Omikuji with the wide, unbalanced trees of Bonsai."""
    return _omikuji(X, Y, X_test, {"cluster_k": 16, "cluster_balanced": False})


def one_vs_rest(X: Any, Y: sparse.csr_array, X_test: Any) -> Rankings:
    """One logistic regression per label, on tf-idf."""
    weights = TfidfTransformer().fit(X)
    train, test = weights.transform(X), weights.transform(X_test)
    for part in (train, test):  # liblinear takes no others
        part.indices, part.indptr = part.indices.astype(np.int32), part.indptr.astype(np.int32)
    columns = sparse.csc_array(Y)
    n = test.shape[0]
    best = np.full((n, N_LISTED), -np.inf)
    labels = np.zeros((n, N_LISTED), dtype=int)
    model = LogisticRegression(C=C_OF_ONE_VS_REST, solver="liblinear")
    for label in np.flatnonzero(np.diff(columns.indptr)).tolist():
        y = np.zeros(train.shape[0], dtype=bool)
        y[columns.indices[columns.indptr[label] : columns.indptr[label + 1]]] = True
        if y.all():
            continue
        scores = model.fit(train, y).predict_proba(test)[:, 1]
        worst = best.argmin(axis=1)
        rows = np.flatnonzero(scores > best[np.arange(n), worst])
        best[rows, worst[rows]], labels[rows, worst[rows]] = scores[rows], label
    order = np.argsort(-best, axis=1, kind="stable")
    return [
        [(int(labels[i, k]), float(best[i, k])) for k in order[i] if best[i, k] > -np.inf]
        for i in range(n)
    ]


SYSTEMS: dict[str, Callable[[Any, sparse.csr_array, Any], Rankings]] = {
    "napkinXC": napkin,
    "omikuji, Parabel": parabel,
    "omikuji, Bonsai": bonsai,
    "one-vs-rest": one_vs_rest,
}


def _omikuji(X: Any, Y: sparse.csr_array, X_test: Any, changed: dict[str, Any]) -> Rankings:
    import omikuji

    parameters = omikuji.Model.default_hyper_param()
    for name, value in changed.items():
        setattr(parameters, name, value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        with path.open("w") as file:
            file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
            for labels, pairs in zip(_labels(Y), _pairs(X), strict=True):
                features = " ".join(f"{feature}:{value:.6g}" for feature, value in pairs)
                file.write(f"{','.join(map(str, labels))} {features}\n")
        model = omikuji.Model.train_on_data(str(path), parameters, 1)
    return [model.predict(pairs, beam_size=BEAM, top_k=N_LISTED) for pairs in _pairs(X_test)]


def _labels(Y: sparse.csr_array) -> list[np.ndarray]:
    Y = sparse.csr_array(Y)
    return np.split(Y.indices, Y.indptr[1:-1])


def _pairs(X: Any) -> list[list[tuple[int, float]]]:
    X = sparse.csr_array(X)
    X.sort_indices()
    bounds = X.indptr[1:-1]
    parts = zip(np.split(X.indices, bounds), np.split(X.data, bounds), strict=True)
    return [list(zip(i.tolist(), v.tolist(), strict=True)) for i, v in parts]
