"""The addresses of a slide: who sees what, what browsers may keep, and what bad tiles answer."""

import io
import shutil
import uuid

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from medbench.slides import services
from medbench.slides.models import Slide
from tests.slide_files import CMU, TCGA
from tests.slides import damage


def tile_address(slide, level=0, column=0, row=0, revision=None):
    return f"/slides/{slide.pk}/tiles/{revision or slide.revision}/{level}/{column}_{row}.jpg"


def addresses(slide):
    return [f"/slides/{slide.pk}/pyramid.json", f"/slides/{slide.pk}/thumbnail.jpg", tile_address(slide)]


def test_the_pyramid_tells_the_viewer_the_files_own_levels(registered, real, reader):
    slide = registered(real / TCGA)
    response = reader.get(f"/slides/{slide.pk}/pyramid.json")
    assert response.json() == {
        "id": str(slide.pk),
        "revision": 1,
        "width": 4443,
        "height": 3567,
        "mpp": None,
        "objective": None,
        "levels": [{k: v for k, v in level.items() if k != "stored"} for level in slide.levels],
        "virtual_levels": slide.virtual_levels,
        "tiles": f"/slides/{slide.pk}/tiles/1/{{level}}/{{column}}_{{row}}.jpg",
        "thumbnail": f"/slides/{slide.pk}/thumbnail.jpg",
        "token": f"/slides/{slide.pk}/token",
    }
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_a_decoded_tile_is_sent_as_the_jpeg_of_its_pixels(registered, real, reader):
    slide = registered(real / TCGA)
    for level, column, row, size in ((0, 17, 13, (91, 239)), ("v4.00101", 0, 0, (256, 256))):
        response = reader.get(tile_address(slide, level, column, row))
        assert (response.status_code, response.headers["Content-Type"]) == (200, "image/jpeg")
        assert response.content == services.tile_jpeg(slide, level, column, row)
        with Image.open(io.BytesIO(response.content)) as sent:
            assert sent.size == size


def test_the_thumbnail_shows_the_whole_slide(registered, real, reader):
    slide = registered(real / CMU)
    response = reader.get(f"/slides/{slide.pk}/thumbnail.jpg")
    with Image.open(io.BytesIO(response.content)) as sent:
        assert (sent.format, sent.size) == ("JPEG", (383, 512))


def test_a_browser_may_keep_a_tile_for_ever_and_share_it_with_nobody(registered, real, reader):
    response = reader.get(tile_address(registered(real / CMU)))
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert "Vary" not in response.headers
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize("kind", ["thumbnail", "tile"])
def test_what_the_browser_has_is_not_sent_again(registered, real, reader, kind, slide_dir):
    slide = registered(real / CMU)
    address = next(each for each in addresses(slide) if kind in each)
    first = reader.get(address)
    slide_dir.joinpath(slide.path).unlink()  # a 304 does not even look at the file
    again = reader.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("ETag", "Cache-Control"):
        assert again.headers[name] == first.headers[name]
    assert "Vary" not in again.headers


def test_each_tile_has_a_tag_of_its_own(registered, real, reader):
    slide = registered(real / CMU)
    tags = {reader.get(tile_address(slide, 0, *place)).headers["ETag"] for place in ((0, 0), (0, 1), (1, 0))}
    assert len(tags) == 3


def test_head_answers_like_get_without_the_picture(registered, real, reader):
    address = tile_address(registered(real / CMU))
    whole, head = reader.get(address), reader.head(address)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Cache-Control", "Content-Type", "Content-Length"):
        assert head.headers[name] == whole.headers[name]


def test_tiles_are_read_only(registered, real, reader):
    for address in addresses(registered(real / CMU)):
        assert reader.post(address).status_code == 405


def test_strangers_get_the_same_bytes_as_for_a_slide_that_does_not_exist(registered, real, stranger, nobody):
    slide = registered(real / CMU)
    missing = Slide(pk=uuid.uuid4(), revision=1)
    for client in (stranger, nobody):
        for hidden, absent in zip(addresses(slide), addresses(missing), strict=True):
            answers = client.get(hidden), client.get(absent)
            assert [each.status_code for each in answers] == [404, 404]
            assert answers[0].content == answers[1].content


def test_a_tile_one_person_has_fetched_is_still_hidden_from_a_stranger(registered, real, reader, stranger):
    slide = registered(real / CMU)
    tag = reader.get(tile_address(slide)).headers["ETag"]
    assert stranger.get(tile_address(slide)).status_code == 404
    assert stranger.get(tile_address(slide), headers={"If-None-Match": tag}).status_code == 404
    assert stranger.get(f"/slides/{slide.pk}/thumbnail.jpg").status_code == 404


@pytest.mark.parametrize(
    "place",
    [
        "1/0/10_0",  # columns 0 to 9
        "1/0/0_13",  # rows 0 to 12
        "1/1/0_0",  # one level
        "2/0/0_0",  # one revision
        "0/0/0_0",
        "1/0/-1_0",
        "1/-1/0_0",
        "1/v3/0_0",
        "1/0/9999999999999999999999_0",
        "1/0/..%2f_0",
        "1/0/0_0%00",
    ],
)
def test_outside_the_grid_and_for_other_revisions_there_is_nothing(registered, real, reader, place):
    slide = registered(real / CMU)
    assert reader.get(f"/slides/{slide.pk}/tiles/{place}.jpg").status_code == 404


def test_a_damaged_tile_is_gone_and_its_neighbours_are_not(registered, real, reader, tmp_path):
    slide = registered(damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 3, 4))
    sound = registered(real / CMU)
    for _ in range(2):
        gone = reader.get(tile_address(slide, 0, 3, 4))
        assert (gone.status_code, gone.headers["X-Reason"]) == (410, "tile_unreadable")
        assert gone.headers["Cache-Control"] == "no-store"
        assert "ETag" not in gone.headers
        for column, row in ((2, 4), (4, 4), (3, 3), (3, 5)):
            neighbour = reader.get(tile_address(slide, 0, column, row))
            assert neighbour.content == reader.get(tile_address(sound, 0, column, row)).content


def test_damage_to_the_second_level_leaves_the_first(registered, real, reader, tmp_path):
    slide = registered(damage.overwrite_tile(real / TCGA, tmp_path / "x.svs", 2, 2, page=2))
    assert reader.get(tile_address(slide, 1, 2, 2)).status_code == 410
    assert reader.get(tile_address(slide, 1, 1, 2)).status_code == 200
    assert reader.get(tile_address(slide, 0, 4, 4)).status_code == 200


def test_a_file_replaced_without_registration_is_not_served(registered, real, reader, slide_dir):
    slide = registered(real / CMU, "x.svs")
    shutil.copyfile(real / TCGA, slide_dir / "x.svs")
    gone = reader.get(tile_address(slide))
    assert (gone.status_code, gone.headers["X-Reason"]) == (410, "file_changed")
    (slide_dir / "x.svs").unlink()
    gone = reader.get(tile_address(slide))
    assert (gone.status_code, gone.headers["X-Reason"]) == (410, "file_missing")


def test_replaced_content_has_new_addresses_and_the_old_ones_are_gone(registered, real, reader, slide_dir):
    slide = registered(real / CMU, "x.svs")
    old = reader.get(tile_address(slide))
    shutil.copyfile(real / TCGA, slide_dir / "x.svs")
    services.register_slide(slide)
    new = reader.get(tile_address(slide))
    assert (slide.revision, new.status_code) == (2, 200)
    assert new.headers["ETag"] != old.headers["ETag"]
    assert new.content == services.tile_jpeg(slide, 0, 0, 0)
    assert reader.get(tile_address(slide, revision=1)).status_code == 404
    assert reader.get(f"/slides/{slide.pk}/pyramid.json").json()["revision"] == 2


def test_a_slide_that_is_not_ready_says_why(registered, real, reader):
    slide = registered(real / "broken-random-ascii.svs")
    response = reader.get(f"/slides/{slide.pk}/pyramid.json")
    assert response.status_code == 409
    assert response.json() == {
        "state": "pending",
        "code": "unsupported_format",
        "message": slide.refusal_text,
    }
    assert reader.get(f"/slides/{slide.pk}/thumbnail.jpg").status_code == 404
    assert reader.get(tile_address(slide)).status_code == 404


def test_a_tile_costs_no_write_and_few_reads(registered, real, reader):
    slide = registered(real / CMU)
    before = list(Session.objects.values_list("session_key", "expire_date"))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert reader.get(tile_address(slide)).status_code == 200
    assert all(query["sql"].startswith("SELECT") for query in queries.captured_queries)
    assert len(queries) == 4  # session, person, slide, roles
    assert list(Session.objects.values_list("session_key", "expire_date")) == before


def test_no_address_tells_names_or_free_properties(registered, reader, tmp_path):
    slide = registered(damage.aperio_copy_with_names(tmp_path / "x.svs"), "CANARY-NAME.svs")
    for address in addresses(slide):
        response = reader.get(address)
        assert response.status_code == 200
        assert b"CANARY" not in response.content
        assert "CANARY" not in str(response.headers)
