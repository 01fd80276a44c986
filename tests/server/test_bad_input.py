"""Wrong and hostile requests get a 4xx that says what to do and repeats nothing of them."""

import gzip
import json

import pytest

from tests.server.live_server import CANARY, JSON, raw, refused, until

PATHS = ("predict", "rank", "complete", "trace")


@pytest.fixture(scope="module")
def server(live):
    """The server. In the end it must still be ready, and must not have repeated the canary."""
    yield live
    with live.client() as client:
        assert client.get("/readyz").status_code == 200
        assert CANARY not in client.get("/metrics").text
    stderr = "".join(live.lines)
    assert CANARY not in stderr
    assert "Traceback" not in stderr
    assert not [line for line in live.log() if line["status"] >= 500]


@pytest.fixture(scope="module")
def client(server):
    with server.client() as client:
        yield client


def send(client, content, path="predict", **headers):
    return client.post(f"/v1/{path}", content=content, headers={**JSON, **headers})


class TestNotJson:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b'{"inputs": ["canary7f3a"', "broken at character 24"),
            (b'{"inputs": ["canary7f3a\xff"]}', "not UTF-8"),
            (json.dumps({"inputs": ["canary7f3a"]}).encode("utf-16"), "not UTF-8"),
            (b'{"inputs": [[NaN, 1]]}', "NaN and Infinity are not JSON"),
            (b'{"inputs": [[-Infinity, 1]]}', "NaN and Infinity are not JSON"),
            (b'{"inputs": [[1e400, 1]]}', "too large"),
            (b'{"inputs": [[1' + b"0" * 400 + b"]]}", "more than 64 bits"),
            (b'{"inputs": [[1' + b"0" * 9000 + b"]]}", "too large"),
            (rb'{"inputs": ["canary7f3a\ud800"]}', "contains a lone surrogate"),
            (rb'{"inputs": [{"canary7f3a\udfff": "x"}]}', "contains a lone surrogate"),
            (b'{"inputs": ' + b"[" * 40 + b"]" * 40 + b"}", "nested more than 32 deep"),
            (b'{"inputs": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "nested more than 32 deep"),
            (b'{"inputs": ["a"], "inputs": ["canary7f3a"]}', "the same key twice"),
            (b'{"inputs": [{"text": "a", "text": "canary7f3a"}]}', "the same key twice"),
        ],
    )
    @pytest.mark.parametrize("path", ["predict", "trace"])
    def test_says_why(self, client, content, reason, path):
        assert reason in refused(send(client, content, path), 400, "not_json")

    @pytest.mark.parametrize("kind", ["text/plain", f"text/{CANARY}", "", "application/jsonx"])
    def test_declared_as_something_else(self, client, kind):
        response = client.post(
            "/v1/predict", content=b'{"inputs": ["a"]}', headers={"Content-Type": kind}
        )
        assert "application/json" in refused(response, 415, "not_json")

    def test_form(self, client):
        refused(client.post("/v1/predict", data={"inputs": CANARY}), 415, "not_json")

    def test_gzip(self, client):
        packed = gzip.compress(json.dumps({"inputs": [CANARY]}).encode())
        response = send(client, packed, **{"Content-Encoding": "gzip"})
        assert "without Content-Encoding" in refused(response, 415, "compressed_body")
        refused(send(client, packed), 400, "not_json")


class TestWrongShape:
    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ([CANARY], "the body must be an object"),
            (CANARY, "the body must be an object"),
            (None, "the body must be an object"),
            ({}, "inputs is missing"),
            ({"inputs": CANARY}, "inputs must be a list"),
            ({"inputs": []}, "inputs must have at least 1 element"),
            ({"inputs": [None]}, "inputs[0] must be a text, a list or an object"),
            ({"inputs": ["a", 7]}, "inputs[1] must be a text, a list or an object"),
            ({"inputs": ["a"], "model": 7}, "model must be a text"),
            ({"inputs": ["a"], "model": [CANARY]}, "model must be a text"),
            ({"inputs": ["a"], CANARY: 1}, "the body has an unknown field; its fields are inputs,"),
            ({"inputs": ["a"], "x" * 100_000: 1}, "the body has an unknown field"),
        ],
    )
    @pytest.mark.parametrize("path", PATHS)
    def test_says_where_and_what(self, client, body, said, path):
        known = {"known": [[]]} if path == "complete" and isinstance(body, dict) else {}
        content = body if known == {} else {**body, **known}
        message = refused(send(client, json.dumps(content), path), 422, "wrong_shape")
        assert message.startswith(said)
        assert "/openapi.json" in message
        assert len(message) < 400

    @pytest.mark.parametrize(
        ("path", "given", "said"),
        [
            ("rank", {"top": 0}, "top must be at least 1"),
            ("rank", {"top": 10**9}, "top must be at most 10000"),
            ("rank", {"top": "3"}, "top must be a whole number"),
            ("rank", {"top": True}, "top must be a whole number"),
            ("rank", {"top": 2.5}, "top must be a whole number"),
            ("rank", {"topp": 3}, "inputs, model, rule, known, top (did you mean top?)"),
            ("complete", {}, "known is missing"),
            ("complete", {"known": None}, "known must be a list"),
            ("complete", {"known": ["sea"]}, "known[0] must be a list"),
            (
                "complete",
                {"known": [[None]]},
                "known[0][0] must be a text, a number, a boolean or a list",
            ),
            ("predict", {"rule": CANARY}, "rule must be an object"),
            ("rank", {"rule": {"lam": -1}}, "rule.lam must be at least 0"),
            ("complete", {"known": [[]], "rule": {"rho": 0}}, "rule.lam is missing"),
            ("trace", {"rule": CANARY}, "rule must be an object"),
            ("trace", {"rule": {}}, "rule.lam is missing"),
            ("trace", {"rule": {"lam": -1}}, "rule.lam must be at least 0"),
            ("trace", {"rule": {"lam": "0.5"}}, "rule.lam must be a number"),
            ("trace", {"rule": {"lam": 1, "rho": 1}}, "rule.rho must be less than 1"),
            (
                "trace",
                {"rule": {"lam": 1, CANARY: 1}},
                "rule has an unknown field; its fields are lam, rho.",
            ),
        ],
    )
    def test_options(self, client, path, given, said):
        response = client.post(f"/v1/{path}", json={"inputs": ["a"], **given})
        assert said in refused(response, 422, "wrong_shape")

    def test_of_many_mistakes_the_first_are_named(self, client):
        response = client.post("/v1/rank", json={"inputs": [7] * 500, "top": 0})
        message = refused(response, 422, "wrong_shape")
        assert [f"inputs[{k}] " in message for k in range(4)] == [True, True, True, False]


class TestNotForTheModel:
    @pytest.mark.parametrize(
        ("model", "value"),
        [
            ("tags", [1.0, 2.0]),
            ("tags", {CANARY: "text"}),
            ("tags", {"text": {"deep": [CANARY]}}),
            ("vectors", CANARY),
            ("vectors", [1.0]),
            ("vectors", [1.0, 2.0, 3.0, CANARY]),
            ("vectors", [[1.0, 2.0], [3.0, 4.0]]),
            ("vectors", {"x": [1.0, 2.0]}),
            ("spelling", {CANARY: 1}),
            ("spelling", [{"a": CANARY}]),
        ],
    )
    @pytest.mark.parametrize("path", ["predict", "rank", "trace"])
    def test_inputs(self, client, model, value, path):
        body = {"model": model, "inputs": [value]}
        message = refused(client.post(f"/v1/{path}", json=body), 422, "bad_input")
        assert "the model reads " in message

    @pytest.mark.parametrize("value", ["", "ż🎉ﷺ", "a\u0000b", "‮abc", "x" * 300, "zzzz"])
    @pytest.mark.parametrize("model", ["tags", "texts", "forms", "spelling"])
    def test_strange_texts_are_answered_or_refused(self, client, model, value):
        for path in ("predict", "trace"):
            response = client.post(f"/v1/{path}", json={"model": model, "inputs": [value]})
            if response.status_code != 200:
                refused(response, 422, "bad_input")

    @pytest.mark.parametrize(
        ("model", "known"),
        [
            ("tags", [CANARY]),
            ("tags", [7]),
            ("tags", [["sea"]]),
            ("tags", [[[CANARY]]]),
            ("forms", [CANARY]),
            ("forms", [7]),
            ("forms", [{}]),
        ],
    )
    @pytest.mark.parametrize("path", ["complete", "trace"])
    def test_unknown_elements(self, client, model, known, path):
        body = {"model": model, "inputs": ["ab"], "known": [known]}
        response = client.post(f"/v1/{path}", json=body)
        code = "wrong_shape" if known == [{}] else "bad_input"
        message = refused(response, 422, code)
        if code == "bad_input":
            assert "known elements must be ones that the model knows" in message

    @pytest.mark.parametrize(
        ("record", "problem"),
        [
            ({"ask": CANARY}, "there is no column 'listed'"),
            ({"listed": [CANARY]}, "there is no column 'ask'"),
            ({"ask": CANARY, "listed": {CANARY: 1}}, "column 'listed' is not a list of candidates"),
            ({"ask": [[CANARY]], "listed": [CANARY]}, "column 'ask' holds"),
            (
                {"ask": CANARY, "listed": [[CANARY]]},
                "candidates are lists of tokens, but were texts",
            ),
        ],
    )
    def test_candidates(self, client, record, problem):
        for path in PATHS:
            body = _asked(path, "orders") | {"inputs": [record]}
            message = refused(client.post(f"/v1/{path}", json=body), 422, "bad_input")
            assert problem in message
            assert "ask (text), listed (candidates)" in message

    def test_known_elements_that_are_no_candidates(self, client):
        record = {"ask": "please tram", "listed": ["tram", "moon"]}
        body = {"model": "orders", "inputs": [record], "known": [[CANARY]]}
        message = refused(client.post("/v1/complete", json=body), 422, "bad_input")
        assert "or candidates of their input" in message

    def test_as_many_known_sets_as_inputs(self, client):
        for known in ([], [["sea"], []]):
            response = client.post("/v1/complete", json={"inputs": ["a"], "known": known})
            assert "one list per input" in refused(response, 422, "bad_input")

    @pytest.mark.parametrize(
        "name", [CANARY, "", "../tags", "/etc/passwd", "tags/", "Tags", "x" * 5000, "tags\x00"]
    )
    def test_unknown_model(self, client, name):
        answers = [client.post(f"/v1/{p}", json=_asked(p, name)) for p in PATHS]
        for response in (*answers, client.get("/v1/model", params={"name": name})):
            assert "GET /v1/models" in refused(response, 404, "unknown_model")


def _asked(path, model):
    known = {"known": [[]]} if path == "complete" else {}
    return {"model": model, "inputs": ["a"], **known}


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            f"/{CANARY}",
            "/v1/predict/",
            "/v1",
            "//v1/models",
            "/docs",
            "/playground",
            "/playground/",
            "/playground/../../app.py",
            "/playground/..%2f..%2fapp.py",
            "/playground/%2e%2e/%2e%2e/app.py",
            "/playground/%2e%2e%5capp.py",
            "/playground//etc/passwd",
            "/playground/%00",
            "/playground/index.html/x",
            f"/playground/{'x' * 5000}",
            "/playground/%ff",
        ],
    )
    def test_nothing_there(self, server, path):
        answer = raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 404 ")
        assert b'"not_found"' in answer
        assert CANARY.encode() not in answer

    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [
            ("GET", "/v1/predict", "POST"),
            ("HEAD", "/v1/predict", "POST"),
            ("OPTIONS", "/v1/predict", "POST"),
            ("DELETE", "/v1/predict", "POST"),
            ("POST", "/v1/model", "GET"),
            ("PUT", "/healthz", "GET"),
            (CANARY.upper(), "/healthz", "GET"),
        ],
    )
    def test_another_method(self, client, method, path, allowed):
        response = client.request(method, path)
        assert response.status_code == 405
        assert response.headers["allow"] == allowed
        if method != "HEAD":
            refused(response, 405, "not_found")

    def test_no_other_site_may_ask(self, client):
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        for method in ("OPTIONS", "POST"):
            response = client.request(method, "/v1/predict", headers=asked)
            assert not [name for name in response.headers if name.startswith("access-control")]


class TestHeaders:
    @pytest.mark.parametrize(
        "host",
        [
            f"{CANARY}.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:80",
            "127.0.0.1:80:90",
            "localhost@evil.example",
            "",
        ],
    )
    def test_unknown_host(self, client, host):
        response = client.get("/v1/models", headers={"Host": host})
        assert "among its allowed hosts" in refused(response, 421, "unknown_host")

    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80", "[::1]"])
    def test_known_host(self, client, host):
        assert client.get("/v1/models", headers={"Host": host}).status_code == 200

    def test_what_proxies_say_is_not_believed(self, server, client):
        headers = {"X-Forwarded-For": CANARY, "X-Forwarded-Host": CANARY, "Forwarded": CANARY}
        assert client.get("/healthz", headers=headers).status_code == 200
        assert {line["client"] for line in server.log()} == {"127.0.0.1"}

    @pytest.mark.parametrize(
        "head",
        [
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00canary7f3a\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\n canary7f3a: folded\r\nno colon\r\n",
            "GET /canary7f3a\x7f HTTP/1.1\r\nHost: localhost\r\n",
            "GET /canary7f3a HTTP/9\r\nHost: localhost\r\n",
            "canary7f3a\r\n",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: canary7f3a\r\n",
        ],
    )
    def test_not_http(self, server, head):
        n_told = len(server.log())
        answer = raw(server, f"{head}\r\n")
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 "))
        assert b'"not_http"' in answer
        assert CANARY.encode() not in answer
        until(lambda: len(server.log()) > n_told)
        assert server.log()[-1]["status"] == 400

    def test_line_breaks_do_not_become_headers(self, client):
        response = client.get("/v1/model", params={"name": f"a\r\nX-{CANARY}: 1"})
        refused(response, 404, "unknown_model")

    def test_upgrade_is_not_taken(self, client):
        asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        assert client.get("/healthz", headers=asked).status_code == 200
