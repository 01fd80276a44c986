"""Learning operations: by which edits, or constants, training elements are best explained.

One element can be explained in many ways. Those that explain many other elements too are right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from setlearn.scorers.edit_operations import (
    FINISH,
    FROM_LEFT,
    FROM_RIGHT,
    INPUT_END,
    INPUT_START,
    START,
    Add,
    Anchor,
    Copy,
    Layout,
    Numbers,
    Operation,
    Span,
)

__all__ = ["learn_operations"]

REACH = 12
"""The largest distance between a position and the place that it is counted from."""

MOST_SEPARATORS = 4
MOST_OCCURRENCES = 2

SEPARATOR_SHARE = 0.5
"""The share of inputs that have a separator, at least."""

CLEAR_SHARE = 0.2
"""A position that so many elements share is named by it, even if it is not counted from the
places that positions are usually counted from."""

USUAL_SHARE = 0.5
"""The share of elements whose copied part begins (or ends) at one place, for it to be the place
where the stem begins (or ends)."""

MOST_CELLS = 250_000
"""Pairs of tokens compared for one element; for longer ones only constants are found."""

LEARNED_FROM = 2000
"""Samples from which the layout of inputs is learned."""

COUNTED_FROM = 10_000
"""Samples among which it is counted how many elements each operation explains."""

N_WAYS = 4
"""Ways of naming the positions of an operation; `_Anchors.ways` lists them."""

MOST_PER_ELEMENT = 3
"""Operations kept for an element, besides the constant."""

Structure: TypeAlias = list[Add | Span]
Variants: TypeAlias = dict[int, Operation]
"""The operations of a structure, by the way in which their positions are named."""

Explanations: TypeAlias = tuple[list[Variants], ...]


def learn_operations(
    X: Sequence[Numbers], Y: Sequence[Collection[Numbers]], separators: Collection[int] | None
) -> tuple[Layout, list[list[Operation]]]:
    """Explain the elements of training sets by operations, those that explain many preferred.

    Parameters
    ----------
    X : sequence of Numbers
        The inputs.
    Y : sequence of collections of Numbers
        The set of each input.
    separators : collection of int, optional
        Which numbers may separate the parts of an input; by default all may.

    Returns
    -------
    layout : Layout
    operations : list of list of Operation
        All that explain some element of each sample; the empty operation for an empty set.
    """
    step = -(-len(X) // LEARNED_FROM)
    anchors = _Anchors(X[::step], Y[::step], separators)
    # All explanations are kept for a part of large data only.
    step = -(-len(X) // COUNTED_FROM)
    counted = {k: anchors.explanations(X[k], Y[k]) for k in range(0, len(X), step)}
    support: Counter[Operation] = Counter()
    for sample in counted.values():
        found = (variants for parts in sample for part in parts for variants in part)
        support.update({operation for variants in found for operation in variants.values()})
    # A way of naming positions is preferred if its operations often recur.
    recurs: Counter[int] = Counter()
    for sample in counted.values():
        for variants in (variants for near, _ in sample for variants in near):
            recurs.update(way for way, operation in variants.items() if support[operation] > 1)

    def best(variants: Variants) -> Operation:
        def value(variant: tuple[int, Operation]) -> tuple[int, ...]:
            way, operation = variant
            return support[operation], -_distance(operation), recurs[way], -way

        return max(variants.items(), key=value)[1]

    constants: Counter[Operation] = Counter((Add(y),) for elements in Y for y in elements)
    chosen = []
    for k, (x, elements) in enumerate(zip(X, Y, strict=True)):
        sample = counted.pop(k) if k in counted else anchors.explanations(x, elements)
        for near, far in sample:
            usual = [best(variants) for variants in near if variants]
            # Copies that may be there by chance must explain more than the simplest operation.
            least = support[usual[0]] if usual else 0
            is_far = {o: False for o in usual if support[o] >= least}
            is_far |= {o: True for o in (best(v) for v in far if v) if support[o] > least}
            order = sorted(is_far, key=lambda o: (-support[o], len(o), o))[:MOST_PER_ELEMENT]
            chosen.append([(o, usual[0] if usual and is_far[o] else None) for o in order])
    # And more of those elements that other operations do not explain better.
    explains = Counter(operation for element in chosen for operation, _ in element)
    labels, remaining = [], iter(chosen)
    for elements in Y:
        operations: dict[Operation, None] = {} if elements else {(): None}
        for y in sorted(elements):
            kept = [o for o, rival in next(remaining) if not rival or explains[o] > explains[rival]]
            if constants[(Add(y),)] > 1 or not kept:
                kept.append((Add(y),))
            operations.update(dict.fromkeys(kept))
        labels.append(list(operations))
    return anchors.layout, labels


class _Anchors:
    """Learns how positions in inputs are best counted."""

    def __init__(
        self,
        X: Sequence[Numbers],
        Y: Sequence[Collection[Numbers]],
        separators: Collection[int] | None,
    ) -> None:
        frequency = Counter(token for x in X for token in set(x))
        self.separators = [
            token
            for token, count in sorted(frequency.items(), key=lambda item: (-item[1], item[0]))
            if len(X) > 1
            and count >= SEPARATOR_SHARE * len(X)
            and (separators is None or token in separators)
        ][:MOST_SEPARATORS]
        support: tuple[Counter[Anchor], Counter[Anchor]] = (Counter(), Counter())
        total = 0
        for x, elements in zip(X, Y, strict=True):
            for y in elements:
                length, places = _longest_match(x, y)
                total += 1
                for side in (0, 1):
                    ends = {a + side * length for a, _ in places}
                    support[side].update({n for end in ends for n in self.names(end, x)})
        self.share = tuple({n: c / max(total, 1) for n, c in part.items()} for part in support)
        self.concentration = tuple(_concentration(share) for share in self.share)
        self.layout = Layout(self._usual(0, INPUT_START), self._usual(1, INPUT_END))

    def names(self, position: int, x: Numbers) -> Iterator[Anchor]:
        """All anchors that name a position of an input."""
        yield from _near(START, 0, 0, position)
        yield from _near(FINISH, 0, 0, position - len(x))
        for token in self.separators:
            places = [i for i, other in enumerate(x) if other == token]
            for nth, place in enumerate(places[:MOST_OCCURRENCES]):
                yield from _near(FROM_LEFT, token, nth, position - place)
            for nth, place in enumerate(places[: -MOST_OCCURRENCES - 1 : -1]):
                yield from _near(FROM_RIGHT, token, nth, position - place)

    def _usual(self, side: int, default: Anchor) -> Anchor:
        """The anchor at which most copied parts begin or end, if there is a clear one."""
        share = self.share[side]
        best = max(share, key=lambda n: (share[n], self._rank(side, n)), default=default)
        return best if share.get(best, 0) >= USUAL_SHARE else default

    def _rank(self, side: int, anchor: Anchor) -> tuple[float, ...]:
        """Of anchors with equal support, the most general one."""
        own = (START, FINISH)[side]
        at_the_edge = anchor.base == own and anchor.offset == 0
        order = (at_the_edge, anchor.base in (FROM_LEFT, FROM_RIGHT), anchor.base == own)
        return (*map(float, order), -anchor.token, -anchor.nth, -anchor.base, anchor.offset)

    def ways(self, position: int, side: int, x: Numbers) -> list[Anchor | None]:
        """Names of a position at which a copied part begins or ends, one for each way of naming.

        In the way that most elements have in common; counted from where the stem begins; from where
        it ends; and from the nearest edge of the input or of a separator.
        """
        share, concentration = self.share[side], self.concentration[side]

        def value(anchor: Anchor) -> tuple[float, ...]:
            support, usual = share.get(anchor, 0.0), concentration.get(anchor[:3], 0.0)
            clear = support * usual if support >= CLEAR_SHARE and usual >= 0.5 else 0.0
            return (clear, round(usual, 3), *self._rank(side, anchor))

        names = sorted(self.names(position, x), key=value, reverse=True)
        common = names[0] if names else None
        begin, end = self.layout.stem(x)
        return [
            common,
            common if position == end else self._counted(self.layout.left, begin, position, x),
            common if position == begin else self._counted(self.layout.right, end, position, x),
            min(names, key=lambda name: name.distance, default=None),
        ]

    def structures(self, x: Numbers, y: Numbers) -> tuple[list[Structure], list[Structure]]:
        """Ways to compose an element of copied and added parts, around the longest copied one.

        The simplest one comes first. The second list holds those with parts copied from anywhere.
        """
        length, places = _longest_match(x, y)
        if not length:
            return [], []

        def support(place: Span) -> float:
            ends = (self.ways(place[0] + side * length, side, x)[0] for side in (0, 1))
            return sum(self.share[side].get(n, 0) for side, n in enumerate(ends) if n)

        a, c = max(places, key=support)
        b, d = a + length, c + length
        main: Structure = [(a, b)]
        before = [_added(y[:c]), *_inner(x, y, (0, a), (0, c), last=True)]
        after = [_added(y[d:]), *_inner(x, y, (b, len(x)), (d, len(y)), last=False)]
        for n in sorted({1, 2, length}):  # tokens that are there twice
            if n <= min(length, c) and y[c - n : c] == x[a : a + n]:
                before.append([*_added(y[: c - n]), (a, a + n)])
            if n <= length and y[d : d + n] == x[b - n : b]:
                after.append([(b - n, b), *_added(y[d + n :])])
        found = [left + main + right for left in before for right in after]
        far_left, far_right = _all_copied(x, y[:c]), _all_copied(x, y[d:])
        far = [far_left + main + right for right in (*after, far_right)]
        far += [left + main + far_right for left in before]
        return found, [structure for structure in far if structure not in found]

    def explanations(self, x: Numbers, elements: Collection[Numbers]) -> list[Explanations]:
        """For each element in order, the operations of `structures`: near ones, and far ones."""
        names = cache(lambda position, side: self.ways(position, side, x))
        return [
            tuple([_variants(s, names) for s in part] for part in self.structures(x, y))
            for y in sorted(elements)
        ]

    def _counted(self, anchor: Anchor, place: int, position: int, x: Numbers) -> Anchor | None:
        if abs(position - place) > REACH or anchor.position(x) != place:
            return None
        return anchor.shifted(position - place)


def _variants(structure: Structure, names: Callable[[int, int], list[Anchor | None]]) -> Variants:
    """The operations of a structure, one for each way in which all of its positions have a name."""
    variants: Variants = {}
    for way in range(N_WAYS):
        parts: list[Add | Copy] = []
        for part in structure:
            if isinstance(part, Add):
                parts.append(part)
                continue
            first, last = (names(position, side)[way] for side, position in enumerate(part))
            if first is not None and last is not None:
                parts.append(Copy(first, last))
        if len(parts) == len(structure):
            variants[way] = tuple(parts)
    return variants


def _distance(operation: Operation) -> int:
    """How far the positions of an operation are from the places that they are counted from."""
    copies = (part for part in operation if isinstance(part, Copy))
    return sum(anchor.distance for copy in copies for anchor in copy)


def _near(base: int, token: int, nth: int, offset: int) -> Iterator[Anchor]:
    if -REACH <= offset <= REACH:
        yield Anchor(base, token, nth, offset)


def _concentration(share: dict[Anchor, float]) -> dict[tuple[int, int, int], float]:
    """For each place to count from, how much positions agree; 1 for the best place."""
    agreement: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    for anchor, part in share.items():
        agreement[anchor[:3]] += part**2
    best = max(agreement.values(), default=1.0)
    return {base: value / best for base, value in agreement.items()}


def _longest_match(
    x: Numbers, y: Numbers, of_x: Span | None = None, of_y: Span | None = None
) -> tuple[int, list[Span]]:
    """The length of the longest common part, and where it begins in both; four places at most."""
    (x_begin, x_end), (y_begin, y_end) = of_x or (0, len(x)), of_y or (0, len(y))
    if (x_end - x_begin) * (y_end - y_begin) > MOST_CELLS:
        return 0, []
    where: defaultdict[int, list[int]] = defaultdict(list)
    for j in range(y_begin, y_end):
        where[y[j]].append(j)
    longest = 0
    places: list[Span] = []
    above: dict[int, int] = {}
    for i in range(x_begin, x_end):
        here: dict[int, int] = {}
        for j in where.get(x[i], ()):
            length = here[j] = above.get(j - 1, 0) + 1
            if length > longest:
                longest, places = length, []
            if length == longest:
                places.append((i - length + 1, j - length + 1))
        above = here
    return longest, places[:4]


def _inner(x: Numbers, y: Numbers, of_x: Span, of_y: Span, *, last: bool) -> list[Structure]:
    """A further copied part beside the main one; the last or the first of the longest ones."""
    length, places = _longest_match(x, y, of_x, of_y)
    if not length:
        return []
    a, c = places[-1 if last else 0]
    return [[*_added(y[of_y[0] : c]), (a, a + length), *_added(y[c + length : of_y[1]])]]


def _all_copied(x: Numbers, y: Numbers, depth: int = 2) -> Structure:
    """Everything copied that can be, wherever it stands in the input."""
    length, places = _longest_match(x, y) if depth else (0, [])
    if not length:
        return _added(y)
    a, c = places[0]
    return [
        *_all_copied(x, y[:c], depth - 1),
        (a, a + length),
        *_all_copied(x, y[c + length :], depth - 1),
    ]


def _added(tokens: Numbers) -> Structure:
    return [Add(tokens)] if tokens else []
