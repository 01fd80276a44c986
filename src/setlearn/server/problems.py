"""What goes wrong with a request, as a status and a JSON document that says what to do."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

__all__ = [
    "Problem",
    "problem_response",
    "say_failure",
    "say_problem",
    "say_unknown_path",
    "say_wrong_shape",
]


class Problem(HTTPException):
    """An answer other than the one that was hoped for. Its message never repeats the input.

    It is an `HTTPException` as FastAPI lets nothing else through while it reads a body.
    """

    def __init__(
        self, status: int, code: str, message: str, *, retry_after: int | None = None
    ) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(status, message, headers)
        self.code = code


def problem_response(problem: Problem) -> JSONResponse:
    """The document that a client gets."""
    content = {"error": {"code": problem.code, "message": problem.detail}}
    return JSONResponse(content, problem.status_code, problem.headers)


async def say_problem(request: Request, problem: Exception) -> JSONResponse:
    """Answer with a problem that some code raised."""
    assert isinstance(problem, Problem)
    return problem_response(problem)


async def say_wrong_shape(request: Request, error: Exception) -> JSONResponse:
    """Answer to a body or a parameter that the schema does not allow."""
    assert isinstance(error, RequestValidationError)
    places = list(dict.fromkeys(_place(one) for one in error.errors()))[:3]
    message = (
        f"the request does not have the shape that it should: {'; '.join(places)}. "
        "GET /openapi.json tells it, with examples"
    )
    return problem_response(Problem(422, "wrong_shape", message))


async def say_unknown_path(request: Request, error: Exception) -> JSONResponse:
    """Answer to a path or a method that there is not."""
    assert isinstance(error, HTTPException)
    told = {404: "there is nothing at this path", 405: "this path does not take this method"}
    message = f"{told.get(error.status_code, 'the request cannot be read')}; see /openapi.json"
    response = problem_response(Problem(error.status_code, "not_served", message))
    response.headers.update(error.headers or {})
    return response


async def say_failure(request: Request, error: Exception) -> JSONResponse:
    """Answer to a request over which the server itself stumbled."""
    return problem_response(Problem(500, "failed", "the server failed at this; its log tells more"))


def _place(error: dict[str, Any]) -> str:
    # Where, and what kind of mistake, but nothing of what was sent, neither values nor names.
    known = {"inputs", "known", "model", "top", "rule", "lam", "rho", "body", "query"}
    place = [str(part) for part in error["loc"] if isinstance(part, int) or part in known]
    return f"{'.'.join(place)} ({str(error['type']).replace('_', ' ')})"
