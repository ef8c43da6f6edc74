"""ICU-PRF of one stay: the time-weighted mean from every measurement."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
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

SQL = """
CREATE OR REPLACE TABLE stay AS SELECT stay_id, intime FROM icustays WHERE stay_id = $index;
CREATE OR REPLACE TABLE observed AS
SELECT intime, t, avg(valuenum) AS v FROM stay JOIN (
  SELECT stay_id, $chart_time AS t, valuenum FROM chartevents WHERE itemid IN ($items) AND $plausible
) USING (stay_id) WHERE t >= intime AND $upper GROUP BY intime, t;
CREATE OR REPLACE TABLE measurements AS
SELECT t AS charttime, v AS value,
  epoch(least(lead(t) OVER w, t + INTERVAL $carry HOUR, intime + INTERVAL $hours HOUR) - t) / 3600 AS held_hours
FROM observed WINDOW w AS (ORDER BY t);
"""


def single(signs: list[dict[str, object]]) -> Template:
    """The template for the vital signs of the usual form."""
    return Template(
        id="ICU-PRF",
        form="single",
        share=2,
        title="Time-weighted mean of a vital sign in one stay",
        tables={
            "hosp/patients": f.PATIENT_COLUMNS,
            "icu/icustays": f.STAY_COLUMNS,
            "icu/d_items": f.ITEM_COLUMNS,
            "icu/chartevents": f.CHART_COLUMNS,
        },
        rows={"icu/chartevents": "itemid IN ($items, 220739)"},
        grid=grid(form=("single",), sign=signs, carry=(1, 2, 3, 4), hours=(48, 60)),
        text={
            "population": "The index stay is `stay_id` $index. Other stays of the package play no part.",
            "index_time": "The index time is the `intime` of the stay in `data/icu/icustays.csv`.",
            "window": f.CHART_WINDOW,
            "sources": "Tables: `data/icu/icustays.csv`, `data/icu/chartevents.csv`, `data/icu/d_items.csv`.",
            "values": f.SIGN_TEXT,
            "statistic": f.WEIGHTED_TEXT + "Report this mean.",
        },
        sql=SQL,
        answer_sql="SELECT $mean FROM measurements",
        slots={
            "chart_time": "charttime",
            "plausible": "valuenum BETWEEN $low AND $high",
            "upper": "t < intime + INTERVAL $hours HOUR",
            "mean": "sum(value * held_hours) / nullif(sum(held_hours), 0)",
        },
        artifacts=(
            Artifact(
                "measurements",
                "one row for each measurement of the index stay that counts, those of one time as one",
                ("charttime",),
                (
                    column("charttime", "timestamp", "its time"),
                    column("value", "float64", "its value"),
                    column("held_hours", "float64", "for how long it holds", unit="hours"),
                ),
            ),
        ),
        answer=lambda p: NumericAnswer(p["unit"], 2),
        tolerance=f.always("0.05"),
        predicates=lambda p: (
            *keys("measurements"),
            *values("measurements", value=0.001, held_hours=0.001),
            predicate("P_HELD", "domain", "measurements", column="held_hours", min=0, max=p["carry"]),
            recompute("measurements", "weighted_mean", 0.1, value="value", weight="held_hours"),
        ),
        windows=(
            Window(
                "FROM observed",
                "SELECT intime, charttime AS t FROM stay JOIN chartevents USING (stay_id)",
                "intime",
                "intime + INTERVAL $hours HOUR",
            ),
        ),
        mutations=(
            Mutation("STORETIME", {"chart_time": "storetime"}),
            Mutation("UNWEIGHTED", {"mean": "avg(value)"}),
            Mutation("WHOLE_STAY", {"upper": "true"}),
        ),
        naive={
            "all_patients": "SELECT avg(valuenum) FROM chartevents WHERE itemid IN ($items)",
            "all_rows": "SELECT avg(valuenum) FROM chartevents WHERE itemid IN ($items) AND stay_id = $index",
            "first_table_only": "SELECT median(anchor_age) FROM patients",
        },
        index="SELECT stay_id, min(subject_id) FROM icustays JOIN chartevents USING (stay_id, subject_id) "
        "WHERE itemid IN ($items) AND valuenum BETWEEN $low AND $high AND charttime >= intime "
        "AND charttime < intime + INTERVAL $hours HOUR GROUP BY stay_id HAVING count(DISTINCT charttime) >= 30",
        conventions=("T1", "T2", "T3", "V1", "V2"),
    )
