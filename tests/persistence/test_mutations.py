"""Damaged models are refused or the very same; forged ones bring no process down."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import setlearn
from setlearn.errors import SetlearnError
from setlearn.persistence.manifest import MANIFEST_NAME
from tests.persistence.forgery_cases import forgery_cases
from tests.persistence.mutations import damaged_files, seeded
from tests.persistence.small_models import CASES, quiet_answers, saved_files, written

THOROUGHNESS = int(os.environ.get("SETLEARN_FUZZ_THOROUGHNESS", "1"))
N_MUTATIONS = 1500 * THOROUGHNESS  # of each of three models
N_FORGERIES = 100 * THOROUGHNESS  # of each of fifteen


@pytest.mark.parametrize("kind", CASES)
def test_a_damaged_model_is_refused_or_the_same(kind, tmp_path):
    case = CASES[kind]()
    whole = saved_files(case.fit(), tmp_path / "whole")
    truth = quiet_answers(setlearn.load(tmp_path / "whole"), case)
    folder, accepted = tmp_path / "damaged", 0
    for number in range(N_MUTATIONS):
        files = damaged_files(whole, seeded(number))
        shutil.rmtree(folder, ignore_errors=True)
        try:
            model = setlearn.load(written(files, folder))
        except SetlearnError:
            continue
        accepted += 1
        # All that was believed is as it was saved; asking takes long, so not all are asked.
        assert without_manifest(files) == without_manifest(whole)
        if accepted % 10 == 1:
            assert quiet_answers(model, case) == truth
    assert 0 < accepted < N_MUTATIONS / 4  # such as versions in the manifest that are others


def without_manifest(files):
    return {name: content for name, content in files.items() if name != MANIFEST_NAME}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux tells it")
def test_no_forged_model_brings_the_process_down(tmp_path):
    """Files that someone changed who also wrote a manifest to match."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, case in forgery_cases().items():
            setlearn.save(case.fit(), tmp_path / name)
    process = subprocess.run(
        [sys.executable, "-m", "tests.persistence.forgery_process", tmp_path, str(N_FORGERIES)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
    )
    last = (tmp_path / "last.txt").read_text()
    assert process.returncode == 0, f"{last}: {process.returncode} {process.stderr[-2000:]}"
    end = json.loads((tmp_path / "end.json").read_text())
    assert end["kilobytes"] < 1 << 20
    assert 0 < end["loaded"] < len(forgery_cases()) * N_FORGERIES / 2
