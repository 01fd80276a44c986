"""Complete half-known label sets, with the learner and the rule chosen by grid search."""

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, train_test_split

from setlearn import SetClassifier
from setlearn.metrics import mean_precision, mean_recall
from setlearn.rules import Margin, Threshold

TAGS = np.array(["art", "city", "food", "law", "math", "music", "nature", "sea", "sport", "war"])


def half_of(labels, rng):
    """Every second label, from a random start, as if a user had entered them already."""
    labels = sorted(labels)
    return frozenset(labels[rng.integers(2) :: 2])


def main():
    X, Y = make_multilabel_classification(
        800, n_features=40, n_classes=len(TAGS), n_labels=4, random_state=0
    )
    sets = [frozenset(TAGS[row == 1].tolist()) for row in Y]
    X_train, X_test, train, test = train_test_split(X, sets, test_size=0.3, random_state=0)

    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(
        SetClassifier(LogisticRegression(max_iter=2000), cv=3, random_state=0, verbose=False),
        {
            "estimator__C": [0.01, 0.1],
            "rule": [Margin(), Margin(rho=0.3), Margin(space="log"), Threshold("tuned")],
        },
        cv=folds,
        n_jobs=2,
    ).fit(X_train, train)
    for score, params in zip(
        search.cv_results_["mean_test_score"], search.cv_results_["params"], strict=True
    ):
        print(f"cv mean F1 {score:.3f}   C={params['estimator__C']:<5} {params['rule']}")
    tagger = search.best_estimator_
    print(
        f"\nchosen: {tagger.rule_}\nmean F1 on the test samples: {tagger.score(X_test, test):.3f}"
    )

    rng = np.random.default_rng(0)
    known = [half_of(labels, rng) for labels in test]
    missing = [labels - given for labels, given in zip(test, known, strict=True)]
    others = tagger.complete(X_test, known)
    print("\nhalf of each set is known; complete() predicts the rest")
    print(f"precision of the added labels:   {mean_precision(missing, others):.3f}")
    print(f"recall of the missing labels:    {mean_recall(missing, others):.3f}")
    for given, added, left in list(zip(known, others, missing, strict=True))[:3]:
        print(f"  known {sorted(given)}  added {sorted(added)}  missing {sorted(left)}")


if __name__ == "__main__":
    main()
