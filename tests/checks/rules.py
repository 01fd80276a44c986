"""Checks that every rule must pass, whoever wrote it.

``every_check(rules)`` is a decorator for a test with the arguments ``rule`` and ``check``, which
calls ``check(rule)``. A rule that is added to ``setlearn.rules.__all__`` is checked without further
ado.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from setlearn.errors import DataError, NotFittedError, ParameterError, SetlearnWarning
from setlearn.generate import Bounds, generate
from setlearn.nodes import Examples, Nodes
from setlearn.rules import Rule
from setlearn.trie import Sequences, Trie
from tests.checks.rule_cases import (
    NAMES,
    VARIANTS,
    N,
    V,
    choice_points,
    fitted,
    fitted_anew,
    padded,
    some_known,
)
from tests.table_scorer import TableScorer


def every_check(rules):
    """Parametrise a test over these rules and all checks."""
    return pytest.mark.parametrize(
        ("rule", "check"),
        [
            pytest.param(rule, check, id=f"{check.__name__.removeprefix('check_')}-{rule!r}")
            for rule in rules
            for check in CHECKS
        ],
    )


def refuses_padding(rule, ask):
    """Whether it says clearly that it cannot work with choices that differ; else it must."""
    try:
        ask(rule)
    except DataError as error:
        assert "available" in str(error)  # noqa: PT017  # any other DataError is a failure
        return True
    return False


def as_set(row):
    return set(np.flatnonzero(row).tolist())


# --- parameters and life cycle -----------------------------------------------------------------


def check_parameters_are_only_stored(rule):
    assert set(vars(clone(rule))) == set(rule.get_params(deep=False))
    assert repr(clone(rule)) == repr(rule)
    assert repr(clone(rule).set_params(**rule.get_params())) == repr(rule)


def check_fit_leaves_parameters_alone(rule):
    before = repr(rule)
    rule = clone(rule)
    assert rule.fit(*choice_points()) is rule
    assert repr(rule) == before


def check_unfitted(rule):
    nodes, _ = choice_points()
    if not rule.needs_fit:
        assert (clone(rule).accept(nodes) == fitted(rule).accept(nodes)).all()
        return
    with pytest.raises(NotFittedError, match="fit"):
        clone(rule).accept(nodes)
    with pytest.raises(NotFittedError, match="fit"):
        clone(rule).steps(nodes[:1], NAMES)


def check_bad_training_data(rule):
    nodes, right = choice_points()
    with pytest.raises(DataError, match=r"positive has shape \(60, 4\)"):
        clone(rule).fit(nodes, right[:, :4])
    with pytest.raises(DataError, match="positive has shape"):
        clone(rule).fit(nodes, right[:9])
    with pytest.raises(DataError, match="no choice points"):
        clone(rule).fit(nodes[:0], right[:0])


def check_right_choices_must_be_available(rule):
    nodes, _ = choice_points()
    wide, _ = padded(nodes)
    with pytest.raises(DataError, match="available"):
        clone(rule).fit(wide, np.ones(wide.probabilities.shape, bool))


def check_right_choices_that_are_not_listed_count_but_are_not_kept(rule):
    nodes, right = choice_points()
    if not rule.takes_padding or nodes.depth.any():
        return
    few = replace(nodes, examples=None)
    if rule.requires_examples:
        return
    listed = sparse.csr_array(np.where(few.probabilities > 0.6, few.probabilities, 0.0))
    short, of_lists = Nodes.listed(listed).with_right(sparse.csr_array(right))
    assert of_lists.sum() == right.sum()
    missed = of_lists & ~short.available
    assert missed.any()
    fitted_rule = clone(rule).fit(short, of_lists)
    assert not (fitted_rule.accept(short) & missed).any()
    for name, value in fitted_rule.learned_numbers().items():
        assert np.isfinite(value), name


def check_chosen(rule):
    nodes, _ = choice_points()
    assert rule.candidate_scores is None
    rule = fitted(rule)
    assert isinstance(rule.chosen, Rule)
    assert (rule.chosen.accept(nodes) == rule.accept(nodes)).all()
    assert rule.chosen.chosen is rule.chosen
    assert (rule.chosen is rule) == (rule.candidate_scores is None)
    assert isinstance(rule.candidate_scores, Mapping | None)


def check_examples(rule):
    assert rule.uses_examples or not rule.requires_examples
    nodes, right = choice_points()
    nodes = replace(nodes, examples=None)
    if rule.requires_examples:
        with pytest.raises(DataError, match="examples"):
            fitted(rule).accept(nodes)
    else:
        assert clone(rule).fit(nodes, right).accept(nodes).shape == (N, V)


def check_adjusted(rule):
    nodes, _ = choice_points()
    rule = fitted(rule)
    before = rule.accept(nodes), repr(rule)
    with pytest.raises(ParameterError, match="no parameter 'nonsense'"):
        rule.adjusted(nonsense=1)
    same = rule.adjusted()
    assert same is not rule
    assert (same.accept(nodes) == before[0]).all()
    decides = rule.chosen
    names = decides.adjustable if decides.needs_fit else decides.get_params(deep=False)
    for name in names:
        for value in VARIANTS.get(name, []):
            if isinstance(value, int | float) and not _would_need_a_fit(decides, name, value):
                other = rule.adjusted(**{name: value})
                changed = other.chosen
                values = {**changed.get_params(deep=False), **changed.adjustable_values()}
                assert values[name] == value
                kept = other.accept(nodes)
                if name == "min_size":
                    assert (kept.sum(axis=1) >= min(value, V)).all()
                if not decides.needs_fit:
                    expected = clone(decides).set_params(**{name: value}).accept(nodes)
                    assert (kept == expected).all()
    assert (rule.accept(nodes) == before[0]).all()
    assert repr(rule) == before[1]
    fixed = set(decides.get_params(deep=False)) - set(decides.adjustable)
    for name in fixed if decides.needs_fit else ():
        for value in VARIANTS.get(name, []):
            if value != getattr(decides, name) and _is_possible(decides, name, value):
                with pytest.raises(ParameterError, match="needs a new fit"):
                    rule.adjusted(**{name: value})


def _would_need_a_fit(rule, name, value):
    """Whether a rule that needs no fit would need one with this value, which is refused."""
    if rule.needs_fit or not clone(rule).set_params(**{name: value}).needs_fit:
        return False
    with pytest.raises(ParameterError, match="needs a new fit"):
        rule.adjusted(**{name: value})
    return True


def _is_possible(rule, name, value):
    """Whether the value goes together with the other parameters."""
    try:
        clone(rule).set_params(**{name: value}).check_parameters()
    except ParameterError:
        return False
    return True


# --- decisions ---------------------------------------------------------------------------------


def check_answers_are_new_masks(rule):
    nodes, _ = choice_points()
    nodes = some_known(nodes)
    before = nodes.probabilities.copy(), nodes.known.copy()
    kept = fitted(rule).accept(nodes)
    assert kept.dtype == bool
    assert kept.shape == (N, V)
    kept[:] = True
    assert (nodes.probabilities == before[0]).all()
    assert (nodes.known == before[1]).all()


def check_determinism(rule):
    nodes, _ = choice_points()
    first = fitted_anew(rule)
    kept = first.accept(nodes)
    assert (first.accept(nodes) == kept).all()
    assert (fitted_anew(rule).accept(nodes) == kept).all()
    assert (first.fit(*choice_points()).accept(nodes) == kept).all()


def check_sparse_masks(rule):
    nodes, right = choice_points()
    kept = fitted(rule).accept(nodes)
    assert (clone(rule).fit(nodes, sparse.csr_array(right)).accept(nodes) == kept).all()


def check_batches(rule):
    nodes, _ = choice_points()
    rule = fitted(rule)
    for points in (nodes, some_known(nodes)):
        kept = rule.accept(points)
        order = np.random.default_rng(3).permutation(N)
        assert (rule.accept(points[10:25]) == kept[10:25]).all()
        assert (rule.accept(points[order]) == kept[order]).all()
        for row in range(0, N, 6):
            assert (rule.accept(points[row : row + 1]) == kept[row : row + 1]).all()
        assert rule.accept(points[:0]).shape == (0, V)


def check_single_precision(rule):
    nodes, right = choice_points(dtype=np.float32)
    assert clone(rule).fit(nodes, right).accept(some_known(nodes)).shape == (N, V)


def check_known_choices_are_kept(rule):
    nodes, _ = choice_points()
    rule = fitted(rule)
    for share in (0.1, 0.5, 1.0):
        points = some_known(nodes, share=share)
        assert rule.accept(points)[points.known].all()
    nothing = replace(nodes, known=np.zeros((N, V), bool))
    assert (rule.accept(nothing) == rule.accept(nodes)).all()


def check_empty_and_full_sets(rule):
    nodes, _ = choice_points()
    for right in (np.zeros((N, V), bool), np.ones((N, V), bool)):
        for scores in (nodes.probabilities, np.zeros((N, V)), np.ones((N, V))):
            points = replace(nodes, probabilities=scores)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SetlearnWarning)  # such data may be hopeless
                assert clone(rule).fit(points, right).accept(points).shape == (N, V)


def check_one_choice(rule):
    nodes, right = choice_points(n_choices=1)
    rule = clone(rule).fit(nodes, right)
    assert rule.accept(nodes).shape == (N, 1)
    assert rule.steps(nodes[:1], NAMES).reason


def check_one_choice_point(rule):
    nodes, right = choice_points()
    try:
        rule.check_samples(1)
    except DataError:
        with pytest.raises(DataError):
            clone(rule).fit(nodes[:1], right[:1])
        return
    assert clone(rule).fit(nodes[:1], right[:1]).accept(nodes[:1]).shape == (1, V)


def check_monotone(rule):
    """If a rule promises it: nothing is kept while something more probable is not."""
    nodes, _ = choice_points()
    rule = fitted(rule)
    if not rule.is_monotone:
        return
    coarse = replace(nodes, probabilities=np.round(nodes.probabilities * 6) / 6)
    for points in (nodes, coarse, some_known(nodes), some_known(coarse)):
        known = points.known_mask()
        for p, kept, given in zip(points.probabilities, rule.accept(points), known, strict=True):
            least = p[kept & ~given].min(initial=np.inf)
            assert p[~kept & ~given].max(initial=-np.inf) <= least


def check_steps(rule):
    nodes, _ = choice_points()
    rule = fitted(rule)
    wide, _ = padded(nodes)
    groups = [nodes, some_known(nodes), some_known(nodes, share=1.0), wide, some_known(wide)]
    for points in groups[:3] if refuses_padding(rule, lambda r: r.accept(wide)) else groups:
        for row in range(0, N, 6):
            node = points[row : row + 1]
            steps = rule.steps(node, NAMES)
            kept, known = as_set(rule.accept(node)[0]), as_set(node.known_mask()[0])
            assert steps.reason
            assert (set(steps.picks[-1].memory) if steps.picks else known) == kept
            new = [pick.winner for pick in steps.picks if pick.kept]
            assert len(new) == len(set(new))
            assert set(new) == kept - known
            for pick in steps.picks:
                assert tuple(pick.figures) == steps.columns
                assert np.isfinite(list(pick.figures.values())).all()
                assert pick.scores.shape == (points.n_choices,)
                assert pick.penalties is None or pick.penalties.shape == (points.n_choices,)


# --- padding -----------------------------------------------------------------------------------


def check_padding_changes_no_decision(rule):
    nodes, _ = choice_points()
    rule = fitted(rule)
    for seed, points in enumerate((nodes, some_known(nodes), nodes[:7])):
        wide, columns = padded(points, seed)
        if refuses_padding(rule, lambda r, w=wide: r.accept(w)):
            return
        kept = rule.accept(wide)
        assert (kept[:, columns] == rule.accept(points)).all()
        assert not (kept & ~wide.available).any()


def check_padding_does_not_change_what_is_learned(rule):
    nodes, right = choice_points()
    wide, columns = padded(nodes)
    wide_right = np.zeros(wide.probabilities.shape, bool)
    wide_right[:, columns] = right
    if refuses_padding(clone(rule), lambda r: r.fit(wide, wide_right)):
        return
    for positive in (wide_right, sparse.csr_array(wide_right)):
        learned = clone(rule).fit(wide, positive)
        assert (learned.accept(wide)[:, columns] == fitted(rule).accept(nodes)).all()
        assert (learned.accept(nodes) == fitted(rule).accept(nodes)).all()


def check_choices_that_differ_from_point_to_point(rule):
    """As for candidates: each point has its own number of choices, some have none."""
    nodes, right = choice_points()
    length = np.random.default_rng(4).integers(0, V + 1, size=N)
    available = np.arange(V) < length[:, None]
    points = replace(
        nodes,
        probabilities=np.where(available, nodes.probabilities, 0),
        available=available,
        examples=Examples(sparse.csr_array(right & available), nodes.examples.weights),
    )
    if refuses_padding(clone(rule), lambda r: r.fit(points, right & available)):
        return
    rule = clone(rule).fit(points, right & available)
    kept = rule.accept(points)
    assert not (kept & ~available).any()
    wide, columns = padded(points)
    wide_right = np.zeros(wide.probabilities.shape, bool)
    wide_right[:, columns] = right & available
    assert (rule.accept(wide)[:, columns] == kept).all()
    assert (clone(rule).fit(wide, wide_right).accept(points) == kept).all()
    for row in range(0, N, 4):  # what a point of that many choices alone would get
        there = slice(length[row])
        sets = points.examples.sets
        possible = np.asarray(sets[:, length[row] :].sum(axis=1)).ravel() == 0
        weights = sparse.csr_array(points.examples.weights[[row]].toarray() * possible)
        alone = Nodes.roots(points.probabilities[[row], there], available=available[[row], there])
        alone = replace(alone, examples=Examples(sparse.csr_array(sets[:, there]), weights))
        if length[row]:
            assert (rule.accept(alone)[0] == kept[row, there]).all()


# --- sequences ---------------------------------------------------------------------------------


def check_sequences(rule):
    """It grows trees, or says before anything else that it works on labels only."""
    try:
        rule.check_parameters(n_positions=3)
    except ParameterError as error:
        assert "sequences" in str(error)  # noqa: PT017
        return
    scorer = TableScorer(4, 0)
    roots = scorer.start(40)
    rows = np.arange(40)
    deeper = scorer.advance(roots, rows, rows % 3 + 1)
    depth = np.concatenate([roots.nodes.depth, deeper.nodes.depth])
    both = [
        np.concatenate([getattr(roots.nodes, name), getattr(deeper.nodes, name)])
        for name in ("sample", "probabilities", "prefix_probability")
    ]
    nodes = Nodes(both[0], depth, both[1], prefix_probability=both[2])
    right = nodes.probabilities > 0.2
    right[:, 0] |= ~right.any(axis=1)
    rule = clone(rule).fit(nodes, right)
    grown = generate(scorer, rule, 5, Bounds(3, 64, 200))
    assert grown.sequences().as_sets(5) == (
        generate(scorer, rule, 5, Bounds(3, 64, 200)).sequences().as_sets(5)
    )
    known = [[[1]], [[2, 1], [1]], [], [[3]], [[1, 2, 3]]]
    trie = Trie.of(Sequences.of(known), 5)
    others = generate(scorer, rule, 5, Bounds(3, 64, 200), known=trie).sequences().as_sets(5)
    for sequences, given in zip(others, known, strict=True):
        assert not sequences & {tuple(sequence) for sequence in given}


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
