"""Pages for curators: what registration found, the word of a curator over the checks, and a second try."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from medbench.jobs import services as jobs
from medbench.slides import services
from medbench.slides.models import Slide
from tests.cases.build import make_benchmark, make_case
from tests.people import signed_in
from tests.slide_files import CMU
from tests.slides import damage


@pytest.fixture
def cases_rule(settings):
    settings.SLIDE_ACCESS = "medbench.cases.permissions.may_see_slide"


@pytest.fixture
def curated(team, registered, cases_rule):
    """curated(path): the registered slide of a case of Ada's benchmark."""

    benchmark = make_benchmark(team)

    def curated(path):
        slide = registered(path)
        case = make_case(benchmark, f"C-{benchmark.cases.count()}")
        case.slide = slide
        case.save()
        return slide

    return curated


def write_blurred(real, path):
    """The real slide as if out of focus: every pixel smeared over a few."""
    import openslide

    with openslide.OpenSlide(real / CMU) as slide:
        region = slide.read_region((600, 1200), 0, (1024, 1024)).convert("RGB")
    blurred = np.asarray(region.filter(ImageFilter.GaussianBlur(4)))
    return damage.write_tiff(path, blurred)


def test_a_curator_sees_scale_levels_checks_and_the_log(curated, real, ada):
    slide = curated(real / CMU)
    page = signed_in(ada).get(f"/slides/{slide.pk}/").content.decode()
    for words in (
        "0.4990 × 0.4990 µm/px, from the scanner&#x27;s own entry",
        "2,220 × 2,967 px",
        slide.sha256,
        "as stored",
        "composed",
        "Tissue covers 33.7% of the slide.",
        "Registered",
    ):
        assert words in page


def test_a_sharp_slide_passes_and_a_blurred_one_is_suspect(curated, real, tmp_path):
    assert curated(real / CMU).quality == "good"
    blurred = curated(write_blurred(real, tmp_path / "blurred.tiff"))
    assert blurred.quality == "suspect"
    assert [check["code"] for check in blurred.quality_checks if not check["ok"]] == ["blurred"]


def test_empty_glass_is_suspect(curated, tmp_path):
    slide = curated(damage.write_tiff(tmp_path / "empty.tiff", damage.plain(600, 600, (243, 243, 243))))
    assert slide.quality == "suspect"
    assert [check["code"] for check in slide.quality_checks if not check["ok"]] == ["blank"]


def test_a_damaged_tile_is_a_hole_in_the_checks(curated, real, tmp_path):
    slide = curated(damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 3, 4))
    assert [check["code"] for check in slide.quality_checks if not check["ok"]] == ["holes"]


def test_a_curators_word_counts_more_than_the_checks_and_is_logged(curated, tmp_path, ada):
    slide = curated(damage.write_tiff(tmp_path / "x.tiff", damage.plain(600, 600, (243, 243, 243))))
    client = signed_in(ada)
    refused = client.post(f"/slides/{slide.pk}/", {"quality": "good", "reason": " "})
    assert refused.status_code == 422
    answer = client.post(f"/slides/{slide.pk}/", {"quality": "good", "reason": "A <b>cytology</b> smear."})
    assert answer.status_code == 302
    slide.refresh_from_db()
    assert (slide.quality, slide.quality_now) == ("suspect", "good")
    entry = slide.actions.first()
    assert (entry.what, entry.person, entry.note) == ("overruled", ada, "Good: A <b>cytology</b> smear.")
    page = client.get(f"/slides/{slide.pk}/").content.decode()
    assert "A &lt;b&gt;cytology&lt;/b&gt; smear." in page
    client.post(f"/slides/{slide.pk}/", {"quality": "checks", "reason": "After all."})
    slide.refresh_from_db()
    assert slide.quality_now == "suspect"


def test_a_word_over_one_revision_does_not_hold_for_the_next(curated, real, slide_dir, ada):
    slide = curated(real / CMU)
    services.overrule_quality(slide, "suspect", "Pen marks.", by=ada)
    damage.write_tiff(slide_dir / slide.path, damage.plain(600, 600))
    services.register_slide(slide)
    assert (slide.revision, slide.quality_overruled) == (2, "")


def test_a_ready_slide_stays_ready_while_it_is_registered_again(curated, real, ada):
    slide = curated(real / CMU)
    jobs.cancel(services.queue_registration(slide))
    slide.refresh_from_db()
    assert (slide.state, slide.refusal_code) == ("ready", "")
    assert slide.actions.first().note == "Registration was cancelled."


def test_a_failed_registration_is_shown_and_asked_for_again(curated, real, ada):
    slide = curated(real / "smalltif.tif")
    jobs.cancel(services.queue_registration(slide))
    client = signed_in(ada)
    page = client.get(f"/slides/{slide.pk}/").content.decode()
    assert "Registration was cancelled." in page
    assert "Failed" in page
    assert slide.file_name in client.get("/slides/?state=attention").content.decode()
    assert client.post(f"/slides/{slide.pk}/register/").status_code == 302
    slide.refresh_from_db()
    assert slide.state == "registering"
    assert "in the queue" in client.get(f"/slides/{slide.pk}/").content.decode()
    assert client.post(f"/slides/{slide.pk}/cancel/").status_code == 302
    slide.refresh_from_db()
    assert slide.state == "failed"


def test_the_mask_is_as_large_as_the_thumbnail(curated, real, ada):
    slide = curated(real / CMU)
    client = signed_in(ada)
    sizes = []
    for name in ("tissue.png", "thumbnail.jpg"):
        with Image.open(io.BytesIO(client.get(f"/slides/{slide.pk}/{name}").content)) as picture:
            sizes.append(picture.size)
    assert sizes[0] == sizes[1]


def test_one_slide_and_three_cost_the_same_queries(curated, real, ada, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = signed_in(ada)
    counts = []
    for name in ("openslide_fixtures/small.svs", "openslide_fixtures/boxes.tiff", "sm_image.dcm"):
        curated(real / name)
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/slides/")
        counts.append(len(queries))
    assert page.content.decode().count("<tr>") == 4
    assert counts[0] == counts[2]


def test_the_list_finds_slides_by_state(curated, real, ada):
    curated(real / CMU)
    curated(real / "smalltif.tif")
    Slide.objects.filter(file_name=CMU).update(quality="good")
    client = signed_in(ada)
    assert CMU not in client.get("/slides/?state=attention").content.decode()
    assert "smalltif.tif" in client.get("/slides/?state=attention").content.decode()
    assert CMU in client.get("/slides/?state=ready").content.decode()


def test_readers_are_told_and_strangers_are_not(curated, real, bruno, eve):
    slide = curated(real / CMU)
    assert signed_in(bruno).get(f"/slides/{slide.pk}/").status_code == 403
    assert signed_in(eve).get(f"/slides/{slide.pk}/").status_code == 404
    assert signed_in(bruno).get("/slides/").status_code == 404
