"""Write your own rule: keep the choices above the largest drop in the sorted scores."""

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold, cross_val_score

from setlearn import SetClassifier
from setlearn.rules import Margin, Rule, Threshold


class LargestDrop(Rule):
    """Sort the scores and cut at the largest drop, after at most ``most`` choices."""

    def __init__(self, most=6):
        self.most = most

    @property
    def needs_fit(self):
        """False, so the classifier needs no folds."""
        return False

    def fit(self, nodes, positive):
        """Do nothing: this rule has nothing to learn."""
        return self

    def accept(self, nodes):
        """Keep the choices above the largest drop, and known ones."""
        falling = -np.sort(-nodes.probabilities, axis=1)  # (n, V)
        drops = falling[:, :-1] - falling[:, 1:]
        last = drops[:, : self.most].argmax(axis=1)  # the position of the last choice to keep
        kept = nodes.probabilities >= falling[np.arange(len(nodes)), last][:, None]
        return nodes.completed(kept)


def main():
    X, Y = make_multilabel_classification(
        600, n_features=30, n_classes=8, n_labels=3, allow_unlabeled=False, random_state=0
    )
    folds = KFold(3, shuffle=True, random_state=0)
    for rule in [LargestDrop(), Margin(), Threshold(0.5)]:
        classifier = SetClassifier(rule=rule, random_state=0, verbose=False)
        scores = cross_val_score(classifier, X, Y, cv=folds)
        print(f"{rule!s:<14} mean F1 {scores.mean():.3f} ± {scores.std():.3f}")
    print()
    print(SetClassifier(rule=LargestDrop(), random_state=0, verbose=False).fit(X, Y).trace(X[0]))


if __name__ == "__main__":
    main()
