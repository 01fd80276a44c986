"""A server that asks for a token and has low limits."""

import contextlib
import json
import socket
import time

import httpx
import pytest

from tests.server.live_server import CANARY, JSON, raw, read_all, refused, running, until

TOKEN = "sesame-ü"
CLOSED_AFTER = 9  # seconds, about, for an idle connection


@pytest.fixture(scope="module")
def strict(small_model_folders, tmp_path_factory):
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    limits = ("--max-bytes", 2000, "--max-rows", 5, "--allow-host", "models.example")
    model = f"tags={small_model_folders['tags']}"
    with running(model, "--workers", 1, "--token-file", file, *limits) as server:
        yield server
        stderr = "".join(server.lines)
        assert CANARY not in stderr
        assert "sesame" not in stderr
        assert "Traceback" not in stderr


@pytest.fixture(scope="module")
def allowed(strict):
    with strict.client(headers=bearer(TOKEN)) as client:
        yield client


def bearer(token, scheme="Bearer"):
    return {"Authorization": f"{scheme} {token}".encode()}


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"Bearer",
        b"Bearer canary7f3a",
        b"Bearer sesame-",
        b"Bearer sesame-\xfc",
        b"Basic " + TOKEN.encode(),
        TOKEN.encode(),
        b"Bearer \xff\xfe" + CANARY.encode(),
    ],
)
@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1/model", "/metrics", "/openapi.json", "/nothing"]
)
def test_no_token(strict, header, path):
    headers = {} if header is None else {"Authorization": header}
    response = httpx.get(strict.address + path, headers=headers)
    assert "Authorization: Bearer" in refused(response, 401, "no_token")
    assert response.headers["www-authenticate"] == "Bearer"


def test_body_without_token_is_not_kept(strict):
    response = httpx.post(f"{strict.address}/v1/predict", content=b"x" * 10_000_000)
    refused(response, 401, "no_token")


def test_token(allowed, strict):
    assert allowed.get("/v1/models").status_code == 200
    assert allowed.post("/v1/predict", json={"inputs": ["wave"]}).status_code == 200
    in_small = bearer(TOKEN, "bearer")
    assert httpx.get(f"{strict.address}/v1/models", headers=in_small).status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/playground/index.html"])
def test_open_to_all(strict, path):
    assert httpx.get(strict.address + path).status_code == 200


@pytest.mark.parametrize("path", ["/playground/../v1/models", "/playground/%2e%2e/v1/models"])
def test_no_way_round(strict, path):
    answer = raw(strict, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")


def test_another_name(allowed):
    for host, status in (("Models.example:80", 200), ("other.example", 421)):
        assert allowed.get("/v1/models", headers={"Host": host}).status_code == status


def test_document_mentions_the_token(allowed):
    document = allowed.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]
    assert "security" in document["paths"]["/v1/predict"]["post"]
    assert "security" not in document["paths"]["/healthz"]["get"]


def test_too_many_rows(allowed):
    response = allowed.post("/v1/predict", json={"inputs": ["a"] * 6})
    assert "more than 5 inputs" in refused(response, 422, "too_many_rows")
    assert allowed.post("/v1/predict", json={"inputs": ["a"] * 5}).status_code == 200


@pytest.mark.parametrize("size", [2001, 10_000_000])
def test_too_large(allowed, size):
    def parts():
        for _ in range(0, size, 50_000):
            yield CANARY.encode() * 5000

    content = json.dumps({"inputs": ["x" * size]}).encode()
    for body in (content, parts()):  # with a Content-Length, and without
        response = allowed.post("/v1/predict", content=body, headers=JSON)
        assert "more than 2000 bytes" in refused(response, 413, "too_large")


def test_asking_before_sending(strict):
    head = (
        "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: 99999999\r\n\r\n"
    )
    assert raw(strict, head).startswith(b"HTTP/1.1 413 ")


def test_endless_body_is_cut_off(strict):
    head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

    def send_for_ever(connection):
        while True:
            connection.sendall(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n")

    with socket.create_connection(("127.0.0.1", strict.port), 30) as connection:
        connection.sendall(head.encode())
        with pytest.raises(OSError, match=r"reset|Broken"):
            send_for_ever(connection)


def test_too_many_connections(strict):
    refusal = until(lambda: answer_to_last(strict, 810), 90)
    assert refusal.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 5" in refusal.lower()
    assert b'"too_busy"' in refusal
    until(lambda: is_answered(strict))


def answer_to_last(server, n_connections):
    """What the last of many connections gets; empty if the first were closed before it came.

    The server closes idle connections after a time, so on a slow machine fewer may be open at
    once. Then the caller tries again.
    """
    with contextlib.ExitStack() as opened:
        started = time.monotonic()
        for _ in range(n_connections):
            connection = opened.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", server.port))
        connection.settimeout(30)
        with contextlib.suppress(OSError):
            answer = read_all(connection)
            assert answer or time.monotonic() - started > CLOSED_AFTER, "closed without an answer"
            return answer
    return b""


def is_answered(server):
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{server.address}/healthz").status_code == 200
    return False
