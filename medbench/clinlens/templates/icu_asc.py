"""ICU-ASC: an early laboratory value and the length of stay."""

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
CREATE OR REPLACE TABLE early AS
SELECT i.stay_id, i.subject_id, i.los, i.intime, l.t, l.v, l.labevent_id
FROM icustays i JOIN admissions a USING (hadm_id) JOIN patients p ON p.subject_id = i.subject_id
JOIN lab l ON l.subject_id = i.subject_id AND $window
WHERE $survived AND $age >= 18;
CREATE OR REPLACE TABLE assoc AS
SELECT stay_id, subject_id, $summary AS lactate_max, los AS los_days FROM early GROUP BY stay_id, subject_id, los;
"""
)
WINDOW = "l.t >= i.intime AND l.t < i.intime + INTERVAL $hours HOUR"

TEMPLATE = Template(
    id="ICU-ASC",
    title="Early laboratory value and length of stay",
    tables={**f.LAB_TABLES, "icu/icustays": f.STAY_COLUMNS},
    rows=f.LAB_ROWS,
    grid=grid(
        hours=(12, 24),
        lab=[f.LABS[name] for name in ("lactate", "creatinine", "white blood cells", "urea nitrogen")],
        summary=[
            {"summary_sql": "max(v)", "summary_text": "largest"},
            {
                "summary_sql": "arg_min(v, (t, labevent_id))",
                "summary_text": "first (by `charttime`, `labevent_id`)",
            },
            {"summary_sql": "min(v)", "summary_text": "smallest"},
        ],
    ),
    text={
        "population": "Take all ICU stays of patients at least 18 years old at `intime` (`anchor_age` + its year - "
        "`anchor_year`) whose admission has `hospital_expire_flag` = 0 and which have a $lab_name result in the window.",
        "index_time": "The index time is `intime`.",
        "window": "Results of the same patient with `charttime` in [`intime`, `intime` + $hours h): the start is included, "
        "the end is not. Laboratory results have no `stay_id`.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`, "
        "`data/icu/icustays.csv`.",
        "values": f.LAB_TEXT + " The length of stay is `los`.",
        "statistic": "For each stay take the $summary_text result of the window. Report Spearman's rho of it and the "
        "length of stay over the stays, with average ranks for ties.",
    },
    sql=SQL,
    answer_sql=f.spearman_sql("assoc", "lactate_max", "los_days"),
    slots={
        **f.LAB_SLOTS,
        "summary": "$summary_sql",
        "window": WINDOW,
        "survived": "hospital_expire_flag = 0",
        "age": "anchor_age + year(intime) - anchor_year",
    },
    artifacts=(
        Artifact(
            "assoc",
            "one row for each stay of the population",
            ("stay_id",),
            (
                column("stay_id", "int64", "the stay"),
                SUBJECT,
                column("lactate_max", "float64", "the result of the stay as asked for"),
                column("los_days", "float64", "length of stay", unit="days"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda _: (
        *keys("assoc"),
        predicate("P_OWNER", "ownership", "assoc", columns=["subject_id"]),
        *values("assoc", lactate_max=0.006, los_days=0.001),
        recompute("assoc", "spearman", 0.01, x="lactate_max", y="los_days"),
    ),
    windows=(
        Window(
            "FROM early",
            "SELECT intime, charttime AS t FROM icustays JOIN labevents USING (subject_id)",
            "intime",
            "intime + INTERVAL $hours HOUR",
        ),
    ),
    loosened=({"age": "99"}, {"survived": "true"}, {"window": "l.t >= i.intime"}),
    mutations=(
        Mutation(
            "WINDOW_CLOSED",
            {"window": WINDOW.replace("l.t < i.intime +", "l.t <= i.intime +")},
            only=(("lab", 50813),),
        ),
        Mutation("PATIENT_LEVEL_JOIN", {"window": "l.t >= a.admittime AND l.t < a.dischtime"}),
        Mutation("INCLUDE_DEATHS", {"survived": "true"}),
        Mutation("AGE_ANCHOR_ONLY", {"age": "anchor_age"}),
        f.STORETIME,
        f.DROP_NULL_HADM,
    ),
    naive={
        "all_patients": "SELECT corr(v, los) FROM (SELECT subject_id, max(valuenum) AS v FROM labevents WHERE itemid = $lab "
        "GROUP BY 1) JOIN (SELECT subject_id, sum(los) AS los FROM icustays GROUP BY 1) USING (subject_id)",
        "all_rows": "SELECT corr(valuenum, los) FROM labevents JOIN icustays USING (subject_id) WHERE itemid = $lab",
        "first_table_only": "SELECT avg(los) FROM icustays",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    patients=120,
)
