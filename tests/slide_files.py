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
        shutil.copyfile(source, slide_dir / (name or source.name))
        slide = Slide.objects.create(file_name=source.name, path=name or source.name)
        if source not in _examined:
            _examined[source] = services.examine(slide)
        services.record(slide, _examined[source])
        return slide

    return registered
