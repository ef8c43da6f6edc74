"""Nothing that an annotator did is lost: reloads, no network, a failing server, an ended session,
two windows."""

import pytest

from annotation.models import VerdictRevision
from tests.browser.bench import answers_of, current_of, held, open_item, press, stored, study, wait_for_state

__all__ = ["held", "study"]  # fixtures
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_reload_shows_what_was_answered(page, held):
    press(page, "y", "n", "m")
    page.keyboard.type("half a sentence")
    wait_for_state(page, "Saved")
    page.reload()
    page.locator("[data-work][data-live]").wait_for()
    assert answers_of(page) == {"grounded": "yes", "faithful": "no"}
    assert page.locator("[name=comment]").input_value() == "half a sentence"
    assert current_of(page) == "aligned"


def test_every_change_is_saved_within_two_seconds(page, held):
    press(page, "y", "m")
    page.keyboard.type("seen")
    page.wait_for_timeout(2000)
    verdict = stored(held)
    assert (verdict.answers, verdict.comment) == ({"grounded": "yes"}, "seen")


# The browser as it is without a network, but for the loading of pages. (A route of Playwright does
# not catch what a page sends while it goes away.)
NO_NETWORK = """
const real = window.fetch;
window.fetch = (...request) => {
  if (sessionStorage.noNetwork) return Promise.reject(new TypeError("no network"));
  return real(...request);
};
"""


def test_without_a_network_answers_are_counted_kept_over_a_reload_and_saved_once(page, held):
    page.add_init_script(NO_NETWORK)
    open_item(page, held)
    page.evaluate("sessionStorage.noNetwork = 1")
    press(page, "y", "n", "m")
    page.keyboard.type("no network")
    wait_for_state(page, "Offline: 3 changes kept on this computer")
    page.reload()
    page.locator("[data-work][data-live]").wait_for()
    assert answers_of(page) == {"grounded": "yes", "faithful": "no"}
    wait_for_state(page, "Offline: 3 changes kept on this computer")
    assert not VerdictRevision.objects.exists()
    page.evaluate("delete sessionStorage.noNetwork")
    wait_for_state(page, "Saved")
    verdict = stored(held)
    assert (verdict.answers, verdict.comment) == ({"grounded": "yes", "faithful": "no"}, "no network")
    assert VerdictRevision.objects.count() == 1
    assert page.evaluate("localStorage.length") == 0


def test_a_server_that_fails_is_named_and_asked_again(page, held, console):
    page.route("**/annotate/**", lambda route: route.fulfill(status=503, body="down"))
    press(page, "y")
    wait_for_state(page, "Not saved: the server answered 503. Trying again in")
    page.unroute("**/annotate/**")
    page.get_by_role("button", name="Now").click()
    wait_for_state(page, "Saved")
    assert stored(held).answers == {"grounded": "yes"}
    console.expect("503")


def test_a_session_that_ended_keeps_the_answers_and_asks_to_sign_in(page, held, bruno, sign_in):
    page.context.clear_cookies(name="sessionid")
    press(page, "y")
    wait_for_state(page, "Signed out. Your answers are kept here.")
    sign_in(page, bruno)
    wait_for_state(page, "Saved")
    assert stored(held).answers == {"grounded": "yes"}


def test_two_windows_compare_and_neither_value_is_lost(page, held, console):
    other = page.context.new_page()
    open_item(other, held)
    press(other, "n", "m")
    other.keyboard.type("the other window")
    wait_for_state(other, "Saved")
    press(page, "y", "m")
    page.keyboard.type("this window")
    wait_for_state(page, "Changed in another window")
    page.get_by_role("button", name="Compare").click()
    compare = page.locator(".compare")
    assert "Here Yes There No" in " ".join(compare.inner_text().split())
    page.get_by_role("button", name="Keep mine: Grounded in the evidence").click()
    page.get_by_role("button", name="Take theirs: Comment").click()
    wait_for_state(page, "Saved")
    verdict = stored(held)
    assert (verdict.answers, verdict.comment) == ({"grounded": "yes"}, "the other window")
    said = list(VerdictRevision.objects.values_list("answers", "comment"))
    assert ({"grounded": "no"}, "the other window") in said
    console.expect("409")


def test_what_is_written_while_comparing_is_kept(page, held, console):
    other = page.context.new_page()
    open_item(other, held)
    press(other, "n")
    wait_for_state(other, "Saved")
    press(page, "y")
    wait_for_state(page, "Changed in another window")
    page.get_by_role("button", name="Compare").click()
    press(page, "m")
    page.keyboard.type("written meanwhile")
    page.get_by_role("button", name="Take theirs: Grounded in the evidence").click()
    wait_for_state(page, "Saved")
    assert (stored(held).answers, stored(held).comment) == ({"grounded": "no"}, "written meanwhile")
    console.expect("409")
