"""A synthetic source and a small suite of it, made once for all tests of this room."""

import pytest

from medbench.clinlens.build.suite import build_suite
from medbench.clinlens.sources import open_source
from medbench.clinlens.synthetic import synthesise
from tests.clinlens.suites import PATIENTS, SMALL, plan_of


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of a synthetic source."""
    folder = tmp_path_factory.mktemp("clinlens") / "source"
    synthesise(folder, patients=PATIENTS, seed="tests", with_files=4)
    return folder


@pytest.fixture(scope="session")
def source(made):
    found = open_source(made)
    found.prepare()
    return found


@pytest.fixture(scope="session")
def built(made, tmp_path_factory):
    """A suite of six tasks: its plan, its suite, and what was rejected."""
    plan = plan_of(made, tmp_path_factory.mktemp("suite"), SMALL)
    suite, rejected = build_suite(plan)
    return plan, suite, rejected
