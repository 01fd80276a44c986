"""What a process that has seen nothing but files answers: ``python -m`` this.

Takes a folder and functions that return cases, as ``module:name``. The models of each function are
in a folder by its name, where each has a folder of its own, named by the number of its case.
"""

import json
import sys
import warnings
from importlib import import_module
from pathlib import Path

from setlearn import load
from setlearn.errors import TruncationWarning
from tests.persistence.cases import answers


def main(folder, functions):
    for function in functions:
        module, _, name = function.partition(":")
        answer_all(getattr(import_module(module), name)(), folder / name)


def answer_all(cases, folder):
    results = {}
    for number, (name, case) in enumerate(cases.items()):
        if (folder / str(number)).exists():
            results[name] = answers(load(folder / str(number)), case)
    (folder / "answers.json").write_text(json.dumps(results))


if __name__ == "__main__":
    warnings.simplefilter("ignore", TruncationWarning)
    main(Path(sys.argv[1]), sys.argv[2:])
