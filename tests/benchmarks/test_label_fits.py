"""The guide shows the figures of the stored results."""

import json
from pathlib import Path

from benchmarks.label_fits import RESULTS, table

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def test_the_guide_shows_the_stored_results():
    text = GUIDE.read_text(encoding="utf-8")
    shown = text.split("<!-- label fits -->")[1].split("<!-- end of label fits -->")[0]
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    stored = table(json.loads(RESULTS.read_text(encoding="utf-8"))["cells"])
    assert rows == [line for line in stored.splitlines() if line]
