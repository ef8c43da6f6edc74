"""What the review item of a generated output says beside what is judged: which method made it and how
it was scored automatically. Whoever makes such items (leaderboard) hides both from their judges;
whoever compares people with machines (annotation) reads them here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.review.models import ItemResult, ReviewItem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

    from medbench.cases.editions import Edition

KINDS = (ReviewItem.Kind.OUTPUT, ReviewItem.Kind.NOVELTY)
CATEGORIES = ("a", "b", "c")  # of a novel insight
CATEGORY = "category"  # the question of the novelty audit

METHOD = "method"  # its name, with its backbone
AUTOMATED = "automated"  # metric -> score of the method's outputs for the case, 0 to 1
SUBMISSION, BOARD, RELEASE = "submission", "board", "release"  # where it comes from
METRICS = ("recall", "precision", "f1", "novelty")
HIDDEN = (METHOD, AUTOMATED, SUBMISSION, BOARD)  # for `ReviewItem.hides`


def method_of(payload: Mapping[str, Any]) -> str:
    """The method whose output the item is; "" where it is none's."""
    return str(payload.get(METHOD, ""))


def automated_of(payload: Mapping[str, Any], metric: str) -> float | None:
    """An automated score, None where there is none."""
    value = payload.get(AUTOMATED, {}).get(metric)
    return None if value is None else float(value)


def chosen(edition: Edition, kind: str, *, site: str = "") -> QuerySet[ReviewItem]:
    """The items of `kind` that were made of the outputs for an edition, of the working copy those of all
    releases, in the order of the cases. An empty filter means any."""
    items = ReviewItem.objects.filter(benchmark=edition.benchmark, kind=kind)
    if edition.release:
        items = items.filter(**{f"payload__{RELEASE}": edition.release.number})
    if site:
        items = items.filter(case__site=site)
    return items.order_by("case__position", "subject_id", "pk")


def category_of(result: ItemResult) -> str:
    """What a study concluded of a novel insight: one of CATEGORIES, or that it cannot be judged."""
    answers: Mapping[str, str] = result.detail.get("answers", {})
    return answers.get(CATEGORY, result.outcome)
