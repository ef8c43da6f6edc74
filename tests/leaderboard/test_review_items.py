"""Outputs of submissions put up for people, and what their verdicts say of a submission."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Protocol, Study
from annotation.services import studies
from leaderboard.audits import of_boards
from leaderboard.models import Board, CaseScore, Evaluation, Submission
from leaderboard.services.review_items import make_review_items
from leaderboard.services.submissions import submit
from medbench.errors import InvalidInput, NotAllowed
from medbench.review.models import ReviewItem
from tests.annotation.build import answer_all, compute_agreement
from tests.leaderboard.build import make_board, make_entry, score_cases
from tests.leaderboard.results import as_bytes, work_off
from tests.people import signed_in

pytestmark = pytest.mark.django_db

Kind = ReviewItem.Kind
VOTED = {
    "voters": ["Voter 1"],
    "matched": [True, False],
    "votes": [{"position": 1, "decision": "correct", "reason": "", "votes": []}],
}


@pytest.fixture
def board(team, rosa):
    """A ROUGE-1 board on which three methods were scored, each worse than the one before."""
    board = make_board(team)
    for method, insights in (
        ("Near", ["Margins are negative.", "The tumour measures 6 cm."]),
        ("Middle", ["Margins are wide.", "The tumour is there."]),
        ("Far", ["Nothing of note.", "A tumour."]),
    ):
        cases = {"C-1": insights[:1], "C-2": insights, "C-3": insights}
        submit(board, as_bytes(method, **cases), "results.json", rosa)
    work_off()
    return board


@pytest.fixture
def voted(team, rosa):
    """A board with judges: one entry, one insight of each case is new and correct by the voters."""
    board = make_board(team)
    score_cases(make_entry(board, rosa, original=0.5, innovation=0.75))
    CaseScore.objects.update(voted=VOTED)
    board.profile.metric, board.profile.config = "judges", board.profile.config | {"tau": 0.7, "voters": [1]}
    board.profile.activated_at = timezone.now()
    board.profile.save()
    return board


def study_of(client, board, kind, *people, **fields):
    """A running study set up on the page of studies, of all items of `kind` that it offers."""
    benchmark = board.release.benchmark
    data = {
        "title": "People's word",
        "protocol": Protocol.objects.get(key=kind, version=1).pk,
        "annotators": [person.pk for person in people],
        "annotators_per_item": len(people),
        "seed": 1,
        "do": "start",
    }
    form = client.get(f"/studies/new/?benchmark={benchmark.pk}").context["form"]
    data["edition"] = form.fields["edition"].choices[-1][0]  # the release
    response = client.post(f"/studies/new/?benchmark={benchmark.pk}", data | fields)
    assert response.status_code == 302, response.context["form"].errors
    return Study.objects.get()


def test_the_same_seed_draws_the_same_and_an_output_is_put_up_once(board, ada):
    first = make_review_items(board, Kind.OUTPUT, ada, per_method=4, seed=7)
    assert (len(first.items), first.n_new) == (12, 12)
    CaseScore.objects.update(f1=0.99)  # a re-scoring
    again = make_review_items(board, Kind.OUTPUT, ada, per_method=4, seed=7)
    assert again.n_new == 0
    assert [each.pk for each in again.items] == [each.pk for each in first.items]
    every = make_review_items(board, Kind.OUTPUT, ada, per_method=30)
    assert (len(every.items), every.n_new) == (15, 3)
    assert {each.payload["method"] for each in every.items} == {"Near (1)", "Middle (2)", "Far (3)"}
    assert all("references" not in each.hides for each in every.items)


def test_only_what_takes_a_place_on_the_board_is_put_up(board, ada):
    Submission.objects.filter(method="Far").update(visibility="private")
    assert len(make_review_items(board, Kind.OUTPUT, ada).items) == 10


def test_a_curator_alone_makes_items_and_without_voters_nothing_is_novel(board, ada, bruno):
    with pytest.raises(NotAllowed):
        make_review_items(board, Kind.OUTPUT, bruno)
    with pytest.raises(InvalidInput, match="no voters"):
        make_review_items(board, Kind.NOVELTY, ada)
    assert not ReviewItem.objects.exists()


def test_the_command_makes_them_and_says_how_many_are_new(board, capsys):
    call_command("make_review_items", str(board.pk), kind="outputs", per_method=2, seed=3, json=True)
    said = json.loads(capsys.readouterr().out)
    assert (len(said["items"]), said["new"]) == (6, 6)
    call_command("make_review_items", str(board.pk), kind="outputs", per_method=2, seed=3)
    assert capsys.readouterr().out == "6 items, 0 of them new.\n"
    with pytest.raises(CommandError, match="no voters"):
        call_command("make_review_items", str(board.pk), kind="novelty")


def test_from_a_scored_file_to_people_beside_the_machine(board, ada, bruno, chen):
    curator = signed_in(ada)
    asked = {"kind": "output", "per_method": 30, "seed": 1}
    page = curator.post(f"/boards/{board.pk}/review-items/", asked, follow=True).content.decode()
    assert "15 items, 15 of them new." in page
    study = study_of(curator, board, "output", bruno, chen)
    payloads = {each.position: each.item.payload for each in study.items.select_related("item")}
    axes = [each["key"] for each in study.protocol.definition["questions"]]
    assert len(payloads) == 15

    held = signed_in(bruno).post(f"/annotate/next/{study.pk}/", follow=True).content.decode()
    assert "All 30 lymph nodes are free of tumour." in held  # a reference
    for hidden in ("Near (1)", "Far (3)", str(Submission.objects.first().pk), "&quot;f1&quot;"):
        assert hidden not in held

    for person, shift in ((bruno, 0), (chen, 1)):
        answer_all(
            study,
            person,
            lambda at, shift=shift: dict.fromkeys(
                axes, str(1 + shift + round(8 * payloads[at]["automated"]["f1"]))
            ),
        )
    found = compute_agreement(study, ada).result["machine"]["correlation"]
    systems = {each["system"]: each for each in found["systems"]}
    assert systems["Near (1)"]["human"] > systems["Far (3)"]["human"]
    rows = {(each["metric"], each["level"]): each for each in found["rows"]}
    assert rows["f1", "case"]["pearson"]["value"] > 0.5
    assert rows["f1", "system"]["pearson"]["value"] > 0.9
    scored = Evaluation.objects.get(submission__method="Near")
    assert systems["Near (1)"]["f1"] == pytest.approx(scored.mean_case_f1)  # every output was drawn
    page = curator.get(reverse("annotation:human_machine", args=[study.pk])).content.decode()
    assert "Near (1)" in page


def test_novelty_reads_unverified_until_experts_have_sorted_it(voted, ada, bruno, chen, rosa):
    curator = signed_in(ada)
    curator.post(f"/boards/{voted.pk}/novelty-audit/", {"required": "yes"})

    def seen():
        row = signed_in(rosa).get(f"/api/v1/boards/{voted.pk}/standings/").json()["standings"][0]
        csv = signed_in(rosa).get(f"/api/v1/boards/{voted.pk}/standings.csv").content.decode()
        page = signed_in(rosa).get(f"/boards/{voted.pk}/").content.decode()
        words = {"unverified" in text for text in (csv, page)}
        assert words == {row["novelty_reason"] == "unverified"}
        return row["original"], row["innovation"], row["novelty_reason"]

    assert seen() == (0.5, None, "unverified")
    make_review_items(voted, Kind.NOVELTY, ada)
    study = study_of(curator, voted, "novelty", bruno, chen)
    assert seen() == (0.5, None, "unverified")
    for person in (bruno, chen):
        answer_all(study, person, lambda at: {"category": "aab"[at - 1]})
    studies.close_study(study, by=ada)
    assert seen() == (0.5, 0.75, "")

    (audited,) = of_boards([voted]).values()
    assert (audited.n_items, audited.n_decided, audited.counts) == (3, 3, {"a": 2, "b": 1, "c": 0})
    assert audited.shares.a.value == pytest.approx(2 / 3)
    low, high = audited.shares.a.ci
    assert low < 2 / 3 < high
    page = curator.get(f"/boards/{voted.pk}/review-items/").content.decode()
    assert "verified" in page
    assert "0.667" in page


def test_the_category_stands_at_the_output_on_the_page_of_the_case(voted, ada, bruno, rosa):
    (item, *_) = make_review_items(voted, Kind.NOVELTY, ada).items
    address = f"/submissions/{item.payload['submission']}/cases/{item.case_id}/"
    assert "audit" not in signed_in(rosa).get(address).content.decode()
    study = study_of(signed_in(ada), voted, "novelty", bruno)
    answer_all(study, bruno, {"category": "a"})
    studies.close_study(study, by=ada)
    assert "true clinical novelty" in signed_in(rosa).get(address).content.decode()


def test_what_nobody_can_judge_is_decided_and_no_share(voted, ada, bruno):
    make_review_items(voted, Kind.NOVELTY, ada)
    study = study_of(signed_in(ada), voted, "novelty", bruno)
    answer_all(study, bruno, lambda at: {"category": "c" if at == 1 else "cannot_judge"})
    assert not next(iter(of_boards([voted]).values())).is_done
    studies.close_study(study, by=ada)
    (audited,) = of_boards([voted]).values()
    assert audited.is_done
    assert audited.shares.c.value == 1
    assert audited.shares.n == 1


def test_an_audit_that_is_not_required_changes_nothing(voted, rosa):
    assert not Board.objects.get().requires_novelty_audit
    page = signed_in(rosa).get(f"/boards/{voted.pk}/").content.decode()
    assert "0.750" in page
    assert "unverified" not in page


def test_one_audited_method_and_three_cost_the_same_queries(voted, ada, rosa):
    Board.objects.update(requires_novelty_audit=True)
    curator = signed_in(ada)

    def queries(address):
        with CaptureQueriesContext(connection) as asked:
            assert curator.get(address).status_code == 200
        return len(asked)

    addresses = (f"/boards/{voted.pk}/review-items/", f"/boards/{voted.pk}/")
    make_review_items(voted, Kind.NOVELTY, ada)
    for address in addresses:
        queries(address)  # what is asked once only
    one = [queries(address) for address in addresses]
    for method in ("Two", "Three"):
        score_cases(make_entry(voted, rosa, method, original=0.5, innovation=0.75))
    CaseScore.objects.update(voted=VOTED)
    make_review_items(voted, Kind.NOVELTY, ada)
    assert len(of_boards([voted])) == 3
    assert [queries(address) for address in addresses] == one
