"""People beside machines: automated scores of outputs against those of experts, automated novelty
against the audit, and how much the texts of a data set repeat one another.

Sources: metrics_spec sections 6.5 and 8. All of it rests on the review items of a study: what the
machine says of an item stands in its payload, see `review.outputs`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annotation.queries import source_of
from medbench.review.models import ItemResult, ReviewItem
from medbench.review.outputs import METRICS, automated_of, method_of
from medbench.scoring.correlation import KINDS, Level, correlations, difference
from medbench.scoring.humans import audit, novelty_against_audits, quality, redundancy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from annotation.agreement.ratings import Ratings
    from annotation.models import Study

    Floats = NDArray[np.float64]

Result = dict[str, Any]
TEXTS = ("question", "insight")
AUDIT = ("a", "b", "c")
LEVELS: tuple[Level, ...] = ("system", "case")


@dataclass(frozen=True)
class Judged:
    """An item of a study, by its position."""

    position: int
    payload: Mapping[str, Any]
    case: str
    decided: str  # the answer that adjudication gave to the only question, "" for none


def judged(study: Study) -> list[Judged]:
    """The items of a study. Two queries."""
    results = ItemResult.objects.filter(source=source_of(study)).values_list("item", "detail")
    answers = {item: next(iter(detail.get("answers", {}).values()), "") for item, detail in results}
    rows = study.items.order_by("position").values_list("position", "item", "item__payload", "item__case")
    return [
        Judged(position, payload, str(case or ""), answers.get(item, ""))
        for position, item, payload, case in rows
    ]


def of_study(kind: str, items: list[Judged], tables: list[Ratings], *, seed: int, resamples: int) -> Result:
    """What can be compared in a study of this kind of items, ready for JSON."""
    found: Result = {}
    match kind:
        case ReviewItem.Kind.OUTPUT:
            found["correlation"] = _correlation(items, tables, seed=seed, resamples=resamples)
        case ReviewItem.Kind.NOVELTY:
            found["audit"] = _audit(items, tables)
        case ReviewItem.Kind.CASE:
            found["quality"] = _quality(items, tables, seed=seed, resamples=resamples)
    if kind in (ReviewItem.Kind.TRIPLET, ReviewItem.Kind.OUTPUT):
        found["redundancy"] = _redundancy(items)
    return found


def _numbers(table: Ratings) -> dict[int, list[float]]:
    """Position of an item -> its scores."""
    return {
        int(item): [float(value) for value in row if value is not None]
        for item, row in zip(table.table.items, table.table.cells, strict=True)
    }


def _human_scores(tables: Iterable[Ratings]) -> dict[int, float]:
    """Position -> mean over annotators of the mean of their axes. Whoever left an axis out does not
    count for the item."""
    axes = [table.table for table in tables if table.question.scale == "score"]
    scores: dict[int, float] = {}
    for at, item in enumerate(axes[0].items if axes else ()):
        by_annotator = zip(*(axis.cells[at] for axis in axes), strict=True)
        whole = [[float(value) for value in each] for each in by_annotator if None not in each]
        if whole:
            scores[int(item)] = float(np.mean(whole))
    return scores


def _correlation(items: list[Judged], tables: list[Ratings], *, seed: int, resamples: int) -> Result | None:
    """Automated scores against people's, by metric and level; None where no output names its system."""
    systems = sorted({name for each in items if (name := method_of(each.payload))})
    if not systems:
        return None
    human = _human_scores(tables)
    people = _matrix(items, systems, {each.position: human.get(each.position) for each in items})
    automated = {
        metric: _matrix(items, systems, {each.position: automated_of(each.payload, metric) for each in items})
        for metric in METRICS
    }
    options = {"resamples": resamples, "seed": seed}
    return {
        "systems": [
            {"system": system, "n_cases": int((~np.isnan(people[at])).sum()), "human": _mean(people[at])}
            | {metric: _mean(automated[metric][at]) for metric in METRICS}
            for at, system in enumerate(systems)
        ],
        "rows": [
            {"metric": metric, "level": level}
            | _json(correlations(level, automated[metric], people, **options))
            for metric in METRICS
            for level in LEVELS
        ],
        "f1_less_recall": {
            kind: difference("case", kind, automated["f1"], automated["recall"], people, **options)._asdict()
            for kind in KINDS
        },
    }


def _matrix(items: list[Judged], systems: list[str], values: Mapping[int, float | None]) -> Floats:
    """Systems x cases: the mean of a system's items of a case, NaN without any."""
    cases = sorted({each.case for each in items})
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in items:
        if (value := values[each.position]) is not None:
            found[method_of(each.payload), each.case].append(value)
    return np.array([[np.mean(found.get((system, case), [np.nan])) for case in cases] for system in systems])


def _mean(row: Floats) -> float | None:
    return None if np.isnan(row).all() else float(np.nanmean(row))


def _json(found: Any) -> Result:
    """A named tuple of estimates as JSON."""
    return {
        name: value._asdict() if hasattr(value, "_asdict") else value
        for name, value in found._asdict().items()
    }


def _audit(items: list[Judged], tables: list[Ratings]) -> Result:
    """Each system's insights by novelty category, beside its automated novelty.

    An insight has the category that its readers agree on, else the one that was decided; without
    either it is `undecided` and counts nowhere else.
    """
    (table,) = tables
    said = {
        int(item): {value for value in row if value is not None}
        for item, row in zip(table.table.items, table.table.cells, strict=True)
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    novelty: dict[str, dict[str, float]] = defaultdict(dict)
    for each in items:
        system = method_of(each.payload)
        answers = said.get(each.position, set())
        agreed = next(iter(answers)) if len(answers) == 1 else each.decided
        counts[system][agreed if agreed in AUDIT else "undecided"] += 1
        if (value := automated_of(each.payload, "novelty")) is not None:
            novelty[system][each.case] = value
    audits = {system: audit(*(count[name] for name in AUDIT)) for system, count in sorted(counts.items())}
    means = {
        system: float(np.mean(list(novelty[system].values()))) if novelty[system] else None
        for system in audits
    }
    found = novelty_against_audits(means, audits)
    for row in found["systems"]:
        row["counts"] = {name: counts[row["system"]][name] for name in (*AUDIT, "undecided")}
    return found


def _quality(items: list[Judged], tables: list[Ratings], *, seed: int, resamples: int) -> list[Result]:
    """Each score of a case by people and by the machine, which rates apart from them."""
    rows = []
    for table in tables:
        if table.question.scale != "score":
            continue
        human = _numbers(table)
        machine = {each.position: automated_of(each.payload, table.question.key) for each in items}
        positions = [position for position in human if machine.get(position) is not None]
        widest = max((len(human[position]) for position in positions), default=1)
        filled = [human[position] + [np.nan] * (widest - len(human[position])) for position in positions]
        found = quality(
            np.array(filled, dtype=float).reshape(-1, max(widest, 1)),
            np.array([machine[position] for position in positions], dtype=float),
            resamples=resamples,
            seed=seed,
        )
        rows.append(
            {"question": table.question.key, "title": table.question.title}
            | _json(found)
            | {"correlations": _json(found.correlations)}
        )
    return rows


def _redundancy(items: list[Judged]) -> Result:
    """How much questions and insights repeat one another, in the whole study and within cases."""
    found: Result = {}
    for name in TEXTS:
        by_case: dict[str, list[str]] = defaultdict(list)
        for each in items:
            if each.payload.get(name):
                by_case[each.case].append(str(each.payload[name]))
        if by_case:
            found[name] = {
                scope: _json_measures(measures)
                for scope, measures in redundancy(list(by_case.values())).items()
            }
    return found


def _json_measures(measures: Mapping[str, Any]) -> Result:
    return {name: measure._asdict() for name, measure in measures.items()}
