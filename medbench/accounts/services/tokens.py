"""API tokens: made, used, revoked."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from medbench.accounts.models import ApiToken, User
from medbench.accounts.secrets import hashed, new_secret
from medbench.errors import InvalidInput

MARK = "mb_"  # so that a token is recognised where it should not be, say in a public repository
SHOWN_CHARACTERS = 9
USE_NOTED_EVERY = timedelta(minutes=1)


def make_token(user: User, name: str, *, expires_at: datetime | None) -> tuple[ApiToken, str]:
    """A new token of `user`, and its secret, which is kept nowhere."""
    secret = MARK + new_secret()
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        secret_sha256=hashed(secret),
        expires_at=expires_at,
    )
    return token, secret


def use_token(secret: str) -> ApiToken:
    """The token with `secret`, with its user; the use is noted.

    Raises:
        InvalidInput: nobody may act by this secret (any more); `code` says why. Only whoever holds
            a real token learns that it expired or was revoked.
    """
    now = timezone.now()
    token = ApiToken.objects.select_related("user").filter(secret_sha256=hashed(secret)).first()
    if token is None or not token.user.is_active:
        raise InvalidInput(
            "There is no such token. Make one under Settings, API tokens.", code="token_unknown"
        )
    if token.revoked_at is not None:
        raise InvalidInput("This token was revoked. Make a new one.", code="token_revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise InvalidInput("This token has expired. Make a new one.", code="token_expired")
    _note_use(token, now)
    return token


def _note_use(token: ApiToken, now: datetime) -> None:
    """At most one write a minute, however many requests and processes."""
    earlier = now - USE_NOTED_EVERY
    if token.last_used_at is None or token.last_used_at <= earlier:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lte=earlier)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)


def revoke_token(token: ApiToken) -> None:
    """From now on the token opens nothing."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
