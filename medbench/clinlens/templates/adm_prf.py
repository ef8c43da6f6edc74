"""ADM-PRF: how long a first test takes after admission."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.private import Predicate
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Parameters,
    Template,
    Tolerance,
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
CREATE OR REPLACE TABLE first_lab AS
SELECT hadm_id, subject_id, t0, first_time, epoch(first_time - t0) / 3600 AS hours,
  first_time IS NOT NULL AS measured
FROM (
  SELECT a.hadm_id, a.subject_id, a.admittime AS t0, $which(l.t) AS first_time
  FROM admissions a JOIN patients p USING (subject_id)
  LEFT JOIN lab l ON l.subject_id = a.subject_id AND $window
  WHERE a.dischtime > a.admittime AND admission_type IN ($types) AND $age >= 18
  GROUP BY ALL
);
"""
)
NAIVE = """
SELECT CASE '$kind' WHEN 'percent' THEN 100 * avg((t IS NOT NULL)::BIGINT) ELSE median(epoch(t - admittime) / 3600) END
FROM (SELECT admittime, $time AS t FROM admissions a LEFT JOIN labevents l ON l.subject_id = a.subject_id
  AND itemid = $lab $group)
"""
TYPES = (
    {"types": "'EW EMER.', 'URGENT'", "types_text": "`EW EMER.` or `URGENT`"},
    {"types": "'EW EMER.', 'DIRECT EMER.'", "types_text": "`EW EMER.` or `DIRECT EMER.`"},
)
STATISTICS = (
    {
        "kind": "hours",
        "statistic": "SELECT $average(hours) FROM first_lab WHERE measured",
        "statistic_text": "Report the median of `hours` over the admissions with a result in the window.",
    },
    {
        "kind": "percent",
        "statistic": "SELECT 100 * avg(measured::BIGINT) FROM first_lab",
        "statistic_text": "Report how many percent of the admissions have a result in the window.",
    },
)


def _predicates(p: Parameters) -> tuple[Predicate, ...]:
    return (
        *keys("first_lab"),
        predicate("P_OWNER", "ownership", "first_lab", columns=["subject_id"]),
        predicate("P_ANCHOR", "anchor_equals", "first_lab", columns=["t0"]),
        predicate(
            "P_TIME",
            "time_window",
            "first_lab",
            column="first_time",
            start={"anchor": "t0", "hours": -p["early"]},
            end={"anchor": "t0", "hours": 24},
            closed="left",
        ),
        *values("first_lab", first_time=0, measured=0),
        predicate(
            "P_HOURS",
            "row_formula",
            "first_lab",
            formula="hours_between",
            columns={"start": "t0", "end": "first_time", "result": "hours"},
            abs=0.02,
        ),
        predicate(
            "P_NULL",
            "row_formula",
            "first_lab",
            formula="null_unless",
            columns={"flag": "measured", "value": "first_time"},
            abs=0,
        ),
        recompute("first_lab", "median", 0.04, value="hours")
        if p["kind"] == "hours"
        else recompute("first_lab", "percent_at_least", 0.1, {"cut": 1}, value="measured"),
    )


TEMPLATE = Template(
    id="ADM-PRF",
    title="Time to a first test",
    tables=f.LAB_TABLES,
    rows=f.LAB_ROWS,
    grid=grid(
        lab=[f.LABS[name] for name in ("lactate", "troponin T", "creatinine")],
        early=(0, 6),
        types=TYPES,
        statistic=STATISTICS,
    ),
    text={
        "population": "Take all admissions of `data/hosp/admissions.csv` whose `admission_type` is $types_text, whose "
        "`dischtime` is after their `admittime`, and whose patient was at least 18 at `admittime` (`anchor_age` + its "
        "year - `anchor_year`).",
        "index_time": "The index time t0 is `admittime`.",
        "window": "A result belongs to an admission if it is of the same patient and its `charttime` lies in [t0 - "
        "$early h, t0 + 24 h): the start is included, the end is not. One result may belong to several admissions.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT,
        "statistic": "`hours` is the time from t0 to the first result of the admission, negative for one before t0. "
        "$statistic_text",
    },
    sql=SQL,
    answer_sql="$statistic",
    slots={
        **f.LAB_SLOTS,
        **f.ADULT_SLOT,
        "which": "min",
        "average": "median",
        "window": "l.t >= a.admittime - INTERVAL $early HOUR AND l.t < a.admittime + INTERVAL 24 HOUR",
    },
    artifacts=(
        Artifact(
            "first_lab",
            "one row for each admission of the population",
            ("hadm_id",),
            (
                column("hadm_id", "int64", "the admission"),
                SUBJECT,
                column("t0", "timestamp", "`admittime`"),
                column(
                    "first_time", "timestamp", "`charttime` of the first result, empty without one", null=True
                ),
                column("hours", "float64", "from t0 to it", null=True, unit="hours"),
                column("measured", "bool", "whether there is one"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer("hours" if p["kind"] == "hours" else "%", 2),
    tolerance=lambda p: Tolerance("0.02" if p["kind"] == "hours" else "0.05"),
    predicates=_predicates,
    windows=(
        Window(
            "SELECT t0, first_time AS t FROM first_lab WHERE measured",
            "SELECT admittime AS t0, charttime AS t FROM admissions JOIN labevents USING (subject_id)",
            "t0 - INTERVAL $early HOUR",
            "t0 + INTERVAL 24 HOUR",
        ),
    ),
    loosened=({"age": "99"}, {"types": "SELECT DISTINCT admission_type FROM admissions"}),
    mutations=(
        Mutation(
            "WINDOW_CLOSED",
            {"window": "l.t >= a.admittime - INTERVAL $early HOUR AND l.t <= a.admittime + INTERVAL 24 HOUR"},
        ),
        Mutation(
            "CALENDAR_DAY",
            {
                "window": "l.t >= a.admittime - INTERVAL $early HOUR AND l.t < date_trunc('day', a.admittime) + INTERVAL 1 DAY"
            },
        ),
        Mutation("LAST_NOT_FIRST", {"which": "max"}),
        Mutation("MEAN_FOR_MEDIAN", {"average": "avg"}, only=(("kind", "hours"),)),
        f.STORETIME,
        f.DROP_NULL_HADM,
        f.AGE_ANCHOR_ONLY,
    ),
    naive={
        "all_patients": NAIVE.replace("$time", "min(charttime)").replace(
            "$group", "GROUP BY a.hadm_id, admittime"
        ),
        "all_rows": NAIVE.replace("$time", "charttime").replace("$group", ""),
        "first_table_only": "SELECT avg(hospital_expire_flag) FROM admissions",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
)
