"""Judges, profiles and the page on methods in a browser."""

import pytest
from playwright.sync_api import expect

from tests.chromium import assert_accessible
from tests.evals.scripts import honest
from tests.evals.server import Answer
from tests.leaderboard.judging import activated, allow, make_draft, make_judge

pytestmark = pytest.mark.browser


@pytest.fixture
def pinned(live, served, settings, ada):
    """An active profile with one judge, whose draft is there too."""
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    allow(settings, server)
    return activated(make_draft(make_judge(server, ada), by=ada, title="One judge, row by row"), ada)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_of_judges_fit_every_width_and_are_accessible(page, sign_in, pinned, ada, theme):
    ada.theme = theme
    ada.save()
    sign_in(page, ada)
    judge = pinned.config["judges"][0]["model"]
    page.goto("/settings/judges/")
    row = page.get_by_role("link", name=judge)
    paths = [
        "/settings/judges/",
        row.get_attribute("href"),
        "/settings/judges/new/",
        "/settings/profiles/new/",
        f"/settings/profiles/{pinned.pk}/",
        f"/methodology/?profile={pinned.sha256}",
    ]
    for path in paths:
        page.goto(path)
        assert page.locator("h1").count() == 1
        assert_accessible(page)
        for width in (390, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)


def test_contents_follow_the_section_that_is_read(page, live, db):
    page.goto("/methodology/#tests")
    expect(page.locator('.method-contents a[href="#limits"]')).not_to_have_attribute("aria-current", "true")
    page.locator('.method-contents a[href="#limits"]').click()
    expect(page.locator('.method-contents a[href="#limits"]')).to_have_attribute("aria-current", "true")
    expect(page.locator("[data-print]")).to_be_visible()
