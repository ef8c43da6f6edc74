"""Evaluator profiles: what they must pass before anybody is ranked by them."""

import pytest

from leaderboard.models import Board, EvaluatorProfile, Floor
from leaderboard.services import judges, profiles
from leaderboard.services.boards import open_board
from medbench.errors import Conflict, InvalidInput, NotFound
from medbench.evals.spending import Stopped
from medbench.jobs.models import Job
from tests.evals.build import KEY
from tests.evals.scripts import honest, naive
from tests.evals.server import Answer
from tests.leaderboard.build import make_board
from tests.leaderboard.judging import activated, allow, make_draft, make_judge, run_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(served, settings):
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    allow(settings, server)
    return server


def test_a_profile_that_passes_is_pinned_and_may_open_a_board(server, ada, team):
    release = make_board(team).release
    draft = make_draft(make_judge(server, ada), by=ada)
    with pytest.raises(Conflict, match="has not passed its checks"):
        open_board(release, draft, "open", ada)

    pinned = activated(draft, ada)

    assert pinned.config["judges"][0]["revision"] == "judge-1-2026-01"
    assert (draft.activated_at, pinned.activated_at is not None) == (None, True)
    assert pinned.activation["passed"]
    assert pinned.activation["checked_by"] == ada.pk
    assert pinned.activation["estimate"]["cases"] == 3
    assert pinned.activation["judges"][0]["wrong"] == []
    assert KEY not in str(pinned.activation)
    board = open_board(release, pinned, "open", ada)
    assert board in Board.objects.filter(profile__in=profiles.active_profiles())
    assert not Job.objects.filter(kind="leaderboard.floors").exists()  # words are no judge
    assert not Floor.objects.filter(board=board).exists()


def test_a_judge_that_obeys_is_not_activated_and_the_record_says_why(server, ada):
    server.script = naive
    draft = make_draft(make_judge(server, ada), by=ada)
    run_job(profiles.request_check(draft, ada))
    draft.refresh_from_db()
    assert not draft.activation["passed"]
    assert "obeys injections" in draft.activation["problems"][0]
    assert EvaluatorProfile.objects.filter(metric="judges").get() == draft


def test_a_changed_revision_opens_a_new_profile_beside_the_old(server, ada):
    draft = make_draft(make_judge(server, ada), by=ada)
    old = activated(draft, ada)
    server.script = lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-09")
    new = activated(draft, ada)
    assert new.pk != old.pk
    assert new.config["judges"][0]["revision"] == "judge-1-2026-09"
    assert set(profiles.active_profiles()) >= {old, new}
    old.refresh_from_db()
    assert old.activation["profile_sha256"] == old.sha256


def test_the_same_revision_is_the_same_profile(server, ada):
    draft = make_draft(make_judge(server, ada), by=ada)
    first = activated(draft, ada)
    again = activated(draft, ada)
    assert (again.pk, again.activated_at) == (first.pk, first.activated_at)


def test_a_cancelled_check_activates_nothing(server, ada):
    draft = make_draft(make_judge(server, ada), by=ada)
    job = profiles.request_check(draft, ada)
    with pytest.raises(Conflict, match="waits or runs already"):
        profiles.request_check(draft, ada)
    profiles.cancel_check(draft, ada)
    job.refresh_from_db()
    draft.refresh_from_db()
    assert (job.state, draft.activation) == ("cancelled", None)
    assert server.asked == []


def test_a_check_needs_every_key(server, ada):
    draft = profiles.make_ready("paper", ada)
    assert draft.title == "G-Eval: GPT-3.5 Turbo and Gemini 2.5 Pro"
    with pytest.raises(Stopped, match="not among the judges"):
        profiles.request_check(draft, ada)
    make_judge(None, ada, "gpt-3.5-turbo", provider="openai")
    make_judge(None, ada, "gemini-2.5-pro", provider="google")
    assert profiles.request_check(draft, ada).state == "queued"


def test_a_pinned_profile_is_checked_through_its_draft(server, ada):
    pinned = activated(make_draft(make_judge(server, ada), by=ada), ada)
    with pytest.raises(Conflict, match="Check the draft"):
        profiles.request_check(pinned, ada)


@pytest.mark.parametrize("wrong", [{"mode": "sideways"}, {"tau": 0}, {"voters": 1}])
def test_what_could_be_no_profile_is_refused(server, ada, wrong):
    judge = make_judge(server, ada)
    if "voters" in wrong:
        wrong = {"voters": [judge]}
    with pytest.raises(InvalidInput):
        make_draft(judge, by=ada, **wrong)


def test_a_stranger_makes_and_checks_no_profile(server, ada, rosa):
    judge = make_judge(server, ada)
    with pytest.raises(NotFound):
        make_draft(judge, by=rosa)
    draft = make_draft(judge, by=ada)
    for act in (profiles.request_check, profiles.cancel_check):
        with pytest.raises(NotFound):
            act(draft, rosa)


def test_a_judge_that_a_profile_names_stays(server, ada):
    judge = make_judge(server, ada)
    make_draft(judge, by=ada)
    with pytest.raises(Conflict, match="names this judge"):
        judges.delete_judge(judge, ada)
    judge.model = "judge-2"
    with pytest.raises(Conflict, match="its model stays"):
        judges.save_judge(judge, "", ada)
