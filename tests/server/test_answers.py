"""Programs get the same answers as from the library, however requests are batched."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.files.plain_values import plain
from setlearn.nodes import Nodes, Step
from setlearn.records import plan_records, reading_x
from setlearn.rules import Margin, Threshold
from setlearn.server.served_model import Ask, Refusal, ServedModel
from tests.server.live_server import until
from tests.server.small_models import ABOUT, INPUTS, texts

# The models are hardly trained; answers of the server say what was cut off.
pytestmark = pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")


@pytest.fixture(scope="module")
def library(small_model_folders):
    """The same models, in this process."""
    folders = small_model_folders.items()
    return {name: reading_x(setlearn.load(folder)) for name, folder in folders}


def known_sets(model, sets):
    """An element of each set, as an answer in JSON has it."""
    return [plain(elements)[:1] for elements in model.predict(sets)]


def expected(model, path, body):
    inputs, known = body["inputs"], [frozenset(elements) for elements in body.get("known", [])]
    if path == "predict":
        truncated = [ranking.truncated for ranking in model.predict_ranked(inputs)]
        answer = {"predictions": plain(model.predict(inputs)), "truncated": truncated}
        return answer | {"unseen": [False] * len(inputs)}
    if path == "complete":
        traces = [model.trace(*pair) for pair in zip(inputs, known, strict=True)]
        truncated = [trace.truncated for trace in traces]
        answer = {"predictions": plain(model.complete(inputs, known)), "truncated": truncated}
        return answer | {"unseen": [False] * len(inputs)}
    if path == "rank":
        if known:
            ranked = model.complete_ranked(inputs, known, top=body.get("top"))
        else:
            ranked = model.predict_ranked(inputs, top=body.get("top"))
        pairs = [[{"element": plain(e), "score": s} for e, s in ranking] for ranking in ranked]
        answer = {"rankings": pairs, "truncated": [ranking.truncated for ranking in ranked]}
        return answer | {"unseen": [False] * len(inputs)}
    return {"traces": [model.trace(x).to_dict() for x in inputs]}


def requests_of(model, name):
    """Forty requests of all kinds and different sizes."""
    for number in range(40):
        inputs = INPUTS[name](1 + number % 7, seed=number)
        path = ("predict", "rank", "complete", "trace")[number % 4]
        body = {"model": name, "inputs": inputs}
        if path == "complete" or number % 8 == 1:
            body["known"] = known_sets(model, inputs)
        if path == "rank":
            body["top"] = 1 + number % 3
        yield path, body


def test_no_candidates_no_elements(live):
    with live.client() as client:
        body = {"model": "orders", "inputs": [{"ask": "please tram", "listed": []}]}
        answer = client.post("/v1/predict", json=body).raise_for_status().json()
        assert answer["predictions"] == [[]]
        trace = client.post("/v1/trace", json=body).raise_for_status().json()["traces"][0]
        assert (trace["kind"], trace["labels"], trace["result"]) == ("candidate", [], [])


@pytest.mark.parametrize("name", INPUTS)
def test_together_the_same_as_alone(live, library, name):
    requests = list(requests_of(library[name], name))
    n_calls = live.figure("setlearn_batch_rows_count")
    with live.client() as client, ThreadPoolExecutor(len(requests)) as threads:
        # Requests queue up while no worker runs; each of two workers has taken at most ten.
        with live.halted_workers():
            asked = [threads.submit(client.post, f"/v1/{p}", json=b) for p, b in requests]
            until(lambda: live.figure("setlearn_waiting_requests") >= 20)
        answers = [answer.result() for answer in asked]
    assert live.figure("setlearn_batch_rows_count") - n_calls < 25
    for (path, body), answer in zip(requests, answers, strict=True):
        assert answer.status_code == 200, answer.text
        wanted = {"model": name, **expected(library[name], path, body)}
        if name == "spelling":  # networks in single precision agree to five digits
            assert answer.json() == about(wanted)
        else:  # compared as text: each float must be exactly the same
            assert json.dumps(answer.json()) == json.dumps(wanted)


def about(answer):
    """The answer, for comparison with one whose floats are the same to five digits."""
    if isinstance(answer, dict):
        return {key: about(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [about(value) for value in answer]
    return pytest.approx(answer, abs=2e-5) if isinstance(answer, float) else answer


def test_one_bad_request_does_not_spoil_the_batch(small_model_folders):
    model = ServedModel.load(small_model_folders["tags"], ())
    asks = [Ask(Ask.predict, [text]) for text in texts(4)]
    good = model.answer(asks)
    *first, bad, last = model.answer(
        [*asks[:3], Ask(Ask.predict, [{"nothing": "secret"}]), asks[3]]
    )
    assert [*first, last] == good
    assert isinstance(bad, Refusal)
    assert "secret" not in bad.message


class AllOfLength:
    """A scorer to which all sequences of "a" and "b" that are as long as the input are likely."""

    def start(self, X):
        lengths = np.array([len(x) for x in X])
        return self._step(np.arange(len(X)), np.zeros(len(X), dtype=int), lengths)

    def advance(self, step, parent, token):
        nodes = step.nodes
        return self._step(nodes.sample[parent], nodes.depth[parent] + 1, step.state[parent])

    def _step(self, sample, depth, lengths):
        ends = (depth == lengths)[:, None]
        return Step(Nodes(sample, depth, np.where(ends, [1.0, 0.0, 0.0], [0.0, 0.9, 0.9])), lengths)


class TestTruncated:
    """Sets of at most two: the two sequences of length 1 fit, but not the four of length 2."""

    @pytest.fixture
    def model(self, tmp_path):
        generator = SequenceSetGenerator(AllOfLength(), Threshold(0.5), max_size=2)
        generator.fit(["a", "aab"], [{"a", "b"}, {"aab"}])
        trusted = [f"{__name__}.AllOfLength"]
        setlearn.save(generator, tmp_path / "model", trusted=trusted)
        return ServedModel.load(tmp_path / "model", trusted)

    @pytest.mark.parametrize("operation", [Ask.predict, Ask.rank, Ask.complete])
    def test_each_request_gets_its_own(self, model, operation):
        requests = [["x"], ["xx", "y"], ["z", "xx", "xxx"]]
        answers = model.answer([Ask(operation, inputs) for inputs in requests])
        truncated = [answer.truncated for answer in answers]
        assert truncated == [[False], [True, False], [False, True, True]]

    def test_each_input_is_scored_once(self, model, monkeypatch):
        scored = []
        start = AllOfLength.start
        monkeypatch.setattr(
            AllOfLength, "start", lambda self, X: scored.extend(X) or start(self, X)
        )
        model.answer([Ask(Ask.predict, ["xx", "y"])])
        assert scored == ["xx", "y"]

    def test_trace_says_it_itself(self, model):
        [answer] = model.answer([Ask(Ask.trace, ["x", "xx"])])
        assert [trace["truncated"] for trace in answer.entries] == [False, True]


class TestUnseen:
    @pytest.mark.parametrize("operation", [Ask.predict, Ask.rank, Ask.complete])
    def test_new_categories(self, tmp_path, operation):
        rows = [
            {"city": city, "tags": tags} for city, tags in (("Rome", ["sun"]), ("Oslo", ["snow"]))
        ]
        model = SetClassifier(LogisticRegression(), Margin())
        setlearn.save(plan_records(rows * 10, target="tags").fit(rows * 10, model), tmp_path / "m")
        served = ServedModel.load(tmp_path / "m", ())
        requests = [["Rome"], ["Bern", "Oslo"], ["Rome", "Pisa", "Bern"]]
        asked = [Ask(operation, [{"city": city} for city in cities]) for cities in requests]
        unseen = [answer.unseen for answer in served.answer(asked)]
        assert unseen == [[False], [True, False], [False, True, True]]

    def test_new_tokens(self, live):
        with live.client() as client:
            body = {"model": "forms", "inputs": ["ab", "a~b"]}
            assert client.post("/v1/predict", json=body).json()["unseen"] == [False, True]


class TestModels:
    def test_names(self, live):
        with live.client() as client:
            assert client.get("/v1/models").json() == {"models": list(INPUTS)}

    @pytest.mark.parametrize("name", INPUTS)
    def test_what_a_model_is(self, live, library, name):
        with live.client() as client:
            description = client.get("/v1/model", params={"name": name}).json()
        model = library[name]
        assert description["name"] == name
        assert description["task"] == model.task
        assert description["rule"] == repr(model.rule_)
        assert description["card"].startswith("# A setlearn model")
        assert description["classes"] == plain(model.elements_)
        assert (description["classes"] is None) == (model.task != "labels")
        lam = getattr(model.rule_, "lam_", None)
        assert description["lam"] == plain(lam)
        assert description["lam_space"] == getattr(model.rule_, "space", None)
        assert description["facts"]["task"] == f"sets of {model.task}"

    def test_the_first_by_default(self, live):
        with live.client() as client:
            description = client.get("/v1/model").json()
        assert description["name"] == "tags"
        assert description["examples"] == ABOUT["examples"]
        assert description["about"] == {"figures": ABOUT["figures"]}
        assert description["reads"] == [{"name": "text", "kind": "text"}]

    def test_records_and_bare_values(self, live):
        with live.client() as client:
            text = "the moon over a wave"
            answers = [
                client.post("/v1/predict", json={"inputs": [x]}).json()
                for x in (text, {"text": text}, {"text": text, "colour": "blue"})
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

    def test_lambda_that_was_given(self, tmp_path):
        """A rule that needs no fit has learned nothing, but it has a λ."""
        classifier = SetClassifier(LogisticRegression(), Margin(0.25, min_size=1), cv=2)
        classifier.fit([[0.0], [1.0]] * 4, [{"a"}, {"b"}] * 4)
        setlearn.save(classifier.with_rule(Margin(0.5, min_size=1)), tmp_path / "given")
        description = ServedModel.load(tmp_path / "given", ()).describe()
        assert (description["lam"], description["lam_space"]) == (0.5, "probability")

    def test_model_itself_stays_as_it_is(self, live, library):
        inputs = texts(4, seed=9)
        with live.client() as client:
            client.post("/v1/trace", json={"inputs": inputs, "rule": {"lam": 1, "rho": 0.5}})
            answer = client.post("/v1/trace", json={"inputs": inputs}).json()
        assert answer["traces"] == [library["tags"].trace(x).to_dict() for x in inputs]

    @pytest.mark.parametrize("name", INPUTS)
    def test_all_paths_use_the_same_rule(self, live, name):
        body = {"model": name, "inputs": INPUTS[name](5), "rule": {"lam": 0.2, "rho": 0.25}}
        nothing_known = {"known": [[]] * 5}
        with live.client() as client:
            traces = client.post("/v1/trace", json=body).json()["traces"]
            sets = client.post("/v1/predict", json=body).json()["predictions"]
            rankings = client.post("/v1/rank", json=body).json()["rankings"]
            others = client.post("/v1/complete", json=body | nothing_known).json()["predictions"]
        results = [sorted(trace["result"]) for trace in traces]
        assert [sorted(elements) for elements in sets] == results
        assert [sorted(pair["element"] for pair in ranking) for ranking in rankings] == results
        assert [sorted(elements) for elements in others] == results

    def test_model_that_takes_no_other_rule(self, tmp_path):
        """It was fitted on one class per sample, so there is nothing for a margin to decide."""
        classifier = SetClassifier(LogisticRegression(), cv=2)
        setlearn.save(classifier.fit([[0.0], [1.0]] * 4, ["a", "b"] * 4), tmp_path / "classes")
        model = ServedModel.load(tmp_path / "classes", ())
        [answer, refusal] = (
            model.answer([Ask(Ask.predict, [[1.0]], margin=margin)])[0]
            for margin in (None, (0.5, 0.0))
        )
        assert answer == ([["b"]], [False], [False])
        assert "cannot use this rule: y had one class per sample" in refusal.message


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
