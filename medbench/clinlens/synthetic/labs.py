"""Blood tests, drugs and their times, with events exactly at the edges of windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.clinlens.synthetic.people import A_PATIENT, Admission, Patient, Rows, after

if TYPE_CHECKING:
    from datetime import datetime

    from medbench.clinlens.synthetic.chance import Chance

EDGE_HOURS = (-6.0, 0.0, 12.0, 24.0, 48.0, 168.0)  # of windows that templates ask for
ROWS_A_PATIENT = 6_000


@dataclass(frozen=True)
class Lab:
    itemid: int
    label: str
    unit: str
    median: float
    sigma: float  # of the logarithm, between patients and draws
    decimals: int
    share: float  # of the draws in hospital that have it
    category: str = "Chemistry"


LABS = {
    lab.label: lab
    for lab in (
        Lab(50912, "Creatinine", "mg/dL", 1.0, 0.22, 1, 0.9),
        Lab(50983, "Sodium", "mEq/L", 138, 0.02, 0, 0.8),
        Lab(50971, "Potassium", "mEq/L", 4.2, 0.09, 1, 0.85),
        Lab(51222, "Hemoglobin", "g/dL", 11.5, 0.13, 1, 0.8, "Hematology"),
        Lab(51006, "Urea Nitrogen", "mg/dL", 20, 0.35, 0, 0.7),
        Lab(51301, "White Blood Cells", "K/uL", 9, 0.35, 1, 0.6, "Hematology"),
        Lab(50813, "Lactate", "mmol/L", 1.7, 0.4, 1, 0.4, "Blood Gas"),
        Lab(51003, "Troponin T", "ng/mL", 0.05, 0.8, 2, 0.3),
        Lab(50963, "NTproBNP", "pg/mL", 900, 0.8, 0, 0.4),
        Lab(50931, "Glucose", "mg/dL", 125, 0.25, 0, 0.25),
    )
}
DRUGS = ("Furosemide", "Metoprolol Tartrate", "Warfarin", "Acetaminophen", "Heparin")


class Laboratory:
    """Writes lab rows of one patient: hidden identifiers, duplicates, text and other units included."""

    def __init__(self, patient: Patient, rows: Rows) -> None:
        self.patient, self.rows = patient, rows["hosp/labevents"]
        self.chance = patient.chance("labs")
        self.next_id = patient.number * ROWS_A_PATIENT + 1
        own = patient.chance("lab levels")
        self.level = {label: own.lognormal(lab.median, lab.sigma) for label, lab in LABS.items()}
        self.level["Creatinine"] *= 1 + 0.4 * max(patient.renal, 0)
        self.level["NTproBNP"] *= 2.718 ** (1.1 * patient.cardiac)
        self.level["Lactate"] *= 2.718 ** (0.45 * patient.severity)
        self.has_bnp = not own.yes(0.15)  # of some patients nobody ever asks for it
        self.level["Hemoglobin"] *= 1 - 0.1 * min(patient.severity, 3)
        self.level["Sodium"] *= 1 - 0.018 * min(patient.severity, 3)
        self.level["Creatinine"] *= 2.718 ** (0.2 * patient.severity)
        self.level["Urea Nitrogen"] *= 2.718 ** (0.5 * patient.severity)
        self.level["White Blood Cells"] *= 2.718 ** (0.3 * patient.infection + 0.3 * patient.severity)

    def draw(self, when: datetime, admission: Admission | None, factor: float = 1.0) -> None:
        """One draw of blood: most tests of it, all with one specimen."""
        specimen = self.next_id
        for label, lab in LABS.items():
            if self.chance.yes(lab.share * (1 if admission or label != "Lactate" else 0.1)):
                self.test(label, when, admission, factor, specimen)

    def test(
        self, label: str, when: datetime, admission: Admission | None, factor: float = 1.0, specimen: int = 0
    ) -> None:
        """One result, at the times and with the faults that such tables have."""
        if label == "NTproBNP" and not self.has_bnp:
            return
        lab, chance = LABS[label], self.chance
        number = self.level[label] * 2.718 ** chance.normal(0, lab.sigma / 2)
        number *= 1 + (factor - 1) * (0.1 if label == "Sodium" else 1)
        value = f"{number:.{lab.decimals}f}"
        hadm = admission.hadm_id if admission and not chance.yes(0.35) else None
        self._row(lab, when, hadm, value, value, lab.unit, specimen)
        if chance.yes(0.02):  # the same again under a later number, as interfaces send it
            self._row(lab, when, hadm, f"{number * 1.06:.{lab.decimals}f}", None, lab.unit, specimen)
        if chance.yes(0.02):
            self._row(
                lab, after(when, 1), hadm, chance.pick(("___", ">8.0", "ERROR")), "", lab.unit, specimen
            )
        if chance.yes(0.015):
            other = f"{number * 10:.{lab.decimals}f}"
            self._row(lab, after(when, 2), hadm, other, other, "umol/L", specimen)

    def _row(
        self,
        lab: Lab,
        when: datetime,
        hadm: int | None,
        value: str,
        number: str | None,
        unit: str,
        specimen: int,
    ) -> None:
        stored = after(when, round(self.chance.lognormal(75, 0.7)) / 60)
        number = value if number is None else number
        head = (self.next_id, self.patient.subject_id, hadm, specimen or self.next_id, lab.itemid, None)
        self.rows.append((*head, when, stored, value, number, unit, None, None, None, "ROUTINE", None))
        self.next_id += 1


def lab_rows(patient: Patient, rows: Rows) -> Laboratory:
    """All lab results and drugs of a patient; the laboratory, for tests that go with studies."""
    laboratory = Laboratory(patient, rows)
    _outpatient(laboratory)
    for admission in patient.admissions:
        _in_hospital(laboratory, admission)
    _prescriptions(laboratory, rows)
    for admission in patient.admissions:
        _doses(laboratory, admission, rows)
    return laboratory


def _outpatient(laboratory: Laboratory) -> None:
    chance = laboratory.chance
    for admission in laboratory.patient.admissions:
        for _ in range(chance.poisson(1.6)):
            laboratory.draw(after(admission.start, -24 * chance.hours(2, 120)), None, 0.9)


def _in_hospital(laboratory: Laboratory, admission: Admission) -> None:
    chance, patient = laboratory.chance, laboratory.patient
    injury = chance.uniform(1.3, 3.2) if chance.yes(0.25 + 0.1 * patient.renal) else 1.0
    hour = -chance.hours(0.5, 5) if admission.ed else chance.hours(0.2, 3)
    for count in range(14):
        if hour >= max(admission.hours, 2):
            break
        factor = 1 + (injury - 1) * min(max(hour, 0) / 60, 1)
        when = after(admission.start, hour)
        laboratory.draw(when, admission, factor)
        hour += chance.hours(5, 13) + count
    for edge in EDGE_HOURS:
        if edge < admission.hours and chance.yes(0.35):
            laboratory.draw(after(admission.start, edge), admission, chance.uniform(1.25, 1.9))
    for stay in admission.stays:
        for edge in (0.0, 12.0, 24.0, 48.0):
            if chance.yes(0.5):
                laboratory.test("Lactate", after(stay.start, edge), admission, chance.uniform(1.5, 3))


def _prescriptions(laboratory: Laboratory, rows: Rows) -> None:
    """Courses of drugs; half of those of a patient start once more in a later admission."""
    patient, chance = laboratory.patient, laboratory.patient.chance("drugs")
    pharmacy = patient.number * A_PATIENT * 4
    for drug in DRUGS:
        likely = 0.55 + (0.15 * patient.cardiac if drug == "Furosemide" else 0)
        starts = [each for each in patient.admissions if each.hours > 8 and chance.yes(likely)][:3]
        if starts and chance.yes(0.3):
            starts = starts[1:]
        for count, admission in enumerate(starts):
            start = after(admission.start, chance.whole(1, 6))
            pharmacy += 1
            stop = min(after(start, chance.whole(20, 90)), admission.end)
            kind = "MAIN" if chance.yes(0.93) else "BASE"
            head = (
                patient.subject_id,
                admission.hadm_id,
                pharmacy,
                None,
                None,
                None,
                start,
                stop,
                kind,
                drug,
            )
            route = "PO/NG" if chance.yes(0.6) else "IV"
            rows["hosp/prescriptions"].append((*head, *(None,) * 10, route))
            if count == 0 and drug in DRUGS[:3]:
                _follow(laboratory, drug, start)


def _follow(laboratory: Laboratory, drug: str, start: datetime) -> None:
    """Tests before and after a first course, three of them exactly at the edges of 90 days."""
    chance = laboratory.chance
    label = {"Furosemide": "Potassium", "Metoprolol Tartrate": "Sodium", "Warfarin": "Hemoglobin"}[drug]
    for days in (-chance.uniform(5, 80), chance.uniform(5, 80)):
        if chance.yes(0.7):
            when = after(start, round(days * 24))
            for each in sorted({label, "Creatinine", "Potassium", "Hemoglobin"}):
                laboratory.test(each, when, None, 0.92 if days > 0 else 1.0)
    for edge in (-90, -30, 0, 30, 90):
        if chance.yes(0.35):
            for each in ("Creatinine", "Potassium", "Hemoglobin", "Sodium"):
                laboratory.test(each, after(start, edge * 24), None, 1.3)


def _doses(laboratory: Laboratory, admission: Admission, rows: Rows) -> None:
    """Doses given and not given, with potassium around the first given one."""
    patient, chance = laboratory.patient, laboratory.chance
    for number, (drug, change) in enumerate((("Furosemide", 0.93), ("Potassium Chloride", 1.08))):
        if admission.hours < 40 or not chance.yes(0.5):
            continue
        first = after(admission.start, chance.hours(14, min(60, admission.hours - 12)))
        for count in range(chance.whole(1, 4)):
            when = after(first, 12 * count)
            event = (
                "Administered"
                if count
                else chance.pick(("Administered", "Administered", "Not Given", "Held"))
            )
            if when < admission.end:
                sequence = (admission.hadm_id % A_PATIENT) * 20 + number * 8 + count + 1
                emar = f"{patient.subject_id}-{sequence}"
                given = (drug, event, when, after(when, 0.1))
                row = (patient.subject_id, admission.hadm_id, emar, sequence, None, None, None, when, *given)
                rows["hosp/emar"].append(row)
        for hour in (-24.0, -chance.hours(1, 20), 0.0, 2.0, 6.0, chance.hours(7, 28), 30.0):
            if chance.yes(0.6):
                factor = 1.0 if hour < 0 else change
                edge = 1.12 if hour in (-24.0, 0.0, 2.0, 6.0, 30.0) else 1.0
                laboratory.test("Potassium", after(first, hour), admission, factor * edge)


def dictionary_rows(rows: Rows) -> None:
    for lab in LABS.values():
        rows["hosp/d_labitems"].append((lab.itemid, lab.label, "Blood", lab.category))


def diagnosis_rows(patient: Patient, rows: Rows) -> None:
    """Billing codes, which a hospital knows after discharge only."""
    chance: Chance = patient.chance("diagnoses")
    for admission in patient.admissions:
        ten = chance.yes(0.5)
        codes = [chance.pick(("0389", "0088", "4019", "25000") if not ten else ("I10", "E119", "A419"))]
        if patient.has_heart_failure and chance.yes(0.6):
            codes.append(chance.pick(("I5022", "I509", "I5032") if ten else ("4280", "42822", "42832")))
        if chance.yes(0.3 + 0.15 * patient.severity):
            codes.append("N179" if ten else "5849")
        for number, code in enumerate(dict.fromkeys(codes), 1):
            rows["hosp/diagnoses_icd"].append(
                (patient.subject_id, admission.hadm_id, number, code, 10 if ten else 9)
            )
