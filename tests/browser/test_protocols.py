"""Copying and writing a protocol by keyboard, and the pages around a study."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Protocol
from annotation.protocols import Definition
from annotation.services import protocols, studies
from tests.annotation.build import YES, answer_all, make_cases, make_study
from tests.chromium import assert_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(team, bruno, chen, ada):
    return make_study(make_cases(team), [bruno, chen], ada)


def test_a_protocol_is_copied_and_written_by_keyboard(page, study, ada, sign_in, console):
    built_in = Protocol.objects.get(key="triplet", version=2)
    sign_in(page, ada)
    page.goto(f"/protocols/{built_in.pk}/")
    assert_accessible(page)
    page.get_by_label("Title of the copy").fill("Our triplets")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Edit protocol")).to_be_visible()

    page.get_by_role("button", name="Add a question").press("Enter")
    title = page.locator("[name=q5-title]")
    expect(title).to_be_focused()
    page.keyboard.type("Side right")
    page.keyboard.press("Tab")
    preview = page.locator("#preview")
    expect(preview.get_by_role("group", name="6 Side right")).to_be_visible()
    expect(page.locator("[name=q5-help]")).to_be_focused()  # a preview takes nothing away

    label = page.locator("[name=q5-o1-label]")
    label.fill("Yes")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator("#problems")).to_be_focused()
    console.expect("422")
    assert_accessible(page)
    page.get_by_role("link", name="Question 6, answer 2").press("Enter")
    expect(label).to_be_focused()
    label.fill("No")
    page.get_by_role("button", name=re.compile(r"^Up ?: question 6, Side right$")).press("Enter")
    expect(page.locator("[name=q4-title]")).to_have_value("Side right")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert_accessible(page)
    asked = Definition.read(Protocol.objects.get(title="Our triplets").definition).questions
    assert [question.key for question in asked][4:] == ["side_right", "category"]


def test_the_pages_around_a_study_are_accessible_and_fit_a_phone(page, study, bruno, ada, sign_in):
    answer_all(study, bruno, YES)
    own = protocols.copy_protocol(study.protocol, study.benchmark.team, title="Ours", by=ada)
    studies.close_study(study, by=ada)
    sign_in(page, ada)
    paths = (
        "/protocols/",
        f"/protocols/{own.pk}/edit/",
        *(f"/studies/{study.pk}/{each}/" for each in ("log", "set-up", "round")),
    )
    for path in paths:
        page.set_viewport_size({"width": 1024, "height": 800})
        page.goto(path)
        assert_accessible(page)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
