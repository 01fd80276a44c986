"""The command line: ``setlearn <verb>``, also ``python -m setlearn <verb>``.

There is one file per verb. It is imported when the verb is used, and slow imports are inside its
function, so that help is shown at once.
"""

from setlearn.cli.app import app, main

__all__ = ["app", "main"]
