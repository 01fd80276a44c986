"""How servers start: at which socket; and those that cannot start say why, and what to do."""

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from setlearn.server.app import _listen
from setlearn.server.settings import Settings
from tests.cli.running import run
from tests.server.live_server import LONGEST_START, until

BLOCKED = """
import sys
from concurrent.futures import ThreadPoolExecutor

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
from setlearn.cli import main
sys.argv = ["setlearn", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra(missing, small_model_folders):
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            BLOCKED.format(missing=missing),
            "serve",
            small_model_folders["tags"],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        f"setlearn: the server needs packages that are not installed ({missing}); "
        "pip install 'setlearn[server]'\n"
    )


def test_bad_model(tmp_path):
    ended = run("serve", tmp_path / "nothing", "--port", 0, "--workers", 1)
    assert ended.code == 4
    assert "does not exist" in ended.err
    assert "Traceback" not in ended.err


def test_damaged_model(small_model_folders, tmp_path):
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in small_model_folders["tags"].iterdir():
        (damaged / file.name).write_bytes(file.read_bytes()[:-1])
    good = f"good={small_model_folders['tags']}"
    assert run("serve", good, damaged, "--port", 0, "--workers", 1).code == 4


def test_taken_port(small_model_folders):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("serve", small_model_folders["tags"], "--port", port)
    assert ended.code == 2
    assert f"cannot listen at 127.0.0.1:{port}" in ended.err
    assert "choose another host or port" in ended.err


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_do_not_wait_for_the_client_to_acknowledge_their_headers(host):
    async def no_delay():
        accepted = asyncio.get_running_loop().create_future()

        class Connection(asyncio.Protocol):
            def connection_made(self, transport):
                accepted.set_result(transport.get_extra_info("socket"))

        with _listen(Settings({}, host=host, port=0)) as listening:
            server = await asyncio.get_running_loop().create_server(Connection, sock=listening)
            async with server:
                _, writer = await asyncio.open_connection(*listening.getsockname()[:2])
                answered = await accepted
                option = answered.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                writer.close()
                return option

    with ThreadPoolExecutor(1) as thread:  # the tests with a browser leave a loop in this one
        assert thread.submit(asyncio.run, no_delay()).result()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "999.1.1.1", "203.0.113.1"])
def test_an_address_that_is_not_ours(small_model_folders, host):
    ended = run("serve", small_model_folders["tags"], "--host", host)
    assert ended.code == 2
    assert "choose another host or port (--host ADDRESS, --port NUMBER)" in ended.err
    assert f"anyone who reaches {host} can use the models" in ended.err


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (("a=x", "a=y"), "'a=y' has the name of another"),
        (("x/m", "y/m"), "'y/m' has the name of another"),
        (("=x",), "'=x' has none"),
    ],
)
def test_names_must_differ(models, message):
    ended = run("serve", *models)
    assert ended.code == 2
    assert message in ended.err


def test_tokens_must_be_there(tmp_path):
    (tmp_path / "empty").write_text("\n")
    for name, message in (("empty", "holds no token"), ("missing", "cannot be read")):
        ended = run("serve", "a=x", "--token-file", tmp_path / name)
        assert ended.code == 2
        assert message in ended.err


def test_doctor_knows_the_extra():
    extra = run("doctor", "--json").document["extras"]["server"]
    assert set(extra["packages"]) == {"fastapi", "uvicorn"}
    assert extra["install"] == "pip install 'setlearn[server]'"


SIGNED_OFF = "setlearn: interrupted\n"


@pytest.mark.parametrize(
    ("options", "on_stdout"), [((), False), (("--quiet", "--json"), True), (("--json",), True)]
)
def test_a_ready_server_says_where_it_is_and_how_to_stop_it(
    small_model_folders, options, on_stdout
):
    folder = small_model_folders["tags"]
    models = (f"one={folder}", f"two={folder}")
    command = [sys.executable, "-m", "setlearn", "serve", *models, "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            first = (process.stdout if on_stdout else process.stderr).readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/", first).group()
            assert httpx.get(f"{address}readyz").status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    if on_stdout:
        assert json.loads(first) == {"address": address, "models": ["one", "two"]}
        assert ("readyz" in err) != ("--quiet" in options)  # in the access log
    else:
        assert first == f"serving one, two at {address} (Ctrl-C stops the server)\n"
        assert out == ""
    assert err.endswith(SIGNED_OFF)
    assert "serving" not in err


def test_a_quiet_server_says_nothing(small_model_folders):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "setlearn", "serve", small_model_folders["tags"], "--quiet"]
    with subprocess.Popen(
        [*command, "--port", str(port), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until(lambda: _is_ready(port), LONGEST_START)
        finally:
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60) == ("", SIGNED_OFF)


def _is_ready(port):
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    return False
