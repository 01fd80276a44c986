"""Models that earlier versions wrote are read for ever, and answer as they did."""

import json

import pytest

import setlearn
from setlearn.persistence.manifest import FORMAT
from tests.persistence.make_golden import GOLDEN
from tests.persistence.small_models import CASES, quiet_answers

FOLDERS = sorted(GOLDEN.glob("format-*/*"))
MOST_BYTES = 90_000


def test_there_is_one_of_each_kind_and_format():
    found = {(folder.parent.name, folder.name) for folder in FOLDERS}
    assert found >= {(f"format-{n}", kind) for n in range(1, FORMAT + 1) for kind in CASES}


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda folder: f"{folder.parent.name} {folder.name}"
)
def test_an_old_model_answers_as_it_did(folder):
    truth = json.loads((folder / "answers.json").read_text())
    found = quiet_answers(setlearn.load(folder / "model"), CASES[folder.name]())
    found = json.loads(json.dumps(found))
    # What is told for people may be told better; the answers may not change.
    truth.pop("trace"), found.pop("trace")
    assert found == rounded(truth)
    assert sum(path.stat().st_size for path in folder.rglob("*.*")) < MOST_BYTES


def rounded(value):
    """Machines differ in the last digits."""
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-9)
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return (
        {name: rounded(part) for name, part in value.items()} if isinstance(value, dict) else value
    )
