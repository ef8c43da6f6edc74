"""What experts said of the novel insights of submissions, read from the results of their studies."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Prefetch

from medbench.review.models import ItemResult, ReviewItem
from medbench.review.outputs import BOARD, CATEGORIES, SUBMISSION, category_of
from medbench.scoring.humans import audit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from leaderboard.models import Board, Evaluation, Submission
    from medbench.scoring.estimate import Estimate
    from medbench.scoring.humans import Audit

SAMPLE = 30  # novel insights of each method, as in the benchmark's own audit
UNVERIFIED = "unverified"


@dataclass(frozen=True)
class Audited:
    """The audit of one submission: how many insights were put up, and what became of those decided."""

    n_items: int
    n_decided: int  # sorted, or all readers cannot judge it
    counts: dict[str, int]  # by category

    @property
    def shares(self) -> Audit:
        """Shares of A, B and C with Wilson intervals, over what was sorted."""
        return audit(*(self.counts[name] for name in CATEGORIES))

    @property
    def columns(self) -> list[tuple[Estimate, int]]:
        """Share and number of A, B and C."""
        shares = self.shares
        return list(zip((shares.a, shares.b, shares.c), self.counts.values(), strict=True))

    @property
    def is_done(self) -> bool:
        """Whether its novelty is verified: everything put up is decided, or a whole sample is."""
        return 0 < min(self.n_items, SAMPLE) <= self.n_decided


NOTHING = Audited(0, 0, dict.fromkeys(CATEGORIES, 0))


def of_boards(boards: Iterable[Board]) -> dict[str, Audited]:
    """Submission id -> its audit, where insights of it were put up. Two queries."""
    benchmark_of = {str(each.pk): each.release.benchmark_id for each in boards}
    said: dict[str, list[str]] = defaultdict(list)
    for item in _items().filter(**{f"payload__{BOARD}__in": list(benchmark_of)}):
        # A study imported elsewhere may name any board.
        if item.benchmark_id == benchmark_of[item.payload[BOARD]]:
            said[item.payload[SUBMISSION]].append(_category(item))
    return {key: _audited(categories) for key, categories in said.items()}


def categories_of(submission: Submission) -> dict[int, str]:
    """Output id -> its category in capitals, where experts concluded one. Two queries."""
    items = _items().filter(
        benchmark=submission.board.release.benchmark_id, **{f"payload__{SUBMISSION}": str(submission.pk)}
    )
    found = {int(item.subject_id): _category(item) for item in items}
    return {output: each.upper() for output, each in found.items() if each in CATEGORIES}


def withhold(evaluations: Iterable[Evaluation], boards: Iterable[Board]) -> None:
    """Let novelty read “unverified” where a board requires an audit and a submission has none yet. The
    one rule for page, CSV and API; nothing is saved. Original stays: it counts matches, which the audit
    does not look at."""
    strict = {each.pk: each for each in boards if each.requires_novelty_audit}
    concerned = [each for each in evaluations if each.submission.board_id in strict]
    if not concerned:
        return
    audits = of_boards(strict.values())
    for each in concerned:
        is_verified = audits.get(str(each.submission_id), NOTHING).is_done
        if each.innovation is not None and not is_verified:
            each.innovation = None
            each.novelty_reason = UNVERIFIED


def _items() -> QuerySet[ReviewItem]:
    results = Prefetch("results", ItemResult.objects.order_by("decided_at", "pk"))
    return ReviewItem.objects.filter(kind=ReviewItem.Kind.NOVELTY).prefetch_related(results)


def _category(item: ReviewItem) -> str:
    """What the latest study concluded, "" where none did."""
    results = list(item.results.all())
    return category_of(results[-1]) if results else ""


def _audited(categories: list[str]) -> Audited:
    counts = Counter(categories)
    n_decided = len(categories) - counts[""]
    return Audited(len(categories), n_decided, {name: counts[name] for name in CATEGORIES})
