"""The library's own classifier of label sets, on one-hot inputs, with whole elements as labels."""

from __future__ import annotations

from benchmarks.sequence_data import Tokens
from sklearn.preprocessing import MultiLabelBinarizer

from setlearn import SetClassifier


class OneHotClassifier:
    """``SetClassifier()`` on which tokens an input has. It cannot predict unseen elements.

    Parameters
    ----------
    random_state : int
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> OneHotClassifier:
        known = {token for x in X for token in x}
        self.tokens_ = MultiLabelBinarizer(classes=sorted(known))
        self.elements_ = {"\n".join(y): y for elements in Y for y in elements}
        labels = [frozenset("\n".join(y) for y in elements) for elements in Y]
        self.classifier_ = SetClassifier(random_state=self.random_state, verbose=False)
        self.classifier_.fit(self.tokens_.fit_transform(X), labels)
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        known = set(self.tokens_.classes_)
        features = self.tokens_.transform([[token for token in x if token in known] for x in X])
        return [
            frozenset(self.elements_[label] for label in labels)
            for labels in self.classifier_.predict(features)
        ]
