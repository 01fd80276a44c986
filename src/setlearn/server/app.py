"""The app: what each path answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setlearn import __version__
from setlearn.server.batching import Batcher
from setlearn.server.counters import Counters
from setlearn.server.gate import Gate
from setlearn.server.pool import Worker
from setlearn.server.problems import Problem, say_problem, say_unknown_path, say_wrong_shape
from setlearn.server.schemas import (
    CompleteRequest,
    ModelAnswer,
    ModelsAnswer,
    PredictAnswer,
    PredictRequest,
    ProblemAnswer,
    RankAnswer,
    RankRequest,
    State,
    TraceAnswer,
    TraceRequest,
)
from setlearn.server.served_model import Ask
from setlearn.server.settings import Settings
from setlearn.server.strict_json import NotJsonError, parse_strictly

__all__ = ["create_app"]

PAGE = Path(str(files("setlearn.server").joinpath("playground")))

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemAnswer, "description": told}
    for status, told in {
        400: "The body is not JSON.",
        401: "The token is missing or wrong.",
        404: "There is no such model.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The body is not declared as JSON.",
        421: "The server is not known by this name.",
        422: "The inputs do not fit the model, or are too many.",
        503: "The server is busy, or the model's process was lost; try again.",
        504: "There was no answer in time.",
    }.items()
}

CONTENT_SECURITY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class StrictRoute(APIRoute):
    """Reads bodies as strict JSON, which must be declared as such."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Let requests be read by `_StrictRequest`."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            if request.method == "POST":
                declared = request.headers.get("content-type", "").partition(";")[0].strip()
                if declared.lower() != "application/json":
                    # Also keeps web pages of others from sending forms here.
                    raise Problem(415, "not_json", "send JSON, as Content-Type: application/json")
                request = _StrictRequest(request.scope, request.receive)
            return await handle(request)

        return strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return parse_strictly(await self.body())
        except NotJsonError as error:
            raise _BadJson(error) from None


class _BadJson(HTTPException):
    """The one kind of exception that FastAPI lets through while it reads a body."""

    def __init__(self, error: NotJsonError) -> None:
        super().__init__(400, f"the body cannot be read as JSON: {error}")


async def _say_bad_json(request: Request, error: Exception) -> Response:
    assert isinstance(error, _BadJson)
    return await say_problem(request, Problem(400, "not_json", str(error.detail)))


def create_app(settings: Settings, workers: list[Worker]) -> Gate:
    """The app behind its gate, for workers that have been started; they end with it."""
    counters = Counters()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.batcher = Batcher(workers, settings.limits, counters)
        app.state.batcher.start()
        yield
        await app.state.batcher.stop()

    app = FastAPI(
        title="setlearn",
        version=__version__,
        description="Sets of labels or of sequences, predicted, ranked, completed and explained.",
        lifespan=lifespan,
        docs_url=None,  # which would load scripts from elsewhere
        redoc_url=None,
    )
    app.router.route_class = StrictRoute
    for kind, say in (
        (Problem, say_problem),
        (_BadJson, _say_bad_json),
        (RequestValidationError, say_wrong_shape),
        (HTTPException, say_unknown_path),
    ):
        app.add_exception_handler(kind, say)
    _add_answers(app, settings, workers[0])
    _add_states(app, counters)
    _add_page(app)
    gate = Gate(app, settings, counters)
    paths = {route.path for route in app.routes if isinstance(route, APIRoute)}
    gate.served = lambda path: path if path in paths else "other"
    return gate


def _add_answers(app: FastAPI, settings: Settings, worker: Worker) -> None:
    names = list(settings.models)

    def known_name(name: str | None) -> str:
        if name is None:
            return names[0]
        if name not in settings.models:
            raise Problem(404, "unknown_model", "there is no such model; GET /v1/models lists them")
        return name

    async def answer(request: PredictRequest, ask: Ask) -> tuple[str, Any]:
        if len(ask.inputs) > settings.limits.rows:
            raise Problem(
                422,
                "too_many_rows",
                f"there are more than {settings.limits.rows} inputs; send them in several requests",
            )
        if ask.known is not None and len(ask.known) != len(ask.inputs):
            raise Problem(
                422, "bad_input", "known must have one list for each input, an empty one for none"
            )
        name = known_name(request.model)
        return name, await app.state.batcher.answer(name, ask)

    @app.post("/v1/predict", response_model=PredictAnswer, responses=PROBLEMS, tags=["answers"])
    async def predict(request: PredictRequest) -> dict[str, Any]:
        """Predict the set of each input."""
        name, found = await answer(request, Ask("predict", request.inputs))
        return {"model": name, "predictions": found}

    @app.post("/v1/rank", response_model=RankAnswer, responses=PROBLEMS, tags=["answers"])
    async def rank(request: RankRequest) -> dict[str, Any]:
        """List the elements of each input with their scores, best first."""
        name, found = await answer(request, Ask("rank", request.inputs, top=request.top))
        return {"model": name, "rankings": found}

    @app.post("/v1/complete", response_model=PredictAnswer, responses=PROBLEMS, tags=["answers"])
    async def complete(request: CompleteRequest) -> dict[str, Any]:
        """Given some elements of each set, predict the others."""
        name, found = await answer(request, Ask("complete", request.inputs, known=request.known))
        return {"model": name, "predictions": found}

    @app.post("/v1/trace", response_model=TraceAnswer, responses=PROBLEMS, tags=["answers"])
    async def trace(request: TraceRequest) -> dict[str, Any]:
        """Tell how the set of each input comes about, also under another λ and ρ."""
        rule = None if request.rule is None else (request.rule.lam, request.rule.rho)
        ask = Ask("trace", request.inputs, known=request.known, rule=rule)
        name, found = await answer(request, ask)
        return {"model": name, "traces": found}

    @app.get("/v1/models", response_model=ModelsAnswer, tags=["models"])
    async def models() -> dict[str, Any]:
        """List the names of the models."""
        return {"models": names}

    @app.get("/v1/model", response_model=ModelAnswer, responses=PROBLEMS, tags=["models"])
    async def model(name: str | None = None) -> dict[str, Any]:
        """Tell what a model is: its card, classes, rule and λ, and what it reads."""
        name = known_name(name)
        return {"name": name, **worker.descriptions[name]}


def _add_states(app: FastAPI, counters: Counters) -> None:
    @app.get("/healthz", response_model=State, tags=["states"])
    async def healthz() -> dict[str, str]:
        """Tell that the server is there."""
        return {"status": "ok"}

    @app.get("/readyz", response_model=State, responses={503: PROBLEMS[503]}, tags=["states"])
    async def readyz() -> dict[str, str]:
        """Tell whether a worker can answer."""
        if not app.state.batcher.n_ready:
            raise Problem(503, "not_ready", "no worker is ready yet; try again", retry_after=2)
        return {"status": "ok"}

    @app.get("/metrics", response_class=PlainTextResponse, tags=["states"])
    async def metrics() -> str:
        """Give figures about requests, batches and workers, for Prometheus."""
        return counters.text(app.state.batcher.n_ready)


def _add_page(app: FastAPI) -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def playground() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY})

    app.mount("/playground", StaticFiles(directory=PAGE), name="playground")
