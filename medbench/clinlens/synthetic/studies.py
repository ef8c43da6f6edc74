"""ECG, chest radiographs, echocardiograms and their notes, on clocks of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.clinlens.synthetic.people import (
    A_PATIENT,
    FIRST_CXR,
    FIRST_ECG,
    FIRST_ECHO,
    Patient,
    Rows,
    after,
    logistic,
)

if TYPE_CHECKING:
    from datetime import datetime

    from medbench.clinlens.synthetic.chance import Chance
    from medbench.clinlens.synthetic.labs import Laboratory

NO_INTERVAL = 29999  # what the machine writes when it measured nothing
FINDINGS = (
    "Atelectasis",
    "Cardiomegaly",
    "Consolidation",
    "Edema",
    "Enlarged Cardiomediastinum",
    "Fracture",
    "Lung Lesion",
    "Lung Opacity",
    "No Finding",
    "Pleural Effusion",
    "Pleural Other",
    "Pneumonia",
    "Pneumothorax",
    "Support Devices",
)
PHRASES = ("known congestive heart failure, compensated", "history of heart failure")


def ecg_rows(patient: Patient, rows: Rows) -> None:
    """One to several ECGs an admission; carts drift by up to three hours against the hospital."""
    chance, count = patient.chance("ecg"), 0
    for admission in patient.admissions:
        drift = chance.hours(-3, 3) if chance.yes(0.1) else 0
        offsets = [-24 * chance.hours(1, 50)] if chance.yes(0.3) else []
        offsets += [-chance.hours(0.2, 8)] if admission.ed and chance.yes(0.7) else []
        offsets += [chance.hours(0, 30) for _ in range(chance.poisson(1.1))]
        offsets += [edge for edge in (-24.0, -6.0, 0.0, max(admission.hours, 0.0)) if chance.yes(0.12)]
        for offset in offsets:
            if count < A_PATIENT:
                _ecg(
                    patient,
                    FIRST_ECG + patient.number * A_PATIENT + count,
                    after(admission.start, offset + drift),
                    rows,
                )
                count += 1


def _ecg(patient: Patient, study: int, when: datetime, rows: Rows) -> None:
    chance = patient.chance(f"ecg {study}")
    onset = 350 + chance.whole(-30, 30)
    qrs = round(94 - 9 * min(patient.cardiac, 0) + 11 * max(patient.cardiac, 0) + chance.normal(0, 7))
    beat = round(min(max(chance.normal(820 - 40 * patient.severity, 130), 400), 1400))
    qt = round((415 + 14 * patient.cardiac + chance.normal(0, 24)) * (beat / 1000) ** 0.5)
    end, repolarised = onset + qrs, onset + qt
    if chance.yes(0.05):
        repolarised = NO_INTERVAL
    if chance.yes(0.03):
        end = NO_INTERVAL
    beat = 0 if chance.yes(0.02) else beat
    path = f"files/p{str(patient.subject_id)[:4]}/p{patient.subject_id}/s{study}/{study}"
    rows["ecg/record_list"].append((patient.subject_id, study, study, when, path))
    report = ("Sinus rhythm", *(None,) * 17)
    axes = (chance.whole(0, 80), chance.whole(-30, 90), chance.whole(0, 90))
    marks = (beat, onset - 180, onset - 70, onset, end, repolarised)
    rows["ecg/machine_measurements"].append(
        (
            patient.subject_id,
            study,
            6_000_000 + study % 90,
            when,
            *report,
            "0.005-150 Hz",
            "60 Hz notch",
            *marks,
            *axes,
        )
    )


def cxr_rows(patient: Patient, rows: Rows, laboratory: Laboratory) -> None:
    """Series of radiographs per admission with a label state that may change, and notes beside them."""
    chance, count = patient.chance("cxr"), 0
    for admission in patient.admissions:
        if admission.hours < 10 or not chance.yes(0.75):
            continue
        edema = chance.yes(0.25 + 0.12 * patient.cardiac)
        effusion = chance.yes(0.25 + 0.1 * patient.severity)
        offset = -chance.hours(0.3, 5) if admission.ed else chance.hours(0.2, 20)
        for _ in range(1 + chance.poisson(2.2)):
            if count >= A_PATIENT - 1 or offset > admission.hours:
                break
            when = after(admission.start, offset)
            study = FIRST_CXR + patient.number * A_PATIENT + count
            _cxr(patient, study, when, {"Edema": edema, "Pleural Effusion": effusion}, rows)
            _report(patient, admission.hadm_id, study, when, rows)
            _bnp_around(chance, laboratory, when, edema=edema)
            risk = logistic(-1.7 + 1.3 * patient.cardiac + 0.4 * patient.severity)
            edema, effusion = (chance.yes(0.62) if there else chance.yes(risk) for there in (edema, effusion))
            offset += 72.0 if chance.yes(0.1) else chance.hours(10, 80)
            count += 1


def _bnp_around(chance: Chance, laboratory: Laboratory, when: datetime, *, edema: bool) -> None:
    factor = 1.7 if edema else 1.0
    ties = chance.hours(1, 10)
    for hours in (-ties, ties, -12.0, 12.0, 24.0, -24.0, 72.0, -168.0):
        if chance.yes(0.3 if abs(hours) == ties else 0.1):
            laboratory.test("NTproBNP", after(when, hours), None, factor)


def _cxr(patient: Patient, study: int, when: datetime, state: dict[str, bool], rows: Rows) -> None:
    chance = patient.chance(f"cxr {study}")
    labels: list[str | None] = []
    for finding in FINDINGS:
        likely = {True: 0.85, False: 0.03}[state.get(finding, chance.yes(0.15))]
        certain = "1.0" if chance.yes(likely) else ("0.0" if chance.yes(0.75) else None)
        labels.append("-1.0" if finding in state and chance.yes(0.08) else certain)
    rows["cxr/chexpert"].append((patient.subject_id, study, *labels))
    views = ["AP"] if chance.yes(0.5) else ["PA", "LATERAL"]
    views += ["AP"] if chance.yes(0.15) else []
    for number, view in enumerate(views):
        moment = after(when, -number / 30)  # the second image may be the earlier one
        dicom = f"{study:08d}-{chance.whole(10**7, 10**8 - 1)}-{number:02d}"
        clock = moment.hour * 10_000 + moment.minute * 100 + moment.second
        stamp = f"{clock}.{chance.whole(0, 999):03d}" if moment.hour else f"{clock}.5"
        view_name = {"AP": "antero-posterior", "PA": "postero-anterior", "LATERAL": "lateral"}[view]
        image = (
            dicom,
            patient.subject_id,
            study,
            "CHEST",
            view,
            256,
            224,
            int(moment.strftime("%Y%m%d")),
            stamp,
        )
        rows["cxr/metadata"].append((*image, "CHEST", view_name, "Erect"))


def _report(patient: Patient, hadm: int, study: int, when: datetime, rows: Rows) -> None:
    """The radiologist's report, and sometimes an addendum to it."""
    chance = patient.chance(f"report {study}")
    written = after(when, round(chance.lognormal(170, 0.8)) / 60)
    number = study % A_PATIENT + 1
    moment = when.replace(second=0)
    note = f"{patient.subject_id}-RR-{number}"
    rows["note/radiology"].append(
        (note, patient.subject_id, hadm, "RR", number, moment, written, "CHEST: synthetic.")
    )
    if chance.yes(0.12):
        note = f"{patient.subject_id}-AR-{number}"
        late = after(written, 20)
        row = (note, patient.subject_id, hadm, "AR", number, moment, late, "ADDENDUM: synthetic.")
        rows["note/radiology"].append(row)


def echo_rows(patient: Patient, rows: Rows) -> None:
    """Echocardiograms through the years, mostly transthoracic; the ejection fraction drifts."""
    chance = patient.chance("echo")
    if not chance.yes(0.6 + 0.1 * patient.cardiac):
        return
    fraction = 58 - 9 * max(patient.cardiac, -0.5) + chance.normal(0, 6)
    improves = chance.yes(0.3)
    moments = []
    for admission in patient.admissions:
        if chance.yes(0.6):
            moments.append(after(admission.start, chance.hours(-20, 40)))
        if chance.yes(0.55):
            moments.append(after(admission.end, 24 * (30 if chance.yes(0.1) else chance.hours(20, 300))))
        moments += [
            after(stay.start, 48.0 if chance.yes(0.15) else chance.hours(-30, 50))
            for stay in admission.stays
            if chance.yes(0.45)
        ]
    fraction -= 10 if improves else 0
    for number, when in enumerate(sorted(moments)[: A_PATIENT // 2]):
        study = FIRST_ECHO + patient.number * A_PATIENT + number
        _echo(patient, study, when, min(max(fraction, 12), 72), rows)
        fraction += chance.normal(6 if improves else -0.8, 4)


def _echo(patient: Patient, study: int, when: datetime, fraction: float, rows: Rows) -> None:
    chance = patient.chance(f"echo {study}")
    head: tuple[Any, ...] = (patient.subject_id, study, when, "TTE" if chance.yes(0.88) else "TEE")
    result = "not assessed" if chance.yes(0.05) else f"{fraction:.0f}"
    for each in (result, f"{fraction + 4:.0f}") if chance.yes(0.1) else (result,):
        rows["echo/structured_measurement"].append(
            (*head, "lvef", "Left ventricular ejection fraction", each, "%")
        )
    size = f"{chance.normal(4.8, 0.5):.1f}"
    rows["echo/structured_measurement"].append((*head, "lvedd", "LV end-diastolic diameter", size, "cm"))
    rows["echo/study_list"].append((patient.subject_id, study, when, None, None, None))
    path = f"files/p{str(patient.subject_id)[:2]}/p{patient.subject_id}/s{study}/{study}_0001.dcm"
    rows["echo/record_list"].append((patient.subject_id, study, when, path))


def discharge_rows(patient: Patient, rows: Rows) -> None:
    """Discharge summaries: what they say of the heart does not always agree with the codes."""
    chance = patient.chance("discharge")
    for number, admission in enumerate(patient.admissions, 1):
        if not chance.yes(0.8):
            continue
        told = chance.yes(0.5 if patient.has_heart_failure else 0.02)
        history = chance.pick(PHRASES) if told else chance.pick(("hypertension", "type 2 diabetes", "asthma"))
        text = f"Name: ___\nPast medical history: {history}.\nDischarge condition: stable.\n"
        note = f"{patient.subject_id}-DS-{number}"
        row = (
            note,
            patient.subject_id,
            admission.hadm_id,
            "DS",
            number,
            admission.end,
            after(admission.end, 26),
            text,
        )
        rows["note/discharge"].append(row)
