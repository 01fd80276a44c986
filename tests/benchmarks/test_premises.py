"""The page on candidates shows the figures of the stored results."""

import json
from pathlib import Path

from benchmarks.premises import RESULTS, table

PAGE = Path(__file__).parents[2] / "docs" / "candidates.md"


def test_the_page_shows_the_stored_results():
    text = PAGE.read_text(encoding="utf-8")
    shown = text.split("<!-- premises -->")[1].split("<!-- end of premises -->")[0]
    assert shown.strip() == table(json.loads(RESULTS.read_text(encoding="utf-8"))).strip()
