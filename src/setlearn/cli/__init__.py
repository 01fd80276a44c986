"""The command line: ``setlearn <verb>``, also ``python -m setlearn <verb>``.

One file a verb. What is slow to import is imported inside the verbs, so that help comes at once.
"""

from setlearn.cli.app import app, main

__all__ = ["app", "main"]
