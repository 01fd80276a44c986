"""The report of a tiny real run: figures, verdicts, and a page that needs nothing else."""

import importlib.util
import json
import re
import socket
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from setlearn.experiments.report import plots, readme_table, tables_as_text, write_report
from setlearn.experiments.report.pages import figure as figure_text
from setlearn.experiments.report.pages import html_report, paper_figure
from setlearn.experiments.summary import verdict
from setlearn.experiments.table import MEAN_F1
from tests.experiments.tiny import LABELS

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="draws plots"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, results):
    folder = tmp_path_factory.mktemp("report")
    write_report(results, folder)
    return folder


class Page(HTMLParser):
    """Collects what a browser would load, and checks that elements nest."""

    VOID = ("meta", "br", "path", "use")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.loaded = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.loaded += [
            v for k, v in attributes if k in ("src", "href", "xlink:href") and v and v[0] != "#"
        ]

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


class TestResults:
    def test_means_and_standard_errors_over_splits(self, results, tiny_run):
        values = [
            outcome.results["answers"]["LSTM encoder–decoder · Margin"]["metrics"]["mean_f1"]
            for outcome in tiny_run[2][:2]
        ]
        [row] = [row for row in results["tables"][0]["rows"] if row["name"] == "SSG-S"]
        figure = row["figures"]["mean_f1"]
        assert figure["mean"] == pytest.approx(np.mean(values))
        assert figure["error"] == pytest.approx(abs(values[0] - values[1]) / 2)
        assert figure["n"] == 2

    def test_a_perfect_answer_is_perfect(self, results):
        [row] = [r for r in results["tables"][1]["rows"] if r["name"] == "a perfect answer"]
        assert row["figures"]["mean_f1"]["mean"] == 1
        assert row["figures"]["matched_edit_distance"]["mean"] == 0
        assert row["figures"]["mean_edit_distance"]["mean"] > 1

    def test_every_system_and_yardstick_has_a_row(self, results, tables):
        for table, summary in zip(tables[:2], results["tables"], strict=False):
            names = [row["name"] for row in summary["rows"]]
            assert names == [system.name for system in table.systems] + list(table.yardsticks)
            compared = [comparison["scorer"] for comparison in summary["side_by_side"]]
            assert compared == list(table.compared)

    def test_the_curve_grows_with_the_samples(self, results):
        points = results["tables"][1]["curve"]["points"]
        assert [point["n_train"] for point in points] == [21, 42]

    def test_a_table_without_data_says_why(self, results):
        [failure] = results["tables"][2]["failures"]
        assert failure == "one split 0 and 1 more: there is no such data"
        assert results["tables"][2]["rows"] == []

    def test_no_trace_of_this_machine(self, folder):
        for path in folder.iterdir():
            text = path.read_text()
            for secret in (str(Path.home()), str(Path.cwd()), socket.gethostname(), "/tmp"):
                assert len(secret) < 3 or secret not in text

    def test_the_file_holds_them(self, folder, results):
        assert json.loads((folder / "results.json").read_text()) == results


class TestVerdict:
    def verdict_of(self, mean, error=0.01, paper=0.7, goal=None):
        figures = {"mean": mean, "error": error, "n": 2}
        sizes = {"mean": 3.0, "error": None, "n": 1}
        row = {
            "name": "SSG-CNN",
            "kind": "system",
            "scorer": "net",
            "rule": "λ-CNN",
            "paper": paper,
            "goal": goal,
            "figures": {
                "mean_f1": figures,
                "mean_predicted_size": sizes,
                "mean_true_size": sizes,
            },
        }
        stick = {"name": "every label", "kind": "yardstick", "figures": {"mean_f1": sizes}}
        rules = [{"rule": "tuned cut", "figures": {"mean_f1": sizes}}]
        return verdict(LABELS, row, [row, stick], [{"scorer": "net", "rows": rules}])

    def test_reached(self):
        assert LABELS.metric is MEAN_F1
        assert self.verdict_of(0.75) == {
            "reached": True,
            "text": "reaches the paper's 0.7, better by 0.050",
        }

    def test_missed_with_evidence(self):
        judged = self.verdict_of(0.65)
        assert not judged["reached"]
        assert judged["text"].startswith("misses the paper's 0.7 by 0.050, 5.0 standard errors.")
        assert "the same scores under tuned cut give 3.000" in judged["text"]
        assert "every label gives 3.000" in judged["text"]

    def test_a_goal_of_our_own(self):
        judged = self.verdict_of(0.75, paper=None, goal=0.8)
        assert judged["text"].startswith("misses our 0.8 by 0.050")

    def test_nothing_to_compare(self):
        assert "no sample" in self.verdict_of(None)["text"]
        assert self.verdict_of(0.5, paper=None) is None


class TestText:
    def test_figures(self):
        assert figure_text({"mean": 0.12345, "error": 0.01, "n": 2}) == "0.123 ± 0.010"
        assert figure_text({"mean": 0.12345, "error": None, "n": 1}) == "0.123"
        assert figure_text({"mean": None, "error": None, "n": 0}) == "–"
        assert [paper_figure(x) for x in (0.43, 0.402, 2.0)] == ["0.43", "0.402", "2.00"]

    def test_the_readme_table(self, results):
        lines = readme_table(results).splitlines()
        assert len({len(line) for line in lines}) == 1
        assert re.split(r"\s*\|\s*", lines[0])[2:7] == [
            "Multi-label",
            "SSG-S",
            "SSG-RNN",
            "SSG-CNN",
            "setlearn's default",
        ]
        assert re.match(r"\| Task 1 mF1 \| 0\.\d+ ± 0\.\d+ \(0\.64\)", lines[2])
        assert re.match(r"\| Task 2 mED \| –", lines[3])

    def test_tables_for_the_terminal(self, results):
        text = tables_as_text(results)
        assert "## Task 2 (mED, lower is better)" in text
        assert "Not run: one split 0 and 1 more: there is no such data" in text
        assert "| (a perfect answer)" in text

    def test_markdown_has_it_all(self, folder):
        text = (folder / "report.md").read_text()
        assert re.search("(reaches|misses) the paper's", text)
        for part in ("λ-CNN", "## Time and memory", "Predictions of SSG-S"):
            assert part in text


class TestPage:
    def test_it_loads_nothing(self, folder):
        text = (folder / "index.html").read_text()
        page = Page(text)
        assert page.loaded == []
        assert "script" not in page.tags
        assert "link" not in page.tags
        assert not re.search(r"https?:|//\w+\.|@import|url\((?!#)", text)

    @needs_matplotlib
    def test_plots(self, folder, results):
        text = (folder / "index.html").read_text()
        page = Page(text)
        captions = [plot.caption for plot in plots.table_plots(results["tables"][1])]
        assert len(captions) >= 5
        assert all(f"<figcaption>{caption}" in text for caption in captions)
        assert page.tags.count("svg") == page.tags.count("figure") > 10
        assert "#010203" not in text
        defined = re.findall(r'<(?:clipPath|path|g) id="(\w*[0-9a-f]{10})"', text)
        assert len(defined) == len(set(defined))

    @needs_matplotlib
    def test_the_same_results_give_the_same_page(self, folder, results):
        assert html_report(results) == (folder / "index.html").read_text()

    def test_without_matplotlib_it_says_what_to_install(self, results, monkeypatch):
        monkeypatch.setattr("setlearn.experiments.report.pages.plots_available", lambda: False)
        monkeypatch.setattr(plots, "plots_available", lambda: False)
        text = html_report(results)
        assert "pip install 'setlearn[plot]'" in text
        assert "svg" not in Page(text).tags

    def test_light_and_dark_and_small(self, folder):
        text = (folder / "index.html").read_text()
        assert "prefers-color-scheme: dark" in text
        assert "width=device-width" in text
