"""Loads and asks forged models until one brings the process down: ``python -m`` this.

Writes which one it is about to load, so that a test can name the one that did.
"""

import faulthandler
import json
import re
import resource
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import setlearn
from setlearn.errors import SetlearnError
from tests.persistence.forged_files import forged
from tests.persistence.forgery_cases import forgery_cases
from tests.persistence.mutations import seeded
from tests.persistence.small_models import quiet_answers, written

MOST_ADDRESSES = 4 << 30
MOST_SECONDS = 20


def main(folder, n_each):
    loaded = 0
    for name, case in forgery_cases().items():
        whole = {path.name: path.read_bytes() for path in sorted((folder / name).iterdir())}
        for number in range(n_each):
            (folder / "last.txt").write_text(f"{name} {number}")
            faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
            loaded += survives(forged(whole, seeded(number)), case, folder / "forged")
    (folder / "end.json").write_text(json.dumps({"loaded": loaded, "kilobytes": peak_kilobytes()}))


def peak_kilobytes():
    """The most memory that this process held.

    Linux counts in ``ru_maxrss`` what the process that started this one held, so that does not do.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1])


def survives(files, case, folder):
    """Load and ask; say whether it could be loaded."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        model = setlearn.load(written(files, folder))
    except SetlearnError:
        return False
    with suppress(Exception):  # whatever Python can say of a model that makes no sense
        quiet_answers(model, case)
    return True


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    main(Path(sys.argv[1]), int(sys.argv[2]))
