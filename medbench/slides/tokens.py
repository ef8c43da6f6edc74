"""The slide token: for a quarter of an hour it says that this browser session may see this slide.

Who may see a slide takes four queries to find out, a tile takes none. So the page's first request
(pyramid.json) asks once and leaves a token in a cookie that goes with the addresses of this slide only,
and the viewer renews it there every ten minutes. Without a valid token a tile asks as any page does.

A token is bound to the slide and to the session cookie it was given with. Copied to another browser, or
after sign-out, it is worth nothing; somebody who loses a role keeps the slide until it runs out, at most
LIFETIME_S later.

What a browser has stored is beyond recall: a tile lies in the private cache of that browser, without
asking us again, until it is pushed out or the person clears it. Who shares a computer should clear it,
or use a private window.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

LIFETIME_S = 15 * 60
COOKIE = "medbench_slide"


def give(request: HttpRequest, response: HttpResponse, slide_id: uuid.UUID) -> None:
    """Have `response` leave a new token, for whoever was just found to be allowed to see the slide."""
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not session:
        return
    response.set_cookie(
        COOKIE,
        _token(str(slide_id), session, int(time.time()) + LIFETIME_S),
        max_age=LIFETIME_S,
        path=reverse("slides:pyramid", args=(slide_id,)).removesuffix("pyramid.json"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def is_held(environ: Mapping[str, Any], slide_id: str) -> bool:
    """Whether the WSGI request carries a token for this slide that holds now. No query."""
    cookies = environ.get("HTTP_COOKIE", "")
    token, session = (_cookie(name).search(cookies) for name in (COOKIE, settings.SESSION_COOKIE_NAME))
    if token is None or session is None:
        return False
    expires = token[1].partition(".")[0]
    if not (expires.isascii() and expires.isdigit() and len(expires) < 13):
        return False
    if not 0 < int(expires) - time.time() <= LIFETIME_S:
        return False
    return hmac.compare_digest(_token(slide_id, session[1], int(expires)).encode(), token[1].encode())


@lru_cache(maxsize=4_096)  # a viewer shows the same token with each of hundreds of tiles
def _token(slide_id: str, session: str, expires: int) -> str:
    said = f"{expires} {slide_id} {session}".encode()
    return f"{expires}.{hmac.digest(_key(settings.SECRET_KEY), said, 'sha256').hex()}"


@cache
def _key(secret: str) -> bytes:
    """A key for this purpose alone."""
    return hashlib.sha256(b"medbench.slides.tokens " + secret.encode()).digest()


@cache
def _cookie(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|;\s*){re.escape(name)}=([^;\s]*)")
