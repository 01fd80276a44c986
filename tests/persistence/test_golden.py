"""Models that earlier versions wrote can be read for ever, and answer as they did."""

import json

import pytest

import setlearn
from setlearn.persistence.manifest import FORMAT
from tests.persistence.make_golden import GOLDEN, read_case
from tests.persistence.small_models import CASES, quiet_answers

FOLDERS = sorted(GOLDEN.glob("format-*/*"))
MAX_BYTES = 100_000


def test_there_is_one_of_each_kind_and_format():
    golden = {(folder.parent.name, folder.name) for folder in FOLDERS}
    assert golden >= {(f"format-{n}", kind) for n in range(1, FORMAT + 1) for kind in CASES}


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda folder: f"{folder.parent.name} {folder.name}"
)
def test_an_old_model_answers_as_it_did(folder):
    truth = json.loads((folder / "answers.json").read_text())
    answers = quiet_answers(setlearn.load(folder / "model"), read_case(folder))
    answers = json.loads(json.dumps(answers))
    # Texts for people may get better; the answers may not change.
    truth.pop("trace"), answers.pop("trace")
    assert answers == rounded(truth)
    assert sum(path.stat().st_size for path in folder.rglob("*.*")) < MAX_BYTES


def rounded(value):
    """Machines differ in the last digits."""
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-9)
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return (
        {name: rounded(part) for name, part in value.items()} if isinstance(value, dict) else value
    )
