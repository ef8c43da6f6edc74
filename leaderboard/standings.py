"""From evaluations to places on a board. Pure functions: no queries, nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from leaderboard.models import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leaderboard.models import Evaluation, Ranking

TIE_DECIMALS = 9  # scores that agree this far are the same score


@dataclass(frozen=True)
class Place:
    """What the tests say of one entry. `low` and `high` are the 95 % range of its resampled rank,
    None for too few cases; `p_holm` is against the leader, None for the leader itself."""

    group: int
    group_rank: int  # the rank that the whole group shares
    low: int | None
    high: int | None
    p_first: float | None
    p_holm: float | None


@dataclass(frozen=True)
class Standing:
    """One entry of a board. Without a rank: private, not finished, or kept off the ranks."""

    evaluation: Evaluation
    rank: int | None  # by F1
    place: Place | None = None  # None until the board is ranked with this entry

    @property
    def shown_rank(self) -> int | None:
        """The rank of its group, where the tests are in."""
        return self.place.group_rank if self.place else self.rank


@dataclass(frozen=True)
class Standings:
    """A board's entries: ranked by F1, then those that are seen but take no place."""

    ranked: list[Standing]
    blocked: list[Standing]  # scored, but incomplete or flagged
    private: list[Standing]  # scored, shown to their submitters and curators only
    unscored: list[Standing]  # waiting, running, failed or cancelled

    def __bool__(self) -> bool:
        return bool(self.ranked or self.blocked or self.private or self.unscored)

    @property
    def groups(self) -> list[tuple[int, list[Standing]]]:
        """The ranked ones by the groups of the tests, (0, all) where those are not in."""
        by_group = groupby(self.ranked, key=lambda each: each.place.group if each.place else 0)
        return [(number, list(members)) for number, members in by_group]


def insights_per_case(evaluation: Evaluation) -> float | None:
    """Kept outputs over all cases of the board."""
    if evaluation.n_outputs is None or not evaluation.n_cases:
        return None
    return evaluation.n_outputs / evaluation.n_cases


def n_answered(evaluation: Evaluation) -> int | None:
    """Cases with at least one insight in the upload."""
    if evaluation.n_cases is None:
        return None
    return evaluation.n_cases - (evaluation.n_missing_cases or 0) - (evaluation.n_empty_cases or 0)


# Column -> what it is sorted by.
SORTS: dict[str, Callable[[Evaluation], Any]] = {
    "f1": lambda each: each.f1,
    "recall": lambda each: each.recall,
    "precision": lambda each: each.precision,
    "mean_case_f1": lambda each: each.mean_case_f1,
    "original": lambda each: each.original,
    "innovation": lambda each: each.innovation,
    "coverage": lambda each: each.coverage,
    "p_first": lambda each: each.f1,  # who is likelier first has, all but always, the higher F1
    "insights": insights_per_case,
    "answered": n_answered,
    "submitted": lambda each: each.submission.created_at,
    "method": lambda each: each.submission.method.casefold(),
}
USUALLY_DOWN = {key: key != "method" for key in SORTS}


def arrange(
    evaluations: Iterable[Evaluation],
    sort: str = "f1",
    *,
    down: bool = True,
    ranking: Ranking | None = None,
) -> Standings:
    """Rank the published, finished evaluations by F1 (equal F1 shares the better rank, as in
    1, 1, 3) and order each group by the column `sort`; a value that is not there comes last.
    The places of a `ranking` hold only while it is of exactly these entries."""
    entries = order(evaluations, sort, down=down)
    scored = [each for each in entries if each.finished_at is not None]
    public = [each for each in scored if each.submission.visibility != Submission.Visibility.PRIVATE]
    rankable = [each for each in public if not each.blocked_by and each.f1 is not None]
    ranks, places = _ranks(rankable), places_of(ranking, rankable)
    return Standings(
        ranked=[Standing(each, ranks[each.pk], places.get(str(each.pk))) for each in rankable],
        blocked=[Standing(each, None) for each in public if each.pk not in ranks],
        private=[
            Standing(each, None)
            for each in scored
            if each.submission.visibility == Submission.Visibility.PRIVATE
        ],
        unscored=[Standing(each, None) for each in entries if each.finished_at is None],
    )


def places_of(ranking: Ranking | None, rankable: list[Evaluation]) -> dict[str, Place]:
    """The stored places, none where other entries were ranked than these."""
    if ranking is None or ranking.places.keys() != {str(each.pk) for each in rankable}:
        return {}
    return {pk: Place(**place) for pk, place in ranking.places.items()}


def without(standings: Standings, keep: Callable[[Submission], bool]) -> Standings:
    """The rows that a filter keeps, with the ranks and places they hold among all."""
    kept = {
        name: [each for each in getattr(standings, name) if keep(each.evaluation.submission)]
        for name in ("ranked", "blocked", "private", "unscored")
    }
    return Standings(**kept)


def _ranks(evaluations: list[Evaluation]) -> dict[Any, int]:
    ranks: dict[Any, int] = {}
    before = rank = None
    for place, each in enumerate(order(evaluations, "f1", down=True), start=1):
        assert each.f1 is not None  # written together with finished_at
        value = round(each.f1, TIE_DECIMALS)
        rank = rank if rank is not None and value == before else place
        ranks[each.pk] = rank
        before = value
    return ranks


def order(evaluations: Iterable[Evaluation], sort: str, *, down: bool) -> list[Evaluation]:
    """Sorted by a column of SORTS; missing values last in both directions, older entries first
    among equals."""
    value = SORTS[sort]
    oldest_first = sorted(evaluations, key=lambda each: each.submission.number)
    present = [each for each in oldest_first if value(each) is not None]
    missing = [each for each in oldest_first if value(each) is None]
    return sorted(present, key=value, reverse=down) + missing
