"""From a file to a row: what is accepted, what is refused with which reason, and what is new."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from medbench.slides import child, findings, services
from medbench.slides.models import Slide
from medbench.slides.reader import SlideRefused
from tests.slide_files import CMU, TCGA
from tests.slides import damage

REFUSED = {
    "broken-random-ascii.svs": "unsupported_format",
    "cells-2c.ome.tif": "channels",
    "cells-2t.ome.tif": "stack",
    "cells-2z.ome.tif": "stack",
    "multi-channel-z-series.ome.tif": "channels",
    "openslide_fixtures/boxes_1.dcm": "not_a_slide",
    "openslide_fixtures/unopenable.tiff": "unopenable",
    "openslide_fixtures/unreadable.svs": "unreadable",
    "seg_image_sm_dots_tiled_full.dcm": "not_a_slide",
    "sm_annotations.dcm": "not_a_slide",
    "sm_image_grayscale.dcm": "bit_depth",
    "small_vectra.qptiff": "channels",
    "smalltif.tif": "bit_depth",
    "vsi/Image_Mouse13_PB_H7.vsi": "companion_missing",
    "vsi/vsi-ets-test-jpg2k.vsi": "vsi_unsupported",
    "zero_gi.tif": "empty",
}


def test_slide_info_of_a_real_slide(real):
    found = services.slide_info(real / CMU)
    assert found == {
        "vendor": "aperio",
        "width": 2220,
        "height": 2967,
        "mpp": [0.499, 0.499],
        "objective": 20.0,
        "levels": [
            {
                "width": 2220,
                "height": 2967,
                "tile_width": 240,
                "tile_height": 240,
                "columns": 10,
                "rows": 13,
                "downsample": 1.0,
                "passthrough": True,
                "reason": "",
                "stored": {"directory": 1275950, "profile": None},
            }
        ],
        "virtual_levels": [
            {
                "name": name,
                "source": 0,
                "factor": factor,
                "width": width,
                "height": height,
                "tile_width": 240,
                "tile_height": 240,
                "columns": columns,
                "rows": rows,
                "downsample": factor,
                "passthrough": False,
                "reason": "virtual",
                "stored": None,
            }
            for name, factor, width, height, columns, rows in (
                ("v2", 2, 1110, 1484, 5, 7),
                ("v4", 4, 555, 742, 3, 4),
            )
        ],
        "bounds": None,
        "mpp_source": "scanner",
        "profile": "",
        "converted": False,
        "tissue_fraction": 0.3374,
        "quality": found["quality"],
        "refused": None,
    }
    assert [(check["code"], check["ok"]) for check in found["quality"]] == [
        ("blank", True),
        ("blurred", True),
        ("holes", True),
    ]


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_refused_says_why(real, name):
    found = services.slide_info(real / name)
    assert found | {"refused": None} == findings.NOTHING
    assert found["refused"]["code"] == REFUSED[name]
    assert found["refused"]["message"].endswith(".")
    assert str(real) not in found["refused"]["message"]
    assert name.split("/")[-1] not in found["refused"]["message"]


@pytest.mark.parametrize("name", ["no such file.svs", "", "annotations"])
def test_what_is_no_file_is_refused(real, name):
    assert services.slide_info(real / name)["refused"]["code"] == "file_missing"


def test_no_scale_where_the_file_gives_none_that_is_plausible(real):
    assert services.slide_info(real / TCGA)["mpp"] is None  # says nothing
    assert services.slide_info(real / "small_HE_levels.tiff")["mpp"] is None  # 72 dpi


def test_scale_may_differ_along_the_axes(tmp_path):
    path = damage.write_tiff(
        tmp_path / "x.tiff", damage.plain(512, 512), resolution=(40_000, 20_000), resolutionunit="centimeter"
    )
    assert services.slide_info(path)["mpp"] == [0.25, 0.5]


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_a_file_cut_short_is_refused(real, tmp_path, share):
    path = damage.cut(real / CMU, tmp_path / "CANARY.svs", share=share)
    refused = services.slide_info(path)["refused"]
    assert refused["code"] in ("unsupported_format", "cut_short", "damaged")
    assert "CANARY" not in refused["message"]


def test_a_pyramid_cut_short_is_refused_without_its_name(tmp_path):
    whole = damage.write_tiff(
        tmp_path / "whole.tiff", np.random.default_rng(1).integers(0, 255, (999, 999, 3), "u1")
    )
    path = damage.cut(whole, tmp_path / "CANARY.tiff", share=0.6)
    refused = services.slide_info(path)["refused"]
    assert refused["code"] == "unopenable"
    assert "Short read of file the file" in refused["message"]
    assert "CANARY" not in refused["message"]


def test_names_and_dates_in_a_file_are_never_told(tmp_path):
    found = services.slide_info(damage.aperio_copy_with_names(tmp_path / "x.svs"))
    assert (found["vendor"], found["objective"]) == ("aperio", 20.0)
    assert "CANARY" not in str(found)


def test_registration_fills_the_row(registered, real):
    slide = registered(real / CMU)
    assert (slide.state, slide.refusal_code, slide.revision, slide.vendor) == ("ready", "", 1, "aperio")
    assert (slide.width_px, slide.height_px, slide.size_bytes) == (2220, 2967, 1938955)
    assert (slide.mpp_x_um, slide.mpp_y_um, slide.objective) == (0.499, 0.499, 20)
    assert slide.sha256 == "ed92d5a9f2e86df67640d6f92ce3e231419ce127131697fbbce42ad5e002c8a7"
    assert slide.levels == services.slide_info(real / CMU)["levels"]
    with Image.open(io.BytesIO(services.thumbnail_jpeg(slide))) as thumbnail:
        assert thumbnail.size == (383, 512)


def test_a_refused_slide_stays_pending_with_its_reason(registered, real):
    slide = registered(real / "smalltif.tif")
    assert (slide.state, slide.refusal_code) == ("pending", "bit_depth")
    assert "16 bits" in slide.refusal_text
    assert (slide.width_px, slide.levels) == (None, [])


def test_the_same_content_again_changes_nothing(registered, real):
    slide = registered(real / CMU)
    services.register_slide(slide)
    assert (slide.state, slide.revision) == ("ready", 1)


def test_other_content_is_a_new_revision(registered, real, slide_dir):
    slide = registered(real / CMU, "x.svs")
    (slide_dir / "x.svs").write_bytes((real / TCGA).read_bytes())
    services.register_slide(slide)
    assert (slide.state, slide.revision, slide.width_px) == ("ready", 2, 4443)
    (slide_dir / "x.svs").write_bytes(b"nothing")
    services.register_slide(slide)
    assert (slide.state, slide.revision, slide.refusal_code) == ("pending", 3, "unsupported_format")


def test_a_slide_without_a_file_waits_for_it(db, slide_dir, real):
    slide = Slide.objects.create(file_name="x.svs")
    services.register_slide(slide)
    assert (slide.state, slide.refusal_code, slide.revision) == ("pending", "file_missing", 1)
    slide.path = "x.svs"
    slide.save()
    (slide_dir / "x.svs").write_bytes((real / CMU).read_bytes())
    services.register_slide(slide)
    assert (slide.state, slide.refusal_code, slide.revision) == ("ready", "", 1)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../outside.svs", "path_outside"),
        ("a/../../outside.svs", "path_outside"),
        ("/etc/passwd", "path_outside"),
        ("link.svs", "path_outside"),
        ("folder/outside.svs", "path_outside"),
        ("nul\0byte.svs", "bad_name"),
        ("loop.svs", "bad_name"),
        ("n" * 1000, "bad_name"),
        ("", "file_missing"),
        (".", "file_missing"),
    ],
)
def test_no_path_leads_out_of_the_folder_for_slides(slide_dir, real, path, code):
    outside = slide_dir.parent / "outside.svs"
    outside.write_bytes((real / CMU).read_bytes())
    (slide_dir / "link.svs").symlink_to(outside)
    (slide_dir / "folder").symlink_to(slide_dir.parent)
    (slide_dir / "loop.svs").symlink_to(slide_dir / "loop.svs")
    with pytest.raises(SlideRefused) as refused:
        services.file_of(Slide(path=path))
    assert refused.value.code == code
    assert services.examine(Slide(path=path)).found["refused"]["code"] == code


def test_a_file_that_cannot_be_read_from_disk_is_refused(settings):
    settings.SLIDE_DIR = Path("/proc/self")
    examined = services.examine(Slide(path="mem"))  # there, a file, and no byte at its start
    assert examined.found["refused"]["code"] == "file_unreadable"


def test_a_damaged_tile_does_not_refuse_the_slide(registered, real, tmp_path):
    slide = registered(damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 3, 4))
    assert slide.state == "ready"
    with Image.open(io.BytesIO(services.thumbnail_jpeg(slide))) as thumbnail:
        red, green, blue = thumbnail.getpixel((int(3.5 * 240 * 512 / 2967), int(4.5 * 240 * 512 / 2967)))
        assert max(abs(each - 128) for each in (red, green, blue)) < 4


def test_a_lost_thumbnail_is_made_again(registered, real, settings):
    slide = registered(real / "openslide_fixtures/boxes.tiff")
    before = services.thumbnail_jpeg(slide)
    kept = settings.VAR_DIR / "thumbnails"
    assert {path.name for path in kept.iterdir()} == {f"{slide.pk}-1.jpg", f"{slide.pk}-1.png"}
    (kept / f"{slide.pk}-1.jpg").unlink()
    assert services.thumbnail_jpeg(slide) == before


def test_a_file_that_crashes_its_reader_takes_nobody_along(real, tmp_path):
    """Tiles of 4 GB: whoever decodes one runs out of memory."""
    boxes = real / "openslide_fixtures/boxes.tiff"
    path = damage.claim(boxes, tmp_path / "x.tiff", TileWidth=32_768, TileLength=32_768)
    assert services.slide_info(path)["refused"]["code"] == "reader_crashed"


def test_a_file_that_takes_too_long_is_given_up(real, monkeypatch):
    monkeypatch.setattr(child, "PATIENCE_SECONDS", 0.02)
    ticks = []
    found = child.look(real / TCGA, tick=lambda: ticks.append("tick"), seconds=0.1)
    assert found["refused"]["code"] == "too_slow"
    assert ticks


def test_a_job_that_lost_its_lease_ends_its_reader(real, monkeypatch):
    monkeypatch.setattr(child, "PATIENCE_SECONDS", 0.02)

    def superseded():
        raise RuntimeError("superseded")

    with pytest.raises(RuntimeError, match="superseded"):
        child.look(real / TCGA, tick=superseded)
