"""A local Ray stays on this machine and leaves nothing behind; clusters are checked first."""

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from setlearn.errors import ClusterError
from setlearn.scale.runtime import REMOVE_AT_END, ray_session
from tests.scale.sessions import kill, processes_in, result, start, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

LISTENS = "0A"

SESSION = """
import json, os, tempfile, time
from setlearn.scale.runtime import OWN_SETTINGS, ray_session

def where():
    import setlearn
    return setlearn.__file__, os.environ["OMP_NUM_THREADS"], os.environ["RAY_AUTH_TOKEN"]

with ray_session() as ray:
    told = ray.get(ray.remote(where).remote())
    print(json.dumps(told), flush=True)
    input()
print(os.listdir(tempfile.gettempdir()), OWN_SETTINGS.keys() & os.environ.keys())
with ray_session() as ray:
    print(ray.get(ray.remote(where).remote())[0] == told[0])
"""

WRITES_ON = """
import contextlib, os, sys
while True:
    with contextlib.suppress(OSError):
        os.makedirs(sys.argv[1], exist_ok=True)
"""

OTHER_VERSION = """
import os, sys, tempfile
from setlearn.errors import ClusterError
from setlearn.scale.runtime import ray_session

with ray_session() as ray:
    ray.shutdown()
    settings = {"env_vars": {"PYTHONPATH": sys.argv[1]}}
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False,
             object_store_memory=100 * 2**20, _temp_dir=os.environ["TMPDIR"], runtime_env=settings)
    try:
        with ray_session():
            print("not refused")
    except ClusterError as error:
        print(error, ray.is_initialized(), sep="\\n")
"""


@pytest.fixture
def short_folder():
    """A temporary folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        yield Path(folder)


def listening_addresses(processes):
    """The addresses on which processes accept connections, as /proc writes them."""
    sockets = set()
    for process in processes:
        for link in Path(f"/proc/{process}/fd").iterdir():
            try:
                name = str(link.readlink())
            except OSError:
                continue
            if name.startswith("socket:["):
                sockets.add(name.removeprefix("socket:[").removesuffix("]"))
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            (
                _,
                local,
                _,
                state,
                *_,
            ) = line.split()[:4]
            if state == LISTENS and line.split()[9] in sockets:
                addresses.add(local.split(":")[0])
    return addresses


def test_a_local_ray_is_private_and_leaves_nothing(short_folder):
    process = start(SESSION, short_folder)
    try:
        module, threads, token = json.loads(process.stdout.readline())
        ours = processes_in(short_folder / "tmp")
        addresses = listening_addresses([process.pid, *ours])
        out = process.communicate("\n", timeout=60)[0]
    finally:
        process.kill()
    assert Path(module).parents[1] == Path(sys.modules["setlearn"].__file__).parents[1]
    assert threads == "1"
    assert len(token) == 64
    assert len(ours) > 2
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert addresses
    assert addresses <= loopback
    assert out.splitlines() == ["[] set()", "True"]
    assert not list((short_folder / "home").iterdir())
    assert not list((short_folder / "tmp").iterdir())
    assert not processes_in(short_folder / "tmp")


def test_a_killed_driver_leaves_nothing(short_folder):
    process = start(SESSION, short_folder)
    process.stdout.readline()
    kill(process)
    assert until(lambda: not processes_in(short_folder / "tmp"))
    assert until(lambda: not list((short_folder / "tmp").iterdir()))


def test_a_process_that_keeps_writing_is_ended(tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITES_ON, tmp_path / "own"]) as writing:
        assert until((tmp_path / "own").is_dir)
        command = [sys.executable, "-I", "-S", "-c", REMOVE_AT_END, str(tmp_path / "own")]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        assert writing.wait() == -9
    assert not (tmp_path / "own").exists()


def test_workers_with_another_version_are_refused(short_folder, tmp_path):
    (tmp_path / "setlearn").mkdir()
    (tmp_path / "setlearn" / "__init__.py").write_text('__version__ = "0.0.9"\n')
    refusal, stays_connected = result(start(OTHER_VERSION, short_folder, tmp_path)).splitlines()
    assert "have setlearn 0.0.9, but this process has setlearn" in refusal
    assert stays_connected == "True"


def test_without_ray_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "import setlearn.scale\n"
        "from setlearn.scale.runtime import ray_session\n"
        "ray_session().__enter__()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stderr.endswith("Ray is not installed; pip install 'setlearn[ray]'\n")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1:1", "Connection refused"),
        ("no-such-host.invalid:6379", "Name or service not known|name resolution"),
        ("localhost:many", "write host:port"),
        ("ray://localhost", "write host:port"),
    ],
)
def test_an_address_where_nothing_answers_is_refused(address, reason):
    with pytest.raises(ClusterError, match=reason), ray_session(address):
        pass


def test_a_server_that_is_no_ray_is_refused_in_time(monkeypatch):
    monkeypatch.setattr("setlearn.scale.runtime.SECONDS_TO_CONNECT", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ClusterError, match="within 3 s; check the address"):
            ray_session(address).__enter__()
