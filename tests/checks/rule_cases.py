"""Rules, each with a few variants, and the choice points that all of them are checked on."""

from __future__ import annotations

import inspect
from copy import copy
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import clone

import setlearn.rules
from setlearn.errors import ParameterError
from setlearn.nodes import Examples, Nodes
from setlearn.rules import Rule

N, V = 60, 5
NAMES = [f"choice {k}" for k in range(V + 4)]

VARIANTS = {
    "beta": [2.0],
    "calibrate": [True],
    "candidates": [[setlearn.rules.TopK(2), setlearn.rules.Threshold("tuned")]],
    "confidence": [0.6],
    "choice_floor": [0.0, 0.3],
    "cut": [0.3, "tuned"],
    "dependence": [0.5],
    "joint": [True],
    "k": [3, 50],
    "metric": ["exact"],
    "min_size": [0, 2, 50, None],
    "precision": [0.5],
    "recall": [0.5],
    "rho": [0.4],
    "rule": [setlearn.rules.Margin(), setlearn.rules.ExpectedF()],
    "space": ["log"],
}
"""Values to try for parameters of these names, one at a time, where a rule allows them."""


def shipped_rules() -> list[Rule]:
    """Every rule of the package, in several variants."""
    classes = [getattr(setlearn.rules, name) for name in setlearn.rules.__all__]
    return [v for cls in classes if not inspect.isabstract(cls) for v in variants(cls())]


def variants(rule: Rule) -> list[Rule]:
    """The rule itself, and with other values of its parameters."""
    found = [quick(rule)]
    for name in sorted(VARIANTS.keys() & rule.get_params(deep=False).keys()):
        for value in VARIANTS[name]:
            other = quick(rule).set_params(**{name: value})
            try:
                other.check_parameters()
            except ParameterError:
                continue
            if repr(other) not in map(repr, found):
                found.append(other)
    return found


def quick(rule: Rule) -> Rule:
    """A copy that is seeded, and shortly trained if it trains."""
    rule, parameters = clone(rule), rule.get_params(deep=False)
    if "random_state" in parameters:
        rule.set_params(random_state=0)
    if "training" in parameters:
        rule.set_params(training__max_steps=8)
    return rule


def choice_points(seed=0, n=N, n_choices=V, dtype=np.float64):
    """Random choice points, with examples, and their right choices; some sets are empty."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, size=(n, n_choices)).astype(dtype)
    right = rng.uniform(size=scores.shape) < scores**2
    weights = sparse.csr_array(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2))
    nodes = Nodes.roots(scores)
    return replace(nodes, examples=Examples(sparse.csr_array(right), weights)), right


def some_known(nodes, seed=1, share=0.3):
    known = np.random.default_rng(seed).uniform(size=nodes.probabilities.shape) < share
    return replace(nodes, known=known if nodes.available is None else known & nodes.available)


def padded(nodes, seed=2, extra=3):
    """The same choice points with padded columns in between, and where the old columns are."""
    width = nodes.n_choices + extra
    columns = np.sort(np.random.default_rng(seed).permutation(width)[: nodes.n_choices])

    def widened(array, dtype):
        wide = np.zeros((len(array), width), dtype=dtype)
        wide[:, columns] = array
        return wide

    examples = nodes.examples
    if examples is not None:
        row, column = examples.sets.nonzero()
        shape = (examples.sets.shape[0], width)
        sets = sparse.csr_array((np.ones(len(row), bool), (row, columns[column])), shape=shape)
        examples = Examples(sets, examples.weights)
    available = np.ones_like(nodes.probabilities) if nodes.available is None else nodes.available
    wide = Nodes(
        nodes.sample,
        nodes.depth,
        widened(nodes.probabilities, nodes.probabilities.dtype),
        None if nodes.known is None else widened(nodes.known, bool),
        nodes.prefix_probability,
        examples,
        widened(available, bool),
    )
    return wide, columns


def fitted(rule):
    """A copy of the rule, fitted; it is trained once for all checks."""
    key = type(rule), repr(rule)
    if key not in _FITTED:
        _FITTED[key] = fitted_anew(rule)
    return copy(_FITTED[key])


_FITTED: dict[tuple[type, str], Rule] = {}


def fitted_anew(rule):
    return clone(rule).fit(*choice_points())
