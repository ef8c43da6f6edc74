"""How steady annotators are: what each said in a further round beside what they said in the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation import progress, queries
from annotation.agreement.analysis import LEVEL_OF
from annotation.protocols import Definition
from medbench.scoring.agreement import RatingsTable, summary

if TYPE_CHECKING:
    from annotation.models import Study
    from annotation.protocols import Question

Result = dict[str, Any]
ALL = ""  # the letter of the row for all annotators together
FIRST, AGAIN = "first", "again"
# (annotator, review item) -> their answers in the first round and in this one
Twice = dict[tuple[int, Any], tuple[dict[str, str], dict[str, str]]]


def of_study(study: Study, *, seed: int, resamples: int) -> list[Result]:
    """For every question a row for all annotators together and one for each, ready for JSON; none
    where the study is no further round or nobody has read anything again."""
    if study.repeats is None or not (twice := _twice(study)):
        return []
    letters = progress.letters(study)
    readers = sorted(
        {person for person, _ in twice}, key=lambda person: (len(letters[person]), letters[person])
    )
    rows = []
    for question in Definition.read(study.protocol.definition).questions:
        rows.append(_row(question, ALL, twice, seed=seed, resamples=resamples))
        for reader in readers if len(readers) > 1 else ():
            theirs = {key: both for key, both in twice.items() if key[0] == reader}
            rows.append(_row(question, letters[reader], theirs, seed=seed, resamples=resamples))
    return rows


def _twice(study: Study) -> Twice:
    before, now = (_said(each) for each in (queries.first_round(study), study))
    return {key: (before[key], answers) for key, answers in now.items() if key in before}


def _said(study: Study) -> dict[tuple[int, Any], dict[str, str]]:
    rows = queries.counted(study).values_list(
        "verdict__assignment__annotator", "verdict__assignment__study_item__item", "answers"
    )
    return {(person, item): answers for person, item, answers in rows}


def _row(question: Question, letter: str, twice: Twice, *, seed: int, resamples: int) -> Result:
    """Items are (annotator, item) pairs and the two rounds are the raters."""
    judging = [option.value for option in question.judging]
    table = RatingsTable.from_rows(
        (
            f"{person}:{item}",
            rater,
            answers.get(question.key) if answers.get(question.key) in judging else None,
        )
        for (person, item), both in sorted(twice.items(), key=str)
        for rater, answers in zip((FIRST, AGAIN), both, strict=True)
    )
    found = summary(table, level=LEVEL_OF[question.scale], order=judging, b=resamples, seed=seed)
    kept = {name: found[name] for name in ("n_pairable", "percent_agreement", "alphas", "icc")}
    return {
        "question": question.key,
        "title": question.title,
        "scale": question.scale,
        "letter": letter,
        "n_read": len(twice),
        **kept,
    }
