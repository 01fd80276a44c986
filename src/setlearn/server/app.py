"""The app, put together: answers, figures, states, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.params import Depends as DependsOn
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.routing import APIRouter
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setlearn import __version__
from setlearn.server.access_log import AccessLog
from setlearn.server.answers import answers_router, models_router
from setlearn.server.batching import Batcher
from setlearn.server.counters import Counters
from setlearn.server.gate import Gate
from setlearn.server.pool import Worker
from setlearn.server.problems import (
    Problem,
    say_failure,
    say_problem,
    say_unknown_path,
    say_wrong_shape,
)
from setlearn.server.schemas import State, described_problems
from setlearn.server.settings import Settings

__all__ = ["create_app"]

PAGE = Path(str(files("setlearn.server").joinpath("playground")))

CONTENT_SECURITY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def create_app(
    settings: Settings, workers: list[Worker], descriptions: Mapping[str, Mapping[str, Any]]
) -> Gate:
    """The app behind its gate, for workers that have been started; they end with it.

    ``descriptions`` tell by name what the models are.
    """
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
        redirect_slashes=False,
    )
    for kind, say in (
        (Problem, say_problem),
        (RequestValidationError, say_wrong_shape),
        (HTTPException, say_unknown_path),
        (Exception, say_failure),
    ):
        app.add_exception_handler(kind, say)
    # The gate checks the token; here it is for the OpenAPI document alone.
    token = [Depends(HTTPBearer(auto_error=False))] if settings.token else []
    for router in (
        answers_router(app, settings, token),
        models_router(settings, descriptions, token),
        _figures(app, counters, token),
        _states(app),
    ):
        app.include_router(router)
    _add_page(app)
    paths = {*app.openapi()["paths"], "/", "/openapi.json"}
    log = AccessLog(counters, paths, is_written=settings.access_log)
    return Gate(app, settings, log)


def _figures(app: FastAPI, counters: Counters, token: Sequence[DependsOn]) -> APIRouter:
    router = APIRouter(dependencies=token, tags=["states"])

    @router.get(
        "/metrics", response_class=PlainTextResponse, responses=described_problems(401, 421)
    )
    async def metrics() -> str:
        """Give figures about requests, batches and workers, for Prometheus."""
        batcher: Batcher = app.state.batcher
        return counters.text(n_waiting=batcher.n_waiting, n_ready=batcher.n_ready)

    return router


def _states(app: FastAPI) -> APIRouter:
    router = APIRouter(tags=["states"])

    @router.get("/healthz", response_model=State, responses=described_problems(421))
    async def healthz() -> dict[str, str]:
        """Tell that the server is there."""
        return {"status": "ok"}

    @router.get("/readyz", response_model=State, responses=described_problems(421, 503))
    async def readyz() -> dict[str, str]:
        """Tell whether a worker can answer."""
        if not app.state.batcher.n_ready:
            raise Problem(503, "not_ready", "no worker is ready yet; try again", retry_after=2)
        return {"status": "ok"}

    return router


def _add_page(app: FastAPI) -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def playground() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY})

    app.mount("/playground", StaticFiles(directory=PAGE), name="playground")
