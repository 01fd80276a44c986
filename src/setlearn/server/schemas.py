"""The shapes of requests and answers, as the OpenAPI document tells them."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "CompleteRequest",
    "ModelAnswer",
    "ModelsAnswer",
    "PredictAnswer",
    "PredictRequest",
    "ProblemAnswer",
    "RankAnswer",
    "RankRequest",
    "RuleChange",
    "State",
    "TraceAnswer",
    "TraceRequest",
    "described_problems",
]

Element: TypeAlias = str | int | float | bool | list[Any]
"""A label, or a sequence: a string, or a list of its tokens."""

Input: TypeAlias = str | list[Any] | dict[str, Any]
"""A text, a vector or list of tokens, or a record with the model's columns."""

Inputs: TypeAlias = Annotated[
    list[Input],
    Field(
        min_length=1,
        description="Texts, vectors, lists of tokens, or records: see `reads` of GET /v1/model.",
        examples=[["grilled trout with rice"]],
    ),
]
ModelName: TypeAlias = Annotated[
    str | None,
    Field(
        description="One of the names of GET /v1/models; the first one by default.",
        examples=[None],
    ),
]
KnownSets: TypeAlias = Annotated[
    list[list[Element]],
    Field(description="For each input the elements that are known.", examples=[[["fish"]]]),
]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class PredictRequest(_Shape):
    """Inputs to predict sets for."""

    inputs: Inputs
    model: ModelName = None


class RankRequest(PredictRequest):
    """Inputs to rank elements for."""

    top: Annotated[
        int | None,
        Field(
            ge=1,
            le=10_000,
            description="So many of the best labels, kept or not; by default the predicted set.",
            examples=[None],
        ),
    ] = None


class CompleteRequest(PredictRequest):
    """Inputs with what is known of their sets."""

    known: KnownSets


class RuleChange(_Shape):
    """Another λ, and another ρ, in place of the model's rule."""

    lam: Annotated[
        float, Field(ge=0, le=1000, description="λ: what a pick is charged.", examples=[0.3])
    ]
    rho: Annotated[
        float, Field(ge=0, lt=1, description="ρ: the share of repeats that stops.", examples=[0])
    ] = 0.0


class TraceRequest(PredictRequest):
    """Inputs to tell the story of."""

    known: KnownSets | None = None
    rule: RuleChange | None = None


class PredictAnswer(BaseModel):
    """The set of each input, its elements in a fixed order."""

    model: str
    predictions: Annotated[list[list[Element]], Field(examples=[[["fish", "grill"]]])]


class RankedElement(BaseModel):
    """An element and its score."""

    element: Element
    score: float


class RankAnswer(BaseModel):
    """The elements of each input with their scores, best first."""

    model: str
    rankings: list[list[RankedElement]]


class TraceAnswer(BaseModel):
    """For each input how its set came about.

    For labels: ``labels``, ``known``, ``steps`` (``scores`` after penalties, ``penalties``,
    ``winner``, ``kept``, ``memory``), ``result``, ``reason``. For sequences: ``branches``, a tree
    of ``choice``, ``probability``, ``status``, ``reason``, ``end`` and ``below``; ``result``,
    ``truncated``.
    """

    model: str
    traces: list[dict[str, Any]]


class ModelAnswer(BaseModel):
    """What a model is."""

    name: str
    task: str
    rule: str
    lam: Annotated[float | list[float] | None, Field(description="λ, where the rule has one.")]
    classes: Annotated[list[Element] | None, Field(description="The labels; null for sequences.")]
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


class State(BaseModel):
    """Whether the server is there."""

    status: Annotated[str, Field(examples=["ok"])]


class _Error(BaseModel):
    code: Annotated[str, Field(examples=["unknown_model"])]
    message: Annotated[str, Field(examples=["there is no such model; GET /v1/models lists them"])]


class ProblemAnswer(BaseModel):
    """What went wrong, and what to do."""

    error: _Error


PROBLEMS = {
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
}


def described_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of the problems that a path may have."""
    return {
        status: {"model": ProblemAnswer, "description": PROBLEMS[status]} for status in statuses
    }
