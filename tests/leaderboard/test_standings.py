"""Who stands where."""

import csv

import pytest

from leaderboard import bars, queries
from leaderboard.models import Evaluation, EvaluatorProfile, Ranking
from leaderboard.standings import arrange
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board, make_entry, make_evaluation, make_submission
from tests.people import signed_in

pytestmark = pytest.mark.django_db


def ranks(arranged):
    return [(each.evaluation.submission.method, each.rank) for each in arranged.ranked]


def test_equal_scores_share_the_better_rank(team, rosa):
    board = make_board(team)
    entries = [
        make_entry(board, rosa, name, f1) for name, f1 in (("A", 0.5), ("B", 0.7), ("C", 0.5), ("D", 0.4))
    ]
    assert ranks(arrange(entries)) == [("B", 1), ("A", 2), ("C", 2), ("D", 4)]


def test_scores_that_differ_only_by_rounding_of_the_machine_are_equal(team, rosa):
    board = make_board(team)
    entries = [make_entry(board, rosa, "A", 0.1 + 0.2), make_entry(board, rosa, "B", 0.3)]
    assert ranks(arrange(entries)) == [("A", 1), ("B", 1)]


def test_an_unfinished_or_failed_evaluation_has_no_rank_and_never_comes_first(team, rosa):
    board = make_board(team)
    entries = [
        make_evaluation(make_submission(board, rosa, "failed"), state=Job.State.FAILED),
        make_entry(board, rosa, "scored", 0.0),
        make_evaluation(make_submission(board, rosa, "waits")),
    ]
    for sort in ("f1", "recall", "insights", "method"):
        for down in (True, False):
            arranged = arrange(entries, sort, down=down)
            assert ranks(arranged) == [("scored", 1)]
            assert {each.evaluation.submission.method for each in arranged.unscored} == {"failed", "waits"}


def test_sorting_by_another_column_keeps_the_ranks(team, rosa):
    board = make_board(team)
    entries = [
        make_entry(board, rosa, "A", 0.6, recall=0.1),
        make_entry(board, rosa, "B", 0.5, recall=0.9),
    ]
    assert ranks(arrange(entries, "recall", down=True)) == [("B", 2), ("A", 1)]
    assert ranks(arrange(entries, "recall", down=False)) == [("A", 1), ("B", 2)]


def test_p_first_sorts_by_itself_and_not_by_f1(team, rosa):
    board = make_board(team)
    entries = [make_entry(board, rosa, name, f1) for name, f1 in (("A", 0.6), ("B", 0.5), ("C", 0.4))]
    place = {"group": 1, "group_rank": 1, "low": 1, "high": 3, "p_holm": None}
    shares = zip(entries, (0.4, 0.5, 0.1), strict=True)
    ranking = Ranking(board=board, places={str(each.pk): place | {"p_first": p} for each, p in shares})
    found = arrange(entries, "p_first", ranking=ranking)
    assert ranks(found) == [("B", 2), ("A", 1), ("C", 3)]


def test_judges_that_are_not_active_rank_nothing(team, rosa):
    board = make_board(team)
    entry = make_entry(board, rosa, "A", 0.6)
    EvaluatorProfile.objects.update(metric="judges")
    board = queries.board(rosa, board.pk)
    found = arrange(queries.entries(rosa, [board]))
    assert (found.ranked, [each.evaluation for each in found.blocked]) == ([], [entry])
    assert queries.rankable(board) == []
    page = signed_in(rosa).get(f"/boards/{board.pk}/").content.decode()
    assert "Not ranked: the judges of this board are not active" in page


def test_an_incomplete_entry_says_how_much_is_unscored_and_where_its_f1_lies(team, rosa):
    board = make_board(team)
    report = {"f1_bounds": [0.412, 0.455]}
    made = make_entry(board, rosa, blocked_by="incomplete", coverage=0.968, report=report)
    Evaluation.objects.filter(pk=made.pk).update(f1=None)
    client = signed_in(rosa)
    page = client.get(f"/boards/{board.pk}/").content.decode()
    assert "F1 0.412 to 0.455" in page
    assert "3.2 % of pairs unscored" in page
    (row,) = client.get(f"/api/v1/boards/{board.pk}/standings/").json()["blocked"]
    assert (row["coverage"], row["f1_bounds"]) == (0.968, [0.412, 0.455])
    table = client.get(f"/api/v1/boards/{board.pk}/standings.csv").content.decode()
    (line,) = csv.DictReader(table.splitlines())
    assert (line["f1"], line["f1_bound_low"], line["f1_bound_high"]) == ("", "0.412", "0.455")


def test_a_value_that_is_not_there_comes_last_in_both_directions(team, rosa):
    board = make_board(team)
    entries = [make_entry(board, rosa, "A", 0.6, n_outputs=None), make_entry(board, rosa, "B", 0.5)]
    for down in (True, False):
        assert [name for name, _ in ranks(arrange(entries, "insights", down=down))] == ["B", "A"]


def test_a_new_generation_replaces_the_old_one_only_when_it_is_finished(team, rosa):
    board = make_board(team)
    submission = make_submission(board, rosa)
    make_evaluation(submission, 0.5)
    make_evaluation(submission, generation=2, state=Job.State.RUNNING)
    assert [each.f1 for each in queries.entries(rosa, [board])] == [0.5]
    make_evaluation(submission, 0.6, generation=3)
    make_evaluation(submission, generation=4, state=Job.State.FAILED)
    assert [each.f1 for each in queries.entries(rosa, [board])] == [0.6]


def test_a_private_entry_is_seen_by_its_submitter_and_curators_and_takes_no_place(team, ada, rosa, bruno):
    board = make_board(team)
    make_entry(board, ada, "public", 0.4)
    make_evaluation(make_submission(board, rosa, "secret", visibility="private"), 0.9)
    for person in (rosa, ada):
        arranged = arrange(queries.entries(person, [board]))
        assert ranks(arranged) == [("public", 1)]
        assert [each.evaluation.submission.method for each in arranged.private] == ["secret"]
    assert not arrange(queries.entries(bruno, [board])).private


def test_a_withdrawn_entry_leaves_the_board_for_everybody(team, ada, rosa):
    board = make_board(team)
    evaluation = make_entry(board, rosa)
    evaluation.submission.withdrawn_at = evaluation.finished_at
    evaluation.submission.save()
    assert not arrange(queries.entries(ada, [board]))
    assert list(queries.submissions(rosa)) == [evaluation.submission]


def test_the_axis_holds_every_interval_and_ends_at_round_numbers(team, rosa):
    board = make_board(team)
    entries = [make_entry(board, rosa, "A", 0.52, ci=[0.437, 0.61]), make_entry(board, rosa, "B", 0.44)]
    axis = bars.axis_of(entries)
    assert (axis.low, axis.high) == (0.4, 0.65)
    bar = axis.bar(entries[0])
    assert bars.MARGIN < bar.low < bar.dot < bar.high < bars.WIDTH - bars.MARGIN
    assert axis.bar(entries[1]).low is None
    assert bars.axis_of([]).low == 0.0
