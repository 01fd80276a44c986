"""What a process that has seen nothing but files answers: ``python -m`` this, with a folder.

Each model is in a folder of its own, named by the number of its case.
"""

import json
import sys
import warnings
from importlib import import_module
from pathlib import Path

from setlearn import load
from setlearn.errors import TruncationWarning
from tests.persistence.cases import answers


def main(folder, module, function):
    cases = getattr(import_module(module), function)()
    results = {}
    for number, (name, case) in enumerate(cases.items()):
        if (folder / str(number)).exists():
            results[name] = answers(load(folder / str(number)), case)
    (folder / "answers.json").write_text(json.dumps(results))


if __name__ == "__main__":
    warnings.simplefilter("ignore", TruncationWarning)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
