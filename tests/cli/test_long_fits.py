"""Fits that take long: they show how far they are, and can be interrupted."""

import re

from setlearn import progress
from tests.cli.running import run


class TestProgress:
    """Without a terminal, as in a log."""

    def test_long_fits_print_lines(self, photos, tmp_path, monkeypatch):
        monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
        monkeypatch.setattr(progress, "NEXT_LINE", 0.001)
        command = ("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
        ended = run(*command)
        assert ended.code == 0
        counts = [
            int(count) for count in re.findall(r"^fitting: \d+% done \((\d)/6\)", ended.err, re.M)
        ]
        assert len(set(counts)) > 2
        assert counts == sorted(counts)
        assert "fitting" not in run(*command, "--quiet").err

    def test_short_fits_print_none(self, photos, tmp_path):
        ended = run("fit", photos, "--learner", "logistic", "-o", tmp_path / "model")
        assert "fitting" not in ended.err
