"""Patients and their encounters: who they are, how ill, and when they are where.

A small latent state (severity, kidneys, heart, infection) drives everything, so that what
templates ask for is not trivial and crosses sources. It exercises time semantics; it is no
epidemiology.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from medbench.clinlens.synthetic.chance import Chance

FIRST_SUBJECT, FIRST_HADM, FIRST_STAY = 15_000_000, 25_000_000, 35_000_000
FIRST_ECG, FIRST_CXR, FIRST_ECHO = 45_000_000, 55_000_000, 65_000_000
A_PATIENT = 41  # ids of each kind that a patient may use; no multiple of ten, which split rules look at
TYPES = ("EW EMER.", "EW EMER.", "URGENT", "OBSERVATION ADMIT", "DIRECT EMER.", "ELECTIVE")
WARDS = ("Medicine", "Cardiology", "Med/Surg", "Neurology")
UNITS = (
    "Medical Intensive Care Unit (MICU)",
    "Cardiac Vascular Intensive Care Unit (CVICU)",
    "Surgical Intensive Care Unit (SICU)",
)
Rows = dict[str, list[tuple[Any, ...]]]


@dataclass
class Stay:
    stay_id: int
    start: datetime
    end: datetime


@dataclass
class Admission:
    hadm_id: int
    start: datetime
    end: datetime
    kind: str
    ed: datetime | None
    died: bool
    has_deathtime: bool
    stays: list[Stay] = field(default_factory=list)

    @property
    def hours(self) -> float:
        return (self.end - self.start).total_seconds() / 3600


@dataclass
class Patient:
    number: int
    seed: str
    subject_id: int
    gender: str
    anchor_age: int
    anchor_year: int
    start: datetime
    severity: float
    renal: float
    cardiac: float
    infection: float
    admissions: list[Admission] = field(default_factory=list)
    dod: datetime | None = None

    def chance(self, purpose: str) -> Chance:
        return Chance(self.seed, purpose, self.number)

    @property
    def has_heart_failure(self) -> bool:
        return self.cardiac > 0.3


def after(moment: datetime, hours: float) -> datetime:
    """A moment so many hours later, in whole seconds."""
    return moment + timedelta(seconds=round(hours * 3600))


def make_patient(seed: str, number: int) -> Patient:
    chance = Chance(seed, "patient", number)
    start = datetime(2110 + chance.whole(0, 80), chance.whole(1, 12), chance.whole(1, 28))  # noqa: DTZ001  # T1: naive
    start = after(start, chance.hours(0, 24))
    age = chance.whole(13, 17) if chance.yes(0.09) else chance.whole(18, 89)
    age = 91 if chance.yes(0.03) else age
    patient = Patient(
        number,
        seed,
        FIRST_SUBJECT + number,
        chance.pick(("F", "M")),
        age,
        start.year - chance.whole(0, 3),
        start,
        severity=chance.normal(),
        renal=chance.normal(),
        cardiac=chance.normal(),
        infection=chance.normal(),
    )
    _admit(patient)
    return patient


def _admit(patient: Patient) -> None:
    chance = patient.chance("admissions")
    when = patient.start
    for count in range(1 + min(chance.poisson(1.4 * math.exp(0.5 * patient.severity)), 7)):
        admission = _admission(patient, chance, count, when)
        patient.admissions.append(admission)
        if admission.died:
            patient.dod = admission.end
            if chance.yes(0.15):  # organ donors come back a minute after death
                patient.admissions.append(_donor(patient, admission, count + 1))
            return
        when = after(admission.end, _gap_hours(patient, chance))
    if chance.yes(logistic(-1.6 + 1.2 * patient.severity)):
        patient.dod = after(patient.admissions[-1].end, 24 * chance.uniform(1, 364) * chance.uniform(0, 1))


def _gap_hours(patient: Patient, chance: Chance) -> float:
    """Until the next admission: mostly months, seldom a transfer of the same day or an overlap."""
    if chance.yes(0.05):
        return chance.hours(0.2, 14)
    if chance.yes(0.03):
        return -chance.hours(1, 5)
    return 24 + chance.hours(0, 1) + 24 * chance.exponential(100 * math.exp(-0.9 * patient.severity))


def _admission(patient: Patient, chance: Chance, count: int, when: datetime) -> Admission:
    start = when.replace(second=0)
    hours = min(max(chance.lognormal(105, 0.8), 7), 700)
    died = chance.yes(logistic(-2.7 + 1.1 * patient.severity))
    hadm_id = FIRST_HADM + patient.number * A_PATIENT + count
    end = after(start, round(hours * 60) / 60)
    if not died and chance.yes(0.012):
        end = after(start, -chance.hours(0.5, 8))  # leaves before coming
    kind = chance.pick(TYPES)
    ed = after(start, -chance.hours(1.5, 9)) if kind != "ELECTIVE" and chance.yes(0.75) else None
    admission = Admission(hadm_id, start, end, kind, ed, died, not chance.yes(0.12))
    if end > start:
        _intensive_care(patient, admission, chance)
    return admission


def _intensive_care(patient: Patient, admission: Admission, chance: Chance) -> None:
    """Up to two stays: at once, or two to four days in as the outcome that models predict."""
    late = chance.yes(logistic(-1.7 + 1.6 * patient.severity + 0.6 * patient.infection))
    early = chance.yes(logistic(-0.9 + 0.6 * patient.severity))
    starts = [chance.hours(0.1, 8)] if early else []
    starts += [24.0 if chance.yes(0.1) else chance.hours(24.5, 74)] if late else []
    end = admission.start
    for offset in starts:
        begin = after(admission.start, offset + chance.whole(0, 59) / 3600)
        begin = after(admission.start, 24) if offset == 24 else begin
        length = max(chance.lognormal(55 * math.exp(0.4 * patient.severity), 0.6), 8)
        stop = min(after(begin, length), admission.end)
        if begin < end or (stop - begin).total_seconds() < 4 * 3600:
            continue
        stay_id = FIRST_STAY + patient.number * A_PATIENT + len(patient.admissions) * 3 + len(admission.stays)
        admission.stays.append(Stay(stay_id, begin, stop))
        end = stop


def _donor(patient: Patient, last: Admission, count: int) -> Admission:
    start = after(last.end, 1 / 60)
    hadm_id = FIRST_HADM + patient.number * A_PATIENT + count
    return Admission(hadm_id, start, after(start, 10), "URGENT", None, died=True, has_deathtime=False)


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def encounter_rows(patient: Patient, rows: Rows) -> None:
    """The rows of patients, admissions, transfers and icustays."""
    subject, chance = patient.subject_id, patient.chance("encounters")
    dod = patient.dod.date() if patient.dod else None
    group = chance.pick(("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019"))
    rows["hosp/patients"].append(
        (subject, patient.gender, patient.anchor_age, patient.anchor_year, group, dod)
    )
    for number, admission in enumerate(patient.admissions):
        transfer = FIRST_STAY + 2_000_000 + (patient.number * A_PATIENT + number) * 8
        rows["hosp/admissions"].append(_admission_row(subject, admission, chance))
        places: list[tuple[datetime, str, str | None]]
        places = [(admission.ed, "ED", "Emergency Department")] if admission.ed else []
        places += [(admission.start, "admit", chance.pick(WARDS))]
        for stay in admission.stays:
            unit = chance.pick(UNITS)
            los = (stay.end - stay.start).total_seconds() / 86400
            rows["icu/icustays"].append(
                (subject, admission.hadm_id, stay.stay_id, unit, unit, stay.start, stay.end, los)
            )
            places += [(stay.start, "transfer", unit), (stay.end, "transfer", chance.pick(WARDS))]
        places.append((admission.end, "discharge", None))
        for index, (start, event, unit_name) in enumerate(places):
            end = places[index + 1][0] if index + 1 < len(places) else None
            row = (subject, admission.hadm_id, transfer + index, event, unit_name, start, end)
            rows["hosp/transfers"].append(row)


def _admission_row(subject: int, admission: Admission, chance: Chance) -> tuple[Any, ...]:
    death = admission.end if admission.died and admission.has_deathtime else None
    return (
        subject,
        admission.hadm_id,
        admission.start,
        admission.end,
        death,
        admission.kind,
        f"P{chance.whole(10, 99)}SYN",
        "EMERGENCY ROOM" if admission.ed else "PHYSICIAN REFERRAL",
        "DIED" if admission.died else chance.pick(("HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY")),
        chance.pick(("Medicare", "Medicaid", "Other")),
        chance.pick(("ENGLISH", "?")),
        chance.pick(("MARRIED", "SINGLE", "WIDOWED")),
        "UNKNOWN",
        admission.ed,
        after(admission.start, 0.5) if admission.ed else None,
        int(admission.died),
    )
