"""The real bundle, with and without its slides: looking at a slide takes seconds."""

import shutil

import pytest


@pytest.fixture(scope="session")
def mini(testdata):
    return testdata / "data/bundles/tcga-mini"


@pytest.fixture(scope="session")
def mini_texts(mini, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles") / "tcga-mini"
    shutil.copytree(mini, folder, ignore=shutil.ignore_patterns("slides", "results"))
    return folder
