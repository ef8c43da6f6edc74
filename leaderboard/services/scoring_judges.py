"""Scoring by judges: every case judged, then voted on, each answer asked for once.

What is answered is in the verdict store, so every attempt goes through all cases and asks only what is
missing. A pair without a score is null, never 0, and keeps the submission unranked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from leaderboard import stages
from leaderboard.models import CaseScore, Evaluation
from leaderboard.services import judges, profiles
from leaderboard.services.board_scores import outputs_by_case, totals
from leaderboard.services.judge_session import JobSession, told
from leaderboard.services.judged_cases import judged_fields, voted_fields
from leaderboard.services.novelty_scores import novelty_fields
from leaderboard.services.verdict_store import VerdictStore
from medbench.cases.queries import references
from medbench.cases.services.kits import picture
from medbench.errors import MedBenchError, Unavailable
from medbench.evals.defences import decoys, flags_of
from medbench.evals.judges import CaseToJudge, JudgedCase, judge_case, questions_of, rows_of
from medbench.evals.reports import Report, report
from medbench.evals.spending import Estimate, Stopped, estimate
from medbench.evals.voters import VotedCase, vote_on_case
from medbench.scoring.matching import aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medbench.cases.models import ReleaseCase
    from medbench.evals.defences import Flag
    from medbench.evals.profiles import EvaluatorProfile as Instrument
    from medbench.jobs.attempt import Attempt
    from medbench.scoring.matching import Scored

INCOMPLETE = "incomplete"
COUNTS = ("n_cases", "n_missing_cases", "n_empty_cases", "n_empty_removed", "n_duplicates_removed")


@dataclass(frozen=True)
class _Run:
    """One attempt at one evaluation, and what it works on."""

    attempt: Attempt
    evaluation: Evaluation
    instrument: Instrument
    rows: list[ReleaseCase]
    cases: list[CaseToJudge]  # as many, in the same order

    @property
    def n_pairs(self) -> int:
        return sum(self.pairs(case) for case in self.cases)

    def pairs(self, case: CaseToJudge) -> int:
        return len(case.references) * len(rows_of(self.instrument, case)[0].indexes)

    def row_of(self, row: ReleaseCase, **fields: Any) -> None:
        CaseScore.objects.update_or_create(evaluation=self.evaluation, release_case=row, defaults=fields)


def score(attempt: Attempt, evaluation: Evaluation) -> dict[str, Any]:
    """Judge and vote on what is not answered yet, and answer the totals as fields of the evaluation.

    Raises MedBenchError with what to do where judging cannot go on.
    """
    profile = evaluation.submission.board.profile
    profiles.require_active(profile)
    rows, cases = cases_of(evaluation)
    run = _Run(attempt, evaluation, profiles.instrument_of(profile), rows, cases)
    store = VerdictStore()
    attempt.progress(done=0, total=run.n_pairs, stage=stages.JUDGES)
    try:
        _keep_estimate(run, store)
        with JobSession(attempt, evaluation, run.instrument, store) as session:
            try:
                judged, flags = _judge(run, session)
                voted = _vote(run, session, judged)
            finally:
                session.tell()
    except Stopped as stopped:
        raise told(stopped) from stopped
    attempt.progress(stage=stages.INTERVALS)
    return _totals(run, judged, flags, voted)


def cases_of(evaluation: Evaluation) -> tuple[list[ReleaseCase], list[CaseToJudge]]:
    """Every case of the board's split as it was submitted, with a decoy for each."""
    submission = evaluation.submission
    found = references(submission.board.release, submission.board.split).select_related("goal", "slide")
    rows, outputs = list(found), outputs_by_case(submission)
    texts = {row.case.case_id: tuple(each.version.insight for each in row.triplets.all()) for row in rows}
    decoy = decoys(texts)
    return rows, [
        CaseToJudge(
            case_id := row.case.case_id,
            row.goal.text if row.goal else "",
            texts[case_id],
            None if (own := outputs[row.pk]) is None else tuple(own),
            decoy[case_id],
        )
        for row in rows
    ]


def _keep_estimate(run: _Run, store: VerdictStore) -> None:
    """What judging all cases will use at most, once, before anything is asked; without the votes, which
    depend on what is unmatched."""
    if (run.evaluation.report or {}).get("estimate"):
        return
    prices, total = judges.prices_for(run.instrument), Estimate()
    for case in run.cases:
        questions = questions_of(run.instrument, case)
        known = store.known({question.key for question in questions})
        for own in estimate(questions, known, prices).values():
            total.calls += own.calls
            total.input_tokens += own.input_tokens
            total.output_tokens += own.output_tokens
            total.known += own.known
            total.money = None if None in (total.money, own.money) else total.money + own.money  # type: ignore[operator]  # neither is None
        run.attempt.progress()
    run.evaluation.report = {"estimate": asdict(total)}
    with run.attempt.writing():
        run.evaluation.save(update_fields=["report"])


def _judge(run: _Run, session: JobSession) -> tuple[list[JudgedCase], list[Flag]]:
    """Every case by every judge; its row is written when all its answers are there."""
    found: list[JudgedCase] = []
    flags: list[Flag] = []
    done = 0
    for row, case in zip(run.rows, run.cases, strict=True):
        judged = judge_case(session, run.instrument, case)
        done += judged.n_pairs
        with run.attempt.writing():
            run.row_of(row, **judged_fields(run.instrument, judged))
            run.attempt.progress(done=done)
        flags += flags_of(judged, case.references, case.outputs or ())
        found.append(judged.slim())
    return found, flags


def _vote(run: _Run, session: JobSession, judged: Sequence[JudgedCase]) -> dict[str, VotedCase]:
    """The votes on every case whose pairs are all scored; nothing where the profile has no voters."""
    if not run.instrument.voters:
        return {}
    run.attempt.progress(stage=stages.NOVELTY)
    found = {}
    for row, case, own in zip(run.rows, run.cases, judged, strict=True):
        if not own.is_complete:
            continue
        image = _picture(row) if own.kept.indexes else None
        voted = vote_on_case(session, run.instrument, case, own, image)
        with run.attempt.writing():
            run.row_of(row, voted=voted_fields(run.instrument, voted))
        found[case.case_id] = voted
    return found


def _picture(row: ReleaseCase) -> bytes | None:
    """The release's rendered slide; None where the case has none or it cannot be read, so that its
    unmatched outputs stay undetermined."""
    try:
        return picture(row)
    except Unavailable:  # it may be there in a minute: the job tries again
        raise
    except MedBenchError:
        return None


def _totals(
    run: _Run, judged: list[JudgedCase], flags: list[Flag], voted: dict[str, VotedCase]
) -> dict[str, Any]:
    board = run.evaluation.submission.board
    seen = report(
        run.instrument,
        judged,
        flags,
        backbone=run.evaluation.submission.backbone,
        lengths=[
            [len((case.outputs or ())[i]) for i in own.kept.indexes]
            for case, own in zip(run.cases, judged, strict=True)
        ],
    )
    scores = [case.score for case in judged]
    if seen.totals:
        found = totals(board, cast("list[Scored]", scores))
    else:
        counted = [case.bounds[0] for case in judged]
        found = {name: getattr(aggregate(counted), name) for name in COUNTS}
        found |= {"n_outputs": sum(case.n_outputs for case in counted), "ci_reason": INCOMPLETE}
    return {
        **found,
        **novelty_fields(board, run.instrument.tau, judged, voted),
        "report": {**(run.evaluation.report or {}), **_as_json(seen)},
        "coverage": seen.coverage,
        "blocked_by": seen.blocked_by,
    }


def _as_json(seen: Report) -> dict[str, Any]:
    """The report without its totals, which are columns."""
    found: dict[str, Any] = asdict(seen)
    del found["totals"]
    if seen.original_by_tau is not None:
        found["original_by_tau"] = {str(tau): share for tau, share in seen.original_by_tau.items()}
    return found | {"is_provisional": seen.is_provisional}
