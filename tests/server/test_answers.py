"""What programs get: the very answers of the library, however requests were batched."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import setlearn
from setlearn.files.plain_values import plain
from setlearn.records import RecordModel, reading_x
from setlearn.server.served_model import Ask, Refusal, ServedModel, predict_sets
from tests.server.live_server import until
from tests.server.small_models import ABOUT, INPUTS, texts

# Of models that were hardly trained; the server says it in traces.
pytestmark = pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")


@pytest.fixture(scope="module")
def library(small_model_folders):
    """The same models, in this process."""
    loaded = {name: setlearn.load(folder) for name, folder in small_model_folders.items()}
    return {
        name: model if isinstance(model, RecordModel) else reading_x(model)
        for name, model in loaded.items()
    }


def known_sets(model, sets):
    """An element of each set, as an answer in JSON has it."""
    return [plain(one)[:1] for one in model.predict(sets)]


def expected(model, path, body):
    inputs, known = body["inputs"], [frozenset(one) for one in body.get("known", [])]
    if path == "predict":
        return {"predictions": plain(model.predict(inputs))}
    if path == "complete":
        return {"predictions": plain(model.complete(inputs, known))}
    if path == "rank":
        ranked = model.predict_ranked(inputs, top=body.get("top"))
        pairs = [[{"element": plain(e), "score": s} for e, s in one] for one in ranked]
        return {"rankings": pairs}
    return {"traces": [model.trace(one).to_dict() for one in inputs]}


def requests_of(model, name):
    """Forty requests of all kinds and different sizes."""
    for number in range(40):
        inputs = INPUTS[name](1 + number % 7, seed=number)
        path = ("predict", "rank", "complete", "trace")[number % 4]
        body = {"model": name, "inputs": inputs}
        if path == "complete":
            body["known"] = known_sets(model, inputs)
        if path == "rank" and model.task == "labels":
            body["top"] = 1 + number % 3
        yield path, body


@pytest.mark.parametrize("name", INPUTS)
def test_together_the_same_as_alone(live, library, name):
    requests = list(requests_of(library[name], name))
    n_calls = live.figure("setlearn_batch_rows_count")
    with live.client() as client, ThreadPoolExecutor(len(requests)) as threads:
        # While nobody works requests gather; each of two workers has taken ten at the most.
        with live.halted_workers():
            asked = [threads.submit(client.post, f"/v1/{p}", json=b) for p, b in requests]
            until(lambda: live.figure("setlearn_waiting_requests") >= 20)
        answers = [one.result() for one in asked]
    assert live.figure("setlearn_batch_rows_count") - n_calls < 25
    for (path, body), answer in zip(requests, answers, strict=True):
        assert answer.status_code == 200, answer.text
        # Compared as text: each float must be the very same.
        wanted = {"model": name, **expected(library[name], path, body)}
        assert json.dumps(answer.json()) == json.dumps(wanted)


def test_one_bad_request_does_not_spoil_the_batch(small_model_folders):
    model = ServedModel.load(small_model_folders["tags"], ())
    asks = [Ask(predict_sets, [text]) for text in texts(4)]
    good = model.answer(asks)
    *first, bad, last = model.answer([*asks[:3], Ask(predict_sets, [{"nothing": "here"}]), asks[3]])
    assert [*first, last] == good
    assert isinstance(bad, Refusal)
    assert "here" not in bad.message


class TestModels:
    def test_names(self, live):
        with live.client() as client:
            assert client.get("/v1/models").json() == {"models": list(INPUTS)}

    @pytest.mark.parametrize("name", INPUTS)
    def test_what_a_model_is(self, live, library, name):
        with live.client() as client:
            told = client.get("/v1/model", params={"name": name}).json()
        model = library[name]
        assert told["name"] == name
        assert told["task"] == model.task
        assert told["rule"] == repr(model.rule_)
        assert told["card"].startswith("# A setlearn model")
        if model.task == "labels":
            assert told["classes"] == model.classes_.tolist()
        else:
            assert told["classes"] is None
        lam = getattr(model.rule_, "lam_", None)
        assert told["lam"] == plain(lam)

    def test_the_first_by_default(self, live):
        with live.client() as client:
            told = client.get("/v1/model").json()
        assert told["name"] == "tags"
        assert told["examples"] == ABOUT["examples"]
        assert told["about"] == {"figures": ABOUT["figures"]}
        assert told["reads"] == [{"name": "text", "kind": "text"}]

    def test_records_and_bare_values(self, live):
        with live.client() as client:
            text = "the moon over a wave"
            answers = [
                client.post("/v1/predict", json={"inputs": [one]}).json()
                for one in (text, {"text": text}, {"text": text, "colour": "blue"})
            ]
        assert answers[0] == answers[1] == answers[2]


class TestAnotherRule:
    @pytest.mark.parametrize("name", ["tags", "vectors", "forms"])
    def test_larger_lambda_keeps_more(self, live, name):
        inputs = INPUTS[name](3)

        def sizes(lam):
            body = {"model": name, "inputs": inputs, "rule": {"lam": lam}}
            with live.client() as client:
                traces = client.post("/v1/trace", json=body).json()["traces"]
            return [len(trace["result"]) for trace in traces]

        assert all(few <= more for few, more in zip(sizes(0), sizes(0.5), strict=True))

    def test_model_itself_stays_as_it_is(self, live, library):
        inputs = texts(4, seed=9)
        with live.client() as client:
            client.post("/v1/trace", json={"inputs": inputs, "rule": {"lam": 1, "rho": 0.5}})
            answer = client.post("/v1/trace", json={"inputs": inputs}).json()
        assert answer["traces"] == [library["tags"].trace(one).to_dict() for one in inputs]


class TestStates:
    def test_states_and_heads(self, live):
        with live.client() as client:
            for path in ("/healthz", "/readyz"):
                assert client.get(path).json() == {"status": "ok"}
                head = client.head(path)
                assert (head.status_code, head.content) == (200, b"")

    def test_metrics_are_what_prometheus_reads(self, live):
        with live.client() as client:
            response = client.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain")
        line = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+')
        for text in response.text.splitlines():
            assert text.startswith("# ") or line.fullmatch(text), text

    def test_histograms_add_up(self, live):
        with live.client() as client:
            text = client.get("/metrics").text
        for name in ("setlearn_request_seconds", "setlearn_batch_rows"):
            counts = [int(n) for n in re.findall(rf"^{name}_bucket.* (\d+)$", text, re.MULTILINE)]
            assert counts == sorted(counts)
            assert f"{name}_count {counts[-1]}\n" in text
