"""The real bundle, with and without its slides: looking at a slide takes seconds."""

import shutil

import pytest


@pytest.fixture(scope="session")
def mini(testdata):
    return testdata / "data/bundles/tcga-mini"


@pytest.fixture(scope="session")
def mini_refused(mini, tmp_path_factory):
    """The same with one slide that is no slide."""
    folder = tmp_path_factory.mktemp("bundles") / "tcga-mini"
    shutil.copytree(mini, folder)
    file = folder / "slides/small_dicom.dcm"
    file.chmod(0o644)
    file.write_bytes(b"no slide" * 100)
    return folder


@pytest.fixture(scope="session")
def mini_texts(mini, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles") / "tcga-mini"
    shutil.copytree(mini, folder, ignore=shutil.ignore_patterns("slides", "results"))
    return folder
