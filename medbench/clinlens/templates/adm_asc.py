"""ADM-ASC: an early abnormal test and death in hospital."""

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
SELECT a.hadm_id, subject_id, admittime, hospital_expire_flag, deathtime, t, v, labevent_id
FROM (
  SELECT *, row_number() OVER (PARTITION BY subject_id ORDER BY admittime $direction, hadm_id) AS nth
  FROM admissions WHERE dischtime > admittime
) a JOIN patients USING (subject_id)
JOIN lab USING (subject_id)
WHERE nth = 1 AND $age >= 18 AND $long_enough
  AND t >= admittime AND $upper;
CREATE OR REPLACE TABLE exposure AS
SELECT hadm_id, subject_id, count(*) AS n, $exposed AS exposed, $died AS died
FROM early GROUP BY hadm_id, subject_id, hospital_expire_flag, deathtime;
CREATE OR REPLACE TABLE table2x2 AS
SELECT e.x = 1 AS exposed, d.x = 1 AS died, (
  SELECT count(*) FROM exposure WHERE exposed = (e.x = 1) AND died = (d.x = 1)) AS n
FROM range(2) e(x), range(2) d(x);
"""
)
NAIVE = """
SELECT (a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5)) FROM (
  SELECT count(*) FILTER (x AND y) AS a, count(*) FILTER (x AND NOT y) AS b, count(*) FILTER (NOT x AND y) AS c,
    count(*) FILTER (NOT x AND NOT y) AS d FROM ($rows))
"""
CUTS = [
    {**f.LABS[name], "cut": cut, "sign": sign, "sign_text": text}
    for name, cuts, sign, text in (
        ("creatinine", (1.2, 1.5), ">", "above"),
        ("lactate", (2.0, 2.5), ">", "above"),
        ("hemoglobin", (10.0, 11.0), "<", "below"),
        ("urea nitrogen", (20, 25), ">", "above"),
        ("white blood cells", (9.0, 11.0), ">", "above"),
        ("potassium", (4.0, 3.8), "<", "below"),
    )
    for cut in cuts
]

TEMPLATE = Template(
    id="ADM-ASC",
    title="Early abnormality and death in hospital",
    tables=f.LAB_TABLES,
    rows=f.LAB_ROWS,
    grid=grid(
        lab=CUTS,
        summary=[
            {"exposed_sql": "bool_or(v $sign $cut)", "exposed_text": "any result in the window is"},
            {
                "exposed_sql": "arg_min(v, (t, labevent_id)) $sign $cut",
                "exposed_text": "the first result in the window (by `charttime`, then `labevent_id`) is",
            },
        ],
    ),
    text={
        "population": "Take the first admission (by `admittime`, then `hadm_id`) of each patient among those whose "
        "`dischtime` is after `admittime`; keep it if the patient was at least 18 then (`anchor_age` + year of "
        "`admittime` - `anchor_year`), if `dischtime` is at least 24 h after `admittime`, and if there is a $lab_name "
        "result in the window.",
        "index_time": "The index time is `admittime`.",
        "window": "Results of the same patient with `charttime` in [`admittime`, `admittime` + 24 h): the start is "
        "included, the end is not.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`.",
        "values": f.LAB_TEXT + " The column `flag` of the laboratory plays no part.",
        "statistic": "Exposed: $exposed_text $sign_text $cut $unit. Died: `hospital_expire_flag` is 1 (`deathtime` may be "
        "empty then). Report the odds ratio of death, exposed against not exposed; if any of the four cells is 0, 0.5 is "
        "added to all four.",
    },
    sql=SQL,
    answer_sql="""
SELECT (a + z) * (d + z) / ((b + z) * (c + z)) FROM (
  SELECT a, b, c, d, CASE WHEN a * b * c * d = 0 THEN 0.5 ELSE 0.0 END AS z FROM (
    SELECT sum(n) FILTER (WHERE exposed AND died)::DOUBLE AS a, sum(n) FILTER (WHERE exposed AND NOT died)::DOUBLE AS b,
      sum(n) FILTER (WHERE NOT exposed AND died)::DOUBLE AS c, sum(n) FILTER (WHERE NOT exposed AND NOT died)::DOUBLE AS d
    FROM table2x2))
""",
    slots={
        **f.LAB_SLOTS,
        **f.ADULT_SLOT,
        "exposed": "$exposed_sql",
        "died": "hospital_expire_flag = 1",
        "direction": "",
        "long_enough": "dischtime >= admittime + INTERVAL 24 HOUR",
        "upper": "t < admittime + INTERVAL 24 HOUR",
    },
    artifacts=(
        Artifact(
            "exposure",
            "one row for each admission of the population",
            ("hadm_id",),
            (
                column("hadm_id", "int64", "the admission"),
                SUBJECT,
                column("n", "int64", "results in the window"),
                column("exposed", "bool", "whether it is exposed"),
                column("died", "bool", "whether the patient died in it"),
            ),
        ),
        Artifact(
            "table2x2",
            "four rows, one for each combination",
            ("exposed", "died"),
            (
                column("exposed", "bool", "as in exposure.csv"),
                column("died", "bool", "as in exposure.csv"),
                column("n", "int64", "admissions"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.002", "0.002"),
    predicates=lambda _: (
        *keys("exposure", "table2x2"),
        predicate("P_OWNER", "ownership", "exposure", columns=["subject_id"]),
        *values("exposure", n=0, exposed=0, died=0),
        predicate("P_TABLE", "values_match", "table2x2", column="n", abs=0),
        recompute("exposure", "odds_ratio", 0.01, exposed="exposed", event="died"),
    ),
    windows=(
        Window(
            "FROM early",
            "SELECT admittime, charttime AS t FROM admissions JOIN labevents USING (subject_id)",
            "admittime",
            "admittime + INTERVAL 24 HOUR",
        ),
    ),
    loosened=({"age": "99"}, {"upper": "true"}, {"long_enough": "true"}),
    mutations=(
        Mutation("WINDOW_CLOSED", {"upper": "t <= admittime + INTERVAL 24 HOUR"}),
        Mutation("CALENDAR_DAY", {"upper": "t < date_trunc('day', admittime) + INTERVAL 1 DAY"}),
        Mutation("LAST_NOT_FIRST", {"direction": "DESC"}),
        Mutation("DEATHTIME", {"died": "deathtime IS NOT NULL"}),
        f.STORETIME,
        f.DROP_NULL_HADM,
        f.AGE_ANCHOR_ONLY,
    ),
    naive={
        "all_patients": NAIVE.replace(
            "$rows",
            "SELECT bool_or(valuenum $sign $cut) AS x, max(hospital_expire_flag) = 1 AS y FROM labevents l "
            "JOIN admissions a ON a.subject_id = l.subject_id WHERE itemid = $lab GROUP BY l.subject_id",
        ),
        "all_rows": NAIVE.replace(
            "$rows",
            "SELECT valuenum $sign $cut AS x, hospital_expire_flag = 1 AS y FROM labevents l "
            "JOIN admissions a ON a.subject_id = l.subject_id WHERE itemid = $lab",
        ),
        "first_table_only": "SELECT avg(hospital_expire_flag) FROM admissions",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    patients=220,
)
