"""WHP-PRF: a profile of tests and use of the hospital over the whole record."""

from dataclasses import replace

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Template,
    Tolerance,
    column,
    grid,
    keys,
    recompute,
    values,
)
from medbench.clinlens.templates.whp_prf_forms import SINGLE, with_notes

SQL = (
    f.LAB_SQL
    + """
CREATE OR REPLACE TABLE stays AS
SELECT subject_id, hadm_id, admittime, epoch(dischtime - admittime) / 3600 AS hours
FROM admissions WHERE dischtime > admittime;
CREATE OR REPLACE TABLE people AS
SELECT subject_id, min($age) AS age_first, count(*) AS n_adm, sum(hours) AS los_hours
FROM stays JOIN patients USING (subject_id) GROUP BY subject_id;
CREATE OR REPLACE TABLE per_patient AS
SELECT subject_id, count(*) AS n_lab, $per_patient(v) AS lab_median FROM lab $fan_out GROUP BY subject_id;
CREATE OR REPLACE TABLE profile AS
SELECT * FROM people JOIN per_patient USING (subject_id)
WHERE age_first >= 18 AND n_adm >= $min_adm AND n_lab >= $min_lab;
"""
)

USUAL = Template(
    id="WHP-PRF",
    title="Longitudinal profile of a laboratory test",
    tables=f.LAB_TABLES,
    rows=f.LAB_ROWS,
    grid=grid(
        lab=[f.LABS[name] for name in ("creatinine", "hemoglobin", "sodium", "potassium")],
        min_adm=(2, 3),
        min_lab=(3, 4, 6),
    ),
    text={
        "population": "Take all patients of `data/hosp/patients.csv` who were at least 18 years old at their first "
        "admission and have $min_adm or more admissions and at least $min_lab $lab_name results. Admissions whose "
        "`dischtime` is not after their `admittime` do not exist for this question.",
        "index_time": "The index time is the `admittime` of the first admission. Age at a time is `anchor_age` + its "
        "year - `anchor_year`.",
        "window": "The window is the whole record, in hospital and outside, before and after the index time.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT,
        "statistic": "For each patient take the median of the $lab_name results. Report the median of these medians "
        "over the patients.",
    },
    sql=SQL,
    answer_sql="SELECT median(lab_median) FROM profile",
    slots={**f.LAB_SLOTS, **f.ADULT_SLOT, "per_patient": "median", "fan_out": ""},
    artifacts=(
        Artifact(
            "profile",
            "one row for each patient of the population",
            ("subject_id",),
            (
                SUBJECT,
                column("age_first", "int64", "age at the first admission", unit="years"),
                column("n_adm", "int64", "number of admissions"),
                column("los_hours", "float64", "sum of the lengths of the admissions", unit="hours"),
                column("n_lab", "int64", "number of results that count"),
                column("lab_median", "float64", "median of the results"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer(p["unit"], 2),
    tolerance=lambda p: Tolerance("0.01" if p["lab_name"] == "creatinine" else "0.05"),
    predicates=lambda p: (
        *keys("profile"),
        *values("profile", age_first=0, n_adm=0, los_hours=0.02, n_lab=0, lab_median=0.006),
        recompute("profile", "median", 0.02 if p["lab_name"] == "creatinine" else 0.1, value="lab_median"),
    ),
    loosened=({"age": "99"}, {"min_adm": "1"}, {"min_lab": "1"}),
    mutations=(
        f.KEEP_DUPLICATES,
        f.DROP_NULL_HADM,
        f.UNIT,
        f.AGE_ANCHOR_ONLY,
        f.INCLUDE_MINORS,
        Mutation("MEAN_FOR_MEDIAN", {"per_patient": "avg"}),
        Mutation("FAN_OUT", {"fan_out": "JOIN stays USING (subject_id)"}),
    ),
    naive={
        "all_patients": "SELECT median(v) FROM (SELECT avg(valuenum) AS v FROM labevents WHERE itemid = $lab "
        "GROUP BY subject_id)",
        "all_rows": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "A1", "V1", "V2", "Q1"),
)
TEMPLATE = replace(USUAL, forms=(SINGLE, with_notes(USUAL)))
