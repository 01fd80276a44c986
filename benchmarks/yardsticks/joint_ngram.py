"""A joint n-gram model of input and output, as in Phonetisaurus and Sequitur G2P.

Pairs are aligned, so that each becomes a sequence of units: an input token with the output tokens
that it produces. An n-gram model with Kneser-Ney smoothing scores sequences of units, and a beam
search finds the most probable outputs of an input.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from benchmarks.sequence_data import Tokens
from benchmarks.yardsticks.alignment import Aligner
from benchmarks.yardsticks.cut import Cut, Ranking

START, STOP = 0, 1
ROOT = 0
MOST_HELD_OUT = 1000
SMALLEST = 1e-9
"""The least weight of units that no n-gram of small data leaves anything for."""


class KneserNey:
    """Interpolated Kneser-Ney n-gram model of sequences of unit ids.

    The n-grams form a trie: ``child_[node * n_units + unit]`` is the node of the n-gram of
    ``node``, continued by ``unit``. ``shorter_[node]`` is the node without the first unit.
    """

    def __init__(self, order: int) -> None:
        self.order = order

    def fit(self, sequences: list[list[int]], n_units: int) -> KneserNey:
        self.n_units = n_units
        self._build_trie(sequences)
        n_nodes = len(self.count)
        count, depth = np.array(self.count), np.array(self.depth)
        parent, shorter = np.array(self.parent), np.array(self.shorter_)
        # Below the highest order, what counts is how many different units stand before an n-gram.
        n_before = np.bincount(shorter[1:], minlength=n_nodes)
        starts_sequence = n_before == 0
        count = np.where((depth == self.order) | starts_sequence, count, n_before)
        count[self.start()] = 0  # nothing is followed by a start
        discounts = np.array([_discounts(count[depth == d]) for d in range(self.order + 1)])
        kept = np.maximum(count - discounts[depth, np.minimum(count, 3)], 0)
        total = np.bincount(parent[1:], count[1:], minlength=n_nodes)
        n_kept = np.bincount(parent[1:], kept[1:], minlength=n_nodes)
        self.share_ = (kept / np.maximum(total[parent], 1)).tolist()
        self.left_ = np.where(total > 0, 1 - n_kept / np.maximum(total, 1), 1.0).tolist()
        del self.count, self.depth, self.parent
        return self

    def _build_trie(self, sequences: list[list[int]]) -> None:
        self.child_: dict[int, int] = {}
        self.count, self.depth, self.parent, self.shorter_ = [0], [0], [ROOT], [ROOT]
        for sequence in sequences:
            nodes: list[int] = []  # of the n-grams that end here, longest first
            for unit in (START, *sequence, STOP):
                if len(nodes) == self.order:
                    nodes = nodes[1:]
                nodes = self._extended([*nodes, ROOT], unit)

    def _extended(self, nodes: list[int], unit: int) -> list[int]:
        """Count the n-grams of these nodes continued by a unit, and return their nodes."""
        longer, shorter = [], ROOT
        for node in reversed(nodes):  # the shortest first, which the next one refers to
            key = node * self.n_units + unit
            child = self.child_.get(key)
            if child is None:
                child = self.child_[key] = len(self.count)
                self.count.append(0)
                self.depth.append(self.depth[node] + 1)
                self.parent.append(node)
                self.shorter_.append(shorter)
            self.count[child] += 1
            longer.append(child)
            shorter = child
        return longer[::-1]

    def start(self) -> int:
        """Return the node of the start of a sequence."""
        return self.child_[ROOT * self.n_units + START]

    def probability(self, node: int, unit: int) -> float:
        """Return the probability that a unit follows the n-gram of a node."""
        weight, probability = 1.0, 0.0
        while True:
            child = self.child_.get(node * self.n_units + unit)
            if child is not None:
                probability += weight * self.share_[child]
            weight *= self.left_[node]
            if node == ROOT:
                return probability + max(weight, SMALLEST) / self.n_units
            node = self.shorter_[node]

    def following(self, node: int, unit: int) -> int:
        """Return the node of the longest known n-gram that ends with this unit."""
        while True:
            child = self.child_.get(node * self.n_units + unit)
            if child is not None:
                return child
            if node == ROOT:
                return ROOT
            node = self.shorter_[node]


def _discounts(counts: np.ndarray) -> np.ndarray:
    """Return what to subtract from counts of 0, 1, 2 and more, by Chen and Goodman's estimate."""
    seen = np.bincount(np.minimum(counts.astype(int), 5), minlength=5)[1:5]  # once to four times
    if (seen == 0).any():
        return np.array([0, 0.5, 0.75, 0.75])
    ratio = seen[0] / (seen[0] + 2 * seen[1])
    steps = np.arange(1, 4)
    return np.concatenate([[0], steps - (steps + 1) * ratio * seen[1:] / seen[:-1]]).clip(0)


class JointNgram:
    """Rank outputs by a joint n-gram model, and keep those above a tuned threshold.

    Parameters
    ----------
    order : int
        The n of the n-grams.
    beam : int
        Partial outputs that are kept at each input token.
    width : float
        Partial outputs are dropped that are less probable than the best by a factor of exp(width).
    held_out : float
        Share of the samples that the threshold is tuned on, before all are used to fit.
    random_state : int
    """

    def __init__(
        self,
        order: int = 8,
        beam: int = 30,
        width: float = 8.0,
        held_out: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.order = order
        self.beam = beam
        self.width = width
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> JointNgram:
        pairs = [(i, y) for i, elements in enumerate(Y) for y in sorted(elements)]
        chunks = Aligner().align([X[i] for i, _ in pairs], [y for _, y in pairs])
        units = [
            list(zip(X[i], parts, strict=True)) for (i, _), parts in zip(pairs, chunks, strict=True)
        ]
        order = np.random.RandomState(self.random_state).permutation(len(X))
        held_out = set(order[: min(int(len(X) * self.held_out), MOST_HELD_OUT)].tolist())
        self._fit_model([u for (i, _), u in zip(pairs, units, strict=True) if i not in held_out])
        tuned_on = sorted(held_out)
        self.cut_ = Cut().fit(self.rank([X[i] for i in tuned_on]), [Y[i] for i in tuned_on])
        self._fit_model(units)
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        return self.cut_.apply(self.rank(X))

    def top(self, X: list[Tokens]) -> list[Tokens]:
        return [ranking[0][0] for ranking in self.rank(X)]

    def rank(self, X: list[Tokens]) -> list[Ranking]:
        return [self._search(x) for x in X]

    def _fit_model(self, sequences: list[list[tuple[str, Tokens]]]) -> None:
        ids: dict[tuple[str, Tokens], int] = {}
        coded = [[ids.setdefault(u, len(ids) + 2) for u in sequence] for sequence in sequences]
        self.units_ = defaultdict(list)  # of each input token
        for (token, produced), unit in ids.items():
            self.units_[token].append((unit, produced))
        self.model_ = KneserNey(self.order).fit(coded, len(ids) + 2)

    def _search(self, x: Tokens) -> Ranking:
        """Return the outputs of the beam, with probabilities that add up to 1."""
        model = self.model_
        beam = {(model.start(), ()): 0.0}
        for token in x:
            if token not in self.units_:
                continue
            longer: dict[tuple[int, Tokens], float] = {}
            for (node, output), score in beam.items():
                for unit, produced in self.units_[token]:
                    new_score = score + math.log(model.probability(node, unit))
                    key = (model.following(node, unit), output + produced)
                    if new_score > longer.get(key, -math.inf):
                        longer[key] = new_score
            beam = self._pruned(longer)
        final = defaultdict(float)
        shift = max(beam.values())
        for (node, output), score in beam.items():
            final[output] += math.exp(score - shift) * model.probability(node, STOP)
        total = sum(final.values())
        return sorted(((y, p / total) for y, p in final.items()), key=lambda answer: -answer[1])

    def _pruned(self, beam: dict[tuple[int, Tokens], float]) -> dict[tuple[int, Tokens], float]:
        least = max(beam.values()) - self.width
        kept = sorted(
            (item for item in beam.items() if item[1] >= least), key=lambda item: -item[1]
        )
        return dict(kept[: self.beam])
