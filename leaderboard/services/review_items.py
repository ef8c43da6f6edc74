"""Putting outputs of submissions up for people: to be scored, or sorted by what is new in them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

from leaderboard import judged, queries
from leaderboard.audits import SAMPLE
from leaderboard.models import CaseScore, Output
from leaderboard.permissions import team_of
from medbench.accounts.permissions import require
from medbench.errors import InvalidInput
from medbench.review import outputs
from medbench.review.models import ReviewItem
from medbench.review.services import create_items
from medbench.scoring.novelty import counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leaderboard.models import Board, Evaluation
    from medbench.accounts.models import User

Kind = ReviewItem.Kind
CHUNK = 500  # below the parameter limit of every SQLite


class Made(NamedTuple):
    """What came of asking: the items of the sample, and how many of them are new."""

    items: list[ReviewItem]
    n_new: int


def make_review_items(
    board: Board, kind: str, by: User | None, *, per_method: int = SAMPLE, seed: int = 1
) -> Made:
    """Put up `per_method` outputs of each entry that takes a place on the board, drawn by `seed`.

    Kind OUTPUT draws from all scored outputs, NOVELTY from those that matched no reference and that a
    majority of the voters found correct. The same seed draws the same, and an output is put up once:
    later it keeps the item it has, with the scores of that day. `by` None is the operator.

    Raises NotAllowed for all but curators, InvalidInput where there is nothing to put up.
    """
    if by is not None:
        require(by, "board.manage", team_of(board))
    if kind not in outputs.KINDS or per_method < 1:
        raise InvalidInput("Choose outputs or novelty, and at least one of each method.")
    wanted = [
        item
        for evaluation in queries.rankable(board)
        for item in _items(board, evaluation, kind, _drawn(evaluation, kind, per_method, seed))
    ]
    if not wanted:
        raise InvalidInput(_nothing(board, kind))
    return _store(board, kind, wanted)


def _drawn(evaluation: Evaluation, kind: str, size: int, seed: int) -> list[tuple[int, int]]:
    """(CaseScore id, position of the output) of a sample of all that may be put up of one entry."""
    rows = CaseScore.objects.filter(evaluation=evaluation).order_by("release_case__position")
    rows = rows.only("kept", "voted")
    places = [(score.pk, position) for score in rows for position in _positions(score, kind)]
    return random.Random(seed).sample(places, min(size, len(places)))  # noqa: S311  # to repeat, no secret


def _positions(score: CaseScore, kind: str) -> list[int]:
    if kind == Kind.OUTPUT:
        return list(score.kept)
    found = judged.decisions(score)
    return sorted(position for position, each in found.items() if each.decision == "correct")


def _nothing(board: Board, kind: str) -> str:
    if kind == Kind.NOVELTY and not board.profile.config.get("voters"):
        return "This board has no voters, so no insight has passed the novelty filter. Choose outputs."
    return "No ranked submission of this board has such an output yet."


def _items(
    board: Board, evaluation: Evaluation, kind: str, drawn: list[tuple[int, int]]
) -> Iterator[ReviewItem]:
    """The (unsaved) review items of the outputs at these places."""
    scores = CaseScore.objects.defer("matrix", "judged").select_related(
        *(f"release_case__{name}" for name in ("case", "report", "slide", "goal"))
    )
    scores = scores.prefetch_related("release_case__triplets__version")
    score_of = {
        each.pk: each
        for start in range(0, len(drawn), CHUNK)
        for each in scores.filter(pk__in={pk for pk, _ in drawn[start : start + CHUNK]})
    }
    cases = [each.release_case_id for each in score_of.values()]
    output_of = {
        (each.release_case_id, each.position): each
        for start in range(0, len(cases), CHUNK)
        for each in Output.objects.filter(
            submission=evaluation.submission_id, release_case__in=cases[start : start + CHUNK]
        )
    }
    for pk, position in drawn:
        score = score_of[pk]
        yield _item(board, evaluation, score, output_of[score.release_case_id, position], kind)


def _item(board: Board, evaluation: Evaluation, score: CaseScore, output: Output, kind: str) -> ReviewItem:
    row = score.release_case
    references = sorted(row.triplets.all(), key=lambda each: each.position)
    hidden = [*outputs.HIDDEN, *(["references"] if kind == Kind.NOVELTY else [])]
    return ReviewItem(
        benchmark_id=row.case.benchmark_id,
        kind=kind,
        subject_id=str(output.pk),
        payload={
            "insight": output.insight,
            "goal": row.goal.text if row.goal else "",
            "references": [each.version.insight for each in references],
            outputs.METHOD: _name(evaluation),
            outputs.AUTOMATED: _automated(score),
            outputs.SUBMISSION: str(evaluation.submission_id),
            outputs.BOARD: str(board.pk),
            outputs.RELEASE: board.release.number,
        },
        hides=hidden,
        case=row.case,
        slide=row.slide,
        report=row.report,
    )


def _name(evaluation: Evaluation) -> str:
    """With the number: two submissions may call their methods the same."""
    submission = evaluation.submission
    backbone = f" with {submission.backbone}" if submission.backbone else ""
    return f"{submission.method}{backbone} ({submission.number})"


def _automated(score: CaseScore) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(score, name) for name in ("recall", "precision", "f1")}
    if score.voted:
        decided = counts(score.voted["matched"], [each["decision"] for each in score.voted["votes"]])
        found["novelty"] = None if decided.undetermined else decided.innovation
    return found


def _store(board: Board, kind: str, wanted: list[ReviewItem]) -> Made:
    """An output that has an item keeps it, whatever a re-scoring has made of its scores."""
    keys = [item.subject_id for item in wanted]
    stored: dict[str, ReviewItem] = {}
    for start in range(0, len(keys), CHUNK):
        known = ReviewItem.objects.filter(kind=kind, benchmark=board.release.benchmark_id)
        known = known.filter(**{f"payload__{outputs.BOARD}": str(board.pk)})
        stored |= {each.subject_id: each for each in known.filter(subject_id__in=keys[start : start + CHUNK])}
    new = create_items(item for item in wanted if item.subject_id not in stored)
    stored |= {each.subject_id: each for each in new}
    return Made([stored[key] for key in keys], len(new))
