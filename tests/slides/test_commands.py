"""The commands slide_info and slide_tile, run as a user runs them."""

import io
import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from PIL import Image

from medbench.slides import services
from tests.people import signed_in
from tests.slide_files import CMU, TCGA


def run(*words):
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, words)],
        cwd=settings.BASE_DIR,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_slide_info_prints_one_json_object(real):
    answer = run("slide_info", real / CMU, "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert json.loads(answer.stdout) == services.slide_info(real / CMU)


def test_slide_info_tells_people_size_and_scale(real, capsys):
    call_command("slide_info", real / CMU)
    assert capsys.readouterr().out.splitlines() == [
        "aperio, 2,220 x 2,967 px",
        "scale: 0.499 x 0.499 µm/px (the scanner's own entry)",
        "objective: 20×",
        "level 0: 2,220 x 2,967 px, 1/1, 10 x 13 tiles of 240 x 240, sent as stored",
        "level v2: 1,110 x 1,484 px, 1/2, 5 x 7 tiles of 240 x 240, composed",
        "level v4: 555 x 742 px, 1/4, 3 x 4 tiles of 240 x 240, composed",
        (
            "quality: Tissue covers 33.7% of the slide. Blur is 0.27 (0 sharp, 1 blurred) over 8 places with "
            "tissue. Every part of the overview can be read."
        ),
    ]


def test_slide_info_of_a_refused_file_ends_with_1_and_the_reason(real):
    answer = run("slide_info", real / "smalltif.tif", "--json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["refused"]["code"] == "bit_depth"
    assert "16 bits" in answer.stderr


@pytest.mark.parametrize(
    ("name", "place", "size", "passthrough"),
    [
        (CMU, (0, 9, 12), (240, 240), True),  # the scanner's own tile, whole at the edge
        (CMU, ("v2", 4, 6), (150, 44), False),
        (TCGA, (1, 8, 6), (173, 247), False),
        ("small_dicom.dcm", (0, 0, 0), (256, 256), True),  # of the pyramid that is made of it
    ],
)
def test_slide_tile_writes_what_the_server_would_send(
    real, registered, tmp_path, ada, name, place, size, passthrough
):
    out = tmp_path / "tile.jpg"
    answer = run("slide_tile", real / name, *place, "--out", out, "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    slide = registered(real / name)
    level, column, row = place
    sent = signed_in(ada).get(f"/slides/{slide.pk}/tiles/1/{level}/{column}_{row}.jpg")
    content = out.read_bytes()
    assert content == sent.content
    assert json.loads(answer.stdout) == {
        "bytes": len(content),
        "width": size[0],
        "height": size[1],
        "passthrough": passthrough,
        "etag": sent.headers["ETag"],
    }
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.size == size


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        (CMU, (0, 10, 0), "10 x 13 tiles"),
        (CMU, (1, 0, 0), "1 levels"),
        (CMU, ("v3", 0, 0), "no virtual level of this name"),
        ("broken-random-ascii.svs", (0, 0, 0), "(unsupported_format)"),
        ("openslide_fixtures/unreadable.svs", (0, 0, 0), "(unreadable)"),
        ("nowhere.svs", (0, 0, 0), "(file_missing)"),
    ],
)
def test_slide_tile_says_what_is_wrong_and_writes_nothing(real, tmp_path, capsys, name, place, words):
    out = tmp_path / "tile.jpg"
    with pytest.raises(CommandError) as refused:
        call_command("slide_tile", real / name, *place, out=out, json=True)
    assert words in str(refused.value)
    assert capsys.readouterr().out == ""
    assert not out.exists()


def test_a_tile_that_cannot_be_written_is_told(real, tmp_path):
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("slide_tile", real / CMU, 0, 0, 0, out=tmp_path / "no folder" / "tile.jpg")


@pytest.mark.parametrize(("column", "status"), [("zero", 2), (99, 1)])
def test_wrong_usage_and_bad_input_end_with_different_numbers(real, tmp_path, column, status):
    answer = run("slide_tile", real / CMU, 0, column, 0, "--out", tmp_path / "tile.jpg")
    assert (answer.returncode, answer.stdout) == (status, "")
