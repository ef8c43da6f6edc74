"""The fixtures that all other tests stand on."""

import subprocess
import sys

import pytest
from django.conf import settings

from medbench.accounts import permissions
from medbench.accounts.models import User
from tests.chromium import Console


def test_people_have_the_roles_they_are_known_for(team, ada, bruno, dara, rosa, eve):
    held = {person.username: set(permissions.roles(person, team)) for person in (ada, bruno, dara, rosa, eve)}
    assert held == {
        "ada": {"curator"},
        "bruno": {"annotator"},
        "dara": {"adjudicator"},
        "rosa": {"researcher"},
        "eve": set(),
    }


def test_nothing_is_written_into_the_work_tree():
    assert settings.BASE_DIR not in settings.VAR_DIR.parents
    assert settings.BASE_DIR not in settings.SLIDE_DIR.parents


def test_test_data_holds_the_bundle_and_the_golden_values(testdata):
    assert (testdata / "data/bundles/tcga-mini/benchmark.json").is_file()
    assert (testdata / "golden/golden_metrics.json").is_file()


def test_a_child_process_sees_the_rows_of_the_test(child_environment, eve):
    code = (
        "import django; django.setup(); from medbench.accounts.models import User; print(User.objects.get())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env=child_environment,
        check=False,
        capture_output=True,
        text=True,
        cwd=settings.BASE_DIR,
    )
    assert (answer.stdout.strip(), answer.stderr) == (str(User.objects.get()), "")


@pytest.mark.browser
@pytest.mark.django_db
def test_an_inline_script_fails_the_browser_test(chromium, live):
    """What `page` checks at the end of every test does catch a violation of the policy."""
    console = Console()
    page = chromium.new_page()
    page.on("console", console.note)
    page.goto(live.url)
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: '1'}))")
    page.close()
    console.expect("Content Security Policy")
