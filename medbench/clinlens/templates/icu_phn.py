"""ICU-PHN: the kind of shock of one stay against reference stays."""

from medbench.clinlens.manifest import Artifact, CategoricalAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import Mutation, Template, Window, column, grid, keys, predicate, values

LABELS = (
    "no shock",
    "vasopressor without hyperlactataemia",
    "hyperlactataemia without vasopressor",
    "cardiogenic pattern",
    "non-cardiogenic shock",
)
SQL = (
    f.LAB_SQL
    + f.LVEF_SQL
    + """
CREATE OR REPLACE TABLE stays AS
SELECT stay_id, i.subject_id, intime, intime + INTERVAL $hours HOUR AS until
FROM icustays i JOIN patients USING (subject_id) WHERE $adult;
CREATE OR REPLACE TABLE lactates AS
SELECT stay_id, intime, until, t, v FROM stays JOIN lab USING (subject_id) WHERE t >= intime AND $lab_end;
CREATE OR REPLACE TABLE maxima AS
SELECT stay_id, count(*) AS n_lactate, max(v) AS lactate_max, arg_max(t, (v, -epoch(t))) AS t
FROM lactates GROUP BY stay_id;
CREATE OR REPLACE TABLE reference AS
SELECT stay_id, n_lactate, lactate_max FROM maxima WHERE $others;
CREATE OR REPLACE TABLE drips AS
SELECT min(starttime) AS t, arg_min(rate, (starttime, itemid, rate)) AS v
FROM inputevents i JOIN stays s USING (stay_id)
WHERE stay_id = $index AND itemid IN ($pressors) AND rate > 0 AND starttime >= intime AND starttime < until;
CREATE OR REPLACE TABLE hearts AS
SELECT t, v FROM stays s JOIN lvef u USING (subject_id)
WHERE stay_id = $index AND abs(epoch(u.t - intime)) <= 48 * 3600
ORDER BY abs(epoch(u.t - intime)), u.t, measurement_id LIMIT 1;
CREATE OR REPLACE TABLE evidence AS
SELECT 'vasopressor' AS criterion, t AS first_time, v::DOUBLE AS value, t IS NOT NULL AS met FROM drips
UNION ALL
SELECT 'hyperlactataemia', m.t, m.lactate_max,
  coalesce(m.lactate_max > greatest($cut, (SELECT median(lactate_max) FROM reference)), false)
FROM (SELECT 1) LEFT JOIN maxima m ON m.stay_id = $index
UNION ALL
SELECT 'low_ejection_fraction', h.t, h.v, coalesce(h.v < 40, false) FROM (SELECT 1) LEFT JOIN hearts h ON true;
"""
)

TEMPLATE = Template(
    id="ICU-PHN",
    title="Kind of shock",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "icu/d_items": f.ITEM_COLUMNS,
        "icu/inputevents": f.INPUT_COLUMNS,
        "echo/structured_measurement": f.ECHO_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        lab=(f.LABS["lactate"],),
        hours=(24, 48),
        reference=(60, 90, 120, 150),
        cut=(2.0, 2.2, 1.8),
        pressors=("221906, 222315, 221289, 221749, 221662",),
    ),
    text={
        "population": "The index stay is `stay_id` $index. Reference stays are all other stays of the package, of patients "
        "at least 18 at `intime` (`anchor_age` + its year - `anchor_year`), with a lactate in their window.",
        "index_time": "The index time of a stay is its `intime`.",
        "window": "[`intime`, `intime` + $hours h) for lactate (`charttime`, same patient) and for vasopressors (`starttime`, "
        "same stay): the start is included, the end is not. For the ejection fraction: at most 48 h before or after "
        "`intime`, both included.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/labevents.csv`, `data/icu/icustays.csv`, "
        "`data/icu/inputevents.csv`, `data/echo/structured-measurement.csv`, `data/icu/d_items.csv`.",
        "values": f.LAB_TEXT + " " + f.LVEF_TEXT + " Vasopressors are items $pressors with `rate` above 0.",
        "statistic": "Vasopressor: met if any started in the window (time and rate of the first one; of several at one "
        "time that of the smallest item, then the smallest rate). Hyperlactataemia: met if the largest lactate of the window (at its first time) is above "
        "both $cut and the median of the largest lactates of the reference stays. Low ejection fraction: met if the one "
        "nearest to `intime` (ties: the earlier) is below 40. Time and value stay empty where there is none. Neither of "
        "the first two: no shock. Only the first: vasopressor without hyperlactataemia. Only the second: hyperlactataemia "
        "without vasopressor. Both with a low ejection fraction: cardiogenic pattern, otherwise non-cardiogenic shock.",
    },
    sql=SQL,
    answer_sql="""
SELECT CASE WHEN NOT v AND NOT y THEN 'no shock' WHEN NOT y THEN 'vasopressor without hyperlactataemia'
  WHEN NOT v THEN 'hyperlactataemia without vasopressor' WHEN e THEN 'cardiogenic pattern' ELSE 'non-cardiogenic shock' END
FROM (SELECT bool_or(met) FILTER (WHERE criterion = 'vasopressor') AS v,
  bool_or(met) FILTER (WHERE criterion = 'hyperlactataemia') AS y,
  bool_or(met) FILTER (WHERE criterion = 'low_ejection_fraction') AS e FROM evidence)
""",
    slots={
        "adult": "anchor_age + year(intime) - anchor_year >= 18",
        **f.LAB_SLOTS,
        **f.LVEF_SLOTS,
        "lab_end": "t < until",
        "others": "stay_id <> $index",
    },
    artifacts=(
        Artifact(
            "evidence",
            "three rows, one for each criterion",
            ("criterion",),
            (
                column(
                    "criterion",
                    "string",
                    "the criterion",
                    enum=("vasopressor", "hyperlactataemia", "low_ejection_fraction"),
                ),
                column("first_time", "timestamp", "time of its value", null=True),
                column("value", "float64", "rate, lactate or ejection fraction", null=True),
                column("met", "bool", "whether it is met"),
            ),
        ),
        Artifact(
            "reference",
            "one row for each reference stay",
            ("stay_id",),
            (
                column("stay_id", "int64", "the stay"),
                column("n_lactate", "int64", "lactates of the window"),
                column("lactate_max", "float64", "largest lactate of the window", unit="mmol/L"),
            ),
        ),
    ),
    answer=lambda _: CategoricalAnswer(LABELS),
    tolerance=lambda _: None,
    predicates=lambda _: (
        *keys("evidence", "reference"),
        *values("evidence", first_time=0, value=0.001, met=0),
        *values("reference", n_lactate=0, lactate_max=0.001),
        predicate("P_DOMAIN", "domain", "reference", column="lactate_max", min=0),
    ),
    windows=(
        Window(
            "FROM lactates",
            "SELECT intime, charttime AS t FROM stays JOIN labevents USING (subject_id)",
            "intime",
            "intime + INTERVAL $hours HOUR",
        ),
    ),
    loosened=({"adult": "true"}, {"lab_end": "true"}),
    mutations=(
        Mutation("WINDOW_CLOSED", {"lab_end": "t <= until"}),
        Mutation("INDEX_IN_REFERENCE", {"others": "true"}),
        f.STORETIME,
        f.DROP_NULL_HADM,
    ),
    subjects="SELECT DISTINCT subject_id FROM stays JOIN reference USING (stay_id)",
    index="SELECT stay_id, subject_id FROM icustays JOIN (SELECT DISTINCT subject_id FROM labevents WHERE itemid = $lab) USING "
    "(subject_id) JOIN patients USING (subject_id) WHERE anchor_age + year(intime) - anchor_year >= 18",
    conventions=("T1", "T2", "T3", "A1", "V1", "V2", "H1", "Q1"),
    fewest_rows=3,
)
