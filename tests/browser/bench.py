"""What the tests of the workbench share: a study of three triplets, and hands and eyes for its page."""

import pytest

from annotation.models import Verdict
from annotation.services.assignments import claim_next
from tests.annotation.build import make_cases, make_study
from tests.cases.build import make_triplet

REPORT = "\n".join(f"Line {n} of the microscopic description." for n in range(1, 80)) + (
    "\nTumour size: 6 cm in greatest dimension.\n" + "\n".join(f"Line {n} after it." for n in range(80, 120))
)
EVIDENCE = "Tumour size: 6 cm in greatest dimension."
LONG = ("All 30 pericolonic lymph nodes are free of tumour, which exceeds the usual minimum of twelve. " * 5)[
    :400
]


@pytest.fixture
def study(team, bruno, chen, ada, page, sign_in):
    """A running study of three triplets; Bruno is signed in."""
    benchmark = make_cases(team, 1, 0, report=REPORT)
    for key in "123":
        make_triplet(benchmark.cases.get(), key, insight=LONG, evidence=EVIDENCE, category="predictive")
    sign_in(page, bruno)
    return make_study(benchmark, [bruno, chen], ada)


@pytest.fixture
def held(study, bruno, page):
    """Bruno's first item, opened."""
    held = claim_next(study, bruno)
    open_item(page, held)
    return held


def open_item(page, assignment):
    page.goto(f"/annotate/{assignment.pk}/")
    page.locator("[data-work][data-live]").wait_for()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def wait_for_state(page, words):
    page.locator("[data-save-state]:not([data-state=saving])", has_text=words).wait_for()


def stored(assignment):
    return Verdict.objects.get(assignment=assignment)


def answers_of(page):
    names = page.locator("[data-question] input:checked").evaluate_all(
        "all => all.map(each => [each.name, each.value])"
    )
    return {name.removeprefix("answer-"): value for name, value in names}


def current_of(page):
    all_current = page.locator("[data-question][aria-current]").evaluate_all(
        "all => all.map(each => each.dataset.question)"
    )
    assert len(all_current) <= 1
    return all_current[0] if all_current else None
