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
GROUPS = ("ranked", "blocked", "private", "unscored")  # of Standings


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
    """One entry of a board; without a rank where it takes no place."""

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
    blocked: list[Standing]  # scored, but incomplete, flagged, or by a profile that is not active
    private: list[Standing]  # scored, shown to their submitters and curators only
    unscored: list[Standing]  # waiting, running, failed or cancelled

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in GROUPS)

    def map(self, change: Callable[[list[Standing]], list[Standing]]) -> Standings:
        """With every group changed, such as to the rows that a filter keeps."""
        return Standings(**{name: change(getattr(self, name)) for name in GROUPS})

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
SORTS: dict[str, Callable[[Standing], Any]] = {
    "f1": lambda each: each.evaluation.f1,
    "recall": lambda each: each.evaluation.recall,
    "precision": lambda each: each.evaluation.precision,
    "mean_case_f1": lambda each: each.evaluation.mean_case_f1,
    "original": lambda each: each.evaluation.original,
    "innovation": lambda each: each.evaluation.innovation,
    "coverage": lambda each: each.evaluation.coverage,
    "p_first": lambda each: each.place and each.place.p_first,
    "insights": lambda each: insights_per_case(each.evaluation),
    "answered": lambda each: n_answered(each.evaluation),
    "submitted": lambda each: each.evaluation.submission.number,  # given in the order of arrival
    "method": lambda each: each.evaluation.submission.method.casefold(),
}
USUALLY_DOWN = {key: key != "method" for key in SORTS}


def takes_place(evaluation: Evaluation) -> bool:
    """Whether it is ranked: finished, published, held by nothing, and by a profile that is active."""
    return (
        evaluation.finished_at is not None
        and evaluation.f1 is not None
        and not evaluation.blocked_by
        and evaluation.submission.visibility != Submission.Visibility.PRIVATE
        and evaluation.submission.board.profile.is_active
    )


def arrange(
    evaluations: Iterable[Evaluation],
    sort: str = "f1",
    *,
    down: bool = True,
    ranking: Ranking | None = None,
) -> Standings:
    """Rank by F1 what takes a place (equal F1 shares the better rank, as in 1, 1, 3) and order each
    group by the column `sort`; a value that is not there comes last. The places of a `ranking` hold
    only while it is of exactly these entries."""
    entries = list(evaluations)
    rankable = [each for each in entries if takes_place(each)]
    ranks, places = _ranks(rankable), _places(ranking, rankable)
    standings = [Standing(each, ranks.get(each.pk), places.get(str(each.pk))) for each in entries]
    groups: dict[str, list[Standing]] = {name: [] for name in GROUPS}
    for each in _order(standings, sort, down=down):
        groups[_group(each)].append(each)
    return Standings(**groups)


def without(standings: Standings, keep: Callable[[Submission], bool]) -> Standings:
    """The rows that a filter keeps, with the ranks and places they hold among all."""
    return standings.map(lambda rows: [each for each in rows if keep(each.evaluation.submission)])


def _group(standing: Standing) -> str:
    if standing.evaluation.finished_at is None:
        return "unscored"
    if standing.evaluation.submission.visibility == Submission.Visibility.PRIVATE:
        return "private"
    return "blocked" if standing.rank is None else "ranked"


def _places(ranking: Ranking | None, rankable: list[Evaluation]) -> dict[str, Place]:
    """The stored places, none where other entries were ranked than these."""
    if ranking is None or ranking.places.keys() != {str(each.pk) for each in rankable}:
        return {}
    return {pk: Place(**place) for pk, place in ranking.places.items()}


def _ranks(rankable: list[Evaluation]) -> dict[Any, int]:
    """Evaluation id -> rank: one more than there are better scores."""
    scores = {each.pk: round(each.f1 or 0.0, TIE_DECIMALS) for each in rankable}
    ranks: dict[float, int] = {}
    for place, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        ranks.setdefault(score, place)
    return {pk: ranks[score] for pk, score in scores.items()}


def _order(standings: Iterable[Standing], sort: str, *, down: bool) -> list[Standing]:
    """Sorted by a column of SORTS; missing values last in both directions, older entries first
    among equals."""
    value = SORTS[sort]
    oldest_first = sorted(standings, key=lambda each: each.evaluation.submission.number)
    present = [each for each in oldest_first if value(each) is not None]
    missing = [each for each in oldest_first if value(each) is None]
    return sorted(present, key=value, reverse=down) + missing
