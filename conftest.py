"""Runs the examples of the docstrings, the README and the docs as tests."""

import os
import signal
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE

from hypothesis import settings
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

# Before NumPy and its kin are imported: processes, not BLAS threads, fill the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples every time: a red run must be red again.
settings.register_profile("setlearn", derandomize=True)
settings.load_profile("setlearn")

# A shell that starts the tests in the background lets them ignore Ctrl-C, and with them every
# process that they start, of which some are there to be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

OPTIONS = ELLIPSIS | NORMALIZE_WHITESPACE

# A module is imported when the first of its examples runs, not before.
docstrings = Sybil(
    path="src",
    parsers=[DocTestParser(optionflags=OPTIONS)],
    pattern="*.py",
    document_types={".py": PythonDocStringDocument},
)


def in_a_folder_of_its_own(namespace):
    """Pages save models and files; they do it where nothing is in the way."""
    namespace["_came_from"] = os.getcwd()
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def back_again(namespace):
    os.chdir(namespace["_came_from"])
    namespace["_folder"].cleanup()


pages = Sybil(
    setup=in_a_folder_of_its_own,
    teardown=back_again,
    parsers=[PythonCodeBlockParser(doctest_optionflags=OPTIONS), SkipParser()],
    patterns=["README.md", "docs/*.md"],
)

pytest_collect_file = (docstrings + pages).pytest()
