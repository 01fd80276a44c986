"""The README's table is that of the committed run, to the letter."""

import json
from pathlib import Path

from setlearn.experiments.report import readme_table

ROOT = Path(__file__).parents[1]


def test_the_results_table_is_made_from_the_committed_results():
    results = json.loads((ROOT / "docs/reproduction/results.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- results -->\n")[1].split("\n<!-- end of results -->")[0]
    assert shown.strip() == readme_table(results).strip()
    splits = {table["name"]: table["splits"] for table in results["tables"]}
    assert splits.pop("parts") == 3
    assert set(splits.values()) == {10}
