"""From an uploaded file to a place on the board, with the real result files of tcga-mini."""

import json

import numpy as np
import pytest

from leaderboard import matrices, queries
from leaderboard.models import CaseScore, Floor, Submission
from leaderboard.services import evaluations, floors
from leaderboard.services.board_scores import references_of
from leaderboard.services.boards import open_board, rouge_profile
from leaderboard.services.scoring_words import case_score
from leaderboard.services.submissions import submit
from leaderboard.standings import arrange
from medbench import jobs
from medbench.errors import Conflict, NotAllowed
from medbench.jobs.attempt import Attempt, Superseded, run
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board
from tests.leaderboard.results import as_bytes, submitted, work_off

TOTALS = (
    "recall",
    "precision",
    "f1",
    "mean_case_f1",
    "n_cases",
    "n_missing_cases",
    "n_empty_cases",
    "n_empty_removed",
    "n_duplicates_removed",
)


@pytest.mark.django_db
def test_the_result_files_of_tcga_mini_get_the_expected_scores_and_ranks(tcga_mini, testdata, rosa):
    folder = testdata / "data/bundles/tcga-mini/results"
    expected = json.loads((folder / "expected_rouge1.json").read_text())["results"]
    for name in ("noisy.json", "strong.json", "generic.json"):
        submit(tcga_mini, (folder / name).read_bytes(), name, rosa)
    work_off()

    for submission in Submission.objects.all():
        wanted = expected[submission.file_name]
        evaluation = submission.evaluations.get()
        assert {name: getattr(evaluation, name) for name in TOTALS} == pytest.approx(
            {name: wanted[name] for name in TOTALS}, abs=1e-9
        )
        assert (evaluation.ci, evaluation.ci_reason) == (None, "too_few_cases")
        for case in wanted["cases"]:
            score = evaluation.case_scores.get(release_case__case__case_id=case["case_id"])
            for mine, theirs in (("n_references", "n_reference"), ("n_outputs", "n_scored")):
                assert getattr(score, mine) == case[theirs]
            for name in ("recall", "precision", "f1"):
                assert getattr(score, name) == pytest.approx(case[name], abs=1e-9)
            assert matrices.of_case(score).shape == (score.n_references, score.n_outputs)

    ranked = arrange(queries.entries(rosa, [tcga_mini])).ranked
    order = sorted(expected, key=lambda name: -expected[name]["f1"])
    assert [each.evaluation.submission.file_name for each in ranked] == order
    assert order[0] == "strong.json"
    assert [each.rank for each in ranked] == [1, 2, 3]


@pytest.mark.django_db
def test_a_stopped_evaluation_goes_on_without_a_double_row(team, rosa):
    submission = submitted(
        team, rosa, work=False, **{"C-1": ["All lymph nodes are free."], "C-2": [], "C-3": ["6 cm"]}
    )
    first = Attempt(jobs.services.claim("first"))
    evaluation = submission.evaluations.get()
    first.progress(stage="ROUGE-1")
    # The first worker scores one case; then its lease runs out and another one takes over.
    one = references_of(submission.board)[0]
    with first.writing():
        case_score(evaluation, one, ["All lymph nodes are free."]).save()
    before = evaluation.case_scores.get()
    Job.objects.filter(pk=first.job.pk).update(lease_until=first.job.created_at)
    second = Attempt(jobs.services.claim("second"))
    with pytest.raises(Superseded):
        evaluations.evaluate(first)
    assert evaluation.case_scores.count() == 1
    run(second)

    evaluation.refresh_from_db()
    assert evaluation.finished_at is not None
    assert evaluation.case_scores.count() == 3
    assert evaluation.case_scores.get(pk=before.pk).f1 == before.f1
    assert (evaluation.n_missing_cases, evaluation.n_empty_cases) == (0, 1)
    second.job.refresh_from_db()
    assert (second.job.state, second.job.done, second.job.total) == ("done", 3, 3)


@pytest.mark.django_db
def test_evaluating_again_after_the_end_changes_nothing(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    attempt = Attempt(jobs.services.claim("test"))
    evaluations.evaluate(attempt)
    finished = submission.evaluations.get()
    evaluations.evaluate(attempt)
    again = submission.evaluations.get()
    assert (again.finished_at, again.f1) == (finished.finished_at, finished.f1)
    assert CaseScore.objects.count() == 3


@pytest.mark.django_db
def test_a_board_of_ten_cases_has_intervals_around_its_scores_and_always_the_same(team, rosa):
    board = make_board(team, n_cases=12)
    data = as_bytes(**{f"C-{n}": ["All 30 lymph nodes are free of tumour."] * (n % 3) for n in range(1, 13)})
    for _ in range(2):
        submit(board, data, "results.json", rosa)
    work_off()
    one, two = (submission.evaluations.get() for submission in Submission.objects.all())
    assert one.ci == two.ci
    for name in ("recall", "precision", "f1", "mean_case_f1"):
        low, high = one.ci[name]
        assert low < getattr(one, name) < high
    assert one.ci_reason == ""
    assert [each.rank for each in arrange(queries.entries(rosa, [board])).ranked] == [1, 1]


@pytest.mark.django_db
def test_a_failed_evaluation_is_run_again_by_its_submitter_and_then_ranks(team, ada, rosa, bruno):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    job = jobs.services.claim("test")
    jobs.services.fail(job, "broke", "The disk is full.")
    assert not arrange(queries.entries(rosa, [submission.board])).ranked
    assert [each.submission for each in queries.failed(ada)] == [submission]
    assert not queries.failed(bruno)
    with pytest.raises(NotAllowed):
        evaluations.run_again(submission, bruno)
    evaluations.run_again(submission, rosa)
    with pytest.raises(Conflict):
        evaluations.run_again(submission, rosa)
    work_off()
    assert [each.rank for each in arrange(queries.entries(rosa, [submission.board])).ranked] == [1]
    assert not queries.failed(ada)


@pytest.mark.django_db
def test_scoring_anew_makes_a_new_generation_beside_the_old(team, ada, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    work_off()
    evaluations.run_again(submission, ada)
    assert [each.generation for each in queries.entries(ada, [submission.board])] == [1]
    work_off()
    assert [each.generation for each in queries.entries(ada, [submission.board])] == [2]
    assert submission.evaluations.count() == 2
    assert CaseScore.objects.count() == 6


@pytest.mark.django_db
def test_a_cancelled_evaluation_stops_and_can_be_run_again(team, rosa, chen):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    with pytest.raises(NotAllowed):
        evaluations.cancel(submission, chen)
    attempt = Attempt(jobs.services.claim("test"))
    evaluations.cancel(submission, rosa)
    run(attempt)
    assert (CaseScore.objects.count(), submission.evaluations.get().finished_at) == (0, None)
    evaluations.run_again(submission, rosa)
    work_off()
    assert submission.evaluations.get().finished_at is not None


@pytest.mark.django_db
def test_a_new_board_gets_two_floors_that_hold_no_insight(team, ada, rosa):
    release = make_board(team, n_cases=12).release
    with pytest.raises(NotAllowed):
        open_board(release, rouge_profile(), "open", rosa)
    board = open_board(release, rouge_profile(), "open", ada)
    assert open_board(release, rouge_profile(), "open", ada) == board
    work_off()
    found = {floor.kind: floor for floor in Floor.objects.filter(board=board)}
    assert set(found) == set(Floor.Kind.values)
    # All cases of this release have the same references, so another case's answer everything.
    assert found["other_case"].f1 == pytest.approx(1.0)
    assert 0 < found["frequent_words"].f1 < 1
    job = jobs.services.enqueue(floors.KIND, {"board": str(board.pk)})
    work_off()
    job.refresh_from_db()
    assert (job.state, Floor.objects.count()) == ("done", 2)


def test_a_matrix_is_read_as_it_was_written():
    matrix = np.random.default_rng(0).random((3, 4))
    for shown in (matrix, matrix.T.copy().T, np.zeros((2, 0))):
        score = CaseScore(
            n_references=shown.shape[0], n_outputs=shown.shape[1], matrix=matrices.to_bytes(shown)
        )
        np.testing.assert_array_equal(matrices.of_case(score), shown)
