"""What several templates share: tests with units and ranges, SQL of the conventions, usual wrong programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.templates.core import Mutation, Tolerance, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from medbench.clinlens.templates.core import Parameters

# Numeric tests: item, stated unit, plausible range.
LABS = {
    name: {"lab": item, "lab_name": name, "unit": unit, "low": low, "high": high}
    for name, item, unit, low, high in (
        ("creatinine", 50912, "mg/dL", 0.1, 25),
        ("hemoglobin", 51222, "g/dL", 2, 25),
        ("sodium", 50983, "mEq/L", 90, 190),
        ("potassium", 50971, "mEq/L", 1, 12),
        ("urea nitrogen", 51006, "mg/dL", 1, 300),
        ("white blood cells", 51301, "K/uL", 0.1, 400),
        ("lactate", 50813, "mmol/L", 0.2, 40),
        ("troponin T", 51003, "ng/mL", 0, 100),
        ("NTproBNP", 50963, "pg/mL", 1, 200_000),
    )
}
OTHER_ITEMS = "50931, 50983"  # packaged besides, asked for by no one

LAB_COLUMNS = (
    "labevent_id",
    "subject_id",
    "hadm_id",
    "specimen_id",
    "itemid",
    "charttime",
    "storetime",
    "value",
    "valuenum",
    "valueuom",
)
ITEM_COLUMNS = ("itemid", "label", "linksto", "unitname")
LABITEM_COLUMNS = ("itemid", "label", "fluid", "category")
LABITEMS = "`data/hosp/d_labitems.csv`"
PATIENT_COLUMNS = ("subject_id", "gender", "anchor_age", "anchor_year", "dod")
ADMISSION_COLUMNS = (
    "subject_id",
    "hadm_id",
    "admittime",
    "dischtime",
    "deathtime",
    "admission_type",
    "edregtime",
    "hospital_expire_flag",
)
PRESCRIPTION_COLUMNS = ("subject_id", "hadm_id", "starttime", "stoptime", "drug_type", "drug", "route")
DIAGNOSIS_COLUMNS = ("subject_id", "hadm_id", "seq_num", "icd_code", "icd_version")
LAB_TABLES = {
    "hosp/patients": PATIENT_COLUMNS,
    "hosp/admissions": ADMISSION_COLUMNS,
    "hosp/labevents": LAB_COLUMNS,
}
LAB_ROWS = {"hosp/labevents": f"itemid IN ($lab, {OTHER_ITEMS})"}
STAY_COLUMNS = ("subject_id", "hadm_id", "stay_id", "first_careunit", "intime", "outtime", "los")
CHART_COLUMNS = (
    "subject_id",
    "hadm_id",
    "stay_id",
    "charttime",
    "storetime",
    "itemid",
    "value",
    "valuenum",
    "valueuom",
)
INPUT_COLUMNS = ("subject_id", "hadm_id", "stay_id", "starttime", "endtime", "itemid", "rate", "rateuom")
ECHO_COLUMNS = (
    "subject_id",
    "measurement_id",
    "measurement_datetime",
    "test_type",
    "measurement",
    "result",
    "unit",
)
CXR_COLUMNS = ("dicom_id", "subject_id", "study_id", "ViewPosition", "StudyDate", "StudyTime")
ECG_COLUMNS = ("subject_id", "study_id", "ecg_time", "rr_interval", "qrs_onset", "qrs_end", "t_end")
CHEXPERT_COLUMNS = ("subject_id", "study_id", "Edema", "Pleural Effusion", "Pneumonia")

# One row for each valid test result: rules V1 and V2.
LAB_SQL = """
CREATE OR REPLACE TABLE lab AS
SELECT subject_id, hadm_id, labevent_id, $lab_time AS t, valuenum AS v
FROM (
  SELECT *, row_number() OVER (PARTITION BY subject_id, itemid, charttime ORDER BY labevent_id DESC) AS nth
  FROM labevents
  WHERE itemid = $lab AND valuenum IS NOT NULL AND $lab_unit AND valuenum BETWEEN $low AND $high
) WHERE $lab_first AND $lab_hadm;
"""
LAB_SLOTS = {
    "lab_time": "charttime",
    "lab_unit": "valueuom = '$unit'",
    "lab_first": "nth = 1",
    "lab_hadm": "true",
}
STORETIME = Mutation("STORETIME", {"lab_time": "storetime"})
KEEP_DUPLICATES = Mutation("KEEP_DUPLICATES", {"lab_first": "true"})
DROP_NULL_HADM = Mutation("DROP_NULL_HADM", {"lab_hadm": "hadm_id IS NOT NULL"})
UNIT = Mutation("UNIT", {"lab_unit": "true"}, only=(("lab_name", "creatinine"),))

# The change of a test from the first row of a patient's record to its last: a naive answer.
NAIVE_CHANGE = (
    "SELECT avg(d) FROM (SELECT arg_max(valuenum, (charttime, labevent_id)) - arg_min(valuenum, (charttime, "
    "labevent_id)) AS d FROM labevents WHERE itemid = $lab GROUP BY subject_id)"
)


def around(events: str, before: tuple[str, str], after: tuple[str, str]) -> tuple[Window, ...]:
    """The windows before and after t0 of the tables `eligible` and `around`. `events` is joined to the first."""
    packaged = f"SELECT t0, charttime AS t FROM eligible JOIN {events}"
    return (
        Window("FROM around WHERE is_pre", packaged, *before),
        Window("FROM around WHERE is_post", packaged, *after),
    )


ADULT_SLOT = {"age": "anchor_age + year(admittime) - anchor_year"}
AGE_ANCHOR_ONLY = Mutation("AGE_ANCHOR_ONLY", {"age": "anchor_age"})
INCLUDE_MINORS = Mutation("INCLUDE_MINORS", {"age": "99"})

LAB_TEXT = (
    "A $lab_name result counts if its `itemid` is $lab, `valuenum` is not empty, `valueuom` is exactly `$unit` and "
    "`valuenum` lies in [$low, $high]. Of several such results of one patient with the same `charttime` only the "
    "one with the largest `labevent_id` counts. `hadm_id` of a result is empty for many results taken in hospital "
    "and is not used. Nothing is imputed."
)

CHART_WINDOW = (
    "Measurements of the stay (`stay_id`) with `charttime` in [`intime`, `intime` + $hours h): the start is included, "
    "the end is not."
)
SIGN_TEXT = (
    "A measurement of $sign counts if its `itemid` is one of $items, and `valuenum` lies in [$low, $high] $unit. All "
    "such measurements of one stay at the same `charttime` make one: their mean."
)
WEIGHTED_TEXT = (
    "Each measurement holds from its time until the next one, but at most $carry h and not beyond the end of the "
    "window. The time-weighted mean of a stay is the mean of its measurements weighted by the time for which each "
    "holds. "
)

# One ejection fraction for each transthoracic study: rule H1.
LVEF_SQL = """
CREATE OR REPLACE TABLE lvef AS
SELECT subject_id, measurement_id, min(measurement_datetime) AS t, avg(TRY_CAST(result AS DOUBLE)) AS v
FROM echo_structured_measurement WHERE measurement = 'lvef' AND $tte
GROUP BY ALL HAVING avg(TRY_CAST(result AS DOUBLE)) IS NOT NULL;
"""
LVEF_SLOTS = {"tte": "test_type = 'TTE'"}
TEE_INCLUDED = Mutation("TEE_INCLUDED", {"tte": "true"})
LVEF_TEXT = (
    "The ejection fraction of a `measurement_id` is the mean of `result`, read as a number, over its rows with "
    "`measurement` = `lvef` and `test_type` = `TTE`; rows whose `result` is no number are left out, and studies "
    "without any number have no ejection fraction."
)

# One time for each radiograph study, from dates and times that lost their zeros: rule C2.
CXR_SQL = """
CREATE OR REPLACE TABLE cxr AS
SELECT i.subject_id, i.study_id, i.t, i.frontal, c.$label AS label
FROM (
  SELECT subject_id, study_id, bool_or(ViewPosition IN ('AP', 'PA')) AS frontal, $cxr_pick(
    strptime(StudyDate::VARCHAR, '%Y%m%d')
    + to_hours(($clock // 10000)::BIGINT) + to_minutes(($clock // 100 % 100)::BIGINT)
    + to_seconds($clock % 100)) AS t
  FROM cxr_metadata GROUP BY subject_id, study_id
) i JOIN cxr_chexpert c USING (subject_id, study_id);
"""
CXR_SLOTS = {"cxr_pick": "min", "clock": "floor(StudyTime)::BIGINT"}
TIME_UNPADDED = Mutation(
    "TIME_UNPADDED", {"clock": "rpad(floor(StudyTime)::BIGINT::VARCHAR, 6, '0')::BIGINT"}
)
IMAGE_NOT_STUDY = Mutation("IMAGE_NOT_STUDY", {"cxr_pick": "max"})
CXR_TEXT = (
    "The time of an image is `StudyDate` (YYYYMMDD) with the whole part of `StudyTime` as HHMMSS, whose leading zeros "
    "were lost: 93012.5 is 09:30:12. The time of a study is the earliest of its images, lateral ones included."
)

# Valid machine measurements of an ECG: rule E1.
ECG_SQL = """
CREATE OR REPLACE TABLE ecg AS
SELECT subject_id, study_id, ecg_time AS t,
  CASE WHEN $qrs_ok THEN qrs_end - qrs_onset END AS qrs,
  CASE WHEN $qt_ok THEN (t_end - qrs_onset) / sqrt(rr_interval / 1000) END AS qtcb
FROM ecg_machine_measurements;
"""
ECG_SLOTS = {
    "qrs_ok": "qrs_onset > 0 AND qrs_end > qrs_onset AND qrs_onset < 29999 AND qrs_end < 29999",
    "qt_ok": "qrs_onset > 0 AND t_end > qrs_onset AND rr_interval > 0 AND qrs_onset < 29999 AND t_end < 29999 "
    "AND rr_interval < 29999",
}
SENTINEL_KEPT = Mutation(
    "SENTINEL_KEPT",
    {"qrs_ok": "qrs_end > qrs_onset", "qt_ok": "t_end > qrs_onset AND rr_interval > 0"},
)
ECG_TEXT = (
    "QRS is `qrs_end` - `qrs_onset` and QT is `t_end` - `qrs_onset`, in ms; QTcB is QT / sqrt(`rr_interval` / 1000). "
    "The machine writes 29999 where it measured nothing: a QRS or QTcB one of whose parts is 29999, 0 or negative, "
    "or that is itself not above 0, is missing."
)

ECG_TIME_TEXT = "The time of an ECG is `ecg_time`; its clock runs apart from that of the hospital, which is not corrected."

# A study belongs to the latest admission that began before it, else the nearest that began after it: rule L3.
LINK = "e.t >= a.admittime - INTERVAL $early HOUR AND e.t < a.dischtime"
LINK_SLOTS = {"link": LINK, "nearest": "(a.admittime <= e.t) DESC, abs(epoch(e.t - a.admittime)), a.hadm_id"}
LINK_NEAREST_ADMISSION = Mutation(
    "LINK_NEAREST_ADMISSION", {"link": "true", "nearest": "abs(epoch(e.t - a.admittime)), a.hadm_id"}
)


def link_sql(studies: str, columns: str) -> str:
    """SQL of the table `linked`: the studies of a table that belong to an admission, with its hadm_id."""
    return f"""
CREATE OR REPLACE TABLE linked AS
SELECT {columns}, hadm_id FROM (
  SELECT e.*, a.hadm_id, row_number() OVER (PARTITION BY e.study_id ORDER BY $nearest) AS nth
  FROM {studies} e JOIN admissions a ON a.subject_id = e.subject_id AND $link
) WHERE nth = 1;
"""


def link_text(study: str, time: str) -> str:
    """Rule L3 in words."""
    article = "An" if study == "ECG" else "A"
    return (
        f"{article} {study} is linked to an admission of the same patient if {time} lies in [`admittime` - $early h, "
        "`dischtime`): the start is included, the end is not. If several match, take the one with the latest "
        f"`admittime` not after the {study}, else the one with the nearest later `admittime`; ties go to the smaller "
        "`hadm_id`."
    )


def link_window(studies: str) -> Window:
    """Rule L3 as a window; `studies` gives subject_id and t of all studies."""
    return Window(
        "SELECT admittime, dischtime, t FROM linked JOIN admissions USING (hadm_id)",
        f"SELECT admittime, dischtime, t FROM admissions JOIN ({studies}) USING (subject_id)",
        "admittime - INTERVAL $early HOUR",
        "dischtime",
    )


def spearman_sql(table: str, x: str, y: str) -> str:
    """Spearman's rho of two columns, ties with their average rank."""
    ranks = ", ".join(
        f"rank() OVER (ORDER BY {name}) + (count(*) OVER (PARTITION BY {name}) - 1) / 2 AS {role}"
        for role, name in (("x", x), ("y", y))
    )
    return f"SELECT corr(x, y) FROM (SELECT {ranks} FROM {table})"


SPLIT_SLOTS = {"split": "subject_id % 10 IN (7, 8, 9)"}
RANDOM_SPLIT = Mutation("RANDOM_SPLIT", {"split": "subject_id % 10 IN (0, 1, 2)"})
MODEL_TEXT = (
    "Split by patient without random numbers: test iff the last digit of `subject_id` is 7, 8 or 9, else train. Fit on "
    "train alone: empty features get the median of train (0 where train has none), every feature is scaled to mean 0 "
    "and standard deviation 1 of train (divisor n), then logistic regression with an intercept, an L2 penalty with "
    "C = 1 on the other weights (minimise log loss summed over rows + half the squared weights), no class weights, "
    "run to convergence. "
)
AUROC_TEXT = "Report the AUROC on test, ties counted half."
BRIER_TEXT = (
    "Report the Brier score on test: the mean squared difference of predicted probability and outcome."
)


def always(tolerance: str, rel: str = "0") -> Callable[[Parameters], Tolerance]:
    """A tolerance that no parameter changes."""
    return lambda _: Tolerance(tolerance, rel)
