"""The README's way from a file to predictions, run as it is written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = "## From a file to predictions, without Python"


def test_three_commands_from_texts_with_tags_to_predictions(tmp_path):
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(SECTION)[1]
    commands = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
    shown = re.search(r"```text\n(.*?)```", section, re.DOTALL)[1]
    assert len(commands.splitlines()) == 3
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    answer = subprocess.run(
        ["sh", "-ec", commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.endswith(shown)
    assert "title: text (by TF-IDF of words and their parts)" in answer.stderr
    assert "mean F1" in answer.stdout
