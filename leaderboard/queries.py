"""Reads. Every list is limited to what one person may see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Prefetch, Q

from leaderboard import audits
from leaderboard.models import Board, CaseScore, Evaluation, Notice, Output, Ranking, Submission
from leaderboard.permissions import may_tell_together
from leaderboard.standings import arrange, takes_place
from medbench.accounts.permissions import visible_teams
from medbench.cases.models import Release, ReleaseTriplet
from medbench.errors import NotFound
from medbench.jobs.models import Job

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from leaderboard.models import Rescoring
    from leaderboard.permissions import Person
    from leaderboard.standings import Standing
    from medbench.accounts.models import User
    from medbench.cases.models import ReleaseCase


def boards(person: Person, action: str = "board.read") -> QuerySet[Board]:
    """The boards on which `person` may do `action`."""
    teams = visible_teams(person, action)
    return Board.objects.filter(release__benchmark__team__in=teams).select_related(
        "release__benchmark__team", "profile"
    )


def board(person: Person, pk: uuid.UUID, action: str = "board.read") -> Board:
    """One board, or NotFound for whoever may not do `action` there."""
    found = boards(person, action).filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such board, or it is not open to you.")
    return found


def manageable_releases(person: Person) -> QuerySet[Release]:
    """The releases for which `person` may open a board."""
    teams = visible_teams(person, "board.manage")
    return Release.objects.filter(benchmark__team__in=teams).select_related("benchmark__team")


def submissions(person: Person) -> QuerySet[Submission]:
    """One's own submissions, the published ones on boards one may read, all of them for curators."""
    of_team = "board__release__benchmark__team__in"
    seen = ~Q(visibility=Submission.Visibility.PRIVATE) & Q(withdrawn_at=None)
    seen &= Q(**{of_team: visible_teams(person, "board.read")})
    seen |= Q(**{of_team: visible_teams(person, "submission.read_any")})
    if person.is_authenticated:
        seen |= Q(submitted_by=person)
    return Submission.objects.filter(seen).select_related(
        "board__release__benchmark__team", "board__profile", "submitted_by"
    )


def own_submissions(person: Person) -> QuerySet[Submission]:
    """What `person` submitted, newest first."""
    return submissions(person).filter(submitted_by=person.pk)


def own_on(board: Board, person: Person) -> QuerySet[Submission]:
    """What `person` submitted to one board and did not withdraw, newest first."""
    return Submission.objects.filter(board=board, submitted_by=person.pk, withdrawn_at=None)


def submission(person: Person, pk: uuid.UUID) -> Submission:
    """One submission, or NotFound for whoever may not see it."""
    found = submissions(person).filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such submission, or it is not open to you.")
    return found


def relatives(person: Person, of: Submission) -> dict[str, Submission | None]:
    """Its newer and older version and the whole method it is a variant of, as `person` may see them."""
    near = Q(replaces=of) | Q(pk__in=[pk for pk in (of.replaces_id, of.variant_of_id) if pk])
    found = submissions(person).filter(near, board=of.board_id)
    seen = {each.pk: each for each in found if may_tell_together(person, of, each)}
    newer = next((each for each in seen.values() if each.replaces_id == of.pk), None)
    return {
        "newer": newer,
        "older": seen.get(of.replaces_id) if of.replaces_id else None,
        "whole": seen.get(of.variant_of_id) if of.variant_of_id else None,
    }


def current(evaluations: QuerySet[Evaluation]) -> dict[uuid.UUID, Evaluation]:
    """Submission id -> the evaluation that stands for it: the newest finished one; where none is
    finished, the newest. So a new generation replaces the old one only when it is whole, and that of
    a re-scoring only when the board has switched to it."""
    standing: dict[uuid.UUID, Evaluation] = {}
    switched = Q(rescoring=None) | Q(rescoring__switched_at__isnull=False)
    for evaluation in evaluations.filter(switched).order_by("generation"):
        before = standing.get(evaluation.submission_id)
        if before is None or evaluation.finished_at or not before.finished_at:
            standing[evaluation.submission_id] = evaluation
    return standing


def on_boards() -> QuerySet[Submission]:
    """What is not withdrawn, nor replaced by a version that is scored and on the board."""
    newer = Submission.objects.filter(
        replaces=OuterRef("pk"), withdrawn_at=None, evaluations__finished_at__isnull=False
    ).exclude(visibility=Submission.Visibility.PRIVATE)
    return Submission.objects.filter(~Exists(newer), withdrawn_at=None)


def rankable(board: Board, switching: Rescoring | None = None) -> list[Evaluation]:
    """The evaluations that take a place on a board, as everybody sees it; with those of a re-scoring
    as if the board had switched to it. By submission number."""
    public = on_boards().filter(board=board).exclude(visibility=Submission.Visibility.PRIVATE)
    finished = _light(public, "submission__variant_of", "submission__without")
    finished = finished.filter(finished_at__isnull=False)
    standing = current(finished)
    if switching:
        standing |= {each.submission_id: each for each in finished.filter(rescoring=switching)}
    for each in standing.values():
        each.submission.board = board
    found = [each for each in standing.values() if takes_place(each)]
    return sorted(found, key=lambda each: each.submission.number)


def ranking(board: Board) -> Ranking | None:
    """What was computed for the board last."""
    return Ranking.objects.filter(board=board).first()


def open_rescoring(board: Board) -> Rescoring | None:
    """The new generation that is being built, if any."""
    return board.rescorings.filter(switched_at=None, cancelled_at=None).first()


# What an entry is ranked, sorted and filtered by. A board reads this of all, the rest with filled().
OF_ENTRY = (
    *("generation", "finished_at", "blocked_by", "f1", "recall", "precision", "mean_case_f1", "coverage"),
    *("original", "innovation", "n_cases", "n_missing_cases", "n_empty_cases", "n_outputs"),
    *("submission__number", "submission__board", "submission__method", "submission__backbone"),
    *("submission__kind", "submission__visibility", "submission__verified_at"),
)


def _light(of: QuerySet[Submission], *more: str) -> QuerySet[Evaluation]:
    evaluations = Evaluation.objects.filter(submission__in=of).select_related("submission")
    return evaluations.only("submission", *OF_ENTRY, *more)


def entries(person: Person, of_boards: list[Board]) -> list[Evaluation]:
    """The standing evaluation of each submission that `person` sees on these boards, light."""
    shown = on_boards().filter(board__in=of_boards, pk__in=submissions(person).values("pk"))
    found = list(current(_light(shown)).values())
    by_pk = {each.pk: each for each in of_boards}
    for each in found:
        each.submission.board = by_pk[each.submission.board_id]
    audits.withhold(found, of_boards)
    return found


def filled(rows: Iterable[Standing]) -> list[Standing]:
    """The same rows with everything that is printed of them."""
    light = {each.evaluation.pk: each for each in rows}
    unread = ("novelty", "submission__warnings", "submission__missing_cases", "job__payload")
    evaluations = Evaluation.objects.select_related("submission__submitted_by", "job").defer(*unread)
    whole = evaluations.in_bulk(list(light))
    for pk, each in whole.items():
        each.submission.board = light[pk].evaluation.submission.board
    audits.withhold(whole.values(), {each.submission.board for each in whole.values()})
    return [replace(standing, evaluation=whole[pk]) for pk, standing in light.items()]


def current_of(shown: Iterable[Submission]) -> dict[uuid.UUID, Evaluation]:
    """Submission id -> its standing evaluation; one query."""
    evaluations = Evaluation.objects.filter(submission__in=[each.pk for each in shown])
    return current(evaluations.select_related("job"))


def newest_of(shown: Iterable[Submission]) -> dict[uuid.UUID, Evaluation]:
    """Submission id -> its newest evaluation, finished or not; one query."""
    evaluations = Evaluation.objects.filter(submission__in=[each.pk for each in shown])
    return {each.submission_id: each for each in evaluations.select_related("job").order_by("generation")}


def generations(of: Submission) -> QuerySet[Evaluation]:
    """All evaluations of a submission, the newest first."""
    return of.evaluations.select_related("job", "submission").order_by("-generation")


def failed(person: User) -> QuerySet[Evaluation]:
    """Newest evaluations that failed, of submissions that `person` may run again."""
    mine = Q(submission__submitted_by=person) | Q(
        submission__board__release__benchmark__team__in=visible_teams(person, "board.manage")
    )
    later = Evaluation.objects.filter(
        submission=OuterRef("submission"), generation__gt=OuterRef("generation")
    )
    return (
        Evaluation.objects.filter(
            mine, ~Exists(later), job__state=Job.State.FAILED, submission__withdrawn_at=None
        )
        .select_related("job", "submission__board__release__benchmark", "submission__board__profile")
        .order_by("-created_at")
    )


def notices(person: User) -> QuerySet[Notice]:
    """What `person` was told of submissions, newest first."""
    return Notice.objects.filter(person=person).select_related("evaluation__submission", "evaluation__job")


def notice_counts(person: User) -> tuple[int, int]:
    """How many notices `person` has read and has not; one query."""
    found = Notice.objects.filter(person=person).aggregate(
        read=Count("pk", filter=Q(read_at__isnull=False)), unread=Count("pk", filter=Q(read_at=None))
    )
    return found["read"], found["unread"]


def unread(person: User) -> QuerySet[Notice]:
    """The notices that `person` did not read yet."""
    return Notice.objects.filter(person=person, read_at=None)


def rank_of(evaluation: Evaluation) -> int | None:
    """The place of a finished evaluation on its board, as everybody sees it; None where it has none."""
    board = evaluation.submission.board
    ranked = arrange(rankable(board), ranking=ranking(board)).ranked
    return {each.evaluation.pk: each.shown_rank for each in ranked}.get(evaluation.pk)


# --- Cases of an evaluation -----------------------------------------------------------

CASE_SORTS = {
    "case": "release_case__case__case_id",
    "site": "release_case__site",
    "difficulty": "release_case__difficulty",
    "references": "n_references",
    "outputs": "n_outputs",
    "recall": "recall",
    "precision": "precision",
    "f1": "f1",
}
CASES_USUALLY_DOWN = {key: key not in ("case", "site", "difficulty") for key in CASE_SORTS}


def case_scores(evaluation: Evaluation) -> QuerySet[CaseScore]:
    """The scored cases of an evaluation in the order of the release, without what each pair got."""
    return (
        CaseScore.objects.filter(evaluation=evaluation)
        .select_related("release_case__case")
        .defer("matrix", "judged", "voted")
        .order_by("release_case__position")
    )


def narrowed_cases(scores: QuerySet[CaseScore], site: str, difficulty: str) -> QuerySet[CaseScore]:
    """The cases of one site, of one difficulty, or both; "" = any. Both are among values_of()."""
    if site:
        scores = scores.filter(release_case__site=site)
    if difficulty:
        scores = scores.filter(release_case__difficulty=int(difficulty))
    return scores


def sorted_cases(scores: QuerySet[CaseScore], key: str, *, down: bool) -> QuerySet[CaseScore]:
    """By a key of CASE_SORTS, equal ones in the order of the release; "" = that order alone."""
    if not key:
        return scores
    return scores.order_by(("-" if down else "") + CASE_SORTS[key], "release_case__position")


def values_of(scores: QuerySet[CaseScore], name: str) -> list[str]:
    """The different values of a field of the cases, for the choices of a filter."""
    field = f"release_case__{name}"
    return [str(value) for value in scores.order_by(field).values_list(field, flat=True).distinct() if value]


def case_score(submission: Submission, case_pk: uuid.UUID) -> CaseScore:
    """One scored case of the standing evaluation with its references, or NotFound."""
    standing = current(submission.evaluations.all()).get(submission.pk)
    scores = CaseScore.objects.select_related(
        "release_case__case",
        "release_case__release",
        "release_case__report",
        "release_case__goal",
        "release_case__slide",
    ).prefetch_related(Prefetch("release_case__triplets", ReleaseTriplet.objects.select_related("version")))
    found = scores.filter(evaluation=standing, release_case__case=case_pk).first() if standing else None
    if found is None:
        raise NotFound("There is no such case in this submission, or it is not scored yet.")
    return found


def neighbours(row: ReleaseCase) -> dict[str, ReleaseCase | None]:
    """The cases before and after `row` in its release and split."""
    same = row.release.cases.filter(split=row.split)
    return {
        "previous": same.filter(position__lt=row.position).order_by("-position").first(),
        "next": same.filter(position__gt=row.position).order_by("position").first(),
    }


# --- Comparing two evaluations -----------------------------------------------------------


def on_board(person: Person, board: Board) -> QuerySet[Submission]:
    """The submissions on one board that `person` may compare, by number; names only."""
    return (
        submissions(person)
        .filter(board=board, withdrawn_at=None, evaluations__finished_at__isnull=False)
        .select_related(None)
        .only("number", "method", "backbone")
        .order_by("number")
        .distinct()
    )


def recall_and_precision(evaluation: Evaluation) -> dict[int, tuple[float | None, float | None]]:
    """ReleaseCase id -> the two scores of every case, in the order of the release."""
    rows = CaseScore.objects.filter(evaluation=evaluation).order_by("release_case__position")
    values = rows.values_list("release_case", "recall", "precision")
    return {case: (recall, precision) for case, recall, precision in values}


def matrices_of(evaluation: Evaluation) -> QuerySet[CaseScore]:
    """Every case's matrix and nothing else."""
    rows = CaseScore.objects.filter(evaluation=evaluation)
    return rows.only("release_case", "evaluation", "n_references", "n_outputs", "kept", "matrix")


def reference_rows(board: Board) -> QuerySet[ReleaseTriplet, tuple[int, int, int, str, int, str]]:
    """(triplet, case, the case's place, site, difficulty, category) of every reference, in order."""
    rows = ReleaseTriplet.objects.filter(
        release_case__release=board.release_id, release_case__split=board.split
    ).order_by("release_case__position", "position")
    return rows.values_list(
        "pk",
        "release_case",
        "release_case__position",
        "release_case__site",
        "release_case__difficulty",
        "version__category",
    )


def references_by_pk(pks: Iterable[int]) -> dict[int, ReleaseTriplet]:
    """References with their texts and cases, by id; one query."""
    rows = ReleaseTriplet.objects.filter(pk__in=list(pks))
    return rows.select_related("version", "release_case__case").in_bulk()


def outputs_at(of: Submission, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """(ReleaseCase id, position) -> the output's text, for these places; one query."""
    wanted = set(places)
    cases, positions = {case for case, _ in wanted}, {place for _, place in wanted}
    rows = Output.objects.filter(submission=of, release_case__in=cases, position__in=positions)
    found = rows.order_by().values_list("release_case", "position", "insight")
    return {(case, place): text for case, place, text in found if (case, place) in wanted}
