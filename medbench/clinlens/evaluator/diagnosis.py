"""What went wrong in a failed task, for whoever holds the private tree. Never for participants' eyes.

Classes in the order of ClinLens design, section 5.3: format, population, time, split and label, then
the answer against those of known wrong programs (mutants).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from medbench.clinlens.evaluator.answers import judge, within
from medbench.clinlens.evaluator.conditions import reference_tables
from medbench.clinlens.manifest import NumericAnswer
from medbench.clinlens.private import key_set_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medbench.clinlens.evaluator.conditions import Verdict
    from medbench.clinlens.evaluator.predicates import Finding
    from medbench.clinlens.manifest import Manifest
    from medbench.clinlens.private import Mutant, PrivateTask

NEAR_MISS = 10  # tolerances
# A class in the words of the one who made the mistake.
WORDS = {
    "RUN": "the run did not complete",
    "POPULATION_MISSING": "rows of the cohort are missing",
    "POPULATION_EXTRA": "there are rows that are not of the cohort",
    "ENCOUNTER_MISLINK": "patient, admission or stay of a row do not belong together",
    "DUPLICATION": "a key stands twice: a join has multiplied rows",
    "ANCHOR": "an index time is not that of the reference",
    "WINDOW_EARLY": "times lie before the window",
    "WINDOW_LATE": "times lie after the window",
    "FUTURE_LEAK": "a feature was not known at the landmark",
    "SPLIT_LEAK": "train and test are not split as stated",
    "LABEL_ERROR": "labels are not those of the reference",
    "VALUES": "values of a column are not those of the reference",
    "DOMAIN": "values lie outside of what is possible",
    "INCONSISTENT": "columns or answer do not follow from one another",
    "SCALE": "the answer is off by a factor of 100 or 1000: another unit, or percent",
    "SIGN": "the answer has the other sign",
    "ROUNDING_OR_METHOD": "the answer is near: rounded too early, or another definition",
    "UNEXPLAINED": "no known mistake explains it",
    # mutants
    "WINDOW_CLOSED": "your window includes its end",
    "WINDOW_SHIFT_6H": "your window is shifted by 6 hours",
    "CALENDAR_DAY": "you took calendar days for 24 hours",
    "STORETIME": "you took the time of storing for the time of charting",
    "FUTURE_ROWS": "you took in rows from after the window",
    "DROP_NULL_HADM": "you dropped rows without hadm_id",
    "LINK_NEAREST_ADMISSION": "you linked to the nearest admission",
    "PATIENT_LEVEL_JOIN": "you joined by patient where the encounter was asked",
    "FAN_OUT": "your join multiplies rows",
    "KEEP_DUPLICATES": "you kept duplicate measurements",
    "LAST_NOT_FIRST": "you took the last where the first was asked",
    "ALL_STAYS": "you took all stays, not the first of each patient",
    "AGE_ANCHOR_ONLY": "you took anchor_age for the age at the time",
    "INCLUDE_MINORS": "you included patients below 18",
    "UNCERTAIN_AS_POSITIVE": "you counted uncertain labels as positive",
    "BLANK_AS_NEGATIVE": "you counted findings not mentioned as negative",
    "IMAGE_NOT_STUDY": "you counted images, not studies",
    "TIME_UNPADDED": "you read study times without their lost leading zeros",
    "SENTINEL_KEPT": "you kept fill values as measurements",
    "ORDERED_NOT_GIVEN": "you took orders for administrations",
    "DISCHARGE_CODES_AS_FEATURES": "you used codes that are known only after discharge",
    "RANDOM_SPLIT": "you split at random, not by the stated rule",
    "ROW_SPLIT": "you split by row, not by patient",
    "MEAN_FOR_MEDIAN": "you took the mean for the median",
    "POOLED_ROWS": "you pooled rows where one value a unit was asked",
    "SD_N": "you divided by n where n - 1 was asked",
    "UNIT": "you did not convert or filter units",
    "PERCENT": "you gave a fraction for percent, or the reverse",
}


def diagnose(verdict: Verdict, manifest: Manifest, private: PrivateTask) -> dict[str, str]:
    """Classes of mistakes of a failed task, each with a sentence, in order; empty for a pass."""
    if verdict.strict_pass or not verdict.is_evaluated:
        return {}
    found = dict(_of_conditions(verdict))
    if verdict.conditions["C2"] == "pass" and verdict.first_failed != "run":
        found |= dict(_of_population(verdict, manifest, private))
        found |= {name: text for finding in verdict.findings.values() for name, text in _of_finding(finding)}
    found |= dict(_of_answer(verdict, manifest, private))
    return found or {"UNEXPLAINED": WORDS["UNEXPLAINED"]}


def _of_conditions(verdict: Verdict) -> Iterator[tuple[str, str]]:
    if verdict.first_failed in {"C1", "C2"}:
        yield "FORMAT", verdict.messages[str(verdict.first_failed)]
    elif verdict.first_failed == "run":
        yield "RUN", WORDS["RUN"]
    elif verdict.code == "duplicate_keys":
        yield "DUPLICATION", WORDS["DUPLICATION"]


def _of_population(verdict: Verdict, manifest: Manifest, private: PrivateTask) -> Iterator[tuple[str, str]]:
    """Which keys are missing and which are too many, over all artifacts."""
    n_missing = n_extra = 0
    references = reference_tables(manifest, private)
    for name, table in verdict.tables.items():
        there = references[name].row_of.keys()
        n_missing += len(there - table.row_of.keys())
        n_extra += len(table.row_of.keys() - there)
    if n_missing:
        yield "POPULATION_MISSING", f"{WORDS['POPULATION_MISSING']} ({n_missing:,})"
    if n_extra:
        yield "POPULATION_EXTRA", f"{WORDS['POPULATION_EXTRA']} ({n_extra:,})"


def _of_finding(finding: Finding) -> Iterator[tuple[str, str]]:
    name, offset = finding.mistake, finding.offset_hours
    if name == "POPULATION":  # told from the key sets
        return
    count = f" ({finding.n_wrong:,} of {finding.n_rows:,} rows)" if finding.n_rows else ""
    text = f"{WORDS[name]}{count}"
    if offset == 0 and name != "FUTURE_LEAK":
        text = f"{text}: your window includes its {'start' if name == 'WINDOW_EARLY' else 'end'}"
    elif offset is not None:
        text = f"{text}, by {offset:.4g} h in the median"
    yield name, text


def _of_answer(verdict: Verdict, manifest: Manifest, private: PrivateTask) -> Iterator[tuple[str, str]]:
    """The mutants that came to the same, else how far off a number is."""
    mutants = [mutant for mutant in private.mutants if _is_like(verdict, manifest, private, mutant)]
    for mutant in mutants:
        yield mutant.name, WORDS.get(mutant.name, f"as the wrong program {mutant.name} answers")
    is_wrong = verdict.conditions["C5"] == "fail"
    if not mutants and is_wrong and verdict.answer and isinstance(manifest.answer, NumericAnswer):
        assert isinstance(verdict.answer.value, Decimal)
        name = _how_far(verdict.answer.value, private)
        yield name, WORDS[name]


def _is_like(verdict: Verdict, manifest: Manifest, private: PrivateTask, mutant: Mutant) -> bool:
    """Whether the submission has a mutant's wrong answer, or a key set of its own."""
    if verdict.answer and verdict.conditions["C5"] == "fail" and mutant.answer is not None:
        theirs = private.answer.with_answer(mutant.answer)
        if not judge(verdict.answer.value, theirs, manifest.answer):
            return True
    return any(
        mutant.key_sets[name] == key_set_hash(private.salt, table.keys)
        for name, table in verdict.tables.items()
        if name in mutant.key_sets and mutant.key_sets[name] != private.cohorts[name].key_set
    )


def _how_far(value: Decimal, private: PrivateTask) -> str:
    right = Decimal(private.answer.answer)
    tolerance = max(private.answer.abs_tol, private.answer.rel_tol * abs(right))
    for factor in (Decimal(100), Decimal(1000)):
        if right and (
            within(value, right * factor, tolerance * factor) or within(value * factor, right, tolerance)
        ):
            return "SCALE"
    if right and within(-value, right, tolerance):
        return "SIGN"
    return "ROUNDING_OR_METHOD" if within(value, right, NEAR_MISS * tolerance) else "UNEXPLAINED"
