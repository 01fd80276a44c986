"""Write the small models of the present format: ``python -m tests.persistence.make_golden``.

They stay in the repository for ever: a later version must still read them and answer the same.
Run this for a new format number or a new kind of model; what is there is never written again.
"""

import json
import sys
from pathlib import Path

import setlearn
from setlearn.persistence.manifest import FORMAT
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
        told = json.dumps(quiet_answers(model, case), indent=1)
        (folder / "answers.json").write_text(told + "\n")
        sys.stdout.write(f"{folder}\n")


if __name__ == "__main__":
    main()
