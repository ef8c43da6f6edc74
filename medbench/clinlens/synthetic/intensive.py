"""What is charted in intensive care: vital signs, infusions, urine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.clinlens.synthetic.people import A_PATIENT, Admission, Patient, Rows, Stay, after

if TYPE_CHECKING:
    from datetime import datetime

    from medbench.clinlens.synthetic.chance import Chance

MAP_LINE, MAP_CUFF, HEART_RATE, SPO2 = 220052, 220181, 220045, 220277
EYES, VERBAL, MOTOR = 220739, 223900, 223901
NOREPINEPHRINE, VASOPRESSIN, EPINEPHRINE, PHENYLEPHRINE = 221906, 222315, 221289, 221749
FOLEY = 226559
ITEMS = (
    (MAP_LINE, "Arterial Blood Pressure mean", "chartevents", "mmHg"),
    (MAP_CUFF, "Non Invasive Blood Pressure mean", "chartevents", "mmHg"),
    (HEART_RATE, "Heart Rate", "chartevents", "bpm"),
    (SPO2, "O2 saturation pulseoxymetry", "chartevents", "%"),
    (EYES, "GCS - Eye Opening", "chartevents", None),
    (VERBAL, "GCS - Verbal Response", "chartevents", None),
    (MOTOR, "GCS - Motor Response", "chartevents", None),
    (NOREPINEPHRINE, "Norepinephrine", "inputevents", "mcg/kg/min"),
    (VASOPRESSIN, "Vasopressin", "inputevents", "units/hour"),
    (EPINEPHRINE, "Epinephrine", "inputevents", "mcg/kg/min"),
    (PHENYLEPHRINE, "Phenylephrine", "inputevents", "mcg/kg/min"),
    (FOLEY, "Foley", "outputevents", "ml"),
)
CHARTED_HOURS = 60


def item_rows(rows: Rows) -> None:
    for itemid, label, table, unit in ITEMS:
        rows["icu/d_items"].append(
            (itemid, label, label, table, "Routine Vital Signs", unit, "Numeric", None, None)
        )


def intensive_rows(patient: Patient, rows: Rows) -> None:
    for admission in patient.admissions:
        for stay in admission.stays:
            chance = patient.chance(f"icu {stay.stay_id}")
            pressor = _pressors(patient, admission, stay, chance, rows)
            _vitals(patient, admission, stay, chance, rows, pressor)
            _urine(patient, admission, stay, chance, rows)


def _vitals(
    patient: Patient, admission: Admission, stay: Stay, chance: Chance, rows: Rows, pressor: datetime | None
) -> None:
    """Hourly values with gaps; one exactly at the start, at the end of day one and at the pressor's hours."""
    hours = min((stay.end - stay.start).total_seconds() / 3600, CHARTED_HOURS)
    times = [
        (after(stay.start, hour + chance.hours(-0.3, 0.3)), 0.0)
        for hour in range(1, int(hours))
        if chance.yes(0.8)
    ]
    times += [(after(stay.start, edge), 14.0) for edge in (0.0, 24.0, 48.0) if chance.yes(0.6)]
    times.append((after(stay.start, -chance.hours(0.2, 1.5)), 9.0))
    if pressor:
        times += [(after(pressor, edge), 10.0) for edge in (-2.0, 0.0, 1.0, 3.0) if chance.yes(0.5)]
        times += [
            (after(pressor, chance.hours(-1.9, -0.1)), 0.0),
            (after(pressor, chance.hours(1.1, 2.9)), 0.0),
        ]
    pressure, rate = 80 - 6 * patient.severity, 88 + 5 * patient.infection + 5 * patient.severity
    chart = _Chart(patient, admission, stay, chance, rows)
    for when, extra in sorted(times):
        low = 16 if pressor and when < pressor else 0
        mean = pressure - low + extra + chance.normal(0, 6)
        chart.put(MAP_LINE if chance.yes(0.6) else MAP_CUFF, when, mean, "mmHg")
        if chance.yes(0.08):  # line and cuff at one moment
            chart.put(MAP_CUFF, when, mean - 5, "mmHg")
            chart.put(MAP_LINE, when, mean + 3, "mmHg")
        chart.put(HEART_RATE, when, rate + extra + chance.normal(0, 8), "bpm")
        chart.put(SPO2, when, min(96 - extra / 4 - 0.5 * patient.severity + chance.normal(0, 1.5), 100), "%")
    for hour in range(0, int(hours) + 1, 4):
        for itemid, best in ((EYES, 4), (VERBAL, 5), (MOTOR, 6)):
            worse = min(max(round(1.1 * patient.severity + chance.normal(0, 0.7)), 0), best - 1)
            chart.put(itemid, after(stay.start, hour), best - worse, None, decimals=0)


class _Chart:
    def __init__(
        self, patient: Patient, admission: Admission, stay: Stay, chance: Chance, rows: Rows
    ) -> None:
        self.ids = (patient.subject_id, admission.hadm_id, stay.stay_id, 7000 + patient.number % 90)
        self.chance, self.rows = chance, rows["icu/chartevents"]

    def put(self, itemid: int, when: datetime, number: float, unit: str | None, decimals: int = 0) -> None:
        if self.chance.yes(0.012):
            number = self.chance.pick((0.0, 999.0))
        elif self.chance.yes(0.003):
            when = when.replace(year=when.year + 1, day=min(when.day, 28))  # a year off
        value = f"{number:.{decimals}f}"
        stored = after(when, round(self.chance.lognormal(25, 0.8)) / 60)
        row: tuple[Any, ...] = (*self.ids, when, stored, itemid, value, value, unit, 0)
        self.rows.append(row)


def _pressors(
    patient: Patient, admission: Admission, stay: Stay, chance: Chance, rows: Rows
) -> datetime | None:
    """Norepinephrine in one or two runs, sometimes after another vasopressor; when it first started."""
    if not chance.yes(0.35 + 0.12 * patient.severity) or (stay.end - stay.start).total_seconds() < 10 * 3600:
        return None
    first = after(stay.start, 24.0 if chance.yes(0.08) else chance.hours(0.2, 8))
    runs = [(NOREPINEPHRINE, first, after(first, chance.hours(0.5, 4)))]
    if chance.yes(0.5):  # again within the hour: the same episode
        again = after(runs[0][2], chance.hours(0.1, 0.9))
        runs.append((NOREPINEPHRINE, again, after(again, chance.hours(1, 6))))
    if chance.yes(0.25):
        before = after(first, -chance.hours(0.5, 5.5))
        runs.append((chance.pick((VASOPRESSIN, EPINEPHRINE, PHENYLEPHRINE)), before, after(before, 0.4)))
    for number, (itemid, start, end) in enumerate(runs):
        rate = 0.0 if chance.yes(0.05) else round(chance.lognormal(0.12, 0.6), 3) + 0.01
        unit = "units/hour" if itemid == VASOPRESSIN else "mcg/kg/min"
        order = stay.stay_id % 1_000_000 * A_PATIENT + number
        ids = (
            patient.subject_id,
            admission.hadm_id,
            stay.stay_id,
            7001,
            start,
            end,
            after(start, 0.2),
            itemid,
        )
        orders = (
            order,
            order,
            "01-Drips",
            "02-Fluids (Crystalloids)",
            "Main order parameter",
            "Continuous Med",
        )
        rest = (80, 250, "ml", 0, 0, "FinishedRunning", round(rate * 80, 3), rate)
        rows["icu/inputevents"].append((*ids, round(rate * 80, 3), "mg", rate, unit, *orders, *rest))
    return first


def _urine(patient: Patient, admission: Admission, stay: Stay, chance: Chance, rows: Rows) -> None:
    hours = min((stay.end - stay.start).total_seconds() / 3600, CHARTED_HOURS)
    edges = [24.0] if hours >= 24 and chance.yes(0.5) else []
    for hour in [*(each + chance.hours(0, 1) for each in range(2, int(hours), 4)), *edges]:
        when = after(stay.start, hour)
        volume = round(max(190 - 45 * patient.severity - 25 * patient.renal + chance.normal(0, 60), 0))
        ids = (patient.subject_id, admission.hadm_id, stay.stay_id, 7002)
        rows["icu/outputevents"].append((*ids, when, after(when, 0.3), FOLEY, volume, "ml"))
