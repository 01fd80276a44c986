"""Learn then test for the precision, one cut after the other: slow, and plainly right.

Losses are exact fractions. Only the p-values, which are transcendental, are floats.
"""

import math
from fractions import Fraction


def loss(kept, right):
    """The share of the kept choices that is wrong; of nothing, nothing is wrong."""
    return Fraction(len(kept - right), len(kept)) if kept else Fraction(0)


def p_value(losses, risk):
    """Hoeffding and Bentkus: the p-value of "the expected loss is above ``risk``"."""
    n = len(losses)
    mean = sum(losses, Fraction(0)) / n
    hoeffding = math.exp(-n * h1(min(float(mean), risk), risk))
    bentkus = math.e * binomial_cdf(math.ceil(n * mean), n, risk)
    return min(hoeffding, bentkus)


def h1(a, b):
    of_a = a * math.log(a / b) if a > 0 else 0.0
    return of_a + ((1 - a) * math.log((1 - a) / (1 - b)) if a < 1 else 0.0)


def binomial_cdf(k, n, p):
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1))


def lowest_cut(scores, right, precision, confidence):
    """Fixed-sequence testing from the highest score down; None if not even that one passes.

    ``scores`` has one list per sample, and ``right`` a set of places in it.
    """
    passed = None
    for cut in sorted({p for row in scores for p in row if p > 0}, reverse=True):
        kept = [{place for place, p in enumerate(row) if p >= cut} for row in scores]
        losses = [loss(*pair) for pair in zip(kept, right, strict=True)]
        if p_value(losses, 1 - precision) > (1 - confidence) * (1 + 1e-9):  # 1 - 0.9 < 0.1
            break
        passed = cut
    return passed
