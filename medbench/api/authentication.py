"""Bearer tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from medbench.accounts.services.tokens import use_token
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from rest_framework.request import Request

    from medbench.accounts.models import ApiToken, User


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. Without that header others are asked; a bad token is refused
    even beside a good session."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            token = use_token(secret.strip())
        except InvalidInput as error:
            raise AuthenticationFailed(error.message, error.code) from error
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002  # of the base class
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base registers subclasses, untyped
    """How the schema describes it; found by drf-spectacular because this module is imported."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:  # noqa: ARG002  # of the base
        return {"type": "http", "scheme": "bearer", "description": "A token made under Settings, API tokens."}
