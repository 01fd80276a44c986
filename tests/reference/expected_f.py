"""Expected F by its definition, over all true sets and all answers: slow, and plainly right."""

import itertools
import math


def f_measure(answer, truth, beta):
    """F of an answer; two empty sets agree."""
    if not answer and not truth:
        return 1.0
    shared = len(answer & truth)
    return (1 + beta**2) * shared / (beta**2 * len(truth) + len(answer))


def all_sets(n_choices):
    for size in range(n_choices + 1):
        for members in itertools.combinations(range(n_choices), size):
            yield frozenset(members)


def independent(p):
    """The distribution of the true set where each choice has its own probability."""
    return {
        truth: math.prod(p[i] if i in truth else 1 - p[i] for i in range(len(p)))
        for truth in all_sets(len(p))
    }


def weighted(sets, weights, p, known=frozenset()):
    """The distribution over training sets: weight times likelihood; None where none is possible.

    ``p`` must not be so near to 0 or 1 that clipping matters.
    """
    distribution = {}
    for members, weight in zip(sets, weights, strict=True):
        if known <= members:
            likelihood = math.prod(p[i] if i in members else 1 - p[i] for i in range(len(p)))
            distribution[members] = distribution.get(members, 0.0) + weight * likelihood
    total = sum(distribution.values())
    return {truth: w / total for truth, w in distribution.items()} if total > 0 else None


def expected_f(answer, distribution, beta):
    return sum(chance * f_measure(answer, truth, beta) for truth, chance in distribution.items())


def best(n_choices, distribution, beta, known=frozenset()):
    """The highest expected F of all answers that hold what is known."""
    return max(
        expected_f(answer, distribution, beta) for answer in all_sets(n_choices) if known <= answer
    )
