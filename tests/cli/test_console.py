"""What people see is harmless: names that hold commands for a terminal are written out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn.cli.console import printable, with_flags
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


@pytest.mark.parametrize(
    ("message", "flag"),
    [
        ("pass skip_bad=True to leave such rows out", "--skip-bad"),
        ("for instance encoding='latin-1'", "--encoding NAME"),
        ('leave them out, or set unknown="ignore"', "--unknown ignore"),
        ("name the target, one of text, kind", "--target COLUMN"),
        ("name one of them as the input", "--input COLUMN"),
    ],
)
def test_messages_of_the_library_get_the_flags(message, flag):
    assert with_flags(message) == f"{message} ({flag})"
    assert with_flags(with_flags(message)) == with_flags(message)
    assert with_flags("nothing to add") == "nothing to add"


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
