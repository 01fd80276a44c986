"""The OpenAPI document: its content, a client generated from it, and requests made up from it."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

N_EXAMPLES = int(os.environ.get("SETLEARN_FUZZ_EXAMPLES", "12"))
"""How many requests are made up for each operation; `make fuzz-api` makes more."""

ANSWERS = ("predict", "rank", "complete", "trace")
WITH_INPUT = (*(f"POST /v1/{name}" for name in ANSWERS), "GET /v1/model")
OPERATIONS = (*WITH_INPUT, "GET /v1/models", "GET /healthz", "GET /readyz", "GET /metrics")
CHOICES = (
    *("--path", "openapi.json", "--output-path", "setlearn_client"),
    *("--meta", "none", "--fail-on-warning"),
)


@pytest.fixture(scope="module")
def document(live):
    with live.client() as client:
        return client.get("/openapi.json").json()


def test_all_operations_are_there(document):
    operations = [f"{m.upper()} {p}" for p, methods in document["paths"].items() for m in methods]
    assert sorted(operations) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", ANSWERS)
def test_examples_can_be_sent(live, document, name):
    """The example of each field, put together, is a request that gets an answer."""
    schema = document["components"]["schemas"][f"{name.title()}Request"]
    body = {
        key: field["examples"][0]
        for key, field in schema["properties"].items()
        if "examples" in field
    }
    body.pop("known", None)
    if name == "complete":
        body["known"] = [["sea"]]
    with live.client() as client:
        assert client.post(f"/v1/{name}", json=body).status_code == 200


@pytest.fixture(scope="module")
def generated(document, tmp_path_factory):
    """A client that openapi-python-client generated, as a package."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(document))
    programs = Path(sys.executable).parent
    subprocess.run(
        [programs / "openapi-python-client", "generate", *CHOICES],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},  # it runs ruff
        check=True,
        capture_output=True,
    )
    sys.path.insert(0, str(folder))
    yield importlib.import_module("setlearn_client")
    sys.path.remove(str(folder))


def part(generated, name):
    return importlib.import_module(f"{generated.__name__}.{name}")


class TestGeneratedClient:
    @pytest.fixture
    def client(self, generated, live):
        with generated.Client(base_url=live.address) as client:
            yield client

    def test_predict(self, generated, client):
        models = part(generated, "models")
        predict = part(generated, "api.answers.predict_v1_predict_post")
        inputs = ["moon and star", "wave and boat"]
        answer = predict.sync(client=client, body=models.PredictRequest(inputs=inputs))
        assert isinstance(answer, models.PredictAnswer)
        assert answer.predictions == [["night"], ["sea"]]

    def test_rank_and_trace(self, generated, client):
        models = part(generated, "models")
        rank = part(generated, "api.answers.rank_v1_rank_post")
        ranked = rank.sync(client=client, body=models.RankRequest(inputs=["wave"], top=2))
        first, second = ranked.rankings[0]
        assert first.score >= second.score
        trace = part(generated, "api.answers.trace_v1_trace_post")
        body = models.TraceRequest(inputs=["wave"], rule=models.RuleChange(lam=0.1))
        [document] = trace.sync(client=client, body=body).traces
        assert document["steps"]

    def test_problem(self, generated, client):
        models = part(generated, "models")
        predict = part(generated, "api.answers.predict_v1_predict_post")
        body = models.PredictRequest(inputs=["wave"], model="nothing")
        answer = predict.sync(client=client, body=body)
        assert isinstance(answer, models.ProblemAnswer)
        assert answer.error.code == "unknown_model"

    def test_model(self, generated, client):
        about = part(generated, "api.models.model_v1_model_get")
        assert about.sync(client=client, name="vectors").classes == ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def api(live):
    import schemathesis

    return schemathesis.openapi.from_url(f"{live.address}/openapi.json")


@pytest.mark.parametrize(
    ("operation", "mode"),
    [*((name, "POSITIVE") for name in OPERATIONS), *((name, "NEGATIVE") for name in WITH_INPUT)],
)
def test_whatever_is_sent_the_server_stands(api, operation, mode):
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
    )

    checks = [not_a_server_error, content_type_conformance, response_schema_conformance]
    method, path = operation.split()
    requests = api[path][method].as_strategy(generation_mode=GenerationMode[mode])

    @given(case=requests)
    @settings(max_examples=N_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    def send(case):
        case.call_and_validate(checks=checks)

    send()
