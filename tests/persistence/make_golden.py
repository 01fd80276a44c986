"""Writes golden models of the present format: ``python -m tests.persistence.make_golden``.

They stay in the repository for ever: a later version must still read them and answer the same.
Run this for a new format number or a new kind of model; what exists is never written again. The
inputs are stored beside the answers, so that later changes of these cases do not matter.

Those of format 1 beyond "labels", "records" and "sequences" were written by version 0.1.
"""

import json
import sys
from pathlib import Path

import numpy as np

import setlearn
from setlearn.persistence.manifest import FORMAT
from tests.persistence.cases import Case
from tests.persistence.small_models import CASES, quiet_answers

GOLDEN = Path(__file__).parent / "golden"


def main():
    for name, case_of in CASES.items():
        folder = GOLDEN / f"format-{FORMAT}" / name
        if folder.exists():
            continue
        case = case_of()
        model = case.fit()
        setlearn.save(model, folder / "model", about={"name": f"Golden {name}"})
        write_json(folder / "answers.json", quiet_answers(model, case))
        write_inputs(folder, case)
        sys.stdout.write(f"{folder}\n")


def write_inputs(folder, case):
    is_array = isinstance(case.X, np.ndarray)
    inputs = {
        "X": case.X.tolist() if is_array else list(case.X),
        "array": is_array,
        "known": None if case.known is None else [sorted(known) for known in case.known],
    }
    write_json(folder / "inputs.json", inputs)


def read_case(folder):
    """What a golden model is asked about."""
    inputs = json.loads((folder / "inputs.json").read_text())
    X = np.asarray(inputs["X"]) if inputs["array"] else inputs["X"]
    known = inputs["known"]
    return Case(None, X, None if known is None else [set(labels) for labels in known])


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
