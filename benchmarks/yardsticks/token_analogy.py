"""Analogy of tokens: vote among training samples whose tokens play similar roles.

For "bird interacts_with" without a sample of its own, "fish interacts_with" is a good example if
birds and fish otherwise have similar sets, and are in similar sets themselves.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from benchmarks.sequence_data import Tokens
from benchmarks.yardsticks.cut import Cut, Ranking
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold

POWERS = (1, 2, 3, 4, 6)
FLOOR = 0.01
"""Similarity of tokens that have nothing in common."""


class TokenAnalogy:
    """Vote among all training samples, by the product of the similarities of their tokens.

    All inputs must have the same number of tokens. A power sharpens the votes; it and the
    threshold for elements are tuned by cross-validation.

    Parameters
    ----------
    random_state : int
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> TokenAnalogy:
        rankings: dict[int, list[Ranking]] = {power: [[] for _ in X] for power in POWERS}
        folds = KFold(5, shuffle=True, random_state=self.random_state)
        for learned, held_out in folds.split(X):
            self._learn([X[i] for i in learned], [Y[i] for i in learned])
            similarity = self._similarity([X[i] for i in held_out])
            for power in POWERS:
                for i, ranking in zip(held_out, self._votes(similarity**power), strict=True):
                    rankings[power][i] = ranking
        cuts = {power: Cut().fit(rankings[power], Y) for power in POWERS}
        self.power_ = max(cuts, key=lambda power: cuts[power].f1_)
        self.cut_ = cuts[self.power_]
        self._learn(X, Y)
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        return self.cut_.apply(self._votes(self._similarity(X) ** self.power_))

    def _learn(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> None:
        roles = defaultdict(list)
        for x, elements in zip(X, Y, strict=True):
            for token, role in _roles(x, elements):
                roles[token].append(role)
        self.X_ = X
        self.ids_ = {token: i for i, token in enumerate(sorted(roles))}
        profiles = TfidfVectorizer(analyzer=list).fit_transform(roles[token] for token in self.ids_)
        self.between_tokens_ = np.maximum((profiles @ profiles.T).toarray(), FLOOR)
        np.fill_diagonal(self.between_tokens_, 1)
        self.elements_ = sorted(frozenset().union(*Y))
        column = {element: i for i, element in enumerate(self.elements_)}
        rows = [(i, column[y]) for i, elements in enumerate(Y) for y in elements]
        shape = len(X), len(self.elements_)
        self.members_ = csr_array((np.ones(len(rows)), tuple(zip(*rows, strict=True))), shape)

    def _similarity(self, X: list[Tokens]) -> np.ndarray:
        """Return the similarity of each input to each training input."""
        similarity = np.ones((len(X), len(self.X_)))
        unknown = np.full((1, len(self.ids_)), FLOOR)
        between = np.concatenate([self.between_tokens_, unknown])  # the last row is for new tokens
        for k in range(len(self.X_[0])):
            rows = [self.ids_.get(x[k], -1) for x in X]
            similarity *= between[np.ix_(rows, [self.ids_[x[k]] for x in self.X_])]
        return similarity

    def _votes(self, weights: np.ndarray) -> list[Ranking]:
        """Return the elements of the training sets, each with its share of the weights."""
        shares = weights / weights.sum(axis=1, keepdims=True) @ self.members_
        order = np.argsort(-shares, axis=1, kind="stable")
        return [
            [(self.elements_[j], row[j]) for j in best if row[j] > 0]
            for row, best in zip(shares, order, strict=True)
        ]


def _roles(x: Tokens, elements: frozenset[Tokens]) -> list[tuple[str, str]]:
    """Return what a sample says about each of its tokens: pairs of a token and its role."""
    roles = []
    for k, token in enumerate(x):
        rest = " ".join((*x[:k], "_", *x[k + 1 :]))
        roles.append((token, rest))
        for y in elements:
            roles += [(token, f"{k} → {' '.join(y)}"), (token, f"{rest} → {' '.join(y)}")]
    for y in elements:
        for token in y:
            roles.append((token, f"{' '.join(x)} → _"))
            roles += [(token, f"{k} {other} → _") for k, other in enumerate(x)]
    return roles
