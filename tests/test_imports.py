"""What an import brings along: torch only when a network is used."""

import subprocess
import sys

import pytest

PARTS = """
import setlearn.rules, setlearn.metrics, setlearn.datasets
from setlearn.rules import LambdaCNN, LambdaRNN, LambdaSet
LambdaCNN(), LambdaRNN(), LambdaSet()
"""

FIT = """
from setlearn import SetClassifier
from setlearn.rules import Margin, Threshold, TopK
X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"a"}, {"a", "b"}, {"b"}, {"b"}]
for rule in (Margin(), Threshold("tuned"), TopK(1)):
    SetClassifier(rule=rule, cv=2).fit(X, Y).trace(X[0])
"""

PASSED_SCORER = """
import numpy as np
from setlearn import SequenceSetGenerator
from setlearn.nodes import Nodes, Step
class Ends:
    def fit(self, X, trie):
        self.fitted_ = True
    def start(self, X):
        return Step(Nodes.roots(np.tile([0.0, 1.0], (len(X), 1))))
    def advance(self, step, parent, token):
        nodes = step.nodes
        ends = np.tile([1.0, 0.0], (len(parent), 1))
        return Step(Nodes(nodes.sample[parent], nodes.depth[parent] + 1, ends))
model = SequenceSetGenerator(Ends()).fit(["x"] * 50, [{"a"}] * 50)
assert model.predict(["x"]) == [{"a"}]
"""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import setlearn", {"torch", "sklearn.linear_model", "rapidfuzz", "rich"}),
        (PARTS, {"torch", "rich"}),
        (FIT, {"torch"}),
        (PASSED_SCORER, {"torch"}),
    ],
    ids=["setlearn", "its parts", "a fit", "a scorer that was passed"],
)
def test_an_import_does_not_bring_along(code, absent):
    """Run in a process of its own, because here everything is loaded already."""
    asked = f"{code}\nimport sys\nprint(sorted({absent!r} & set(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
