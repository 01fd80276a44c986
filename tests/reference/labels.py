"""Algorithms 1 and 2 of the paper, written to be compared with the page, not to be fast.

Readings (docs/paper.md): f = -P, so "argmin f + λ·I" is "argmax P - λ·I"; Z starts empty or as
the known elements for each sample; a tie goes to the element that is in Z already.
"""

import numpy as np


def best(P, penalty, Z):
    """argmin over y of f(x, y) + penalty(y), i.e. argmax of P(y) - penalty(y)."""
    value = [P[y] - penalty[y] for y in range(len(P))]
    top = max(value)
    tied = [y for y in range(len(P)) if value[y] == top]
    stored = [y for y in tied if y in Z]
    return stored[0] if stored else tied[0]


def algorithm_1(P, lam, known=()):
    """Algorithm 1, one sample: pick, store, penalise, until the pick is in Z."""
    Z = set(known)
    y = best(P, [lam * (k in Z) for k in range(len(P))], Z)
    while y not in Z:
        Z = Z | {y}
        y = best(P, [lam * (k in Z) for k in range(len(P))], Z)
    return Z


def algorithm_1_robust(P, lam, rho, known=()):
    """Algorithm 1 with counters C: stop when the repeats exceed ρ·|Z|."""
    Z = set(known)
    C = [int(k in Z) for k in range(len(P))]
    while True:
        y = best(P, [C[k] * lam for k in range(len(P))], Z)
        Z = Z | {y}
        C[y] += 1
        repeats = sum(C) - len(Z)
        if repeats > rho * len(Z):
            return Z


def margin_terms(P, positive):
    """P_i, L⁺_min, L⁻_max for each sample that has right and wrong elements."""
    for p, mask in zip(P, positive, strict=True):
        if mask.any():
            yield max(p), min(p[mask]), max(p[~mask]) if (~mask).any() else None


def printed_objective(lam, P, positive):
    """Σ (P_i - P̂_i - λ)², P̂_i the middle between L⁺_min and L⁻_max."""
    return sum(
        (top - (right + wrong) / 2 - lam) ** 2
        for top, right, wrong in margin_terms(P, positive)
        if wrong is not None
    )


def violations(lam, P, positive):
    """By how much the two families of constraints are violated in all."""
    total = 0.0
    for top, right, wrong in margin_terms(P, positive):
        total += max(0.0, (top - lam) - right)
        if wrong is not None:
            total += max(0.0, wrong - (top - lam))
    return total


def brute_force_lambda(P, positive, multiplier, grid=20001):
    """The least feasible objective on a fine grid or, if no point is feasible, penalised."""
    candidates = np.linspace(0, 1, grid)
    feasible = [lam for lam in candidates if violations(lam, P, positive) <= 1e-12]
    if feasible:
        return min(feasible, key=lambda lam: printed_objective(lam, P, positive)), True
    return min(
        candidates,
        key=lambda lam: (
            printed_objective(lam, P, positive) + multiplier * violations(lam, P, positive)
        ),
    ), False
