"""Anonymous means anonymous: on the page, in the CSV, by API, until the day that was set."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.services import rescorings
from leaderboard.services.submissions import Details, set_visibility, submit
from medbench.errors import InvalidInput
from tests.leaderboard.build import make_board, make_evaluation, make_submission, score_cases
from tests.leaderboard.results import as_bytes, work_off
from tests.people import signed_in

SOON = dt.timedelta(days=30)
GOOD = as_bytes(**{"C-1": ["Margins are negative."]})


@pytest.fixture
def hidden(team, rosa):
    """An anonymous submission of Rosa, Rosa's named one that it replaces, and the board."""
    board = make_board(team)
    named = make_submission(board, rosa, method="Old")
    make_evaluation(named, 0.4)
    anonymous = make_submission(
        board,
        rosa,
        visibility="anonymous",
        public_from=timezone.now() + SOON,
        description="By the lab of Rosa",
        url="https://rosa.example/",
        replaces=named,
    )
    make_evaluation(anonymous, 0.5)
    return anonymous


def addresses(submission):
    board = submission.board_id
    return [
        f"/boards/{board}/",
        f"/submissions/{submission.pk}/",
        f"/api/v1/boards/{board}/standings/",
        f"/api/v1/boards/{board}/standings.csv",
        f"/api/v1/submissions/{submission.pk}/",
    ]


def test_no_reader_finds_the_name_of_an_anonymous_submitter(hidden, team, bruno, rosa):
    Submission.objects.filter(pk=hidden.replaces_id).update(visibility="private")  # names Rosa itself
    team.open_to_researchers = True
    team.save()
    for client in (signed_in(bruno), Client()):
        for address in addresses(hidden):
            answer = client.get(address)
            assert answer.status_code == 200
            text = answer.content.decode()
            for tell_tale in (rosa.name, rosa.username, "rosa.example", "lab of Rosa"):
                assert tell_tale not in text, address
            assert "Anonymous" in text, address


@pytest.mark.parametrize("view", ["generations/", "?view=cost", "?view=ablations"])
def test_no_view_of_a_board_names_an_anonymous_submitter(view, hidden, ada, bruno, rosa):
    """With a variant of the same person, ranked, and a new generation that is shown."""
    board = hidden.board
    variant = make_submission(
        board,
        rosa,
        method="Without memory",
        visibility="anonymous",
        public_from=hidden.public_from,
        variant_of=hidden,
        without=["memory"],
        usage={"api_calls": 3, "cases": {"api_calls": 3}},
    )
    score_cases(make_evaluation(variant, 0.3))
    score_cases(hidden.evaluations.get())
    rescorings.rescore(board, "New software.", ada)
    work_off()
    page = signed_in(bruno).get(f"/boards/{board.pk}/{view}").content.decode()
    for tell_tale in (rosa.name, rosa.username, "rosa.example", "lab of Rosa"):
        assert tell_tale not in page


def test_nothing_ties_an_anonymous_submission_to_a_named_one(hidden, bruno):
    client = signed_in(bruno)
    older = client.get(f"/submissions/{hidden.replaces_id}/").content.decode()
    assert str(hidden.pk) not in older
    assert "Replaced by" not in older
    assert str(hidden.replaces_id) not in client.get(f"/submissions/{hidden.pk}/").content.decode()
    assert str(hidden.replaces_id) not in client.get(f"/api/v1/submissions/{hidden.pk}/").content.decode()


def test_its_submitter_and_the_curators_read_the_name(hidden, ada, rosa):
    for person in (ada, rosa):
        assert rosa.name in signed_in(person).get(f"/submissions/{hidden.pk}/").content.decode()


def test_it_is_named_from_the_day_that_was_set(hidden, bruno, rosa):
    Submission.objects.filter(pk=hidden.pk).update(public_from=timezone.now())
    for address in addresses(hidden):
        assert rosa.name in signed_in(bruno).get(address).content.decode()


@pytest.mark.parametrize("days", [None, -1, 400])
def test_an_anonymous_submission_needs_a_day_within_a_year(team, rosa, days, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    due = None if days is None else timezone.now() + dt.timedelta(days=days)
    with pytest.raises(InvalidInput, match="the date from which it is named"):
        submit(
            make_board(team),
            GOOD,
            "a.json",
            rosa,
            details=Details(visibility="anonymous", public_from=due),
        )
    assert not Submission.objects.exists()


def test_visibility_is_changed_on_the_page(hidden, rosa):
    address = f"/submissions/{hidden.pk}/visibility/"
    day = (timezone.now() + SOON).date()
    client = signed_in(rosa)
    assert client.post(address, {"visibility": "anonymous"}).status_code == 400
    assert client.post(address, {"visibility": "anonymous", "public_from": f"{day}"}).status_code == 302
    hidden.refresh_from_db()
    assert hidden.public_from == dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    set_visibility(hidden, "public", rosa)
    hidden.refresh_from_db()
    assert (hidden.visibility, hidden.public_from) == ("public", None)


def test_a_variant_and_a_new_version_are_of_ones_own_on_the_same_board(team, rosa, bruno, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    board = make_board(team)
    whole, strange = make_submission(board, rosa), make_submission(board, bruno)
    details = Details(kind="agent", variant_of=whole.pk, without=(" wrm", "ism", "ism"), replaces=whole.pk)
    made = submit(board, GOOD, "a.json", rosa, details=details)
    assert (made.kind, made.variant_of, made.without) == ("agent", whole, ["ism", "wrm"])
    assert made.replaces == whole
    for wrong in (
        Details(replaces=strange.pk),
        Details(variant_of=strange.pk, without=("ism",)),
        Details(variant_of=whole.pk),
        Details(without=("ism",)),
        Details(kind="oracle"),
    ):
        with pytest.raises(InvalidInput):
            submit(board, GOOD, "b.json", rosa, details=wrong)
    with pytest.raises(Exception, match=f"replaced by submission {made.number} already"):
        submit(board, GOOD, "b.json", rosa, details=Details(replaces=whole.pk))
    page = signed_in(rosa).get(f"/submissions/{made.pk}/").content.decode()
    assert "Variant of" in page
    assert "New version of" in page


def test_usage_is_summed_over_the_cases_that_report_it(team, rosa, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    data = b"""{"schema": "medbench.results/1", "method": "ReAct", "cases": [
      {"case_id": "C-1", "insights": ["Margins are negative."], "usage": {"api_calls": 3, "seconds": 1.5}},
      {"case_id": "C-2", "insights": ["6 cm"], "usage": {"api_calls": 4}}]}"""
    made = submit(make_board(team), data, "a.json", rosa)
    assert made.usage == {
        "api_calls": 7,
        "input_tokens": None,
        "output_tokens": None,
        "seconds": 1.5,
        "cases": {"api_calls": 2, "input_tokens": 0, "output_tokens": 0, "seconds": 1},
    }
    page = signed_in(rosa).get(f"/submissions/{made.pk}/").content.decode()
    assert "7 calls in 2 cases · 2 seconds in 1 case" in page
    assert "self-reported" in page
