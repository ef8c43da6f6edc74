"""Pages for judges and profiles, and the page on methods that everybody may read."""

import pytest

from leaderboard import methodology
from leaderboard.models import EvaluatorProfile, Judge
from leaderboard.services import judges, profiles
from tests.evals.build import KEY
from tests.evals.scripts import honest
from tests.evals.server import Answer
from tests.leaderboard.build import make_board
from tests.leaderboard.judging import activated, allow, make_draft, make_judge, run_job
from tests.people import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(served, settings):
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    allow(settings, server)
    return server


def text(response):
    return response.content.decode()


def test_a_curator_adds_a_judge_and_never_sees_the_key_again(server, ada):
    client = signed_in(ada)
    assert "No judge is configured. ROUGE-1 works without one." in text(client.get("/settings/judges/"))
    form = {
        "name": "Judge A",
        "provider": "openai-api",
        "model": "q3-32b",
        "base_url": server.base_url("openai-api"),
        "key": KEY,
    }
    saved = client.post("/settings/judges/new/", form, follow=True)
    assert "“Judge A” is saved." in text(saved)
    judge = Judge.objects.get()
    assert judge.created_by == ada
    for path in ("/settings/judges/", f"/settings/judges/{judge.pk}/", "/methodology/"):
        assert KEY not in text(client.get(path))
    without = client.post(f"/settings/judges/{judge.pk}/", form | {"key": "", "name": "Judge B"}, follow=True)
    assert "A key is stored" in text(without)
    assert KEY in judges.keys_for(profiles.instrument_of(make_draft(judge, by=ada))).values()


def test_a_refused_form_says_what_to_change_and_does_not_repeat_the_key(server, ada, settings):
    settings.JUDGE_NETWORKS = []
    form = {
        "name": "A",
        "provider": "openai-api",
        "model": "m",
        "base_url": server.base_url("openai"),
        "key": KEY,
    }
    refused = text(signed_in(ada).post("/settings/judges/new/", form))
    assert "which is not public and in no listed network" in refused
    assert KEY not in refused
    assert "Select a valid choice" in text(
        signed_in(ada).post("/settings/judges/new/", form | {"base_url": "http://10.0.0.1/v1"})
    )


def test_a_test_call_shows_its_progress_and_its_end(server, ada):
    client, judge = signed_in(ada), make_judge(server, ada)
    client.post(f"/settings/judges/{judge.pk}/test/")
    job = judges.newest_test(judge)
    waiting = text(client.get(f"/settings/judges/{judge.pk}/"))
    assert 'hx-trigger="every 2s"' in waiting
    assert "Test one call" not in waiting
    run_job(job)
    over = text(client.get(f"/settings/judges/{judge.pk}/?seen=Queued", headers={"HX-Request": "true"}))
    assert "Test call over." in over
    assert "judge-1-2026-01" in over
    assert "every 2s" not in over


def test_from_a_draft_to_a_board_by_judges(server, ada, rosa, team):
    board = make_board(team)
    client, judge = signed_in(ada), make_judge(server, ada)
    form = {"title": "One judge", "judges": [judge.pk], "mode": "row", "tau": "0.7"}
    two = client.post("/settings/profiles/new/", form | {"voters": [judge.pk]})
    assert "Choose three voters, or none" in text(two)
    made = client.post("/settings/profiles/new/", form)
    draft = EvaluatorProfile.objects.get(metric="judges")
    assert made.url == f"/settings/profiles/{draft.pk}/"
    assert "Check and activate" in text(client.get(made.url))
    assert text(client.get("/boards/new/")).count("One judge") == 0

    pinned = activated(draft, ada)

    assert "Labelled pairs right" in text(client.get(made.url))
    assert "Active since" in text(client.get(f"/settings/profiles/{pinned.pk}/"))
    opening = {"release": board.release_id, "split": "open"}
    assert client.post("/boards/new/", opening | {"profile": draft.pk}).status_code == 200  # not a choice
    opened = client.post("/boards/new/", opening | {"profile": pinned.pk})
    assert board.release.boards.get(profile=pinned).get_split_display() == "Open"
    assert opened.status_code == 302
    methods = text(signed_in(rosa).get(f"/methodology/?profile={pinned.sha256}"))
    assert "judge-1-2026-01" in methods
    assert "You are an experienced pathologist" in methods
    assert server.address not in methods  # where a site's own models live is nobody's business


def test_the_page_of_a_refused_profile_says_why(server, ada):
    judge = make_judge(server, ada)
    draft = make_draft(judge, by=ada)
    server.script = lambda asked: honest(asked).replace('"score": ', '"score": 1')  # 1 to 10 become 11 to 110
    run_job(profiles.request_check(draft, ada))
    shown = text(signed_in(ada).get(f"/settings/profiles/{draft.pk}/"))
    assert "without a valid answer" in shown
    assert "labelled pairs wrong" in shown
    assert "Refused" in text(signed_in(ada).get("/settings/judges/"))


def test_three_judges_and_profiles_cost_the_queries_of_one(server, ada, django_assert_num_queries):
    client = signed_in(ada)
    make_draft(make_judge(server, ada), by=ada)
    with django_assert_num_queries(99, exact=False) as one:
        client.get("/settings/judges/")
    for number in (2, 3):
        make_draft(make_judge(server, ada, f"judge-{number}"), by=ada, title=f"Draft {number}")
    with django_assert_num_queries(len(one)):
        client.get("/settings/judges/")


def test_the_page_on_methods_has_its_anchors_and_says_its_limits_first(client, db):
    shown = text(client.get("/methodology/"))
    places = [
        shown.index(f'id="{anchor}"') for anchor, _ in methodology.SECTIONS if f'id="{anchor}"' in shown
    ]
    assert places == sorted(places)
    assert len(places) == len(methodology.SECTIONS) - len(methodology.OF_JUDGES)
    assert "parity-ascii" in shown
    assert "10,000 resamples" in shown
    assert client.get("/methodology/?profile=none").status_code == 404


def test_anchors_that_boards_link_to_stay():
    given = {"recall", "precision", "f1", "novelty", "intervals", "tests", "judges", "coverage"}
    assert given | {"floors", "usage", "published"} <= {anchor for anchor, _ in methodology.SECTIONS}


def test_a_draft_has_no_page_on_methods(server, ada):
    draft = make_draft(make_judge(server, ada), by=ada)
    assert signed_in(ada).get(f"/methodology/?profile={draft.sha256}").status_code == 404


def test_only_curators_have_the_link_to_judges(ada, rosa, client):
    link = 'href="/settings/judges/"'
    assert [link in text(each.get("/boards/")) for each in (signed_in(ada), signed_in(rosa), client)] == [
        True,
        False,
        False,
    ]
