"""Stored tiles: found in every kind of TIFF, the same pixels as OpenSlide's, nothing else of the file."""

import io
import struct
from dataclasses import replace

import numpy as np
import openslide
import pytest
import tifffile
from PIL import Image, ImageChops

from medbench.slides import geometry, proof, tiff
from medbench.slides.reader import SlideFile
from medbench.slides.splice import NotStored
from medbench.slides.tiff import NotTiff, TiffFile
from tests.slide_files import CMU, TCGA
from tests.slides import damage, tiffs


def verdicts(path):
    """(passthrough, reason) of each level as registration finds it."""
    return [(level.passthrough, level.reason) for level in proven(path)]


def proven(path):
    with SlideFile(path) as slide:
        return proof.proven(path, slide.levels)


def opened(content):
    with Image.open(io.BytesIO(content)) as picture:
        picture.load()
        return picture


def shown(content):
    return opened(content).convert("RGB")


def all_tiles(path):
    """(level number, level, column, row, stored JPEG) of every tile of every proven level."""
    with TiffFile(path) as file:
        for number, level in enumerate(proven(path)):
            assert level.passthrough, level.reason
            tiles = file.tiles(level.stored["directory"], level.stored["profile"])
            for row in range(level.rows):
                for column in range(level.columns):
                    yield number, level, column, row, tiles.tile(column, row)


def assert_openslides_pixels(path):
    with openslide.OpenSlide(path) as slide:
        for number, level, column, row, content in all_tiles(path):
            ours = shown(content)
            assert ours.size == (level.tile_width, level.tile_height)
            place = geometry.tile_rectangle(level, column, row)
            size = place.width_l_px, place.height_l_px
            corner = [round(each * level.downsample) for each in (place.x_l_px, place.y_l_px)]
            theirs = slide.read_region(corner, number, size).convert("RGB")
            difference = ImageChops.difference(ours.crop((0, 0, *size)), theirs)
            assert difference.getbbox() is None, (number, column, row)


@pytest.mark.parametrize("container", ["classic", "big", "big, other byte order"])
@pytest.mark.parametrize("shared_tables", [True, False])
@pytest.mark.parametrize(
    ("kind", "subsampling"),
    [("ycbcr", (1, 1)), ("ycbcr", (2, 1)), ("ycbcr", (2, 2)), ("rgb", (1, 1)), ("grey", (1, 1))],
)
@pytest.mark.parametrize("aperio", [True, False])
def test_every_stored_tile_has_openslides_pixels(
    tmp_path, container, shared_tables, kind, subsampling, aperio
):
    options = {"bigtiff": container != "classic", "byteorder": ">" if "other" in container else "<"}
    path = tiffs.write(
        tmp_path / "x.tif",
        kind=kind,
        subsampling=subsampling,
        shared_tables=shared_tables,
        aperio=aperio,
        **options,
    )
    assert_openslides_pixels(path)


def test_a_real_slide_has_openslides_pixels(real):
    assert_openslides_pixels(real / CMU)
    assert len(list(all_tiles(real / CMU))) == 130


def test_the_other_byte_order_of_a_classic_tiff_is_read(tmp_path):
    """OpenSlide refuses these, so tifffile says what is right."""
    path = tiffs.write(tmp_path / "x.tif", byteorder=">")
    with TiffFile(path) as file, tifffile.TiffFile(path) as reference:
        for level, page in zip(file.levels(), reference.pages, strict=True):
            tiles = file.tiles(level.directory)
            assert list(tiles.sizes()) == list(page.databytecounts)
            whole = page.asarray()
            ours = np.asarray(shown(tiles.tile(0, 0)))
            assert np.array_equal(ours, whole[:64, :64])


@pytest.mark.parametrize("ids", [b"\x00\x01\x02", b"\x01\x02\x03", b"RGB"])
@pytest.mark.parametrize(
    "segment", [b"", tiffs.JFIF, tiffs.ADOBE_YCBCR, tiffs.JFIF + tiffs.ADOBE_YCBCR + tiffs.COMMENT]
)
def test_rgb_stays_rgb_whatever_the_tile_says_of_itself(tmp_path, ids, segment):
    def change(tile):
        tile = tiffs.with_ids(tile, ids)
        return tile[:2] + segment + tile[2:]

    path = tiffs.write(tmp_path / "x.tif", kind="rgb", change=change)
    assert_openslides_pixels(path)
    for *_, content in all_tiles(path):
        markers = [marker for marker, _ in tiffs.segments(content)]
        assert markers.count(0xEE) == 1
        assert not {0xE0, 0xFE} & set(markers)
        assert content[2:18].endswith(b"Adobe\0\x64\0\0\0\0\0")


def test_nothing_but_the_picture_leaves_a_tile(tmp_path):
    exif = b"\xff\xe1\x00\x13Exif\0\0CANARY-EXIF"

    def change(tile):
        return tile[:2] + exif + tiffs.COMMENT + tile[2:]

    path = tiffs.write(tmp_path / "x.svs", change=change, aperio=True)
    assert_openslides_pixels(path)
    assert all(b"CANARY" not in content for *_, content in all_tiles(path))
    assert b"CANARY" in path.read_bytes()


def test_progressive_tiles_are_sent_and_arithmetic_ones_are_not(tmp_path):
    def progressive(tile):
        return tiffs.encode(np.asarray(tiffs_picture), progressive=True)

    tiffs_picture = Image.fromarray(next(tiffs.cells(tiffs.pixels(64, 64))))
    path = tiffs.write(tmp_path / "x.tif", [(64, 64)], change=progressive, shared_tables=False)
    assert_openslides_pixels(path)

    def arithmetic(tile):
        return tile.replace(b"\xff\xc0\x00\x11", b"\xff\xc9\x00\x11")

    path = tiffs.write(tmp_path / "y.tif", [(64, 64)], change=arithmetic)
    assert verdicts(path) == [(False, "unproven")]


def test_a_small_profile_goes_with_every_tile_of_every_level(tmp_path):
    profile = damage.swapped_profile()
    path = tiffs.write(tmp_path / "x.tif", profile=profile)
    assert_openslides_pixels(path)  # before colour management
    for *_, content in all_tiles(path):
        assert opened(content).info["icc_profile"] == profile


def test_a_large_profile_would_cost_more_than_the_tile(tmp_path):
    path = tiffs.write(tmp_path / "x.tif", profile=damage.swapped_profile(padding=tiff.MAX_PROFILE_BYTES))
    assert verdicts(path) == [(False, "profile"), (False, "profile")]


def test_a_profile_that_says_srgb_or_nothing_is_not_sent(tmp_path):
    from PIL import ImageCms

    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for profile in (srgb, b"no profile at all" * 20):
        path = tiffs.write(tmp_path / "x.tif", profile=profile)
        assert all("icc_profile" not in opened(content).info for *_, content in all_tiles(path))


def test_an_empty_place_is_the_decoders_and_so_are_coarser_levels(tmp_path):
    path = tiffs.write(tmp_path / "x.svs", [(200, 150), (100, 75), (50, 37)], missing=[(1, 1)], aperio=True)
    found = proven(path)
    assert [(level.passthrough, level.reason) for level in found] == [
        (True, ""),
        (True, ""),
        (False, "sparse_below"),
    ]
    with TiffFile(path) as file:
        tiles = file.tiles(found[1].stored["directory"])
        with pytest.raises(NotStored):
            tiles.tile(1, 0)
        assert shown(tiles.tile(0, 0)).size == (64, 64)


def test_levels_in_sub_directories_are_found(tmp_path):
    path = tiffs.write(tmp_path / "x.ome.tif", sub_directories=True)
    with TiffFile(path) as file:
        assert [(level.width, level.reason) for level in file.levels()] == [(200, ""), (100, "")]


def tiled(path, pixels, **options):
    tifffile.imwrite(path, pixels, tile=(64, 64), metadata=None, **options)
    return path


PLAIN = tiffs.pixels(200, 150)


@pytest.mark.parametrize(
    ("reason", "make"),
    [
        ("compression", lambda path: tiled(path, PLAIN, photometric="rgb", compression="deflate")),
        ("compression", lambda path: tiled(path, PLAIN, photometric="rgb")),
        ("bits", lambda path: damage.claim(tiffs.write(path.with_suffix(".a")), path, BitsPerSample=12)),
        ("orientation", lambda path: tiffs_with(path, 274, 6)),
        ("photometric", lambda path: tiffs_with(path, 262, 5)),
        ("planar", lambda path: tiffs_with(path, 284, 2)),
        ("damaged", lambda path: damage.claim(tiffs.write(path.with_suffix(".a")), path, ImageWidth=70_000)),
    ],
)
def test_why_a_level_cannot_be_sent_as_stored_is_said(tmp_path, reason, make):
    with TiffFile(make(tmp_path / "x.tif")) as file:
        assert {level.reason for level in file.levels()} == {reason}


def tiffs_with(path, tag, value):
    """A TIFF each of whose directories has `tag` = `value` in place of its number of samples or its own."""
    content = bytearray(tiffs.write(path).read_bytes())
    with TiffFile(path) as file:
        for level in file.levels():
            (count,) = struct.unpack_from("<H", content, level.directory)
            entries = [level.directory + 2 + 12 * number for number in range(count)]
            tags = {struct.unpack_from("<H", content, each)[0]: each for each in entries}
            # 296 (unit of the resolution) says nothing of the pixels: its place is free for another tag.
            struct.pack_into("<HHII", content, tags.get(tag, tags[296]), tag, 3, 1, value)
    path.write_bytes(content)
    return path


def test_other_files_are_no_tiffs(real, tmp_path):
    empty = tmp_path / "empty.svs"
    for content in (b"", b"II*\0", b"MM\0*\0\0\0", b"II+\0\x08\0\0\0", b"\xff\xd8\xff\xe0 no TIFF at all"):
        empty.write_bytes(content)
        with pytest.raises(NotTiff):
            TiffFile(empty)
    assert verdicts(real / "sm_image.dcm") == [(False, "not_tiff")]
    assert verdicts(real / TCGA) == [(False, "compression")] * 2


def test_a_level_that_openslide_shows_otherwise_is_decoded(tmp_path):
    path = tiffs.write(tmp_path / "x.tif")
    with SlideFile(path) as slide:
        first, second = slide.levels
    # As if the reduced level were of another part of the slide: its pixels are looked for elsewhere.
    moved = replace(second, downsample=1.0)
    assert [level.reason for level in proof.proven(path, (first, moved))] == ["", "differs"]


def test_tiles_outside_the_grid_do_not_exist(real):
    with TiffFile(real / CMU) as file:
        tiles = file.tiles(file.levels()[0].directory)
        for column, row in ((-1, 0), (0, -1), (10, 0), (0, 13), (1 << 40, 0)):
            with pytest.raises(LookupError, match="10 x 13"):
                tiles.tile(column, row)


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        (324, 0xFFFF_FFF0),  # tile offsets far beyond the file
        (325, 0xFFFF_FFFF),  # a tile of 4 GB
    ],
)
def test_a_tile_that_lies_outside_the_file_is_not_read(tmp_path, tag, value):
    path = tiffs.write(tmp_path / "x.tif", [(64, 64)])
    content = bytearray(path.read_bytes())
    with TiffFile(path) as file:
        directory = file.levels()[0].directory
        entry = file.tags(directory)[0][tag]
    struct.pack_into("<I" if entry.kind == "I" else "<H", content, entry.position, value & 0xFFFF_FFFF)
    path.write_bytes(content)
    with TiffFile(path) as file, pytest.raises(NotStored):
        file.tiles(directory).tile(0, 0)


def test_a_chain_of_directories_that_bites_its_tail_ends(tmp_path):
    path = tiffs.write(tmp_path / "x.tif")
    content = bytearray(path.read_bytes())
    with TiffFile(path) as file:
        last = file.levels()[-1].directory
        first = file.levels()[0].directory
    (count,) = struct.unpack_from("<H", content, last)
    struct.pack_into("<I", content, last + 2 + 12 * count, first)
    path.write_bytes(content)
    with TiffFile(path) as file, pytest.raises(NotTiff):
        file.levels()


def test_half_a_million_tiles_open_as_five_do(tmp_path):
    """What is read to open a file and to send a tile does not grow with the table of tiles."""

    def bytes_read(columns, rows):
        path = tiffs.synthesise(tmp_path / f"{columns}.tif", columns, rows)
        with TiffFile(path) as file:
            read, total = file.read, 0

            def counting(at, count):
                nonlocal total
                total += count
                return read(at, count)

            file.read = counting
            tiles = file.tiles(file.levels()[0].directory)
            tiles.tile(columns - 1, rows - 1)
            return total

    assert bytes_read(900, 500) == bytes_read(5, 1)
