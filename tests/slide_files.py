"""Real slides, a folder for copies of them, and rows that point into it."""

import shutil

import pytest

from medbench.slides import services
from medbench.slides.models import Slide

CMU = "CMU-1-Small-Region.svs"
TCGA = "TCGA-CR-7395-01A-01-TS1.svs"


def members_only(person, slide):
    """The rule of these tests: everyone with a role sees every slide."""
    return person.is_authenticated and bool(person.roles_by_team)


@pytest.fixture
def real(testdata):
    """The folder of the real slides."""
    return testdata / "data/slides"


@pytest.fixture
def slide_dir(settings, tmp_path):
    settings.SLIDE_DIR = tmp_path / "slides"
    settings.VAR_DIR = tmp_path / "var"
    settings.SLIDE_DIR.mkdir()
    return settings.SLIDE_DIR


_examined = {}  # what registration finds out about a file is the same in every test


@pytest.fixture
def registered(db, settings, slide_dir):
    """registered(path, name): a copy of the file in the folder for slides, and its registered row."""
    settings.SLIDE_ACCESS = "tests.slide_files.members_only"

    def registered(source, name=None):
        shutil.copy2(source, slide_dir / (name or source.name))  # with its time: part of what is registered
        slide = Slide.objects.create(file_name=source.name, path=name or source.name)
        examined = _examined.get(source) or services.examine(slide)
        if not examined.found["converted"]:  # else its pyramid lies in this test's own folder
            _examined[source] = examined
        services.record(slide, examined)
        return slide

    return registered
