"""What people see: errors name options, and names that hold commands are written out."""

import ast
import re
import warnings
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

import setlearn
from setlearn.cli.app import VERBS, LazyVerbs
from setlearn.cli.console import handled_errors, print_warnings, printable
from setlearn.cli.options import OutputOptions
from setlearn.errors import ConvergenceWarning, DataError
from tests.cli.files import tagged_texts, write_jsonl
from tests.cli.running import run

COMMAND = "\x1b]0;pwned\x07"


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_nothing_commands_a_terminal(text):
    shown = printable(text)
    assert not set(shown) & {*map(chr, [*range(10), *range(11, 32), *range(127, 160)]), "\u202e"}
    shown.encode()
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["λ → Σ, naïve", "two\nlines", "👩\u200d💻", "می\u200cخواهم"])
def test_what_texts_need_stays(text):
    assert printable(text) == text


class TestAdvice:
    """An error that advises to set parameters names the options of the verb that set them."""

    def ended(self, capsys, advice):
        command = LazyVerbs().get_command(None, "fit")
        with pytest.raises(typer.Exit), handled_errors(OutputOptions(), command.params):
            raise DataError("it is wrong", advice=advice)
        return capsys.readouterr().err

    @pytest.mark.parametrize(
        ("advice", "options"),
        [
            ({"skip_bad": True}, "--skip-bad"),
            ({"task": "labels"}, "--task labels"),
            ({"format": None}, "--format FORMAT"),
            ({"kinds": None, "inputs": None}, "--kind COLUMN=KIND, --input COLUMN"),
            ({"unknown": "ignore", "target": None}, "--target COLUMN"),  # fit has no --unknown
            ({"warm_start": None, "max_steps": None}, "--continue MODEL, --max-steps NUMBER"),
            ({"warm_start": False}, "without --continue"),
        ],
    )
    def test_options(self, capsys, advice, options):
        assert self.ended(capsys, advice) == f"setlearn: it is wrong ({options})\n"

    @pytest.mark.parametrize("advice", [None, {"unknown": "ignore"}])
    def test_nothing_to_add(self, capsys, advice):
        assert self.ended(capsys, advice) == "setlearn: it is wrong\n"

    def test_warnings_name_options_too(self, capsys):
        command = LazyVerbs().get_command(None, "fit")
        with print_warnings(command.params):
            warnings.warn(ConvergenceWarning("too short", advice={"max_steps": None}), stacklevel=1)
        assert capsys.readouterr().err == "setlearn: warning: too short (--max-steps NUMBER)\n"

    def test_the_library_names_no_option(self):
        library = Path(setlearn.__file__).parent
        for file in library.rglob("*.py"):
            if library / "cli" not in file.parents:
                assert not re.search(r"--[a-z]", file.read_text(encoding="utf-8")), file

    def test_every_advised_parameter_is_an_option_of_some_verb(self):
        verbs = LazyVerbs()
        names = {option.name for verb in VERBS for option in verbs.get_command(None, verb).params}
        advised = {
            ast.literal_eval(key)
            for file in Path(setlearn.__file__).parent.rglob("*.py")
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.keyword) and node.arg == "advice"
            for part in ast.walk(node.value)
            if isinstance(part, ast.Dict)
            for key in part.keys
            if key is not None
        }
        assert {"encoding", "trusted", "unknown"} <= advised
        assert advised <= names


@pytest.fixture(scope="module")
def odd(folder):
    """A file with a command in a label and in a column's name, and a model of it."""
    rows = [
        {f"text{COMMAND}": row["text"], "tags": [f"{tag}{COMMAND}" for tag in row["tags"]]}
        for row in tagged_texts(40)
    ]
    data = write_jsonl(folder / "odd.jsonl", rows)
    ended = run("fit", data, "--learner", "logistic", "-o", folder / "odd")
    assert ended.code == 0, ended.err
    assert_harmless(ended)
    return folder / "odd", data


def assert_harmless(ended):
    said = ended.out + ended.err
    assert "\x1b" not in said
    assert "\x07" not in said
    assert "\\x1b]0;pwned" in said


@pytest.mark.parametrize(
    ("verb", "options", "code"),
    [
        ("inspect", (), 0),
        ("evaluate", (), 0),
        ("trace", (), 0),
        ("complete", ("--known", f"x{COMMAND}"), 3),
    ],
)
def test_verbs_write_commands_out(odd, verb, options, code):
    model, data = odd
    ended = run(verb, model, *([data] if verb != "inspect" else []), *options)
    assert ended.code == code
    assert_harmless(ended)
