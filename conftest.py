"""Runs the examples of the docstrings, the README and the docs as tests."""

import contextlib
import io
import os
import re
import signal
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker

from hypothesis import settings
from sybil import Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import SkipParser
from sybil.parsers.rest import DocTestParser

# Set before NumPy, SciPy and torch are imported: processes, not BLAS threads, use the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples every time, so that a failure can be repeated.
settings.register_profile("setlearn", derandomize=True)
settings.load_profile("setlearn")

# Tests that a shell starts in the background ignore Ctrl-C, and so do the processes that they
# start. Some tests interrupt such processes.
signal.signal(signal.SIGINT, signal.default_int_handler)

OPTIONS = ELLIPSIS | NORMALIZE_WHITESPACE

# A module is imported when the first of its examples runs, not before.
docstrings = Sybil(
    path="src",
    parsers=[DocTestParser(optionflags=OPTIONS)],
    pattern="*.py",
    document_types={".py": PythonDocStringDocument},
)


PYTHON_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n+```text\n(?P<output>.*?)^```$)?", re.DOTALL | re.MULTILINE
)


def python_blocks(document):
    """Each Python block of a page, with the text block behind it: what it must print."""
    for block in PYTHON_BLOCK.finditer(document.text):
        yield Region(block.start(), block.end(), (block["code"], block["output"]), run_block)


def run_block(example):
    """Run a block as a part of its page, and compare what it prints with what the page shows."""
    code, expected = example.parsed
    # As many lines before it as in the page, so that tracebacks show the right ones.
    source = compile("\n" * example.line + code, example.path, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(source, example.namespace)  # our own pages
    if expected is None:
        return None
    checker = OutputChecker()
    if checker.check_output(expected, printed.getvalue(), OPTIONS):
        return None
    return f"the page shows\n{expected}\nbut the block prints\n{printed.getvalue()}"


def in_a_folder_of_its_own(namespace):
    """Pages save models and files, so each runs in a temporary folder."""
    namespace["_came_from"] = os.getcwd()
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def back_again(namespace):
    os.chdir(namespace["_came_from"])
    namespace["_folder"].cleanup()


pages = Sybil(
    setup=in_a_folder_of_its_own,
    teardown=back_again,
    parsers=[python_blocks, SkipParser()],
    patterns=["README.md", "docs/*.md"],
)

pytest_collect_file = (docstrings + pages).pytest()
