"""The addresses of a slide: its pyramid, its tiles, its thumbnail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from csp.decorators import csp_exempt
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from medbench.errors import NotFound
from medbench.slides import services, serving, tokens
from medbench.slides.queries import visible_slide
from medbench.slides.reader import SlideRefused, TileUnreadable

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

    from medbench.slides.models import Slide

FOR_A_WHILE = "private, max-age=300"
ASK_AGAIN = "private, no-cache"


@require_safe
def pyramid(request: HttpRequest, slide_id: uuid.UUID) -> HttpResponseBase:
    """Everything the viewer needs to know; 409 with the reason while there is nothing to show."""
    slide = _visible(request, slide_id)
    if slide.is_ready:
        response = JsonResponse(_pyramid(slide))
        tokens.give(request, response, slide.pk)
    else:
        reason = {"state": slide.state, "code": slide.refusal_code, "message": slide.refusal_text}
        response = JsonResponse(reason, status=409)
    response.headers["Cache-Control"] = ASK_AGAIN
    return response


@require_safe
def token(request: HttpRequest, slide_id: uuid.UUID) -> HttpResponseBase:
    """A new slide token for whoever may see the slide; the viewer asks every ten minutes."""
    slide = _visible(request, slide_id)
    response = HttpResponse(status=204)
    tokens.give(request, response, slide.pk)
    return response


# A picture has nothing to forbid, and building a policy takes longer than the tile.
@csp_exempt()  # type: ignore[arg-type]  # typed for views without arguments
@require_safe
def tile(
    request: HttpRequest, slide_id: uuid.UUID, revision: int, level: int | str, column: int, row: int
) -> HttpResponseBase:
    """One tile as JPEG. 404 outside the grid and for old revisions, 410 where it cannot be read.

    A stored tile is as large as all of its level, at the far edges too; a decoded one ends with the level.
    """
    place = serving.Place(str(slide_id), revision, level, column, row)
    slide = _visible(request, slide_id)
    if not slide.is_ready or place.revision != slide.revision or not _in_grid(slide, *place[2:]):
        raise NotFound
    serving.remember(slide)
    if stored := serving.tile(request.META, place):
        return HttpResponse(stored.body, status=stored.status, headers=stored.headers)
    etag = services.tile_etag(slide.sha256, *place[2:])
    return _picture(request, etag, serving.FOR_EVER, lambda: services.tile_jpeg(slide, *place[2:]))


@require_safe
def thumbnail(request: HttpRequest, slide_id: uuid.UUID) -> HttpResponseBase:
    """The whole slide as a small JPEG. 404 while there is nothing to show."""
    slide = _visible(request, slide_id)
    if not slide.is_ready:
        raise NotFound
    etag = f'"{slide.sha256[:16]}-thumbnail"'
    return _picture(request, etag, FOR_A_WHILE, lambda: services.thumbnail_jpeg(slide))


def _visible(request: HttpRequest, slide_id: uuid.UUID) -> Slide:
    try:
        return visible_slide(request.user, slide_id)
    finally:
        # Asking who it is marks the session as used, which would add "Vary: Cookie": each renewal of
        # a cookie would then throw away every tile the browser keeps. `private` guards the shared
        # caches. On a refusal, the header would tell a hidden slide from one that does not exist.
        request.session.accessed = False


def _in_grid(slide: Slide, level: int | str, column: int, row: int) -> bool:
    grids = {each["name"]: each for each in slide.virtual_levels} | dict(enumerate(slide.levels))
    grid = grids.get(level)
    return grid is not None and column < grid["columns"] and row < grid["rows"]


def _picture(request: HttpRequest, etag: str, keep: str, read: Callable[[], bytes]) -> HttpResponseBase:
    response = get_conditional_response(request, etag=etag)
    if response is None:
        try:
            response = HttpResponse(read(), content_type="image/jpeg")
        except (TileUnreadable, SlideRefused) as error:
            return _gone(error)
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = keep
    return response


def _gone(error: TileUnreadable | SlideRefused) -> HttpResponse:
    return HttpResponse(
        error.message,
        status=TileUnreadable.status,
        content_type="text/plain; charset=utf-8",
        headers={"X-Reason": error.code, "Cache-Control": "no-store"},
    )


def _pyramid(slide: Slide) -> dict[str, object]:
    first = reverse("slides:tile", args=(slide.pk, slide.revision, 0, 0, 0))
    known = slide.mpp_x_um is not None
    return {
        "id": str(slide.pk),
        "revision": slide.revision,
        "width": slide.width_px,
        "height": slide.height_px,
        "mpp": [slide.mpp_x_um, slide.mpp_y_um] if known else None,
        "objective": slide.objective,
        "levels": [_without_places(level) for level in slide.levels],
        "virtual_levels": slide.virtual_levels,
        "tiles": first.removesuffix("0/0_0.jpg") + "{level}/{column}_{row}.jpg",
        "thumbnail": reverse("slides:thumbnail", args=(slide.pk,)),
        "token": reverse("slides:token", args=(slide.pk,)),
    }


def _without_places(level: dict[str, object]) -> dict[str, object]:
    """A level without where its bytes are in the file: no matter of the viewer's."""
    return {name: value for name, value in level.items() if name != "stored"}
