"""The pages of accounts in Chromium: keyboard, looks at every width, no script, accessibility."""

import pytest

from medbench.accounts.services import teams
from medbench.accounts.services.tokens import make_token
from tests.chromium import assert_accessible
from tests.people import PASSWORD

pytestmark = pytest.mark.browser


def test_sign_in_by_keyboard_after_a_mistake(page, bruno):
    page.goto("/settings/tokens/")
    page.keyboard.type("bruno")  # the name has the focus
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert page.input_value("[name=name]") == "bruno"
    assert page.input_value("[name=password]") == ""
    page.keyboard.type(PASSWORD)  # now the password has it
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/tokens/")


def test_the_password_is_shown_on_request_and_hidden_when_sent(page, bruno):
    page.goto("/sign-in/")
    page.fill("[name=password]", "secret")
    page.get_by_role("button", name="Show password").click()
    assert page.get_attribute("[name=password]", "type") == "text"
    assert page.evaluate("document.activeElement.name") == "password"
    page.get_by_role("button", name="Show password").click()
    assert page.get_attribute("[name=password]", "type") == "password"


def test_a_password_can_be_pasted(page, bruno):
    page.goto("/sign-in/")
    page.fill("[name=name]", PASSWORD)
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    page.focus("[name=password]")
    page.keyboard.press("Control+V")
    assert page.input_value("[name=password]") == PASSWORD


def test_one_can_sign_in_without_script(chromium, live, bruno):
    context = chromium.new_context(base_url=live.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/sign-in/")
    assert not page.get_by_role("button", name="Show").is_visible()
    page.fill("[name=name]", "bruno")
    page.fill("[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.goto("/settings/")
    assert page.input_value("[name=name]") == "Bruno Costa"
    context.close()


def test_problems_take_the_focus_and_lead_to_their_fields(page, bruno):
    page.goto("/register/")
    page.click("main button[type=submit]")
    page.wait_for_selector(".problems")
    assert page.evaluate("document.activeElement.id") == "problems"
    page.click(".problems a >> nth=0")
    assert page.evaluate("document.activeElement.name") == "name"
    described = page.get_attribute("[name=name]", "aria-describedby")
    assert page.text_content(f"#{described}").strip() == "This field is required."


def test_a_new_link_takes_the_focus_so_that_it_is_read_out(page, sign_in, ada, team):
    sign_in(page, ada)
    page.goto(f"/teams/{team.pk}/people/")
    page.select_option("main [name=role] >> nth=0", "annotator")
    page.get_by_role("button", name="Make a link").click()
    page.wait_for_selector(".shown-once")
    assert page.evaluate("document.activeElement.textContent").startswith("The invitation link.")
    page.goto(page.text_content("#shown-once"))
    assert page.text_content("h1") == "Join Colon insight"


@pytest.fixture
def pages(ada, bruno, team):
    """Every page of accounts by what it is for, with something on it."""
    _, secret = teams.invite(team, "annotator", note="Efua", days=2, by=ada)
    make_token(ada, "nightly", expires_at=None)
    return {
        "visitor": [
            "/sign-in/",
            "/register/",
            f"/invitations/{secret}/",
            f"/reset/{bruno.pk}/{teams.make_reset_token(ada, bruno)}/",
        ],
        "ada": [
            "/settings/",
            "/settings/password/",
            "/settings/tokens/",
            "/teams/",
            f"/teams/{team.pk}/people/",
            f"/teams/{team.pk}/people/{bruno.pk}/reset-link/",
        ],
    }


def visit(page, sign_in, pages, ada):
    """Open one page after the other."""
    for who, addresses in pages.items():
        if who == "ada":
            sign_in(page, ada)
        for address in addresses:
            page.goto(address)
            yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(page, sign_in, pages, ada, scheme):
    page.emulate_media(color_scheme=scheme)
    for address in visit(page, sign_in, pages, ada):
        assert page.locator("h1").count() == 1, address
        assert_accessible(page)


def test_every_page_fits_its_window(page, sign_in, pages, ada):
    for address in visit(page, sign_in, pages, ada):
        for width in (1440, 1024, 390, 320):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, width)
