"""Small synthetic suites."""

from medbench.clinlens.build.suite import Plan

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
