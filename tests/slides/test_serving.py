"""Stored tiles over HTTP: the same answers with the wrapper and without, and nobody gets in.

Every test runs twice. `wrapper` asks the WSGI wrapper that stands in front of Django, `django` Django alone.
"""

import io
import shutil
import uuid

import pytest
import time_machine
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image

from medbench.slides import services, tokens
from medbench.slides.models import Slide
from medbench.slides.tiff import TiffFile
from medbench.slides.wsgi import StoredTiles
from tests.people import signed_in
from tests.slide_files import CMU, members_only
from tests.slides import damage, tiffs

hidden = set()  # slides that nobody may see any more


def shown_slides_only(person, slide):
    return members_only(person, slide) and slide.pk not in hidden


class Wrapped(ClientHandler):
    """The wrapper before the test client's Django; `answered` says which of both it was."""

    def __call__(self, environ):
        started = []
        body = StoredTiles(lambda *_: None)(environ, lambda *head: started.append(head))
        if body is None:
            response = super().__call__(environ)
        else:
            status, headers = started[0]
            response = HttpResponse(b"".join(body), status=int(status[:3]), headers=dict(headers))
            response.wsgi_request = WSGIRequest(environ)
        response.by_wrapper = body is not None
        return response


@pytest.fixture(params=["wrapper", "django"])
def browser(request, settings):
    """browser(person): the session of one person (None: of nobody), with the wrapper or without."""
    settings.SLIDE_ACCESS = "tests.slides.test_serving.shown_slides_only"
    hidden.clear()

    def browser(person=None):
        client = signed_in(person) if person else Client()
        if request.param == "wrapper":
            client.handler = Wrapped(enforce_csrf_checks=False)
        return client

    browser.has_wrapper = request.param == "wrapper"
    return browser


@pytest.fixture
def add(registered, settings):
    """add(path, name): a registered slide under the rule of these tests."""

    def add(source, name=None):
        slide = registered(source, name)
        settings.SLIDE_ACCESS = "tests.slides.test_serving.shown_slides_only"
        return slide

    return add


@pytest.fixture
def slide(add, real):
    return add(real / CMU)


def address(slide, level=0, column=4, row=5, revision=None):
    return f"/slides/{slide.pk}/tiles/{revision or slide.revision}/{level}/{column}_{row}.jpg"


def opened(client, slide):
    """`client` after its viewer has opened `slide` and shown a first tile."""
    assert client.get(f"/slides/{slide.pk}/pyramid.json").status_code == 200
    assert client.get(address(slide)).status_code == 200
    return client


def stored_bytes(slide, column, row):
    with TiffFile(services.file_of(slide)) as file:
        return file.tiles(file.levels()[0].directory).tile(column, row)


# --- what is sent


def test_a_stored_tile_is_sent_without_a_single_query(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address(slide, 0, 3, 2))
    assert len(queries) == 0
    assert (response.status_code, response.content) == (200, stored_bytes(slide, 3, 2))
    assert getattr(response, "by_wrapper", False) == browser.has_wrapper
    expected = {
        "Content-Type": "image/jpeg",
        "Content-Length": str(len(response.content)),
        "Cache-Control": "private, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    assert {name: response.headers[name] for name in expected} == expected
    assert not {"Vary", "Set-Cookie"} & set(response.headers)


def test_the_view_alone_sends_the_same_tile(bruno, slide, settings):
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not name.startswith("medbench.slides")]
    response = opened(signed_in(bruno), slide).get(address(slide, 0, 3, 2))
    assert (response.status_code, response.content) == (200, stored_bytes(slide, 3, 2))
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert not {"Vary", "Set-Cookie"} & set(response.headers)


def test_who_has_no_token_is_asked_who_they_are(browser, bruno, slide):
    response = browser(bruno).get(address(slide, 0, 3, 2))
    assert (response.status_code, response.content) == (200, stored_bytes(slide, 3, 2))
    assert not getattr(response, "by_wrapper", False)


def test_tiles_at_the_far_edges_are_whole_and_sent_as_stored(browser, bruno, slide):
    response = opened(browser(bruno), slide).get(address(slide, 0, 9, 12))
    assert response.content == stored_bytes(slide, 9, 12)
    with Image.open(io.BytesIO(response.content)) as sent:
        assert sent.size == (240, 240)


@pytest.mark.parametrize("form", ["{0}", "W/{0}", '"other", {0}', "*"])
def test_what_the_browser_has_is_not_sent_again(browser, bruno, slide, form):
    client = opened(browser(bruno), slide)
    first = client.get(address(slide))
    services.file_of(slide).unlink()  # a 304 does not even look at the file
    again = client.get(address(slide), headers={"If-None-Match": form.format(first.headers["ETag"])})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("ETag", "Cache-Control"):
        assert again.headers[name] == first.headers[name]


def test_another_tag_is_sent_the_tile(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    tag = client.get(address(slide, 0, 0, 0)).headers["ETag"]
    for said in (tag, '"something"', "no tag at all", ""):
        assert client.get(address(slide, 0, 1, 0), headers={"If-None-Match": said}).status_code == 200


def test_head_answers_like_get_without_the_picture(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    whole, head = client.get(address(slide)), client.head(address(slide))
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Cache-Control", "Content-Type", "Content-Length"):
        assert head.headers[name] == whole.headers[name]


def test_tiles_are_read_only(browser, bruno, slide):
    assert opened(browser(bruno), slide).post(address(slide)).status_code == 405


def test_a_small_profile_goes_with_the_tile(browser, bruno, add, tmp_path):
    profile = damage.swapped_profile()
    path = tiffs.write(tmp_path / "x.tif", [(400, 400), (200, 200)], profile=profile)
    slide = add(path)
    client = opened(browser(bruno), slide)
    with Image.open(io.BytesIO(client.get(address(slide, 1, 1, 1)).content)) as sent:
        assert sent.info["icc_profile"] == profile


def test_an_empty_place_is_answered_by_the_decoder(browser, bruno, add, tmp_path):
    path = tiffs.write(tmp_path / "x.svs", [(400, 400), (200, 200)], missing=[(0, 5)], aperio=True)
    slide = add(path)
    client = opened(browser(bruno), slide)
    assert client.get(address(slide, 0, 0, 0)).content == stored_bytes(slide, 0, 0)
    decoded = client.get(address(slide, 0, 5, 0))
    assert (decoded.status_code, decoded.headers["Content-Type"]) == (200, "image/jpeg")
    again = client.get(address(slide, 0, 5, 0), headers={"If-None-Match": decoded.headers["ETag"]})
    assert again.status_code == 304


def test_a_damaged_tile_is_gone_and_its_neighbours_are_not(browser, bruno, add, real, tmp_path):
    broken = damage.overwrite_tile(real / CMU, tmp_path / "broken.svs", 3, 4)
    slide = add(broken)
    client = opened(browser(bruno), slide)
    for _ in range(2):
        gone = client.get(address(slide, 0, 3, 4))
        assert (gone.status_code, gone.headers["X-Reason"]) == (410, "tile_unreadable")
        assert gone.headers["Cache-Control"] == "no-store"
        for column, row in ((2, 4), (4, 4), (3, 3), (3, 5)):
            assert client.get(address(slide, 0, column, row)).status_code == 200


def test_a_file_replaced_without_registration_is_not_served(browser, bruno, slide, tmp_path):
    client, path = opened(browser(bruno), slide), services.file_of(slide)
    shutil.copyfile(tiffs.write(tmp_path / "other.tif"), path)
    gone = client.get(address(slide, 0, 1, 1))
    assert (gone.status_code, gone.headers["X-Reason"]) == (410, "file_changed")
    path.unlink()
    gone = client.get(address(slide, 0, 1, 1))
    assert (gone.status_code, gone.headers["X-Reason"]) == (410, "file_missing")


# --- the token


def test_the_cookie_goes_with_the_addresses_of_this_slide_only(browser, bruno, slide, settings):
    settings.SESSION_COOKIE_SECURE = True
    cookie = browser(bruno).get(f"/slides/{slide.pk}/pyramid.json", secure=True).cookies[tokens.COOKIE]
    assert cookie["path"] == f"/slides/{slide.pk}/"
    assert (cookie["max-age"], cookie["samesite"]) == (900, "Strict")
    assert cookie["httponly"]
    assert cookie["secure"]


def test_the_viewer_can_renew_the_token(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    first = client.cookies[tokens.COOKIE].value
    with time_machine.travel(timezone.now() + timezone.timedelta(minutes=10)):
        answer = client.get(client.get(f"/slides/{slide.pk}/pyramid.json").json()["token"])
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert int(answer.cookies[tokens.COOKIE].value.split(".")[0]) == pytest.approx(
            int(first.split(".")[0]) + 600, abs=5
        )


def test_strangers_get_no_token(browser, eve, slide):
    for client in (browser(eve), browser()):
        for place in ("token", "pyramid.json"):
            answer = client.get(f"/slides/{slide.pk}/{place}")
            assert answer.status_code == 404
            assert tokens.COOKIE not in answer.cookies


def test_who_loses_the_right_keeps_the_slide_a_quarter_of_an_hour_at_most(browser, bruno, ada, slide):
    started = timezone.now()
    with time_machine.travel(started, tick=False) as clock:
        client, other = opened(browser(bruno), slide), browser(ada)
        bruno.memberships.all().delete()
        clock.shift(14 * 60)
        assert other.get(address(slide)).status_code == 200  # so the slide itself is known here
        assert client.get(address(slide)).status_code == 200
        clock.shift(61)
        assert other.get(address(slide)).status_code == 200
        assert client.get(address(slide)).status_code == 404
        assert client.get(f"/slides/{slide.pk}/token").status_code == 404


def test_a_withdrawn_slide_is_gone_within_five_seconds(browser, bruno, slide):
    for withdraw in (
        lambda: Slide.objects.filter(pk=slide.pk).update(state=Slide.State.PENDING),
        lambda: hidden.add(slide.pk),
        lambda: Slide.objects.filter(pk=slide.pk).delete(),
    ):
        Slide.objects.filter(pk=slide.pk).update(state=Slide.State.READY)
        hidden.clear()
        with time_machine.travel(timezone.now(), tick=False) as clock:
            client = opened(browser(bruno), slide)
            tag = client.get(address(slide)).headers["ETag"]
            withdraw()
            clock.shift(5)
            assert client.get(address(slide)).status_code == 404
            assert client.get(address(slide), headers={"If-None-Match": tag}).status_code == 404


def test_a_new_revision_is_served_at_once_and_the_old_one_is_not(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    Slide.objects.filter(pk=slide.pk).update(revision=2)
    assert client.get(address(slide, revision=2)).status_code == 200
    assert client.get(address(slide, revision=1)).status_code == 404


# --- nobody gets in, also when the tile is warm


def test_a_token_is_worth_nothing_to_another_session(browser, bruno, eve, slide):
    token = opened(browser(bruno), slide).cookies[tokens.COOKIE].value
    for thief in (browser(eve), browser()):
        thief.cookies[tokens.COOKIE] = token
        assert thief.get(address(slide)).status_code == 404
        tag = f'"{slide.sha256[:16]}-0-4-5-stored-1"'
        assert thief.get(address(slide), headers={"If-None-Match": tag}).status_code == 404


def test_a_token_ends_with_the_session(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    token = client.cookies[tokens.COOKIE].value
    client.post("/sign-out/")
    client.cookies[tokens.COOKIE] = token
    assert client.get(address(slide)).status_code == 404


def test_a_token_is_for_one_slide(browser, bruno, ada, slide, add, real):
    other = add(real / CMU, "other.svs")
    opened(browser(ada), other)  # the other project's slide is warm
    client = opened(browser(bruno), slide)
    hidden.add(other.pk)
    assert client.get(address(slide)).status_code == 200
    assert client.get(address(other)).status_code == 404
    guessed = Slide(pk=uuid.uuid4(), revision=1)
    assert client.get(address(guessed)).status_code == 404
    assert client.get(address(guessed)).content == client.get(address(other)).content


FORGED = [
    "",
    "x",
    ".",
    "99999999999",
    "99999999999.",
    "{expires}.{zeros}",
    "{later}.{signature}",
    "0{expires}.{signature}",
    "+{expires}.{signature}",
    "{expires}.{signature}0",
    "{expires}.{signature}.",
    "{expires}." + "9" * 5_000,
    "9" * 5_000 + ".{signature}",
    "٣٣٣٣٣٣٣٣٣٣.{signature}",
    "é.{signature}",
    "-1.{signature}",
    "1e9.{signature}",
]


def test_a_forged_token_opens_nothing(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    expires, signature = client.cookies[tokens.COOKIE].value.split(".")
    session = client.cookies["sessionid"].value
    hidden.add(slide.pk)  # so that only the token could open it
    assert client.get(address(slide)).status_code == 200  # the true one does
    del client.cookies[tokens.COOKIE]
    for form in FORGED:
        forged = form.format(
            expires=expires, later=int(expires) + 600, signature=signature, zeros="0" * len(signature)
        )
        cookies = f"sessionid={session}; {tokens.COOKIE}={forged}".encode().decode("latin-1")
        assert client.get(address(slide), HTTP_COOKIE=cookies).status_code == 404, form
    cookies = f"sessionid={session}; {tokens.COOKIE}={expires}.{signature}"
    assert client.get(address(slide), HTTP_COOKIE=cookies).status_code == 200


OUTSIDE = [
    "1/0/10_0",  # columns 0 to 9
    "1/0/0_13",  # rows 0 to 12
    "1/1/0_0",  # one level
    "1/999/0_0",
    "1/99999999999999999999/0_0",
    "2/0/0_0",  # one revision
    "0/0/0_0",
    "-1/0/0_0",
    "1/0/-1_0",
    "1/0/0_-1",
    "1/-1/0_0",
    "1/v3/0_0",
    "1/v2/99_0",
    "1/v2.5/0_0",
    "1/v/0_0",
    "1/0/9999999999999999999999_0",
    "1/0/٤_0",
    "1/0/4_5.jpg%00",
    "1/0/4_5.jpg%0a",
    "1/0/4_5%00",
    "1/0/..%2f_0",
    "1/0/../../../../x/tiles/1/0/0_0",
    "..%2f..%2f1/0/0_0",
]


def test_there_is_nothing_outside_the_grid(browser, bruno, slide):
    client = opened(browser(bruno), slide)
    for place in OUTSIDE:
        answer = client.get(f"/slides/{slide.pk}/tiles/{place}.jpg")
        assert answer.status_code == 404, place
        assert slide.path.encode() not in answer.content


def test_other_addresses_pass_the_wrapper_untouched(browser, ada):
    client = browser(ada)
    assert client.get("/cases/").status_code == 200
    assert client.get("/slides/nothing").status_code == 404
