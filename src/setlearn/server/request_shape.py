"""The shape of requests: what every schema forbids, and plain words for what does not match."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby, islice
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from setlearn.server.problems import Problem, problem_response

__all__ = ["RequestShape", "add_shape_handler"]

MOST_PLACES = 3
"""How many places that do not match are named."""

UNKNOWN_FIELD = "unknown_field"

KINDS = {
    "string_type": "a text",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "a boolean",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
"""What pydantic expected, by the types of its errors."""

DEMANDS = {
    "missing": "is missing",
    "too_short": "must have at least {min_length} element",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be less than {lt:g}",
    UNKNOWN_FIELD: "has an unknown field; its fields are {fields}",
}
"""What else must hold, by the types of pydantic's errors; the numbers are those of our schemas."""


class RequestShape(BaseModel):
    """The base of every schema that a body, or a part of one, must have."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def check_field_names(cls, content: Any) -> Any:
        """Raise an error that lists the fields if there is another one."""
        names = list(cls.model_fields)
        others = [name for name in content if name not in names] if type(content) is dict else []
        if others:
            close = get_close_matches(others[0][:40], names, n=1)
            meant = f" (did you mean {close[0]}?)" if close else ""
            fields = f"{', '.join(names)}{meant}"
            raise PydanticCustomError(UNKNOWN_FIELD, "unknown field", {"fields": fields})
        return content

    @classmethod
    def all_field_names(cls) -> set[str]:
        """The names of the fields of this schema and of all that inherit from it."""
        inherited = (shape.all_field_names() for shape in cls.__subclasses__())
        return set(cls.model_fields).union(*inherited)


def add_shape_handler(app: FastAPI) -> None:
    """Let an app say where a request does not match the schema."""
    app.add_exception_handler(RequestValidationError, _answer_wrong_shape)


async def _answer_wrong_shape(request: Request, error: Exception) -> JSONResponse:
    """Answer a request whose body or parameters do not match the schema."""
    assert isinstance(error, RequestValidationError)
    our_names = RequestShape.all_field_names()
    by_place = groupby(error.errors(), lambda mistake: _place(mistake["loc"], our_names))
    described = [
        f"{place} {_demand(list(found))}" for place, found in islice(by_place, MOST_PLACES)
    ]
    message = f"{'; '.join(described)}. See GET /openapi.json for the schema, with examples"
    return problem_response(Problem(422, "wrong_shape", message))


def _place(path: Sequence[str | int], our_names: Collection[str]) -> str:
    """Write a place like ``known[0][1]``, without anything that was sent.

    Only names of our own schemas are repeated. Others are keys of records, or pydantic's names for
    the members of a union.
    """
    numbers_and_names = [part for part in path if isinstance(part, int) or part in our_names]
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in numbers_and_names]
    return "".join(parts).removeprefix(".") or "the body"


def _demand(mistakes: Sequence[Mapping[str, Any]]) -> str:
    """What must hold at a place; where it may be of several kinds, there is a mistake for each."""
    for mistake in mistakes:
        if mistake["type"] in DEMANDS:
            return DEMANDS[mistake["type"]].format(**mistake.get("ctx", {}))
    kinds = list(dict.fromkeys(KINDS[m["type"]] for m in mistakes if m["type"] in KINDS))
    if "a number" in kinds and "a whole number" in kinds:
        kinds.remove("a whole number")
    if not kinds:
        return "does not match the schema"
    *others, last = kinds
    return f"must be {', '.join(others)}{' or ' if others else ''}{last}"
