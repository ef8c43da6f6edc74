"""ADM-PHN: kidney injury by creatinine."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Template,
    Window,
    column,
    grid,
    keys,
    predicate,
    recompute,
    values,
)

SQL = (
    f.LAB_SQL
    + """
CREATE OR REPLACE TABLE series AS
SELECT a.hadm_id, a.subject_id, l.t, l.v, l.labevent_id,
  row_number() OVER (PARTITION BY a.hadm_id ORDER BY $baseline, l.t, l.labevent_id) AS nth
FROM admissions a JOIN patients USING (subject_id)
JOIN lab l ON l.subject_id = a.subject_id AND l.t >= a.admittime AND $upper AND l.t < a.dischtime
WHERE $age >= 18;
CREATE OR REPLACE TABLE stages AS
SELECT *, CASE WHEN max_ratio >= 3 THEN 3 WHEN max_ratio >= 2 THEN 2
  WHEN max_ratio >= 1.5 OR max_rise_48h >= 0.3 THEN 1 ELSE 0 END AS stage
FROM (
  SELECT s.hadm_id, s.subject_id, n, baseline, baseline_time,
    coalesce(round(max(s.v) FILTER (WHERE s.t > baseline_time) / baseline, 3), 0) AS max_ratio,
    coalesce(max(rise), 0) AS max_rise_48h
  FROM series s
  JOIN (SELECT hadm_id, count(*) AS n, max(v) FILTER (WHERE nth = 1) AS baseline, max(t) FILTER (WHERE nth = 1)
          AS baseline_time FROM series GROUP BY 1) b USING (hadm_id)
  LEFT JOIN (SELECT y.hadm_id, round(max($rise), 2) AS rise FROM series x JOIN series y
          ON x.hadm_id = y.hadm_id AND x.t < y.t AND y.t <= x.t + INTERVAL 48 HOUR GROUP BY 1) r USING (hadm_id)
  WHERE n >= $min_lab GROUP BY s.hadm_id, s.subject_id, n, baseline, baseline_time
);
"""
)

TEMPLATE = Template(
    id="ADM-PHN",
    title="Kidney injury by creatinine",
    tables=f.LAB_TABLES,
    rows=f.LAB_ROWS,
    grid=grid(lab=(f.LABS["creatinine"],), hours=(48, 168, 72, 96), stage=(1, 2), min_lab=(2, 3, 4)),
    text={
        "population": "Take all admissions whose patient was at least 18 at `admittime` (`anchor_age` + its year - "
        "`anchor_year`) and which have at least $min_lab creatinine results in the window.",
        "index_time": "The index time is `admittime`.",
        "window": "Results of the same patient with `charttime` in [`admittime`, `admittime` + $hours h) and before "
        "`dischtime`: the start is included, the ends are not.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT,
        "statistic": "The baseline is the first result of the window. `max_ratio` is the largest later result divided by "
        "the baseline, rounded to 3 decimals, 0 without a later one. `max_rise_48h` is the largest difference, later "
        "minus earlier, of two results at most 48 h apart (48 h included), rounded to 2 decimals; 0 if there is no such "
        "pair or it is negative only. Stage 3: `max_ratio` at least 3; stage 2: at least 2; stage 1: at least 1.5, or "
        "`max_rise_48h` at least 0.3; else stage 0. Report how many percent of the admissions have stage $stage or more.",
    },
    sql=SQL,
    answer_sql="SELECT 100 * avg((stage >= $stage)::BIGINT) FROM stages",
    slots={
        **f.LAB_SLOTS,
        **f.ADULT_SLOT,
        "upper": "l.t < a.admittime + INTERVAL $hours HOUR",
        "baseline": "0",
        "rise": "greatest(y.v - x.v, 0)",
    },
    artifacts=(
        Artifact(
            "stages",
            "one row for each admission of the population",
            ("hadm_id",),
            (
                column("hadm_id", "int64", "the admission"),
                SUBJECT,
                column("n", "int64", "results in the window"),
                column("baseline", "float64", "first result", unit="mg/dL"),
                column("baseline_time", "timestamp", "its `charttime`"),
                column("max_ratio", "float64", "as defined above"),
                column("max_rise_48h", "float64", "as defined above", unit="mg/dL"),
                column("stage", "int64", "kidney injury", enum=(0, 1, 2, 3)),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("%", 2),
    tolerance=f.always("0.05"),
    predicates=lambda p: (
        *keys("stages"),
        predicate("P_OWNER", "ownership", "stages", columns=["subject_id"]),
        predicate("P_ANCHOR", "anchor_equals", "stages", columns=["baseline_time"]),
        *values("stages", n=0, baseline=0.001, max_ratio=0.002, max_rise_48h=0.011, stage=0),
        predicate(
            "P_STAGE",
            "row_formula",
            "stages",
            formula="kidney_stage",
            columns={"ratio": "max_ratio", "rise": "max_rise_48h", "stage": "stage"},
            abs=0,
        ),
        recompute("stages", "percent_at_least", 0.1, {"cut": p["stage"]}, value="stage"),
    ),
    windows=(
        Window(
            "FROM series JOIN admissions USING (hadm_id)",
            "SELECT admittime, charttime AS t FROM admissions JOIN labevents USING (subject_id)",
            "admittime",
            "admittime + INTERVAL $hours HOUR",
        ),
    ),
    loosened=({"age": "99"}, {"min_lab": "1"}, {"upper": "true"}),
    mutations=(
        Mutation(
            "WINDOW_CLOSED", {"upper": "l.t <= a.admittime + INTERVAL $hours HOUR"}, only=(("hours", 48),)
        ),
        Mutation("BASELINE_MINIMUM", {"baseline": "l.v"}),
        Mutation("FALL_AS_RISE", {"rise": "abs(y.v - x.v)"}),
        f.STORETIME,
        f.KEEP_DUPLICATES,
        f.DROP_NULL_HADM,
        f.AGE_ANCHOR_ONLY,
    ),
    naive={
        "all_patients": "SELECT 100 * avg((high >= 1.5 * low)::BIGINT) FROM (SELECT max(valuenum) AS high, min(valuenum) "
        "AS low FROM labevents WHERE itemid = $lab GROUP BY subject_id)",
        "all_rows": "SELECT 100 * avg((valuenum >= 1.5)::BIGINT) FROM labevents WHERE itemid = $lab",
        "first_table_only": "SELECT 100 * avg(hospital_expire_flag) FROM admissions",
    },
    conventions=("T1", "T2", "T3", "A1", "L1", "V1", "V2", "Q1"),
    patients=160,
)
