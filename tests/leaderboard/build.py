"""Boards and submissions built row by row, for tests of pages that show exactly these scores."""

import numpy as np
from django.utils import timezone

from leaderboard import matrices
from leaderboard.models import Board, CaseScore, Evaluation, EvaluatorProfile, Output, Submission
from medbench.cases.models import Case, Split
from medbench.jobs.models import Job
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet

INSIGHTS = ("All 30 lymph nodes are free of tumour.", "The tumour measures 6 cm.", "Margins are negative.")


def own_insights(number):
    """Three references of a case that share few words with those of the first, as decoys must."""
    if number == 1:
        return INSIGHTS
    return (f"Necrosis fills zone{number}", f"Mitoses rate{number} frequent", f"Stroma type{number} fibrous")


def make_profile():
    return EvaluatorProfile.objects.get_or_create(
        sha256="0" * 64,
        defaults={"title": "ROUGE-1", "metric": "rouge1", "config": {"tokeniser": "parity-ascii"}},
    )[0]


def make_board(team, n_cases=3, split=Split.OPEN, name="colon", sites=("Colon",), slide=None, insights=None):
    """A board on a release of `n_cases` cases with three references each; the sites take turns. A
    `slide` is that of every case; `insights(number)` are references other than the usual three."""
    benchmark = make_benchmark(team, name)
    for number in range(1, n_cases + 1):
        site = sites[(number - 1) % len(sites)]
        case = make_case(benchmark, f"C-{number}", split=split, site=site)
        Case.objects.filter(pk=case.pk).update(slide=slide)
        for key, insight in enumerate(insights(number) if insights else INSIGHTS, 1):
            make_triplet(case, str(key), insight=insight, evidence="Tumour size: 6 cm" if key == 2 else "")
    return Board.objects.create(release=make_release(benchmark), profile=make_profile(), split=split)


def make_submission(board, person, method="ReAct", **fields):
    """A submission without any output and without an evaluation."""
    number = (Submission.objects.order_by("-number").values_list("number", flat=True).first() or 0) + 1
    return Submission.objects.create(
        board=board,
        submitted_by=person,
        method=method,
        number=number,
        file="submissions/none",
        file_name="results.json",
        file_sha256=f"{number:064d}",
        **fields,
    )


def make_evaluation(submission, f1=None, *, state=None, generation=1, ci=None, **fields):
    """An evaluation: finished with the score `f1` where one is given, else in `state`."""
    finished = f1 is not None
    state = state or (Job.State.DONE if finished else Job.State.QUEUED)
    job = Job.objects.create(kind="leaderboard.evaluate", state=state, heartbeat_at=timezone.now())
    if finished:
        fields = {
            "recall": f1,
            "precision": f1,
            "f1": f1,
            "mean_case_f1": f1,
            "n_cases": submission.board.release.cases.filter(split=submission.board.split).count(),
            "n_missing_cases": 0,
            "n_empty_cases": 0,
            "n_empty_removed": 0,
            "n_duplicates_removed": 0,
            "n_outputs": 6,
            "ci": ci and dict.fromkeys(("f1", "recall", "precision", "mean_case_f1"), ci),
            "ci_reason": "" if ci else "too_few_cases",
            "finished_at": timezone.now(),
        } | fields
    return Evaluation.objects.create(
        submission=submission, generation=generation, job=job, software_version="0.1.0", **fields
    )


def make_entry(board, person, method="ReAct", f1=0.5, **fields):
    """A finished, published submission; answers its evaluation."""
    return make_evaluation(make_submission(board, person, method), f1, **fields)


def score_cases(evaluation, insights=INSIGHTS[:2], matrix=None):
    """Outputs and scores of every case, the same in each."""
    board, submission = evaluation.submission.board, evaluation.submission
    matrix = np.array([[1.0, 0.25], [0.0, 0.5], [0.125, 0.0]]) if matrix is None else matrix
    for row in board.release.cases.filter(split=board.split):
        for position, insight in enumerate(insights):
            Output.objects.create(submission=submission, release_case=row, position=position, insight=insight)
        CaseScore.objects.create(
            evaluation=evaluation,
            release_case=row,
            n_references=matrix.shape[0],
            n_outputs=matrix.shape[1],
            recall=matrix.max(axis=1, initial=0).mean(),
            precision=matrix.max(axis=0, initial=0).mean() if matrix.shape[1] else 0.0,
            f1=0.5,
            kept=list(range(matrix.shape[1])),
            matrix=matrices.to_bytes(matrix),
        )
    return evaluation
