"""WHP-CHG: a test before and after the first-ever start of a drug."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Template,
    change,
    column,
    grid,
    keys,
    predicate,
    values,
)

SQL = (
    f.LAB_SQL
    + """
CREATE OR REPLACE TABLE starts AS
SELECT subject_id, $which(starttime) AS t0 FROM prescriptions
WHERE drug = '$drug' AND $drug_type AND starttime IS NOT NULL GROUP BY subject_id;
CREATE OR REPLACE TABLE eligible AS
SELECT subject_id, t0 FROM starts
JOIN (SELECT subject_id, min(admittime) AS first_time FROM admissions GROUP BY 1) USING (subject_id)
JOIN patients USING (subject_id)
WHERE $adult AND $washout;
CREATE OR REPLACE TABLE around AS
SELECT *, $before AS is_pre, $after AS is_post FROM eligible JOIN lab USING (subject_id);
CREATE OR REPLACE TABLE change AS
SELECT subject_id, t0 AS index_time, pre_n, pre_mean, post_n, post_mean, $delta AS delta FROM (
  SELECT subject_id, t0,
    count(v) FILTER (is_pre) AS pre_n, avg(v) FILTER (is_pre) AS pre_mean,
    count(v) FILTER (is_post) AS post_n, avg(v) FILTER (is_post) AS post_mean
  FROM around GROUP BY subject_id, t0
) WHERE pre_n > 0 AND post_n > 0;
"""
)
BEFORE = "t >= t0 - INTERVAL $days DAY AND t < t0"
AFTER = "t >= t0 AND t < t0 + INTERVAL $days DAY"

TEMPLATE = Template(
    id="WHP-CHG",
    title="A test around the first start of a drug",
    tables={
        **f.LAB_TABLES,
        "hosp/prescriptions": f.PRESCRIPTION_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        drug=("Furosemide", "Metoprolol Tartrate", "Warfarin"),
        lab=[f.LABS[name] for name in ("potassium", "creatinine", "hemoglobin", "sodium")],
        days=(90, 30),
    ),
    text={
        "population": "Take the patients with a prescription of $drug (`drug` exactly so, `drug_type` = `MAIN`) whose "
        "index time is not less than 1 day after the `admittime` of their first admission of all, who were at least "
        "18 years old in the year of the index time (`anchor_age` + its year - `anchor_year`), and who have a $lab_name "
        "result on each side of it.",
        "index_time": "The index time is the first `starttime` of such a prescription in the whole record of the patient.",
        "window": "Before: `charttime` in [index time - $days d, index time). After: `charttime` in [index time, index "
        "time + $days d). The starts are included, the ends are not.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/prescriptions.csv`, "
        "`data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT,
        "statistic": "For each patient take the mean of the results before and the mean of those after; the change is "
        "after minus before. Report the median change over the patients.",
    },
    sql=SQL,
    answer_sql="SELECT median(delta) FROM change",
    slots={
        "adult": "anchor_age + year(t0) - anchor_year >= 18",
        **f.LAB_SLOTS,
        "which": "min",
        "drug_type": "drug_type = 'MAIN'",
        "washout": "t0 >= first_time + INTERVAL 1 DAY",
        "before": BEFORE,
        "after": AFTER,
        "delta": "post_mean - pre_mean",
    },
    artifacts=(
        Artifact(
            "change",
            "one row for each patient of the population",
            ("subject_id",),
            (
                SUBJECT,
                column("index_time", "timestamp", "first start of the drug"),
                column("pre_n", "int64", "results before"),
                column("pre_mean", "float64", "their mean"),
                column("post_n", "int64", "results after"),
                column("post_mean", "float64", "their mean"),
                column("delta", "float64", "after minus before"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer(p["unit"], 3),
    tolerance=f.always("0.01"),
    predicates=lambda _: (
        *keys("change"),
        predicate("P_ANCHOR", "anchor_equals", "change", columns=["index_time"]),
        *values("change", pre_n=0, pre_mean=0.006, post_n=0, post_mean=0.006),
        *change("change", "pre_mean", "post_mean", "median", 0.01, 0.01),
    ),
    windows=f.around(
        "labevents USING (subject_id)",
        before=("t0 - INTERVAL $days DAY", "t0"),
        after=("t0", "t0 + INTERVAL $days DAY"),
    ),
    loosened=(
        {"washout": "true"},
        {"drug_type": "true"},
        {"adult": "true"},
        {"before": "t < t0"},
        {"after": "t >= t0"},
    ),
    mutations=(
        Mutation("WINDOW_CLOSED", {"before": BEFORE.replace("t < t0", "t <= t0")}),
        Mutation("WINDOW_CLOSED_END", {"after": AFTER.replace("t < t0 +", "t <= t0 +")}),
        Mutation("LAST_NOT_FIRST", {"which": "max"}),
        Mutation("SIGN", {"delta": "pre_mean - post_mean"}),
        Mutation("ANY_DRUG_TYPE", {"drug_type": "true"}),
        f.STORETIME,
        f.KEEP_DUPLICATES,
        f.DROP_NULL_HADM,
    ),
    naive={
        "all_patients": f.NAIVE_CHANGE,
        "all_rows": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    patients=150,
)
