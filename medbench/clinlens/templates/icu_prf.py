"""ICU-PRF: the time-weighted mean of a vital sign."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Parameters,
    Template,
    Window,
    column,
    grid,
    keys,
    predicate,
    recompute,
    values,
)
from medbench.clinlens.templates.icu_prf_single import single

SQL = """
CREATE OR REPLACE TABLE cohort AS
SELECT subject_id, stay_id, intime FROM (
  SELECT i.*, $age AS years, row_number() OVER (PARTITION BY subject_id ORDER BY intime, stay_id) AS nth
  FROM icustays i JOIN patients USING (subject_id)
) WHERE $stays AND years >= 18 AND outtime >= intime + INTERVAL $shortest HOUR;
CREATE OR REPLACE TABLE observed AS
SELECT c.stay_id, t, $same_time AS v
FROM cohort c JOIN (
  SELECT stay_id, $chart_time AS t, valuenum FROM chartevents WHERE itemid IN ($items) AND $plausible
) USING (stay_id)
WHERE t >= intime AND $upper GROUP BY c.stay_id, t, $rows;
CREATE OR REPLACE TABLE covered AS
SELECT stay_id, v, epoch(least(lead(t) OVER w, t + INTERVAL $carry HOUR, intime + INTERVAL $hours HOUR) - t) AS seconds
FROM observed JOIN cohort USING (stay_id)
WINDOW w AS (PARTITION BY stay_id ORDER BY t);
CREATE OR REPLACE TABLE vitals AS
SELECT stay_id, subject_id, intime, count(*) AS n_obs, sum(seconds) / 3600 AS covered_hours, $mean AS tw_mean
FROM covered JOIN cohort USING (stay_id) GROUP BY ALL;
"""

SIGNS: list[Parameters] = [
    {"items": "220052, 220181", "sign": "mean arterial pressure", "unit": "mmHg", "low": 20, "high": 200},
    {"items": "220045", "sign": "heart rate", "unit": "bpm", "low": 20, "high": 250},
    {"items": "220277", "sign": "oxygen saturation", "unit": "%", "low": 40, "high": 100},
]

TEMPLATE = Template(
    id="ICU-PRF",
    title="Time-weighted mean of a vital sign",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "icu/d_items": f.ITEM_COLUMNS,
        "icu/chartevents": f.CHART_COLUMNS,
    },
    rows={"icu/chartevents": "itemid IN ($items, 220739)"},
    grid=grid(
        sign=SIGNS,
        carry=(2, 4),
        hours=(24, 48),
        shortest=(24, 36),
    ),
    text={
        "population": "Take the first ICU stay (by `intime`, then `stay_id`) of each patient in `data/icu/icustays.csv`; "
        "keep it if the patient was at least 18 at `intime` (`anchor_age` + its year - `anchor_year`), `outtime` is at "
        "least $shortest h after `intime`, and there is a measurement in the window.",
        "index_time": "The index time is `intime`.",
        "window": f.CHART_WINDOW,
        "sources": "Tables: `data/hosp/patients.csv`, `data/icu/icustays.csv`, `data/icu/chartevents.csv`, "
        "`data/icu/d_items.csv`.",
        "values": f.SIGN_TEXT,
        "statistic": f.WEIGHTED_TEXT + "Report the median of these means over the stays.",
    },
    sql=SQL,
    answer_sql="SELECT median(tw_mean) FROM vitals",
    slots={
        "age": "anchor_age + year(intime) - anchor_year",
        "stays": "nth = 1",
        "chart_time": "charttime",
        "plausible": "valuenum BETWEEN $low AND $high",
        "same_time": "avg(valuenum)",
        "rows": "c.stay_id",
        "upper": "t < intime + INTERVAL $hours HOUR",
        "mean": "sum(v * seconds) / nullif(sum(seconds), 0)",
    },
    artifacts=(
        Artifact(
            "vitals",
            "one row for each stay of the population",
            ("stay_id",),
            (
                column("stay_id", "int64", "the stay"),
                SUBJECT,
                column("intime", "timestamp", "its start"),
                column("n_obs", "int64", "measurements, those of one time counted once"),
                column("covered_hours", "float64", "hours for which a measurement holds", unit="hours"),
                column("tw_mean", "float64", "time-weighted mean"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer(p["unit"], 2),
    tolerance=f.always("0.05"),
    predicates=lambda p: (
        *keys("vitals"),
        predicate("P_OWNER", "ownership", "vitals", columns=["subject_id"]),
        predicate("P_ANCHOR", "anchor_equals", "vitals", columns=["intime"]),
        predicate("P_COVERED", "domain", "vitals", column="covered_hours", min=0, max=p["hours"]),
        *values("vitals", n_obs=0, covered_hours=0.02, tw_mean=0.03),
        recompute("vitals", "median", 0.1, value="tw_mean"),
    ),
    windows=(
        Window(
            "FROM observed JOIN cohort USING (stay_id)",
            "SELECT intime, charttime AS t FROM cohort JOIN chartevents USING (stay_id)",
            "intime",
            "intime + INTERVAL $hours HOUR",
        ),
    ),
    loosened=({"age": "99"}, {"shortest": "0"}),
    mutations=(
        Mutation("WINDOW_CLOSED", {"upper": "t <= intime + INTERVAL $hours HOUR"}),
        Mutation("STORETIME", {"chart_time": "storetime"}),
        Mutation("ALL_STAYS", {"stays": "true"}),
        Mutation("UNWEIGHTED", {"mean": "avg(v)"}),
        Mutation("SENTINEL_KEPT", {"plausible": "valuenum IS NOT NULL"}),
        Mutation(
            "KEEP_DUPLICATES",
            {"same_time": "valuenum", "rows": "valuenum"},
            only=(("sign", "mean arterial pressure"),),
        ),
        Mutation("AGE_ANCHOR_ONLY", {"age": "anchor_age"}),
    ),
    naive={
        "all_patients": "SELECT avg(v) FROM (SELECT avg(valuenum) AS v FROM chartevents WHERE itemid IN ($items) "
        "GROUP BY subject_id)",
        "all_rows": "SELECT avg(valuenum) FROM chartevents WHERE itemid IN ($items)",
        "first_table_only": "SELECT median(los) FROM icustays",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    patients=110,
    forms=(single(SIGNS),),
)
