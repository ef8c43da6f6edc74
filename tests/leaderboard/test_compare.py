"""Two submissions side by side: what one found and the other did not, and whether it matters."""

import numpy as np
import pytest

from leaderboard import comparison
from leaderboard.models import Board, CaseScore
from medbench.cases.models import Split
from medbench.scoring.intervals import resample_counts
from medbench.scoring.testing import compare as paired
from tests.leaderboard.build import INSIGHTS, make_board, make_entry, score_cases
from tests.people import signed_in

GOOD = np.array([[1.0, 0.25], [0.0, 0.5], [0.125, 0.0]])
OTHER = np.array([[0.5, 0.0], [0.0, 0.125], [0.75, 0.0]])

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forget():
    from django.core.cache import cache

    cache.clear()


def two(team, person, n_cases=12, **fields):
    board = make_board(team, n_cases=n_cases, **fields)
    a = score_cases(make_entry(board, person, "ReAct", 0.5), matrix=GOOD)
    b = score_cases(
        make_entry(board, person, "Reflexion", 0.4), insights=("Other words.", "Six"), matrix=OTHER
    )
    return a, b


def page_of(person, a, b, **asked):
    query = {"a": a.submission_id, "b": b.submission_id} | asked
    response = signed_in(person).get("/compare/", query)
    assert response.status_code == 200
    return response


def test_each_reference_stands_with_the_best_output_of_both(team, rosa):
    a, b = two(team, rosa)
    page = page_of(rosa, a, b).content.decode()
    for words in ("A found it, B did not 12", "B found it, A did not 12", "Both 12", "Neither 0"):
        assert words in page
    case = a.submission.board.release.cases.first().case_id
    assert f"/submissions/{a.submission_id}/cases/{case}/?pair=2-2" in page
    only_a = page_of(rosa, a, b, found="a")
    assert [row.number for row in only_a.context["rows"]] == [2] * 12
    row = only_a.context["rows"][0]
    assert (row.a.score, row.a.text, row.b.score) == (0.5, INSIGHTS[1], 0.125)
    assert row.difference == 0.375
    assert "+0.375" in only_a.content.decode()


def test_tau_site_difficulty_and_category_narrow_what_is_shown(team, rosa):
    a, b = two(team, rosa, sites=("Colon", "Breast"))
    assert dict(shown(page_of(rosa, a, b, tau="0.90")))["a"] == 12  # 1.0 against 0.5
    assert dict(shown(page_of(rosa, a, b, site="Breast")))[""] == 18
    row = page_of(rosa, a, b).context["rows"][0].reference
    difficulty, category = row.release_case.difficulty, row.version.category
    assert dict(shown(page_of(rosa, a, b, difficulty=difficulty, category=category)))[""] == 36
    other = "exploratory" if category != "exploratory" else "predictive"
    assert "No reference matches" in page_of(rosa, a, b, category=other).content.decode()
    page = page_of(rosa, a, b, sort="difference", tau="0.90")
    assert page.context["rows"][0].difference == 0.5
    assert page_of(rosa, a, b, sort="-difference").context["rows"][0].difference == -0.625
    assert "Shown at τ 0.90; the board uses 0.25." in page.content.decode()


def shown(response):
    return [(name, n) for name, _, n in response.context["groups"]]


def test_the_difference_is_tested_as_by_the_command(team, rosa):
    a, b = two(team, rosa)
    rng = np.random.default_rng(7)
    for evaluation in (a, b):
        for score in evaluation.case_scores.all():
            recall, precision = rng.random(2)
            CaseScore.objects.filter(pk=score.pk).update(recall=recall, precision=precision)
    found = comparison.totals(a, b)
    runs = [
        list(each.case_scores.order_by("release_case__position").values_list("recall", "precision"))
        for each in (a, b)
    ]
    assert found.f1 == paired(*runs, resample_counts(12, seed=a.seed), seed=a.seed)
    assert found.a_better + found.equal + found.b_better == 12
    assert comparison.totals(b, a).f1.difference == -found.f1.difference


def test_few_cases_have_no_interval_and_nothing_picked_says_what_to_do(team, rosa):
    a, b = two(team, rosa, n_cases=3)
    assert "– fewer than 10 cases" in page_of(rosa, a, b).content.decode()
    assert "Pick two submissions" in signed_in(rosa).get("/compare/").content.decode()
    one = signed_in(rosa).get("/compare/", {"a": a.submission_id}).content.decode()
    assert "Pick a second submission" in one
    assert "the same submission" in page_of(rosa, a, a).content.decode()


def test_two_boards_are_not_compared(team, rosa, make_team):
    a, _ = two(team, rosa, n_cases=3)
    other = make_entry(make_board(make_team(rosa), name="breast"), rosa)
    assert "scored on different boards" in page_of(rosa, a, other).content.decode()
    waiting = make_entry(a.submission.board, rosa, f1=None)
    assert "finished and complete" in page_of(rosa, a, waiting).content.decode()


def test_a_held_out_board_compares_totals_alone(team, rosa, ada):
    a, b = two(team, rosa, split=Split.HELD_OUT)
    assert Board.objects.get().split == Split.HELD_OUT
    for person in (rosa, ada):
        page = page_of(person, a, b)
        assert "only totals are compared" in page.content.decode()
        assert INSIGHTS[0] not in page.content.decode()
        assert "rows" not in page.context


def test_strangers_and_private_submissions_are_not_compared(team, rosa, bruno, eve):
    a, b = two(team, rosa, n_cases=3)
    query = {"a": a.submission_id, "b": b.submission_id}
    assert signed_in(eve).get("/compare/", query).status_code == 404
    a.submission.visibility = "private"
    a.submission.save()
    assert signed_in(bruno).get("/compare/", query).status_code == 404


def test_an_unscored_pair_is_nobody_s_find(team, rosa):
    a, b = two(team, rosa, n_cases=3)
    matrix = GOOD.copy()
    matrix[0, 0] = np.nan
    a.case_scores.update(matrix=matrix.astype("<f8").tobytes())
    page = page_of(rosa, a, b, found="unscored")
    assert dict(shown(page))["unscored"] == 3
    assert [row.number for row in page.context["rows"]] == [1, 1, 1]


def test_the_page_asks_equally_often_for_one_and_for_a_dozen_cases(
    team, rosa, make_team, django_assert_num_queries
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    few, many = two(team, rosa, n_cases=1), two(make_team(rosa), rosa, n_cases=12, name="breast")
    with CaptureQueriesContext(connection) as one:
        page_of(rosa, *few)
    with django_assert_num_queries(len(one)):
        page_of(rosa, *many)
