"""Chromium for browser tests.

`page` is a page of the running site; at the end of the test nothing may stand on its console.
Sign somebody in with `sign_in(page, ada)`, then `page.goto("/cases/")`.
"""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import sync_playwright

from tests.people import signed_in
from tests.required import absent

ARGUMENTS = [
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Console:
    """Errors of the console: script errors, refused content (CSP), failed requests."""

    def __init__(self):
        self.errors = []

    def note(self, message):
        # The one style element that OpenSeadragon adds is blocked on purpose.
        from_viewer = "openseadragon" in message.location["url"] and "style" in message.text
        if message.type == "error" and not from_viewer:
            self.errors.append(f"{message.text} ({message.location['url']})")

    def expect(self, text):
        """Take out the errors that contain `text`; the test fails where there is none."""
        rest = [error for error in self.errors if text not in error]
        assert len(rest) < len(self.errors), f"No console error contains {text!r}: {self.errors}"
        self.errors = rest


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium")
    if path is None:
        absent("Chromium is not installed, so no page was opened.", "MEDBENCH_REQUIRE_BROWSER")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def live(live_server):
    """The running site, static files included: `live.url`."""
    return live_server


@pytest.fixture
def console():
    return Console()


@pytest.fixture
def page(chromium, live, console):
    """A page of the running site at 1440 x 900. Paths are enough: page.goto("/cases/")."""
    context = chromium.new_context(base_url=live.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.on("console", console.note)
    page.on("pageerror", lambda error: console.errors.append(str(error)))
    yield page
    context.close()
    assert not console.errors, "\n".join(console.errors)


@pytest.fixture
def sign_in(live):
    """sign_in(page, person): the page's session is that person's."""

    def sign_in(page, person):
        session = signed_in(person).cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live.url}])

    return sign_in


def assert_accessible(page):
    """axe finds no serious or critical violation on the page as it is now."""
    found = Axe().run(page).response["violations"]
    serious = [
        f"{each['id']}: {each['help']}: {[node['target'] for node in each['nodes']]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert not serious, "\n".join(serious)
