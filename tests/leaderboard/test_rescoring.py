"""A board that is ranked in the background, and one that is scored anew beside the old."""

import pytest

from leaderboard import queries
from leaderboard.models import Evaluation, Notice, Ranking, Submission
from leaderboard.services import rankings, rescorings
from leaderboard.services.evaluations import run_again
from leaderboard.services.submissions import set_visibility, submit, withdraw
from leaderboard.standings import arrange
from medbench import jobs
from medbench.errors import Conflict, InvalidInput, NotAllowed
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board, make_entry, make_evaluation, make_submission, score_cases
from tests.leaderboard.results import as_bytes, work_off

pytestmark = pytest.mark.django_db

GOOD = ["All 30 lymph nodes are free of tumour.", "The tumour measures 6 cm.", "Margins are negative."]
CASES = [f"C-{number}" for number in range(1, 11)]


@pytest.fixture
def board(team, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return make_board(team, n_cases=10)


def upload(board, person, insights):
    data = as_bytes(f"Method {Submission.objects.count()}", **dict.fromkeys(CASES, insights))
    return submit(board, data, "results.json", person)


def shown(board, person):
    arranged = arrange(queries.entries(person, [board]), ranking=queries.ranking(board))
    return [(each.evaluation.submission.number, each.shown_rank, each.place) for each in arranged.ranked]


def generations(board, person):
    return sorted(each.generation for each in queries.entries(person, [board]))


def test_entries_that_the_tests_tell_apart_stand_in_groups_of_their_own(board, rosa):
    for insights in (GOOD[:1], GOOD, GOOD):
        upload(board, rosa, insights)
    work_off()
    (first, rank, place), (second, other_rank, other), (last, last_rank, worst) = shown(board, rosa)
    assert {first, second} == {2, 3}
    assert (rank, other_rank, last_rank, last) == (1, 1, 3, 1)
    assert (place.group, other.group, worst.group) == (1, 1, 2)
    assert (place.low, place.high, place.p_first) == (1, 1, 1.0)
    assert (worst.low, worst.high, worst.p_first) == (3, 3, 0.0)
    assert worst.p_holm < 0.05
    assert Ranking.objects.get().resamples == 10_000


def test_many_changes_wait_for_one_ranking(board, rosa):
    for _ in range(3):
        rankings.request(board.pk)
    assert Job.objects.filter(kind=rankings.KIND).count() == 1


def test_what_leaves_or_joins_the_board_is_ranked_again_and_places_of_other_entries_do_not_hold(board, rosa):
    one, other = (score_cases(make_entry(board, rosa, name, 0.5)).submission for name in "AB")
    rankings.request(board.pk)
    work_off()
    assert all(place for _, _, place in shown(board, rosa))
    withdraw(other, rosa)
    assert shown(board, rosa) == [(one.number, 1, None)]
    work_off()
    assert shown(board, rosa)[0][2].group == 1
    set_visibility(one, "private", rosa)
    work_off()
    assert queries.ranking(board).places == {}


def test_a_blocked_entry_takes_no_place(board, rosa):
    good = make_entry(board, rosa, "good", 0.4)
    make_entry(board, rosa, "flagged", 0.9, blocked_by="flagged")
    arranged = arrange(queries.entries(rosa, [board]))
    assert [(each.evaluation, each.rank) for each in arranged.ranked] == [(good, 1)]
    assert [each.evaluation.blocked_by for each in arranged.blocked] == ["flagged"]


def test_a_new_version_takes_the_place_of_the_old_one_once_it_is_scored(board, rosa):
    old = make_entry(board, rosa, "old", 0.4)
    new = make_submission(board, rosa, "new", replaces=old.submission)
    waiting = make_evaluation(new)
    assert {each.pk for each in queries.entries(rosa, [board])} == {old.pk, waiting.pk}
    scored = make_evaluation(new, 0.3, generation=2)
    assert [each.pk for each in queries.entries(rosa, [board])] == [scored.pk]
    assert queries.submission(rosa, old.submission_id)  # stays readable


def test_a_variant_shows_what_its_missing_part_costs(board, rosa):
    whole = upload(board, rosa, GOOD)
    for without, insights in ((["ism"], GOOD[:2]), (["wrm"], GOOD[1:]), (["ism", "wrm"], GOOD[1:2])):
        variant = upload(board, rosa, insights)
        Submission.objects.filter(pk=variant.pk).update(variant_of=whole, without=without)
    work_off()
    (found,) = queries.ranking(board).ablations
    assert found["submission"] == str(whole.pk)
    assert [row["without"] for row in found["variants"]] == [["ism"], ["wrm"], ["ism", "wrm"]]
    assert all(row["f1_loss"] > 0 for row in found["variants"])
    assert found["interactions"][0]["parts"] == [["ism"], ["wrm"]]


def test_the_board_switches_at_once_when_the_new_generation_is_whole(board, ada, rosa):
    numbers = [upload(board, rosa, insights).number for insights in (GOOD, GOOD[:1])]
    work_off()
    Evaluation.objects.filter(submission__number=numbers[1]).update(f1=0.999)  # as an old scorer might
    rescoring = rescorings.rescore(board, "The tokeniser was wrong.", ada)
    assert rescorings.progress(rescoring) == {"done": 0, "failed": 0, "total": 2}

    run(Attempt(jobs.services.claim("one")))
    assert rescorings.progress(rescoring)["done"] == 1
    assert generations(board, rosa) == [1, 1]
    late = upload(board, rosa, GOOD[:2])  # arrives in between
    work_off()

    rescoring.refresh_from_db()
    assert rescoring.switched_at
    assert generations(board, rosa) == [1, 2, 2]
    assert late.number in [number for number, _, _ in shown(board, rosa)]
    changed = {row["submission"]: row for row in rescoring.changes}
    fallen = changed[str(late.board.submissions.get(number=numbers[1]).pk)]
    assert fallen["f1_before"] == 0.999
    assert fallen["f1_after"] < 0.999
    assert fallen["rank_after"] > 1
    told = Notice.objects.filter(kind="rescored", person=rosa)
    assert [each.evaluation.rescoring for each in told] == [rescoring] * 2


def test_a_cancelled_generation_is_never_shown_and_each_of_it_may_run_again(board, ada, rosa):
    submission = upload(board, rosa, GOOD)
    work_off()
    rescoring = rescorings.rescore(board, "To be sure.", ada)
    rescorings.cancel(rescoring, ada)
    work_off()
    assert generations(board, rosa) == [1]
    with pytest.raises(Conflict):
        rescorings.cancel(rescoring, ada)
    run_again(submission, rosa)
    work_off()
    assert generations(board, rosa) == [3]


def test_a_withdrawn_submission_does_not_hold_the_new_generation_up(board, ada, rosa):
    keeps, leaves = (upload(board, rosa, GOOD) for _ in range(2))
    work_off()
    rescoring = rescorings.rescore(board, "To be sure.", ada)
    stuck = rescoring.evaluations.get(submission=leaves).job
    jobs.services.cancel(stuck)
    work_off()
    assert rescorings.progress(rescoring) == {"done": 1, "failed": 1, "total": 2}
    assert generations(board, rosa) == [1, 1]
    withdraw(leaves, rosa)
    work_off()
    rescoring.refresh_from_db()
    assert rescoring.switched_at
    assert [number for number, _, _ in shown(board, rosa)] == [keeps.number]


def test_only_a_curator_asks_with_a_reason_and_once_at_a_time(board, ada, rosa):
    with pytest.raises(Conflict, match="No submission"):
        rescorings.rescore(board, "Why not.", ada)
    submission = upload(board, rosa, GOOD)
    work_off()
    with pytest.raises(NotAllowed):
        rescorings.rescore(board, "Why not.", rosa)
    with pytest.raises(InvalidInput, match="Say why"):
        rescorings.rescore(board, " ", ada)
    rescorings.rescore(board, "Why not.", ada)
    with pytest.raises(Conflict, match="already"):
        rescorings.rescore(board, "Again.", ada)
    with pytest.raises(Conflict):
        run_again(submission, rosa)
