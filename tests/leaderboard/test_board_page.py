"""The page of a board: groups, filters, what is printed elsewhere, views, downloads, generations."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from leaderboard import published, queries
from leaderboard.models import EvaluatorProfile
from leaderboard.services import rankings, rescorings
from leaderboard.standings import arrange
from medbench.scoring.matching import harmonic_mean
from tests.leaderboard.build import make_board, make_entry, make_evaluation, make_submission, score_cases
from tests.leaderboard.results import work_off
from tests.people import signed_in

pytestmark = pytest.mark.django_db


def page(person, board, **query):
    response = signed_in(person).get(f"/boards/{board.pk}/", query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def board(team):
    return make_board(team, n_cases=10)


@pytest.fixture
def ranked(board, rosa):
    for name, kind, backbone in (("Alpha", "agent", "gpt-5"), ("Beta", "direct", "qwen3")):
        usage = {"api_calls": 320 if name == "Alpha" else 10, "cases": {"api_calls": 10}}
        submission = make_submission(board, rosa, name, kind=kind, backbone=backbone, usage=usage)
        score_cases(make_evaluation(submission, 0.6 if name == "Alpha" else 0.5))
    rankings.request(board.pk)
    work_off()
    return board


def test_entries_that_cannot_be_told_apart_stand_under_one_head(ranked, rosa):
    text = page(rosa, ranked)
    assert text.count("Cannot be told apart from first place") == 1
    assert "Rank group" not in text
    assert "ranked as of" in text
    by_recall = page(rosa, ranked, sort="recall")
    assert "Cannot be told apart" not in by_recall
    assert "Sorted by Recall" in by_recall


def test_a_board_whose_ranking_is_not_computed_says_so(board, rosa):
    make_entry(board, rosa, "Alpha", 0.5)
    text = page(rosa, board)
    assert "not ranked yet" in text
    assert "being computed" in text


@pytest.mark.parametrize(
    ("query", "kept", "left"),
    [
        ({"kind": "agent"}, "Alpha", "Beta"),
        ({"backbone": "qwen3"}, "Beta", "Alpha"),
        ({"source": "verified"}, "passes these filters", "Alpha"),
    ],
)
def test_filters_narrow_the_rows_and_leave_the_ranks(ranked, rosa, query, kept, left):
    text = page(rosa, ranked, **query)
    assert kept in text
    assert left not in text


def test_published_rows_stand_below_with_their_printed_digits_and_notes_or_not_at_all(ranked, rosa):
    text = page(rosa, ranked)
    assert "Published by the authors on 332 cases" in text
    assert "0.2170" in text
    assert "0.2161, which no rounding explains" in text
    assert "Published by the authors" not in page(rosa, ranked, beside="floors")


def test_every_printed_f1_is_that_of_its_printed_means_but_the_one_that_a_note_names():
    wrong = [
        row["method"]
        for rows in published.everything()["rows"].values()
        for row in rows
        if f"{harmonic_mean(float(row['recall']), float(row['precision'])):.4f}" != row["f1"]
    ]
    assert wrong == ["Qwen3-VL-32B-Instruct"]
    noted = {
        key
        for rows in published.everything()["rows"].values()
        for row in rows
        for key in row.get("notes", ())
    }
    assert noted <= published.everything()["notes"].keys()


def test_columns_are_chosen_in_the_address(ranked, rosa):
    text = page(rosa, ranked, column="recall")
    assert "hide-precision" in text
    assert "hide-recall" not in text


def test_the_views_cost_and_ablations(ranked, rosa):
    costs = page(rosa, ranked, view="cost")
    assert "32.0" in costs
    assert "claimed" in costs
    assert "<svg" in costs
    assert "Table 8 prints F1 0.5067" in costs
    assert "No variant of a ranked method yet" in page(rosa, ranked, view="ablations")
    whole = ranked.submissions.get(method="Alpha")
    for without in (["ism"], ["wrm"], ["ism", "wrm"]):
        variant = make_submission(ranked, rosa, "Alpha", variant_of=whole, without=without)
        score_cases(make_evaluation(variant, 0.4))
    rankings.request(ranked.pk)
    work_off()
    text = page(rosa, ranked, view="ablations")
    assert "Loss of F1" in text
    assert "Interaction" in text


def test_a_blocked_entry_and_a_board_of_judges_without_any_active(board, rosa):
    make_evaluation(make_submission(board, rosa, "Gamma"), 0.9, blocked_by="incomplete")
    assert "Not ranked: incomplete, or flagged" in page(rosa, board)
    EvaluatorProfile.objects.update(metric="judges")
    text = page(rosa, board)
    assert "nothing is ranked under them" in text
    assert "Innovation" in text


def test_downloads_hold_groups_and_what_a_board_depends_on(ranked, rosa):
    client = signed_in(rosa)
    body = client.get(f"/api/v1/boards/{ranked.pk}/standings/").json()
    places = [(row["rank"], row["group_rank"], row["rank_group"]) for row in body["standings"]]
    assert places == [(1, 1, 1), (2, 1, 1)]
    assert body["release_digest"] == ranked.release.digest
    assert body["published"][0]["f1"] == "0.2351"
    table = client.get(f"/api/v1/boards/{ranked.pk}/standings.csv").content.decode()
    assert [row["group_rank"] for row in csv.DictReader(io.StringIO(table))] == ["1", "1"]
    cite = client.get(f"/boards/{ranked.pk}/citation.bib").content.decode()
    for part in (ranked.release.digest, ranked.profile.sha256, "MedBench", f"/boards/{ranked.pk}/"):
        assert part in cite


def test_a_curator_scores_a_board_anew_and_everybody_reads_why_and_what_changed(ranked, ada, rosa):
    address = f"/boards/{ranked.pk}/generations/"
    assert "never scored anew" in signed_in(rosa).get(address).content.decode()
    assert "Say why" in signed_in(ada).post(f"{address}new/", follow=True).content.decode()
    signed_in(ada).post(f"{address}new/", {"reason": "A better tokeniser."})
    assert "New generation 0 of 2" in page(rosa, ranked)
    work_off()
    text = signed_in(rosa).get(address).content.decode()
    assert "A better tokeniser." in text
    assert "Rank before" in text
    assert "New generation" not in page(rosa, ranked)


def test_a_generation_is_cancelled_on_its_page(ranked, ada):
    rescorings.rescore(ranked, "To be sure.", ada)
    address = f"/boards/{ranked.pk}/generations/"
    assert "Cancelled on" in signed_in(ada).post(f"{address}cancel/", follow=True).content.decode()
    assert "No new generation" in signed_in(ada).post(f"{address}cancel/", follow=True).content.decode()


def test_the_command_queues_a_generation(ranked, ada, rosa, capsys):
    call_command("rescore_board", str(ranked.pk), reason="Why not.", by=ada.username, json=True)
    assert json.loads(capsys.readouterr().out) == {"board": str(ranked.pk), "generation": 2, "evaluations": 2}
    for by, told in ((ada.username, "already"), (rosa.username, "."), ("nobody", "Nobody signs in")):
        with pytest.raises(CommandError, match=told):
            call_command("rescore_board", str(ranked.pk), reason="Again.", by=by)


def test_the_place_on_the_page_of_a_submission_is_that_of_the_board(ranked, rosa):
    for each in arrange(queries.entries(rosa, [ranked]), ranking=queries.ranking(ranked)).ranked:
        assert queries.rank_of(each.evaluation) == each.shown_rank


def test_a_long_board_comes_in_pages_and_keeps_the_ranks(board, rosa, monkeypatch):
    monkeypatch.setattr("leaderboard.views.boards.ROWS_A_PAGE", 2)
    for number in range(3):
        make_entry(board, rosa, f"Method {number}", 0.5 - number / 10)
    first, second = page(rosa, board), page(rosa, board, page=2)
    assert "1–2 of 3" in first
    assert "Method 2" not in first
    assert "Method 2" in second
    assert "Method 1" not in second
