"""Colour normalisation: the reference's colours come out, whatever colours went in."""

import numpy as np
import pytest
from PIL import Image

from medbench.slides import stains
from medbench.slides.reader import SlideRefused

OTHER_STAINS = np.array([[0.65, 0.10], [0.70, 0.95], [0.29, 0.28]])


def picture(stain_vectors, *, strength=1.0, seed=1):
    """200 x 200 px: a rim of glass, and tissue of two stains in known amounts."""
    chance = np.random.default_rng(seed)
    amounts = chance.gamma(2.0, 0.35, (200, 200, 2)) * strength
    # Somewhere each stain stands alone, as nuclei and red cells do.
    alone = chance.random((200, 200))
    amounts[alone < 0.2, 1] = 0
    amounts[alone > 0.8, 0] = 0
    amounts[:20] = 0
    unit = stain_vectors / np.linalg.norm(stain_vectors, axis=0)
    light = 256 * np.exp(-(amounts @ unit.T)) - 1
    return Image.fromarray(np.clip(np.rint(light), 0, 255).astype(np.uint8))


def tissue_of(image):
    pixels = np.asarray(image).reshape(-1, 3)
    return pixels[(stains.optical_density(pixels) > stains.TISSUE_OD).all(axis=1)].astype(np.float32)


def test_lab_and_back_is_the_same():
    colours = np.array([[10, 20, 30], [200, 50, 50], [255, 255, 255]], np.float32)
    assert stains.from_lab(stains.to_lab(colours)) == pytest.approx(colours, rel=1e-3)


def test_grey_has_no_hue_in_lab():
    """Ruderman's axes are opponent: grey lies near 0 on both, whatever its light."""
    lab = stains.to_lab(np.array([[30] * 3, [120] * 3, [240] * 3], np.float32))
    assert np.abs(lab[:, 1:]).max() < 0.02
    assert (np.diff(lab[:, 0]) > 0).all()


def test_reinhard_gives_tissue_the_references_mean_and_spread():
    change = stains.reinhard(tissue_of(picture(OTHER_STAINS)))
    lab = stains.to_lab(change(tissue_of(picture(OTHER_STAINS))))
    assert lab.mean(axis=0) == pytest.approx(stains.REINHARD_MEAN, abs=1e-3)
    assert lab.std(axis=0) == pytest.approx(stains.REINHARD_STD, rel=1e-2)


def test_macenko_finds_the_stains_that_a_picture_was_made_of():
    found = stains.stain_vectors(stains.optical_density(tissue_of(picture(OTHER_STAINS))))
    true = OTHER_STAINS / np.linalg.norm(OTHER_STAINS, axis=0)
    assert (found * true).sum(axis=0) == pytest.approx([1, 1], abs=5e-3)  # cosines: within 6 degrees


def test_macenko_makes_pictures_of_other_stains_and_strengths_alike():
    """The same tissue in other dyes and twice as strong."""
    one = np.asarray(stains.normalise(picture(OTHER_STAINS), "macenko"), np.float32)
    other = np.asarray(stains.normalise(picture(stains.MACENKO_STAINS, strength=0.6), "macenko"), np.float32)
    before = np.abs(
        np.asarray(picture(OTHER_STAINS), np.float32)
        - np.asarray(picture(stains.MACENKO_STAINS, strength=0.6), np.float32)
    ).mean()
    assert np.abs(one - other).mean() < before / 4


@pytest.mark.parametrize("method", ["reinhard", "macenko"])
def test_glass_stays_as_it_is(method):
    normalised = np.asarray(stains.normalise(picture(OTHER_STAINS), method))
    assert (normalised[:20] == 255).all()


def test_none_changes_nothing():
    image = picture(OTHER_STAINS)
    assert stains.normalise(image, "none") is image


@pytest.mark.parametrize("method", ["reinhard", "macenko"])
def test_a_picture_without_tissue_is_refused(method):
    with pytest.raises(SlideRefused) as refused:
        stains.normalise(Image.new("RGB", (300, 300), "white"), method)
    assert refused.value.code == "no_tissue"


@pytest.mark.parametrize("method", ["reinhard", "macenko"])
def test_tissue_of_one_colour_is_no_division_by_zero(method):
    image = Image.new("RGB", (100, 100), (180, 100, 160))
    assert stains.normalise(image, method).size == (100, 100)
