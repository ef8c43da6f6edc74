"""Small inputs that show each way in which slide servers are known to show something untrue.

The numbers are those of research/peers_annotation.md, section 2c. Two of the fifteen are elsewhere: bad
tiles (2) in test_reader, a server that fails (14) with the viewer.
"""

import io
import json

import numpy as np
import openslide
import pytest
import tifffile
from PIL import Image, ImageChops, ImageCms

from medbench.slides import geometry, services
from medbench.slides.child import Child
from medbench.slides.reader import SlideFile
from tests.slides import damage, level_tables, tiny

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pydicom")


_decoder = None  # one for all of them: starting one takes longer than looking at a tiny file


@pytest.fixture(autouse=True, scope="module")
def decoder():
    global _decoder
    with Child() as _decoder:
        yield


def info(path):
    found, _ = _decoder.ask({"do": "look", "path": str(path), "pyramid": None}, seconds=60)
    return {key: value for key, value in found.items() if key not in ("thumbnail", "tissue_mask")}


def refusal(path):
    return info(path)["refused"]


def test_1_an_irregular_pyramid_has_its_own_grid_and_its_last_row(tmp_path):
    path = tiny.write_pyramid(tmp_path / "x.tiff", [(2100, 1500), (700, 500), (210, 150)])
    with SlideFile(path) as slide:
        assert [level.downsample for level in slide.levels] == [1, 3, 10]
        assert [level.name for level in slide.virtual_levels] == ["v6"]
        for key in (0, 1, 2, "v6"):
            level = slide.level(key)
            for row in range(level.rows):
                for column in range(level.columns):
                    place = geometry.tile_rectangle(level, column, row)
                    assert slide.tile(key, column, row).size == (place.width_l_px, place.height_l_px)
            with pytest.raises(geometry.OutsideGrid):
                slide.tile(key, 0, level.rows)


def test_1_and_8_the_shared_level_tables_are_what_geometry_computes():
    assert level_tables.FILE.read_text() == level_tables.text()


def test_1_and_8_every_tile_of_1000_level_tables_has_the_size_that_is_promised():
    """Counted once more from the vectors alone, as the client does."""
    lines = level_tables.FILE.read_text().splitlines()
    assert len(lines) == 1_000
    for table in map(json.loads, lines):
        for row in table["levels"] + [each[3:] for each in table["virtual_levels"]]:
            width, height, tile_width, tile_height, columns, rows, downsample, last_width, last_height = row
            assert (columns - 1) * tile_width + last_width == width
            assert (rows - 1) * tile_height + last_height == height
            assert 0 < last_width <= tile_width
            assert 0 < last_height <= tile_height
            assert downsample >= 1
        for _, source, factor, width, height, *rest in table["virtual_levels"]:
            of = table["levels"][source]
            assert 0 <= width * factor - of[0] < factor
            assert 0 <= height * factor - of[1] < factor
            assert rest[4] == of[6] * factor


def test_3_an_empty_tile_is_background_and_no_error(tmp_path):
    sound = tiny.write_pyramid(tmp_path / "sound.tiff", [(1300, 700)])
    path = tiny.empty_tile(sound, tmp_path / "x.tiff", 2, 1)
    with SlideFile(path) as slide, SlideFile(sound) as other:
        assert slide.tile(0, 2, 1).getcolors() == [(256 * 256, (255, 255, 255))]
        assert slide.tile("v2", 1, 0).getpixel((64, 192)) == (255, 255, 255)
        assert slide.tile(0, 1, 1).tobytes() == other.tile(0, 1, 1).tobytes()
    assert refusal(path) is None


def test_4_label_macro_and_names_never_leave_the_file(tmp_path, registered, reader, caplog):
    path = tiny.aperio_clone(tmp_path / "x.svs")
    with openslide.OpenSlide(path) as slide:
        assert set(slide.associated_images) == {"label", "macro", "thumbnail"}  # it is all in there
    slide = registered(path)
    assert slide.is_ready
    told = json.dumps(info(path)) + str(slide.__dict__) + caplog.text
    for address in ("pyramid.json", "thumbnail.jpg"):
        told += str(reader.get(f"/slides/{slide.pk}/{address}").content)
    assert "CANARY" not in told
    with Image.open(io.BytesIO(services.thumbnail_jpeg(slide))) as thumbnail:
        colours = {colour for _, colour in thumbnail.convert("RGB").getcolors(1 << 20)}
    assert not colours & {(1, 254, 3), (3, 1, 254)}
    assert [level["width"] for level in slide.levels] == [700, 175]


@pytest.mark.parametrize("name", ["x.png", "x.tif"])
def test_4_what_a_converted_picture_says_of_itself_is_not_kept(tmp_path, registered, settings, name):
    picture = Image.fromarray(tiny.texture(300, 200))
    if name.endswith("png"):
        from PIL.PngImagePlugin import PngInfo

        words = PngInfo()
        words.add_text("Author", "CANARY")
        picture.save(tmp_path / name, pnginfo=words)
    else:
        tifffile.imwrite(tmp_path / name, np.asarray(picture), photometric="rgb", software="CANARY")
    slide = registered(tmp_path / name)
    assert slide.is_converted
    assert b"CANARY" not in services.pyramid_file(slide.sha256).read_bytes()


@pytest.mark.parametrize(
    ("fields", "mpp"),
    [
        ({}, None),
        ({"resolution": (0.25, 0.25), "resolutionunit": "none"}, None),
        ({"resolution": ((0, 1), (0, 1)), "resolutionunit": "centimeter"}, None),
        ({"resolution": (72, 72), "resolutionunit": "inch"}, None),  # a default of other software
        ({"resolution": (40_000, 20_000), "resolutionunit": "centimeter"}, [0.25, 0.5]),
    ],
)
def test_5_only_a_plausible_scale_is_believed_and_each_axis_has_its_own(tmp_path, fields, mpp):
    path = damage.write_tiff(tmp_path / "x.tiff", tiny.texture(512, 512), **fields)
    found = info(path)
    assert found["mpp"] == mpp
    assert found["mpp_source"] == (mpp and "resolution")


def test_5_an_svs_without_scale_has_none(tmp_path):
    assert info(tiny.aperio_clone(tmp_path / "x.svs", scale=""))["mpp"] is None
    assert info(tiny.aperio_clone(tmp_path / "y.svs", scale="|MPP = 352.7"))["mpp"] is None
    assert info(tiny.aperio_clone(tmp_path / "z.svs"))["mpp_source"] == "scanner"


def test_6_thumbnail_tile_and_virtual_tile_show_the_profiles_colours(tmp_path, registered):
    path = damage.write_tiff(
        tmp_path / "x.tiff", damage.plain(1500, 1500), iccprofile=damage.swapped_profile()
    )
    slide = registered(path)
    assert slide.profile == "converted"
    names = [level["name"] for level in slide.virtual_levels]
    pictures = [services.thumbnail_jpeg(slide)]
    pictures += [services.tile_jpeg(slide, key, 0, 0) for key in (0, *names)]
    for content in pictures:
        with Image.open(io.BytesIO(content)) as picture:
            seen = picture.convert("RGB").getpixel((5, 5))
        assert max(abs(a - b) for a, b in zip(seen, (50, 50, 200), strict=True)) <= 4


@pytest.mark.parametrize(
    ("profile", "kind"),
    [
        (ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(), "srgb"),
        (b"no profile" * 20, "unusable"),
        (None, ""),
    ],
)
def test_6_a_profile_is_named_and_a_broken_one_refuses_nothing(tmp_path, profile, kind):
    path = damage.write_tiff(tmp_path / "x.tiff", damage.plain(512, 512), iccprofile=profile)
    assert (refusal(path), info(path)["profile"]) == (None, kind)


@pytest.mark.parametrize("compression", [33003, 33005])
def test_7_both_kinds_of_jpeg_2000_slide_show_their_colours(tmp_path, compression):
    pixels = tiny.texture(700, 500)
    path = tiny.aperio_clone(tmp_path / "x.svs", compression=compression)
    with SlideFile(path) as slide:
        tile = np.asarray(slide.tile(0, 1, 1), np.int16)
    assert np.abs(tile - pixels[240:480, 240:480]).mean() < 4
    assert [level["reason"] for level in info(path)["levels"]] == ["compression"] * 2


@pytest.mark.parametrize("size", [(1023, 777), (2049, 1027), (1301, 999), (3001, 257), (1, 1), (1, 5000)])
def test_8_edges_are_as_large_as_the_client_computes(tmp_path, size):
    path = tiny.write_pyramid(tmp_path / "x.tiff", [size], compression="deflate")
    with SlideFile(path) as slide:
        for key in (0, *(level.name for level in slide.virtual_levels)):
            level = slide.level(key)
            for column, row in ((0, 0), (level.columns - 1, 0), (level.columns - 1, level.rows - 1)):
                place = geometry.tile_rectangle(level, column, row)
                assert slide.tile(key, column, row).size == (place.width_l_px, place.height_l_px)


def test_9_a_flat_picture_gets_levels_without_reading_it_whole(tmp_path):
    path = tiny.write_pyramid(tmp_path / "x.tiff", [(4096, 4096)])
    found = info(path)
    assert [level["name"] for level in found["virtual_levels"]] == ["v2", "v4"]
    assert found["virtual_levels"][-1]["width"] == 1024


def test_9_a_picture_in_one_piece_becomes_a_pyramid(real, registered, reader):
    slide = registered(real / "kidney-48-5.tif")
    assert (slide.is_ready, slide.is_converted, slide.vendor) == (True, True, "tiff")
    assert [level["width"] for level in slide.levels] == [1493, 746, 373, 186]
    assert all(level["passthrough"] for level in slide.levels)
    with (
        Image.open(real / "kidney-48-5.tif") as picture,
        Image.open(io.BytesIO(services.tile_jpeg(slide, 0, 1, 1))) as tile,
    ):
        expected = picture.convert("RGB").crop((256, 256, 512, 512))
        assert max(ImageChops.difference(tile.convert("RGB"), expected).tobytes()) < 32


def test_9_what_is_too_large_for_one_piece_is_refused(tmp_path):
    path = tmp_path / "x.tif"
    pixels = np.zeros((8, 8, 3), np.uint8)
    tifffile.imwrite(path, pixels, photometric="rgb", rowsperstrip=8)
    damage.claim(path, tmp_path / "y.tif", ImageWidth=40_000, ImageLength=40_000)
    assert refusal(tmp_path / "y.tif")["code"] in ("too_large_to_convert", "cut_short")


def test_10_a_slide_scanned_in_part_is_white_outside_and_in_its_place_inside(tmp_path):
    path = tiny.write_scn(tmp_path / "x.scn")
    found = info(path)
    assert (found["vendor"], found["bounds"]) == ("leica", [1000, 2000, 1024, 1024])
    assert found["mpp"] == [0.5, 0.5]
    with SlideFile(path) as slide:
        assert slide.tile(0, 0, 0).getextrema() == ((255, 255),) * 3
        corner = geometry.tile_rectangle(slide.level(0), 2, 4)
        x, y = corner.x_l_px - 1000, corner.y_l_px - 2000
        scanned = tiny.texture(1024, 1024)[y : y + corner.height_l_px, x : x + corner.width_l_px]
        assert np.abs(np.asarray(slide.tile(0, 2, 4), int) - scanned).mean() < 3


def test_11_a_dicom_slide_of_two_levels_opens_with_its_scale_and_without_names(tmp_path, real):
    template = real / "openslide_fixtures/boxes_0.dcm"
    first = tiny.write_dicom(template, tmp_path / "1.dcm", (900, 600))
    tiny.write_dicom(template, tmp_path / "2.dcm", (450, 300), number=2, spacing_mm=0.001)
    label = tiny.write_dicom(template, tmp_path / "3.dcm", (200, 100), number=3, flavour="LABEL")
    found = info(first)
    assert found["refused"] is None
    assert (found["vendor"], found["mpp"], found["mpp_source"]) == ("dicom", [0.5, 0.5], "dicom")
    assert [(level["width"], level["height"]) for level in found["levels"]] == [(900, 600), (450, 300)]
    assert "CANARY" not in json.dumps(found)
    assert refusal(label)["code"] == "not_a_slide"


@pytest.mark.parametrize(("fields", "code"), [({"paths": 2}, "channels"), ({"planes": 3}, "stack")])
def test_11_and_12_a_dicom_stack_is_refused(tmp_path, real, fields, code):
    template = real / "openslide_fixtures/boxes_0.dcm"
    assert refusal(tiny.write_dicom(template, tmp_path / "x.dcm", (300, 300), **fields))["code"] == code


def test_11_frames_that_the_file_does_not_place_are_put_where_their_seams_fit(real):
    """The TCGA file names no order; its frames go down the columns."""
    from medbench.slides import converting

    picture = converting.source_of(real / "small_dicom.dcm").picture.numpy().astype(int)
    seams = [np.abs(picture[:, x] - picture[:, x - 1]).mean() for x in range(500, 3000, 500)]
    inside = [np.abs(picture[:, x] - picture[:, x - 1]).mean() for x in range(250, 3000, 500)]
    assert np.mean(seams) < 2 * np.mean(inside)


@pytest.mark.parametrize(
    ("shape", "fields", "code"),
    [
        ((3, 600, 600), {"metadata": {"axes": "ZYX"}, "ome": True}, "stack"),
        ((2, 600, 600), {"metadata": {"axes": "CYX"}, "ome": True}, "channels"),
        ((2, 600, 600), {"metadata": {"axes": "TYX"}, "ome": True}, "stack"),
        ((600, 600), {"dtype": np.uint16}, "bit_depth"),
        ((600, 600, 3), {"dtype": np.uint16, "photometric": "rgb"}, "bit_depth"),
        ((600, 600, 4), {"photometric": "separated"}, "colour_model"),
    ],
)
@pytest.mark.parametrize("tile", [(256, 256), None])
def test_12_what_would_be_shown_in_part_is_refused_in_words(tmp_path, shape, fields, code, tile):
    """Tiled, OpenSlide opens most of these and shows the first plane, or the upper byte."""
    fields = {"photometric": "minisblack"} | fields
    pixels = np.zeros(shape, fields.pop("dtype", np.uint8))
    tifffile.imwrite(tmp_path / "x.tif", pixels, tile=tile, **fields)
    refused = refusal(tmp_path / "x.tif")
    assert refused["code"] == code
    assert refused["message"].endswith(".")


@pytest.mark.parametrize("tile", [(256, 256), None])
def test_12_one_rgb_ome_tiff_is_shown_with_its_own_scale(tmp_path, tile):
    pixels = tiny.texture(600, 400)
    fields = {"axes": "YXS", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.3, "PhysicalSizeXUnit": "µm"}
    path = tmp_path / "x.ome.tif"
    tifffile.imwrite(path, pixels, tile=tile, photometric="rgb", metadata=fields, ome=True)
    found = info(path)
    assert (found["refused"], found["mpp"], found["mpp_source"]) == (None, [0.25, 0.3], "ome")
    assert (found["width"], found["height"]) == (600, 400)


@pytest.mark.parametrize("name", ["x.mrxs", "x.MRXS", "x.vsi"])
def test_13_a_lone_head_file_names_the_folder_that_is_missing(tmp_path, name):
    Image.fromarray(tiny.texture(100, 100)).save(tmp_path / "x.jpg")
    (tmp_path / "x.jpg").rename(tmp_path / name)
    refused = refusal(tmp_path / name)
    assert refused["code"] == "companion_missing"
    assert "folder" in refused["message"]
    (tmp_path / "y").mkdir()  # beside it, under another name
    assert refusal(tmp_path / name)["code"] == "companion_missing"


def test_13_a_mrxs_folder_without_its_index_is_told(tmp_path):
    (tmp_path / "x.mrxs").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "x").mkdir()
    refused = refusal(tmp_path / "x.mrxs")
    assert (refused["code"], "Slidedat.ini" in refused["message"]) == ("companion_missing", True)


def test_15_slides_of_one_name_never_share_a_tile(real, registered, slide_dir):
    (slide_dir / "a").mkdir()
    (slide_dir / "b").mkdir()
    one = registered(real / "openslide_fixtures/boxes.tiff", "a/x.tiff")
    other = registered(real / "yb10kx5k.zstd.tiff", "b/x.tiff")
    assert services.tile_jpeg(one, 0, 0, 0) != services.tile_jpeg(other, 0, 0, 0)


def test_15_a_file_replaced_by_one_of_the_same_size_is_noticed(tmp_path, registered, slide_dir):
    colours = ((200, 50, 50), (50, 50, 200))
    first, second = (
        damage.write_tiff(tmp_path / f"{n}.tiff", damage.plain(512, 512, colour))
        for n, colour in enumerate(colours)
    )
    slide = registered(first, "x.tiff")
    before = services.tile_jpeg(slide, 0, 0, 0)
    content = second.read_bytes()
    (slide_dir / "x.tiff").write_bytes(content)
    assert len(content) == slide.size_bytes
    with pytest.raises(services.SlideRefused) as refused:
        services.tile_jpeg(slide, 0, 0, 0)
    assert refused.value.code == "file_changed"
    services.register_slide(slide)
    assert slide.revision == 2
    assert services.tile_jpeg(slide, 0, 0, 0) != before


def test_a_pyramid_that_was_lost_is_told_and_made_again(real, registered):
    slide = registered(real / "ihc.png")
    services.pyramid_file(slide.sha256).unlink()
    with pytest.raises(services.SlideRefused, match="Register it again"):
        services.tile_jpeg(slide, 0, 0, 0)
    services.register_slide(slide)
    assert (slide.revision, len(services.tile_jpeg(slide, 0, 0, 0)) > 1000) == (1, True)


def test_a_mirax_slide_is_read_with_its_folder(tmp_path):
    path, pixels = tiny.write_mrxs(tmp_path / "x.mrxs")
    found = info(path)
    assert (found["vendor"], found["mpp"], found["objective"]) == ("mirax", [0.25, 0.25], 20)
    assert [(level["width"], level["height"]) for level in found["levels"]] == [(512, 384), (256, 192)]
    assert "CANARY" not in json.dumps(found)
    with SlideFile(path) as slide:
        tile = np.asarray(slide.tile(0, 0, 0), np.int16)
    assert np.abs(tile - pixels[: tile.shape[0], : tile.shape[1]]).mean() < 3


def test_a_mirax_slide_is_imported_with_its_folder(tmp_path, db, slide_dir):
    from medbench.cases.services.slide_files import _place
    from medbench.slides.models import Slide

    path, _ = tiny.write_mrxs(tmp_path / "x.mrxs")
    slide = Slide.objects.create(file_name="slides/x.mrxs")
    _place(slide, path)
    services.register_slide(slide)
    assert (slide.state, slide.vendor) == ("ready", "mirax")
    assert len(services.tile_jpeg(slide, 0, 0, 0)) > 1_000
    data = slide_dir / str(slide.pk) / "x/Data0000.dat"  # its pixels, not its head
    data.write_bytes(data.read_bytes() + b" ")
    with pytest.raises(services.SlideRefused, match="replaced"):
        services.tile_jpeg(slide, 0, 0, 0)
    services.register_slide(slide)
    assert (slide.state, slide.revision) == ("ready", 2)
