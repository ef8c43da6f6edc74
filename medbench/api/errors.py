"""One problem body for every refusal: `{"code", "message"}`, and `"problems"` where several things
are wrong: `[{"code", "field", "message"}]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from medbench.errors import MedBenchError, NotFound, TooOften

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = {
    401: "Send a token (Authorization: Bearer …) or sign in.",
    404: NotFound().message,  # the same for missing and hidden
    405: "This address does not take this method. The header Allow names those it takes.",
    415: "Send JSON, or a form with a file.",
}


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The exception handler of all API views. None: a fault, which web.views.server_error answers."""
    if isinstance(error, MedBenchError):
        return _ours(error)
    response = exception_handler(error, context)  # sets the headers: Allow, Retry-After, WWW-Authenticate
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        problems = list(_problems(error.get_full_details()))
        count = f"{len(problems)} problem" if len(problems) == 1 else f"{len(problems)} problems"
        message = f"{count}. Nothing was saved."
        response.data = {"code": "invalid_input", "message": message, "problems": problems}
    else:
        response.data = _theirs(error, response)
    return response


def _ours(error: MedBenchError) -> Response:
    if error.status == 404:
        return Response({"code": NotFound.code, "message": NotFound().message}, status=404)
    headers = {"Retry-After": str(error.wait_s)} if isinstance(error, TooOften) else None
    return Response({"code": error.code, "message": error.message}, status=error.status, headers=headers)


def _theirs(error: Exception, response: Response) -> dict[str, str]:
    """Code and message of an error of Django or REST framework."""
    detail = getattr(error, "detail", None)
    code = getattr(detail, "code", None) or response.data["detail"].code
    message = str(response.data["detail"])
    if not isinstance(error, exceptions.AuthenticationFailed):  # that one says what is wrong with the token
        message = MESSAGES.get(response.status_code, message)
    return {"code": code, "message": message}


def _problems(details: Any, field: str = "") -> Iterator[dict[str, str]]:
    """Flatten what REST framework nests: `insights[3].text` names a field inside a list."""
    if _is_problem(details):
        yield {"code": details["code"], "field": field, "message": str(details["message"])}
    elif isinstance(details, dict):
        for key, inner in details.items():
            yield from _problems(inner, _inside(field, key))
    else:
        for position, inner in enumerate(details):
            yield from _problems(inner, field if _is_problem(inner) else _inside(field, position))


def _is_problem(details: Any) -> bool:
    return isinstance(details, dict) and isinstance(details.get("message"), str) and "code" in details


def _inside(field: str, key: str | int) -> str:
    if key == "non_field_errors":
        return field
    if isinstance(key, int):  # a place in a list
        return f"{field}[{key}]"
    return f"{field}.{key}" if field else key
