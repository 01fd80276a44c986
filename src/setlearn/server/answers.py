"""What the paths under /v1 answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.params import Depends as DependsOn
from fastapi.routing import APIRouter

from setlearn.server.problems import Problem
from setlearn.server.schemas import (
    CompleteRequest,
    ModelAnswer,
    ModelsAnswer,
    PredictAnswer,
    PredictRequest,
    RankAnswer,
    RankRequest,
    TraceAnswer,
    TraceRequest,
    described_problems,
)
from setlearn.server.served_model import Ask
from setlearn.server.settings import Settings
from setlearn.server.strict_route import StrictRoute

__all__ = ["answers_router", "models_router"]


def answers_router(app: FastAPI, settings: Settings, token: Sequence[DependsOn]) -> APIRouter:
    """The paths that ask a model; ``app.state.batcher`` answers."""
    router = APIRouter(
        prefix="/v1",
        route_class=StrictRoute,
        dependencies=token,
        responses=described_problems(400, 401, 404, 408, 413, 415, 421, 422, 503, 504),
        tags=["answers"],
    )

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
        name = _known_name(request.model, settings)
        return name, await app.state.batcher.answer(name, ask)

    @router.post("/predict", response_model=PredictAnswer)
    async def predict(request: PredictRequest) -> dict[str, Any]:
        """Predict the set of each input."""
        name, found = await answer(request, Ask("predict", request.inputs))
        return {"model": name, "predictions": found}

    @router.post("/rank", response_model=RankAnswer)
    async def rank(request: RankRequest) -> dict[str, Any]:
        """List the elements of each input with their scores, best first."""
        name, found = await answer(request, Ask("rank", request.inputs, top=request.top))
        return {"model": name, "rankings": found}

    @router.post("/complete", response_model=PredictAnswer)
    async def complete(request: CompleteRequest) -> dict[str, Any]:
        """Given some elements of each set, predict the others."""
        name, found = await answer(request, Ask("complete", request.inputs, known=request.known))
        return {"model": name, "predictions": found}

    @router.post("/trace", response_model=TraceAnswer)
    async def trace(request: TraceRequest) -> dict[str, Any]:
        """Tell how the set of each input comes about, also under another λ and ρ."""
        rule = None if request.rule is None else (request.rule.lam, request.rule.rho)
        ask = Ask("trace", request.inputs, known=request.known, rule=rule)
        name, found = await answer(request, ask)
        return {"model": name, "traces": found}

    return router


def models_router(
    settings: Settings, descriptions: Mapping[str, Mapping[str, Any]], token: Sequence[DependsOn]
) -> APIRouter:
    """The paths that tell what models there are."""
    router = APIRouter(prefix="/v1", dependencies=token, tags=["models"])

    @router.get("/models", response_model=ModelsAnswer, responses=described_problems(401, 421))
    async def models() -> dict[str, Any]:
        """List the names of the models."""
        return {"models": list(settings.models)}

    @router.get(
        "/model", response_model=ModelAnswer, responses=described_problems(401, 404, 421, 422)
    )
    async def model(name: str | None = None) -> dict[str, Any]:
        """Tell what a model is: its card, classes, rule and λ, and what it reads."""
        name = _known_name(name, settings)
        return {"name": name, **descriptions[name]}

    return router


def _known_name(name: str | None, settings: Settings) -> str:
    if name is None:
        return next(iter(settings.models))
    if name not in settings.models:
        raise Problem(404, "unknown_model", "there is no such model; GET /v1/models lists them")
    return name
