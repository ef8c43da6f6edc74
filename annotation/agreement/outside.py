"""Outside raters beside the annotators, question by question. The annotators' own numbers know nothing
of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from annotation.models import OutsideRater, OutsideRating
from medbench.scoring.agreement import summary
from medbench.scoring.agreement.table import RatingsTable
from medbench.scoring.humans import quality

if TYPE_CHECKING:
    from annotation.agreement.ratings import Ratings
    from annotation.models import Study

Result = dict[str, Any]
LEVEL_OF = {"categories": "nominal", "ordered": "ordinal"}


def of_study(study: Study, tables: list[Ratings], *, seed: int, resamples: int) -> list[Result]:
    """A row for every outside rater and question they answered, ready for JSON. Two queries."""
    rated: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    rows = OutsideRating.objects.filter(rater__study=study).values_list(
        "rater", "question", "study_item__position", "value"
    )
    for rater, question, position, value in rows:
        rated[rater, question][position] = value
    return [
        {
            "rater": rater.name,
            "kind": rater.kind,
            "question": table.question.key,
            "title": table.question.title,
            "scale": table.question.scale,
            **_beside(table, judged, seed=seed, resamples=resamples),
        }
        for rater in OutsideRater.objects.filter(study=study)
        for table in tables
        if (judged := rated.get((rater.pk, table.question.key)))
    ]


def _beside(table: Ratings, judged: dict[int, str], *, seed: int, resamples: int) -> Result:
    """One rater's answers to a question beside those of the annotators on the same items."""
    judging = {option.value for option in table.question.judging}
    theirs = {position: value for position, value in judged.items() if value in judging}
    found = {"n_ratings": len(theirs), "n_cannot_judge": len(judged) - len(theirs)}
    if table.question.scale == "score":
        return found | _scores(table, theirs, seed=seed, resamples=resamples)
    return found | _kinds(table, theirs, seed=seed, resamples=resamples)


def _scores(table: Ratings, theirs: dict[int, str], *, seed: int, resamples: int) -> Result:
    """Means, their difference and correlations, on the items that both scored."""
    positions = [int(item) for item in table.table.items]
    human = np.array(
        [[np.nan if value is None else float(value) for value in row] for row in table.table.cells],
        dtype=float,
    ).reshape(len(positions), -1)
    machine = np.array([float(theirs.get(position, "nan")) for position in positions])
    both = ~np.isnan(human).all(axis=1) & ~np.isnan(machine) if human.size else np.zeros(0, dtype=bool)
    found = quality(human[both], machine[both], resamples=resamples, seed=seed)
    return {
        "n_items": found.n_items,
        "human": found.human._asdict(),
        "machine": found.machine._asdict(),
        "difference": found.difference._asdict(),
        "correlations": {"spearman": found.correlations.spearman._asdict()},
    }


def _kinds(table: Ratings, theirs: dict[int, str], *, seed: int, resamples: int) -> Result:
    """Agreement with the answer that most annotators gave; items on which none leads are left out."""
    rows = []
    for item, given in zip(table.table.items, table.table.cells, strict=True):
        leading = _leading([value for value in given if value is not None])
        if leading and int(item) in theirs:
            rows += [(item, "annotators", leading), (item, "outside", theirs[int(item)])]
    level = LEVEL_OF[table.question.scale]
    order = [option.value for option in table.question.judging]
    found = summary(RatingsTable.from_rows(rows), level=level, order=order, b=resamples, seed=seed)
    return {
        "n_items": found["n_pairable"],
        "percent_agreement": found["percent_agreement"],
        "coefficient": f"alpha {level}",
        "alpha": found["alphas"][level],
    }


def _leading(values: list[str]) -> str:
    """The answer given most often, "" where there is none or two are."""
    counts = Counter(values).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return ""
    return counts[0][0]
