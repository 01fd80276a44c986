"""Scripts that use a local Ray, each in a process of its own."""

import os
import signal
import subprocess
import sys
import time

WAIT = 60.0


def start(code, folder, *arguments):
    """Start a script whose home and temporary folders are in a folder."""
    for name in ("home", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    # Nothing of the Ray that other tests use.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**variables, "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process):
    """What a script printed, once it has ended well."""
    out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 0, err
    return out


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def processes_in(folder):
    """The processes whose command line names a folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if os.fsencode(folder) in file.read():
                    found.append(int(name))
        except OSError:  # it has ended
            continue
    return found


def until(condition, seconds=WAIT):
    """Wait for a condition, and say whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def children_named(name):
    """The processes with a name that this process has started, or that those have started."""
    parents, names = {}, {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat") as stat, open(f"/proc/{number}/cmdline") as command:
                parents[int(number)] = int(stat.read().rpartition(")")[2].split()[1])
                names[int(number)] = command.read()
        except OSError:  # it has ended
            continue

    def is_ours(process):
        while process in parents:
            process = parents[process]
            if process == os.getpid():
                return True
        return False

    return [process for process in parents if names[process].startswith(name) and is_ours(process)]
