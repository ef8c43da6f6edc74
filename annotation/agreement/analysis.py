"""What the job stores of each question: `scoring.agreement.summary`, for all annotators and for those
of one background."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotation import progress
from medbench.accounts.models import AnnotatorProfile
from medbench.scoring.agreement import summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from annotation.agreement.ratings import Ratings
    from annotation.models import Study
    from medbench.scoring.agreement import RatingsTable

LEVEL_OF = {"categories": "nominal", "ordered": "ordinal", "score": "ordinal"}
YEARS = ((0, 4), (5, 9), (10, 19), (20, None))  # of experience, both ends included

Groups = dict[str, dict[str, list[str]]]  # what annotators are told apart by -> group -> letters
Result = dict[str, Any]


def groups_of(study: Study) -> Groups:
    """The annotators of a study by background, field and years. One without a profile is in none."""
    letters = progress.letters(study)
    groups: Groups = {by: defaultdict(list) for by in ("background", "field", "years")}
    for profile in AnnotatorProfile.objects.filter(user__in=letters).order_by("years", "field"):
        letter = letters[profile.user_id]
        groups["background"][profile.get_background_display()].append(letter)
        if profile.field:
            groups["field"][profile.field].append(letter)
        if profile.years is not None:
            groups["years"][_band(profile.years)].append(letter)
    return {by: dict(found) for by, found in groups.items()}


def _band(years: int) -> str:
    low, high = next(band for band in YEARS if band[1] is None or years <= band[1])
    return f"{low} and more years" if high is None else f"{low}–{high} years"


def of_question(ratings: Ratings, groups: Groups, *, seed: int, resamples: int) -> Result:
    """The agreement on one question, ready for JSON."""
    question = ratings.question

    def summed(table: RatingsTable) -> Result:
        found = summary(
            table,
            level=LEVEL_OF[question.scale],
            order=[option.value for option in question.judging],
            b=resamples,
            seed=seed,
        )
        del found["items"]  # many, and the list of disagreements is read from the verdicts
        return found

    whole = summed(ratings.table)
    return {
        "question": question.key,
        "title": question.title,
        "scale": question.scale,
        "n_verdicts": ratings.n_verdicts,
        "n_cannot_judge": ratings.n_cannot_judge,
        "n_blank": ratings.n_blank,
        **whole,
        "splits": [
            row
            for by, members in groups.items()
            if len(members) > 1
            for row in (
                *_within(ratings.table, by, members, question.scale, summed),
                *_between(by, members, whole["pairs"]),
            )
        ],
    }


def _within(
    table: RatingsTable,
    by: str,
    members: dict[str, list[str]],
    scale: str,
    summed: Callable[[RatingsTable], Result],
) -> list[Result]:
    """Each group of two annotators or more by itself."""
    rows = []
    for group, letters in members.items():
        present = [letter for letter in table.annotators if letter in letters]
        if len(present) < 2:
            continue
        found = summed(table.of(present))
        names = ("n_annotators", "n_items", "n_pairable", "percent_agreement", "alpha", "alphas", "icc")
        kept = {name: found[name] for name in names}
        rows.append({"by": by, "groups": [group], "scale": scale, **kept})
    return rows


def _between(by: str, members: dict[str, list[str]], pairs: list[Result]) -> list[Result]:
    """Every two groups against each other: how often one of either said the same of an item."""
    rows = []
    for one, other in combinations(members, 2):
        across = [
            pair
            for pair in pairs
            if pair["n"]
            and {pair["a"], pair["b"]} & set(members[one])
            and {pair["a"], pair["b"]} & set(members[other])
        ]
        n = sum(pair["n"] for pair in across)
        agreeing = sum(pair["n"] * pair["agreement"] for pair in across)
        rows.append(
            {
                "by": by,
                "groups": [one, other],
                "n_pairs": n,
                "percent_agreement": agreeing / n if n else None,
            }
        )
    return rows
