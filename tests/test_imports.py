"""What an import brings along: torch only when a network is used."""

import subprocess
import sys

import pytest

FIT = """
from setlearn import SetClassifier
from setlearn.rules import Margin, Threshold, TopK
X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"a"}, {"a", "b"}, {"b"}, {"b"}]
for rule in (Margin(), Threshold("tuned"), TopK(1)):
    SetClassifier(rule=rule, cv=2).fit(X, Y).trace(X[0])
"""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import setlearn", {"torch", "sklearn.linear_model", "rapidfuzz", "rich"}),
        ("import setlearn.rules, setlearn.metrics, setlearn.datasets", {"torch", "rich"}),
        (FIT, {"torch"}),
    ],
    ids=["setlearn", "its parts", "a fit"],
)
def test_an_import_does_not_bring_along(code, absent):
    """Run in a process of its own, because here everything is loaded already."""
    asked = f"{code}\nimport sys\nprint(sorted({absent!r} & set(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
