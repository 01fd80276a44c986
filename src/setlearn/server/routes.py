"""Every route of the API: its path, the schemas of its request and answer, and what it does.

To add a route, write it here. If it asks models for something new, `Ask` gets a method for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from fastapi import Depends
from fastapi.params import Depends as DependsOn
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRouter
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field

from setlearn.server.batching import Batcher
from setlearn.server.gate import StrictRoute
from setlearn.server.monitoring import Metrics
from setlearn.server.problems import Problem, described_problems
from setlearn.server.request_shape import RequestShape
from setlearn.server.served_model import Answer, Ask
from setlearn.server.settings import Settings

__all__ = ["make_routers"]

Element: TypeAlias = str | int | float | bool | list[Any]
"""A label, a candidate, or a sequence: a string, or a list of its tokens."""

Input: TypeAlias = str | list[Any] | dict[str, Any]
"""A text, a vector or list of tokens, or a record with the model's columns."""

Inputs: TypeAlias = Annotated[
    list[Input],
    Field(
        min_length=1,
        description="Texts, vectors, lists of tokens, or records: see `reads` in GET /v1/model.",
        examples=[["grilled trout with rice"]],
    ),
]
ModelName: TypeAlias = Annotated[
    str | None,
    Field(description="A name from GET /v1/models. The default is the first one.", examples=[None]),
]
Truncated: TypeAlias = Annotated[
    list[bool],
    Field(
        description=(
            "For each input, whether a limit of the model (`max_length`, `max_size` or "
            "`max_nodes`) cut its answer off, so that elements may be missing. Always false for "
            "labels and candidates, which have no such limits."
        ),
        examples=[[False]],
    ),
]
Unseen: TypeAlias = Annotated[
    list[bool],
    Field(
        description=(
            "For each input, whether it has categories, dates or tokens that training has not "
            "seen, which are left out of the answer, or numbers where training had texts."
        ),
        examples=[[False]],
    ),
]
KnownSets: TypeAlias = Annotated[
    list[list[Element]],
    Field(description="The known elements of each input, one list each.", examples=[[["fish"]]]),
]


class RuleChange(RequestShape):
    """A margin with this λ and ρ, instead of the rule of the model."""

    lam: Annotated[
        float,
        Field(
            ge=0,
            le=1000,
            description="λ: the penalty for a choice that was already picked.",
            examples=[0.3],
        ),
    ]
    rho: Annotated[
        float,
        Field(
            ge=0, lt=1, description="ρ: stop when more than this share is repeated.", examples=[0]
        ),
    ] = 0.0


class PredictRequest(RequestShape):
    """Inputs whose sets to predict."""

    inputs: Inputs
    model: ModelName = None
    rule: RuleChange | None = None


class RankRequest(PredictRequest):
    """Inputs whose elements to rank. With known elements, only the others are listed."""

    known: KnownSets | None = None
    top: Annotated[
        int | None,
        Field(
            ge=1,
            le=10_000,
            description=(
                "How many of the best elements to list, whether or not the rule keeps them. By "
                "default the predicted set, or what completes the known one, is listed."
            ),
            examples=[None],
        ),
    ] = None


class CompleteRequest(PredictRequest):
    """Inputs with known elements of their sets."""

    known: KnownSets


class TraceRequest(PredictRequest):
    """Inputs whose sets to explain."""

    known: KnownSets | None = None


class PredictAnswer(BaseModel):
    """The set of each input. The order of elements within a set is fixed but has no meaning."""

    model: str
    predictions: Annotated[list[list[Element]], Field(examples=[[["fish", "grill"]]])]
    truncated: Truncated
    unseen: Unseen


class RankedElement(BaseModel):
    """An element and its score."""

    element: Element
    score: float


class RankAnswer(BaseModel):
    """The elements of each input with their scores, best first."""

    model: str
    rankings: list[list[RankedElement]]
    truncated: Truncated
    unseen: Unseen


class TraceAnswer(BaseModel):
    """How the set of each input was built.

    For labels and candidates: ``kind`` ("label" or "candidate"), ``labels`` (or the candidates of
    the input), ``known``, ``steps``, ``result`` and ``reason`` (why it stopped). A step has the
    ``scores`` of all labels, the ``winner``, whether it was ``kept``, and the ``memory`` after it.
    With a margin, ``penalties`` are what was subtracted from the scores. Other rules decide at
    once: ``penalties`` is null, and ``figures`` has the numbers that the rule looks at. For
    sequences: ``branches``, a tree of ``choice``, ``probability``, ``status``, ``reason``, ``end``,
    ``below`` and ``more`` (how many less probable choices were rejected below it and are not
    listed); ``more`` for the root; ``result`` and ``truncated``.
    """

    model: str
    traces: list[dict[str, Any]]


class ModelAnswer(BaseModel):
    """What a model is."""

    name: str
    task: Annotated[str, Field(description="What its elements are.", examples=["labels"])]
    rule: Annotated[str, Field(description="The rule that decides.", examples=["Margin()"])]
    lam: Annotated[
        float | list[float] | None,
        Field(description="λ, if the rule has one; for sequences, one per position."),
    ]
    lam_space: Annotated[
        str | None,
        Field(description='The scale of λ: "probability" or "log"; null if there is no λ.'),
    ]
    classes: Annotated[
        list[Element] | None, Field(description="The labels; null for sequences and candidates.")
    ]
    reads: Annotated[
        list[dict[str, str]], Field(description="The columns of a record: `name` and `kind`.")
    ]
    examples: Annotated[list[Any], Field(description="Inputs to try.")]
    facts: dict[str, Any]
    about: dict[str, Any]
    card: Annotated[str, Field(description="The model card, in Markdown.")]


class ModelsAnswer(BaseModel):
    """The names of the models."""

    models: list[str]


class StateAnswer(BaseModel):
    """The state of the server."""

    status: Annotated[str, Field(examples=["ok"])]


def make_routers(
    settings: Settings,
    batcher: Batcher,
    descriptions: Mapping[str, Mapping[str, Any]],
    metrics: Metrics,
) -> list[APIRouter]:
    """Make all routes.

    Parameters
    ----------
    settings : Settings
    batcher : Batcher
        Answers what models are asked.
    descriptions : mapping of str to mapping
        What the models are, by name.
    metrics : Metrics

    Returns
    -------
    list of APIRouter
    """
    # The gate checks the token; this is only for the OpenAPI document.
    token = [Depends(HTTPBearer(auto_error=False))] if settings.token else []
    return [
        _answer_routes(settings, batcher, token),
        _model_routes(settings, descriptions, token),
        _metrics_route(batcher, metrics, token),
        _state_routes(batcher),
    ]


def _answer_routes(settings: Settings, batcher: Batcher, token: Sequence[DependsOn]) -> APIRouter:
    router = APIRouter(
        prefix="/v1",
        route_class=StrictRoute,
        dependencies=token,
        responses=described_problems(400, 401, 404, 408, 413, 415, 421, 422, 503, 504),
        tags=["answers"],
    )

    async def answer(request: PredictRequest, operation: Any, **options: Any) -> tuple[str, Answer]:
        name = _existing_name(request.model, settings)
        margin = None if request.rule is None else (request.rule.lam, request.rule.rho)
        ask = Ask(operation, request.inputs, margin=margin, **options)
        _check_sizes(ask, settings.limits.rows)
        return name, await batcher.answer(name, ask)

    @router.post("/predict", response_model=PredictAnswer)
    async def predict(request: PredictRequest) -> dict[str, Any]:
        """Predict the set of each input."""
        name, (sets, truncated, unseen) = await answer(request, Ask.predict)
        return {"model": name, "predictions": sets, "truncated": truncated, "unseen": unseen}

    @router.post("/rank", response_model=RankAnswer)
    async def rank(request: RankRequest) -> dict[str, Any]:
        """List the elements of each input, or what else may be in its set, best first."""
        options = {"known": request.known, "top": request.top}
        name, (rankings, truncated, unseen) = await answer(request, Ask.rank, **options)
        return {"model": name, "rankings": rankings, "truncated": truncated, "unseen": unseen}

    @router.post("/complete", response_model=PredictAnswer)
    async def complete(request: CompleteRequest) -> dict[str, Any]:
        """Given some elements of each set, predict the others."""
        name, (sets, truncated, unseen) = await answer(request, Ask.complete, known=request.known)
        return {"model": name, "predictions": sets, "truncated": truncated, "unseen": unseen}

    @router.post("/trace", response_model=TraceAnswer)
    async def trace(request: TraceRequest) -> dict[str, Any]:
        """Show step by step how the set of each input is built, and why it ends there."""
        name, (traces, _, _) = await answer(request, Ask.trace, known=request.known)
        return {"model": name, "traces": traces}

    return router


def _check_sizes(ask: Ask, max_rows: int) -> None:
    if len(ask.inputs) > max_rows:
        raise Problem(
            422,
            "too_many_rows",
            f"there are more than {max_rows} inputs; send them in several requests",
        )
    if ask.known is not None and len(ask.known) != len(ask.inputs):
        raise Problem(422, "bad_input", "known must have one list per input; it may be empty: []")


def _existing_name(name: str | None, settings: Settings) -> str:
    if name is None:
        return next(iter(settings.models))
    if name not in settings.models:
        raise Problem(404, "unknown_model", "there is no such model; GET /v1/models lists them")
    return name


def _model_routes(
    settings: Settings, descriptions: Mapping[str, Mapping[str, Any]], token: Sequence[DependsOn]
) -> APIRouter:
    router = APIRouter(prefix="/v1", dependencies=token, tags=["models"])

    @router.get("/models", response_model=ModelsAnswer, responses=described_problems(401, 421))
    async def models() -> dict[str, Any]:
        """List the names of the models."""
        return {"models": list(settings.models)}

    @router.get(
        "/model", response_model=ModelAnswer, responses=described_problems(401, 404, 421, 422)
    )
    async def model(name: str | None = None) -> dict[str, Any]:
        """Describe a model: its card, labels, rule and λ, and what it reads."""
        name = _existing_name(name, settings)
        return {"name": name, **descriptions[name]}

    return router


def _metrics_route(batcher: Batcher, metrics: Metrics, token: Sequence[DependsOn]) -> APIRouter:
    router = APIRouter(dependencies=token, tags=["states"])

    @router.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=described_problems(401, 421),
        name="metrics",
    )
    async def show_metrics() -> str:
        """Report metrics of requests, batches and workers, for Prometheus."""
        return metrics.text(
            n_waiting=batcher.n_waiting, n_ready=batcher.n_ready, n_busy=batcher.n_busy
        )

    return router


def _state_routes(batcher: Batcher) -> APIRouter:
    router = APIRouter(tags=["states"])

    @router.get("/healthz", response_model=StateAnswer, responses=described_problems(421))
    async def healthz() -> dict[str, str]:
        """Report that the server runs."""
        return {"status": "ok"}

    @router.get("/readyz", response_model=StateAnswer, responses=described_problems(421, 503))
    async def readyz() -> dict[str, str]:
        """Report whether a worker can answer."""
        if not batcher.n_ready:
            raise Problem(503, "not_ready", "no worker is ready yet; try again", retry_after=2)
        return {"status": "ok"}

    return router
