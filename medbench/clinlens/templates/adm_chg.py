"""ADM-CHG: potassium around the first dose that was really given."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    Mutation,
    Template,
    change,
    column,
    grid,
    keys,
    predicate,
    values,
)

BEFORE = "t >= t0 - INTERVAL $pre HOUR AND t < t0"
AFTER = "t >= t0 + INTERVAL $gap HOUR AND t < t0 + INTERVAL $post HOUR"
SQL = (
    f.LAB_SQL
    + """
CREATE OR REPLACE TABLE doses AS
SELECT hadm_id, subject_id, $which(charttime) AS t0 FROM emar
WHERE medication = '$drug' AND $given AND hadm_id IS NOT NULL GROUP BY hadm_id, subject_id;
CREATE OR REPLACE TABLE eligible AS
SELECT hadm_id, subject_id, t0 FROM doses JOIN patients USING (subject_id)
WHERE $adult;
CREATE OR REPLACE TABLE around AS
SELECT e.hadm_id, t0, t, v, labevent_id, $before AS is_pre, $after AS is_post
FROM eligible e JOIN lab USING (subject_id);
CREATE OR REPLACE TABLE paired AS
SELECT hadm_id, t0, pre_time, pre_val, post_time, post_val, post_val - pre_val AS delta
FROM (
  SELECT hadm_id, t0,
    max(t) FILTER (is_pre) AS pre_time, arg_max(v, (t, labevent_id)) FILTER (is_pre) AS pre_val,
    min(t) FILTER (is_post) AS post_time, arg_min(v, (t, labevent_id)) FILTER (is_post) AS post_val
  FROM around GROUP BY hadm_id, t0
) WHERE pre_time IS NOT NULL AND post_time IS NOT NULL;
"""
)

TEMPLATE = Template(
    id="ADM-CHG",
    title="Potassium around a first dose",
    tables={
        **f.LAB_TABLES,
        "hosp/emar": ("subject_id", "hadm_id", "emar_id", "emar_seq", "charttime", "medication", "event_txt"),
        "hosp/prescriptions": f.PRESCRIPTION_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        lab=(f.LABS["potassium"],),
        drug=("Furosemide", "Potassium Chloride"),
        gap=(2, 6),
        post=(30, 24, 36),
        pre=(24, 12),
    ),
    text={
        "population": "Take the admissions with a dose of $drug that was given: rows of `data/hosp/emar.csv` with "
        "`medication` exactly $drug, `event_txt` = `Administered` and a `hadm_id`; the patient must be at least 18 in "
        "the year of t0 (`anchor_age` + its year - `anchor_year`), with a potassium result on both sides of t0.",
        "index_time": "The index time t0 is the first `charttime` of such a row of the admission. Orders in "
        "`data/hosp/prescriptions.csv` do not say that a dose was given.",
        "window": "Before: `charttime` in [t0 - $pre h, t0). After: `charttime` in [t0 + $gap h, t0 + $post h). The "
        "starts are included, the ends are not. Results are those of the same patient.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/emar.csv`, `data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT,
        "statistic": "The value before is the last result of its window, the value after the first of its window (ties "
        "by `labevent_id`); the change is after minus before. Report the mean change over the admissions.",
    },
    sql=SQL,
    answer_sql="SELECT avg(delta) FROM paired",
    slots={
        "adult": "anchor_age + year(t0) - anchor_year >= 18",
        **f.LAB_SLOTS,
        "which": "min",
        "given": "event_txt = 'Administered'",
        "before": BEFORE,
        "after": AFTER,
    },
    artifacts=(
        Artifact(
            "paired",
            "one row for each admission of the population",
            ("hadm_id",),
            (
                column("hadm_id", "int64", "the admission"),
                column("t0", "timestamp", "the first dose given"),
                column("pre_time", "timestamp", "`charttime` of the value before"),
                column("pre_val", "float64", "value before", unit="mEq/L"),
                column("post_time", "timestamp", "`charttime` of the value after"),
                column("post_val", "float64", "value after", unit="mEq/L"),
                column("delta", "float64", "after minus before", unit="mEq/L"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("mEq/L", 3),
    tolerance=f.always("0.005"),
    predicates=lambda p: (
        *keys("paired"),
        predicate("P_ANCHOR", "anchor_equals", "paired", columns=["t0"]),
        predicate(
            "P_TIME_PRE",
            "time_window",
            "paired",
            column="pre_time",
            start={"anchor": "t0", "hours": -p["pre"]},
            end={"anchor": "t0", "hours": 0},
            closed="left",
        ),
        predicate(
            "P_TIME_POST",
            "time_window",
            "paired",
            column="post_time",
            start={"anchor": "t0", "hours": p["gap"]},
            end={"anchor": "t0", "hours": p["post"]},
            closed="left",
        ),
        *values("paired", pre_time=0, pre_val=0.001, post_time=0, post_val=0.001),
        *change("paired", "pre_val", "post_val", "mean", 0.005, 0.002),
    ),
    windows=f.around(
        "labevents USING (subject_id)",
        before=("t0 - INTERVAL $pre HOUR", "t0"),
        after=("t0 + INTERVAL $gap HOUR", "t0 + INTERVAL $post HOUR"),
    ),
    loosened=({"given": "true"}, {"adult": "true"}, {"before": "t < t0"}, {"after": "t >= t0"}),
    mutations=(
        Mutation("WINDOW_CLOSED", {"before": BEFORE.replace("t < t0", "t <= t0")}),
        Mutation("WINDOW_OPEN_START", {"after": AFTER.replace("t >= t0", "t > t0")}),
        Mutation("ORDERED_NOT_GIVEN", {"given": "true"}),
        Mutation("LAST_NOT_FIRST", {"which": "max"}),
        f.STORETIME,
        f.DROP_NULL_HADM,
    ),
    naive={
        "all_patients": f.NAIVE_CHANGE,
        "all_rows": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    subjects="SELECT DISTINCT subject_id FROM emar WHERE hadm_id IN (SELECT hadm_id FROM paired)",
    patients=140,
)
