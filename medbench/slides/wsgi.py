"""Answers stored tiles in front of Django, in the same process: a fiftieth of the work of a view.

What `serving` does not answer goes on to Django unchanged, so refusals and error pages are made in one
place, and a site without this wrapper serves the same tiles.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medbench.slides import serving

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

ADDRESS = re.compile(
    r"/slides/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"/tiles/([0-9]{1,9})/([0-9]{1,3})/([0-9]{1,9})_([0-9]{1,9})\.jpg"
)
STATUS = {200: "200 OK", 304: "304 Not Modified"}


class StoredTiles:
    """`application` with stored tiles answered before it."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = self._answer(environ)
        if answer is None:
            return self._application(environ, start_response)
        start_response(STATUS[answer.status], list(answer.headers.items()))
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body]

    def _answer(self, environ: WSGIEnvironment) -> serving.Answer | None:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return None
        address = ADDRESS.fullmatch(environ["PATH_INFO"])
        if address is None:
            return None
        slide_id, *numbers = address.groups()
        return serving.tile(environ, serving.Place(slide_id, *map(int, numbers)))
