"""ICU-CHG: blood pressure before and after a vasopressor starts."""

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

BEFORE = "t >= t0 - INTERVAL $pre MINUTE AND t < t0"
AFTER = "t >= t0 + INTERVAL $post_from MINUTE AND t < t0 + INTERVAL 180 MINUTE"
SQL = """
CREATE OR REPLACE TABLE first_start AS
SELECT stay_id, subject_id, $which(starttime) AS t0 FROM inputevents
WHERE itemid = 221906 AND $running GROUP BY stay_id, subject_id;
CREATE OR REPLACE TABLE eligible AS
SELECT stay_id, t0 FROM first_start s JOIN patients USING (subject_id)
WHERE $adult AND NOT ($washout AND EXISTS (
  FROM inputevents i WHERE i.stay_id = s.stay_id AND i.itemid IN (222315, 221289, 221749, 221662) AND i.rate > 0
    AND i.starttime < t0 AND i.endtime > t0 - INTERVAL $free HOUR));
CREATE OR REPLACE TABLE pressure AS
SELECT stay_id, t, avg(valuenum) AS v FROM (
  SELECT stay_id, $chart_time AS t, valuenum FROM chartevents WHERE itemid IN (220052, 220181) AND $plausible
) GROUP BY stay_id, t;
CREATE OR REPLACE TABLE around AS
SELECT *, $before AS is_pre, $after AS is_post FROM eligible JOIN pressure USING (stay_id);
CREATE OR REPLACE TABLE pressor AS
SELECT stay_id, t0, pre_n, pre_mean, post_n, post_mean, $delta AS delta FROM (
  SELECT stay_id, t0, count(v) FILTER (is_pre) AS pre_n, avg(v) FILTER (is_pre) AS pre_mean,
    count(v) FILTER (is_post) AS post_n, avg(v) FILTER (is_post) AS post_mean
  FROM around GROUP BY stay_id, t0
) WHERE pre_n > 0 AND post_n > 0;
"""

TEMPLATE = Template(
    id="ICU-CHG",
    title="Blood pressure around the start of norepinephrine",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "icu/d_items": f.ITEM_COLUMNS,
        "icu/inputevents": f.INPUT_COLUMNS,
        "icu/chartevents": f.CHART_COLUMNS,
    },
    rows={"icu/chartevents": "itemid IN (220052, 220181, 220045)"},
    grid=grid(pre=(120, 180, 90), post_from=(60, 30), free=(6, 4, 2, 8)),
    text={
        "population": "Take the ICU stays with norepinephrine (`itemid` 221906, `rate` above 0) in which no other "
        "vasopressor (items 222315, 221289, 221749, 221662, `rate` above 0) ran in the $free h before the index time "
        "(`starttime` before the index time and `endtime` after index time - $free h). The patient must be at least 18 in "
        "the year of the index time (`anchor_age` + its year - `anchor_year`), with a pressure on both sides of it.",
        "index_time": "The index time t0 is the first `starttime` of such a norepinephrine row of the stay; later starts "
        "belong to the same episode or to later ones and do not matter.",
        "window": "Before: `charttime` in [t0 - $pre min, t0). After: `charttime` in [t0 + $post_from min, t0 + 180 min). "
        "The starts are included, the ends are not.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/icu/icustays.csv`, `data/icu/inputevents.csv`, "
        "`data/icu/chartevents.csv`, `data/icu/d_items.csv`.",
        "values": "A mean arterial pressure counts if its `itemid` is 220052 or 220181 and `valuenum` lies in [20, 200] "
        "mmHg. All such values of one stay at the same `charttime` make one: their mean.",
        "statistic": "For each stay take the mean of the pressures before and of those after; the change is after minus "
        "before. Report the mean change over the stays.",
    },
    sql=SQL,
    answer_sql="SELECT avg(delta) FROM pressor",
    slots={
        "adult": "anchor_age + year(t0) - anchor_year >= 18",
        "which": "min",
        "running": "rate > 0",
        "washout": "true",
        "chart_time": "charttime",
        "plausible": "valuenum BETWEEN 20 AND 200",
        "before": BEFORE,
        "after": AFTER,
        "delta": "post_mean - pre_mean",
    },
    artifacts=(
        Artifact(
            "pressor",
            "one row for each stay of the population",
            ("stay_id",),
            (
                column("stay_id", "int64", "the stay"),
                column("t0", "timestamp", "first start of norepinephrine"),
                column("pre_n", "int64", "pressures before"),
                column("pre_mean", "float64", "their mean", unit="mmHg"),
                column("post_n", "int64", "pressures after"),
                column("post_mean", "float64", "their mean", unit="mmHg"),
                column("delta", "float64", "after minus before", unit="mmHg"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("mmHg", 2),
    tolerance=f.always("0.05"),
    predicates=lambda _: (
        *keys("pressor"),
        predicate("P_ANCHOR", "anchor_equals", "pressor", columns=["t0"]),
        *values("pressor", pre_n=0, pre_mean=0.02, post_n=0, post_mean=0.02),
        *change("pressor", "pre_mean", "post_mean", "mean", 0.05, 0.03),
    ),
    windows=f.around(
        "chartevents USING (stay_id)",
        before=("t0 - INTERVAL $pre MINUTE", "t0"),
        after=("t0 + INTERVAL $post_from MINUTE", "t0 + INTERVAL 180 MINUTE"),
    ),
    loosened=(
        {"running": "true"},
        {"washout": "false"},
        {"adult": "true"},
        {"before": "t < t0"},
        {"after": "t >= t0"},
    ),
    mutations=(
        Mutation("WINDOW_CLOSED", {"before": BEFORE.replace("t < t0", "t <= t0")}),
        Mutation("WINDOW_CLOSED_END", {"after": AFTER.replace("t < t0 +", "t <= t0 +")}),
        Mutation("LAST_NOT_FIRST", {"which": "max"}),
        Mutation("STOPPED_KEPT", {"running": "true"}),
        Mutation("NO_WASHOUT", {"washout": "false"}),
        Mutation("STORETIME", {"chart_time": "storetime"}),
        Mutation("SIGN", {"delta": "pre_mean - post_mean"}),
    ),
    naive={
        "all_patients": "SELECT avg(d) FROM (SELECT arg_max(valuenum, charttime) - arg_min(valuenum, charttime) AS d "
        "FROM chartevents WHERE itemid IN (220052, 220181) GROUP BY stay_id)",
        "all_rows": "SELECT avg(valuenum) FROM chartevents WHERE itemid IN (220052, 220181)",
        "first_table_only": "SELECT avg(los) FROM icustays",
    },
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "Q1"),
    subjects="SELECT DISTINCT subject_id FROM icustays WHERE stay_id IN (SELECT stay_id FROM pressor)",
    patients=110,
    fewest_rows=20,
)
