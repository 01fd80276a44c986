"""The app, put together: routes, error handlers, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from setlearn import __version__
from setlearn.server.batching import Batcher
from setlearn.server.gate import Gate
from setlearn.server.monitoring import AccessLog, Metrics
from setlearn.server.problems import add_problem_handlers
from setlearn.server.request_shape import add_shape_handler
from setlearn.server.routes import make_routers
from setlearn.server.settings import Settings
from setlearn.server.workers import Worker

__all__ = ["create_app"]

PAGE = Path(str(files("setlearn.server").joinpath("playground")))

CONTENT_SECURITY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def create_app(
    settings: Settings, workers: list[Worker], descriptions: Mapping[str, Mapping[str, Any]]
) -> Gate:
    """Put the app together, behind its gate.

    Parameters
    ----------
    settings : Settings
    workers : list of Worker
        Workers that were started; they are stopped when the app ends.
    descriptions : mapping of str to mapping
        What the models are, by name.

    Returns
    -------
    Gate
    """
    metrics = Metrics()
    batcher = Batcher(workers, settings.limits, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="setlearn",
        version=__version__,
        description="Predict, rank, complete and explain sets of labels or sequences.",
        lifespan=lifespan,
        docs_url=None,  # it would load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
    )
    add_problem_handlers(app)
    add_shape_handler(app)
    for router in make_routers(settings, batcher, descriptions, metrics):
        app.include_router(router)
    _add_page(app)
    paths = {*app.openapi()["paths"], "/", "/openapi.json"}
    log = AccessLog(metrics, paths, is_written=settings.access_log)
    return Gate(app, settings, log)


def _add_page(app: FastAPI) -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def playground() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY})

    app.mount("/playground", StaticFiles(directory=PAGE), name="playground")
