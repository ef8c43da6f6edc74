"""What the agreement page draws, from what the job stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation import progress, queries
from annotation.agreement import coefficients
from annotation.agreement.charts import bar_of
from annotation.protocols import Definition
from medbench.accounts.permissions import may
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from annotation.agreement.analysis import Result
    from annotation.agreement.charts import Bar
    from annotation.agreement.coefficients import Coefficient
    from annotation.models import Agreement, Study
    from annotation.protocols import Question
    from medbench.accounts.models import User

STEPS = 9  # --seq-0 to --seq-8


@dataclass(frozen=True)
class Line:
    """A coefficient with its drawing."""

    coefficient: Coefficient
    bar: Bar | None


@dataclass(frozen=True)
class Row:
    """A question in the table of all questions."""

    number: int
    result: Result
    lines: list[Line]
    warnings: list[str]  # beside those of all questions
    is_chosen: bool

    @property
    def share_missing(self) -> float | None:
        """Of the verdicts."""
        n = self.result["n_verdicts"]
        return (self.result["n_cannot_judge"] + self.result["n_blank"]) / n if n else None


@dataclass(frozen=True)
class Cell:
    """A cell of a heat table: `step` is its colour, None where there is no number."""

    step: int | None
    value: float | None = None
    n: int = 0
    key: tuple[str, str] = ("", "")  # the two annotators or answers
    r: float | None = None  # Pearson of two annotators' scores


@dataclass(frozen=True)
class Detail:
    """Everything about one question."""

    question: Question
    result: Result
    lines: list[Line]
    matrix: list[tuple[str, list[Cell]]]
    confusion: list[tuple[str, list[Cell]]]
    labels: list[str]  # of the answers, heads of `confusion`
    n_pairs: int
    splits: list[tuple[Result, Coefficient | None]]  # a group and its coefficient; two groups and None
    annotators: list[tuple[str, Result]]  # by name; empty for those who may not know them


def context_of(study: Study, person: User, chosen: str) -> dict[str, Any]:
    """The page of a study's agreement with one question, `chosen` by its key, in detail."""
    may_manage = may(person, "study.manage", study.benchmark.team)
    status = status_of(study)
    found = status["found"]
    results: list[Result] = found.result["questions"] if found and found.result else []
    keys = [result["question"] for result in results]
    key = chosen if chosen in keys else next(iter(keys), "")
    shared = _shared_warnings(results)
    rows = [
        Row(
            number,
            result,
            [_line(each) for each in coefficients.fitting(result)],
            [warning for warning in _warnings(result) if warning not in shared],
            result["question"] == key,
        )
        for number, result in enumerate(results, 1)
    ]
    return {
        "study": study,
        "tab": "agreement",
        "may_manage": may_manage,
        "rows": rows,
        "warnings": shared,
        "detail": next(
            (
                _detail(study, row.result, names_of(study) if may_manage else {})
                for row in rows
                if row.is_chosen
            ),
            None,
        ),
        "outside": outside_of(found, may_manage=may_manage),
        "again": again_of(study, found, may_manage=may_manage),
        "has_pairs": any(result["n_pairable"] for result in results),
        "steps": range(STEPS),
        **status,
    }


def again_of(study: Study, found: Agreement | None, *, may_manage: bool) -> list[tuple[str, Result, Line]]:
    """What a further round says of each annotator, by letter or, for curators, by name; the decisive
    coefficient of each question."""
    rows: list[Result] = (found.result or {}).get("again", []) if found else []
    names = names_of(study) if rows and may_manage else {}
    shown = []
    for row in rows:
        fitting = coefficients.fitting(row)
        letter = row["letter"]
        decisive = fitting[1] if row["scale"] == "score" else fitting[0]
        shown.append((names.get(letter, letter) or "All", row, _line(decisive)))
    return shown


def outside_of(found: Agreement | None, *, may_manage: bool) -> list[tuple[str, Result, Bar | None]]:
    """Raters from outside as they are named to somebody, with the drawing of their agreement. Names are
    for curators: that of a model would tell others what they judge."""
    rows: list[Result] = (found.result or {}).get("outside", []) if found else []
    numbers = {name: number for number, name in enumerate(dict.fromkeys(row["rater"] for row in rows), 1)}
    shown = []
    for row in rows:
        name = row["rater"] if may_manage else f"Outside {row['kind']} {numbers[row['rater']]}"
        ci = row["alpha"]["ci"] if "alpha" in row else None
        bar = bar_of(row["alpha"]["value"], (ci[0], ci[1]) if ci else None) if "alpha" in row else None
        shown.append((name, row, bar))
    return shown


def as_json(study: Study, *, with_annotators: bool) -> dict[str, Any]:
    """The same for scripts; `with_annotators` also what each of them does."""
    status = status_of(study)
    found: Agreement | None = status["found"]
    results = found.result["questions"] if found and found.result else []
    return {
        "study": study.pk,
        "protocol": f"{study.protocol.key} v{study.protocol.version}",
        "as_of": found and found.computed_at,
        "is_stale": status["is_stale"],
        "job": status["job"] and status["job"].state,
        "generation": found and found.generation,
        "verdicts": found and found.verdicts,
        "seed": found and found.seed,
        "b": found and found.resamples,
        "software_version": found and found.software_version,
        "questions": [
            {name: value for name, value in result.items() if with_annotators or name != "annotators"}
            for result in results
        ],
        "outside": [row | {"rater": name} for name, row, _ in outside_of(found, may_manage=with_annotators)],
    }


def status_of(study: Study) -> dict[str, Any]:
    """What is computed (`found`), what is on its way (`job`), and whether verdicts came since."""
    newest = study.agreements.select_related("job").defer("result").first()
    found = study.agreements.exclude(computed_at=None).first()
    job = newest.job if newest else None
    return {
        "found": found,
        "job": job,
        "waits": job is not None and not job.is_over,
        "failed": job is not None and job.state == Job.State.FAILED,
        "generation": found.generation if found else 0,
        "is_stale": found is not None and found.verdicts != queries.state_of_verdicts(study),
    }


def names_of(study: Study) -> dict[str, str]:
    """Letter -> name, for those who may know."""
    letters = progress.letters(study)
    people = {row.user_id: str(row.user) for row in study.annotators.select_related("user")}
    return {letter: people[person] for person, letter in letters.items()}


def _warnings(result: Result) -> list[str]:
    """Items with one rating are what a running study is made of: the number of pairable ones tells."""
    return [each["message"] for each in result["warnings"] if each["code"] != "unpaired_ratings"]


def _shared_warnings(results: list[Result]) -> list[str]:
    """What would have to be said of every question."""
    if len(results) < 2:
        return []
    return [each for each in _warnings(results[0]) if all(each in _warnings(other) for other in results)]


def _line(coefficient: Coefficient) -> Line:
    return Line(coefficient, bar_of(coefficient.value, coefficient.ci))


def _detail(study: Study, result: Result, names: dict[str, str]) -> Detail:
    questions = Definition.read(study.protocol.definition).questions
    question = next(each for each in questions if each.key == result["question"])
    confusion = result["confusion"]
    values = confusion["labels"] or []
    counts = confusion["counts"] or []
    n_pairs = sum(sum(row[at:]) for at, row in enumerate(counts))
    labels = [question.label_of(value) for value in values]
    return Detail(
        question=question,
        result=result,
        lines=[_line(each) for each in coefficients.every(result)],
        matrix=_matrix(result["pairs"]),
        confusion=[
            (label, [_counted(n, n_pairs, (one, other)) for n, other in zip(row, values, strict=True)])
            for label, one, row in zip(labels, values, counts, strict=True)
        ],
        labels=labels,
        n_pairs=int(n_pairs),
        splits=[(row, coefficients.fitting(row)[0] if "alpha" in row else None) for row in result["splits"]],
        annotators=[(names[each["annotator"]], each) for each in result["annotators"] if names],
    )


def _matrix(pairs: list[Result]) -> list[tuple[str, list[Cell]]]:
    """Annotators by annotators: how often two of them said the same of an item."""
    letters = list(dict.fromkeys(letter for pair in pairs for letter in (pair["a"], pair["b"])))
    of = {frozenset((pair["a"], pair["b"])): pair for pair in pairs}

    def cell(one: str, other: str) -> Cell:
        pair = of.get(frozenset((one, other)))
        if pair is None or pair["agreement"] is None:
            return Cell(None, key=(one, other))
        return Cell(_step(pair["agreement"]), pair["agreement"], pair["n"], (one, other), pair["pearson"])

    return [(one, [cell(one, other) for other in letters]) for one in letters]


def _counted(n: float, n_pairs: float, key: tuple[str, str]) -> Cell:
    share = n / n_pairs if n_pairs else 0.0
    return Cell(_step(share), share, int(n), key)


def _step(share: float) -> int:
    return min(int(share * STEPS), STEPS - 1)
