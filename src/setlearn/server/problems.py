"""Failed requests: an HTTP status, and a JSON document that says what to do about it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

__all__ = [
    "Problem",
    "ProblemAnswer",
    "add_problem_handlers",
    "described_problems",
    "problem_response",
]


class Problem(HTTPException):
    """Why a request is refused. The message never repeats anything that the client sent.

    It is an `HTTPException` because FastAPI lets no other exception through while it reads a body.

    Parameters
    ----------
    status : int
        The HTTP status.
    code : str
        A short name for programs.
    message : str
        What is wrong and what to do, for people.
    retry_after : int, optional
        After how many seconds the client may try again.
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
    """The response that a client gets."""
    content = {"error": {"code": problem.code, "message": problem.detail}}
    return JSONResponse(content, problem.status_code, problem.headers)


def add_problem_handlers(app: FastAPI) -> None:
    """Let an app answer with a problem whatever goes wrong."""
    app.add_exception_handler(Problem, _answer_problem)
    app.add_exception_handler(HTTPException, _answer_unknown_path)
    app.add_exception_handler(Exception, _answer_failure)


async def _answer_problem(request: Request, problem: Exception) -> JSONResponse:
    """Answer with a problem that a route raised."""
    assert isinstance(problem, Problem)
    return problem_response(problem)


async def _answer_unknown_path(request: Request, error: Exception) -> JSONResponse:
    """Answer a request for a path or a method that is not served."""
    assert isinstance(error, HTTPException)
    reasons = {404: "nothing is served at this path", 405: "this path does not take this method"}
    message = f"{reasons.get(error.status_code, 'the request cannot be read')}; see /openapi.json"
    response = problem_response(Problem(error.status_code, "not_found", message))
    response.headers.update(error.headers or {})
    return response


async def _answer_failure(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that made the server itself fail."""
    return problem_response(
        Problem(500, "failed", "the server failed to answer; see its log for the cause")
    )


class _Error(BaseModel):
    code: Annotated[str, Field(examples=["unknown_model"])]
    message: Annotated[str, Field(examples=["there is no such model; GET /v1/models lists them"])]


class ProblemAnswer(BaseModel):
    """What went wrong, and what to do."""

    error: _Error


DESCRIPTIONS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    404: "There is no such model.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    421: "The server does not answer to this host name.",
    422: "The inputs do not fit the model, or there are too many.",
    503: "The server is busy, or the process with the model ended; try again.",
    504: "There was no answer in time.",
}


def described_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The entries of the OpenAPI document for the problems that a path may have."""
    return {
        status: {"model": ProblemAnswer, "description": DESCRIPTIONS[status]} for status in statuses
    }
