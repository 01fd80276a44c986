"""Models whose parts are not what they should be, or that tell of themselves what is not so."""

import json
import os
import subprocess
import sys

import pytest

import setlearn
from setlearn.errors import ModelError
from setlearn.learners.similarity import Cosine
from setlearn.persistence import read_model
from setlearn.persistence.classes import place_of
from setlearn.persistence.manifest import MANIFEST_NAME
from tests.persistence.small_models import CASES, saved_files, with_matching_manifest, written

OTHER = place_of(Cosine())
PLACES = {
    "labels": ["rule_", "space_", "scorer_", "completion_"],
    "records": ["reader", "targets", "model"],
    "sequences": ["rule_", "scorer_", "learned_bounds_"],
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    return {name: saved_files(case().fit(), folder / name) for name, case in CASES.items()}


def with_config(files, edit):
    config = json.loads(files["config.json"])
    edit(config)
    return with_matching_manifest({**files, "config.json": json.dumps(config).encode()})


@pytest.mark.parametrize("value", [5, "text", {"!object": OTHER}, [], {"!tuple": []}])
@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, places in PLACES.items() for place in places]
)
def test_parts_of_another_kind(name, place, value, saved, tmp_path):
    files = with_config(saved[name], lambda config: config["model"].update({place: value}))
    # A network is built from other parts, and says first that it does not fit them.
    message = "." if name == "sequences" else rf"has a \w+ as {place}, where only .* belongs"
    with pytest.raises(ModelError, match=message):
        setlearn.load(written(files, tmp_path / "model"))


@pytest.mark.parametrize("name", CASES)
def test_facts_are_those_of_the_model(name, saved, tmp_path):
    """Older models tell them in the file, and a file can lie."""
    honest = read_model(written(saved[name], tmp_path / "honest")).facts
    files = with_config(saved[name], lambda config: config.update(facts={"estimator": "None"}))
    assert read_model(written(files, tmp_path / "model")).facts == honest
    assert honest["estimator"] in ("SetClassifier", "SequenceSetGenerator")
    assert "facts" not in json.loads(saved[name]["config.json"])


TOO_LARGE = """
import resource, sys
import setlearn
from setlearn.errors import ModelError
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    setlearn.load(sys.argv[1])
except ModelError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="memory can be limited on POSIX systems alone")
def test_a_file_that_is_larger_than_the_memory(saved, tmp_path):
    """A file without content on the disk: its size is all it has."""
    folder = written(saved["labels"], tmp_path / "model")
    size = 8 << 30
    os.truncate(folder / "config.json", size)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    manifest["files"]["config.json"]["size"] = size
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest))
    output = subprocess.run(
        [sys.executable, "-c", TOO_LARGE, folder], capture_output=True, text=True, check=True
    ).stdout
    assert "does not fit in memory" in output
