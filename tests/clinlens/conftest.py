"""A synthetic source and a small suite of it, made once for all tests of this room."""

import pytest

from medbench.clinlens.build.suite import Plan, build_suite
from medbench.clinlens.sources import open_source
from medbench.clinlens.synthetic import synthesise

PATIENTS = 320
SMALL = ("WHP-PRF", "ADM-PRF", "ADM-PRD", "ICU-CHG", "ICU-PHN", "EVT-PRF")  # one of each kind of task
# What hospital and ICU tables alone are enough for, as in the open demo.
STRUCTURED = (
    "WHP-PRF",
    "WHP-CHG",
    "ADM-PRF",
    "ADM-ASC",
    "ADM-CHG",
    "ADM-PHN",
    "ICU-PRF",
    "ICU-ASC",
    "ICU-CHG",
)
SECRET = "5e" * 32


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


def plan_of(made, folder, templates, instances=1, workers=1):
    """A plan with a known secret and roots in `folder`."""
    secret = folder / "secret"
    folder.mkdir(parents=True, exist_ok=True)
    secret.write_text(SECRET)
    return Plan(
        made,
        None,
        None,
        "small",
        folder / "public",
        folder / "private",
        secret,
        templates,
        instances,
        workers,
    )


@pytest.fixture(scope="session")
def built(made, tmp_path_factory):
    """A suite of six tasks: its plan, its suite, and what was rejected."""
    plan = plan_of(made, tmp_path_factory.mktemp("suite"), SMALL)
    suite, rejected = build_suite(plan)
    return plan, suite, rejected
