"""EVT-CHG: the change between two echocardiograms, with and without an event between them."""

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

SQL = """
CREATE OR REPLACE TABLE echos AS
SELECT subject_id, measurement_id, min(measurement_datetime) AS t,
  avg(TRY_CAST(result AS DOUBLE)) FILTER (WHERE measurement = 'lvef') AS v
FROM echo_structured_measurement WHERE $tte GROUP BY subject_id, measurement_id;
CREATE OR REPLACE TABLE neighbours AS
SELECT subject_id, measurement_id AS prev_measurement_id, t AS prev_time, v AS lvef_prev,
  lead(measurement_id) OVER w AS next_measurement_id, lead(t) OVER w AS next_time, lead(v) OVER w AS lvef_next
FROM echos WHERE $before_pairing WINDOW w AS (PARTITION BY subject_id ORDER BY t, measurement_id);
CREATE OR REPLACE TABLE events AS $events;
CREATE OR REPLACE TABLE echo_pairs AS
SELECT prev_measurement_id, next_measurement_id, subject_id, prev_time, next_time, lvef_prev, lvef_next,
  EXISTS (FROM events e WHERE e.subject_id = n.subject_id AND $since AND $until) AS intervening
FROM neighbours n
WHERE lvef_prev IS NOT NULL AND lvef_next IS NOT NULL
  AND epoch(next_time - prev_time) >= $least * 86400 AND epoch(next_time - prev_time) <= $most * 86400;
"""
HEART_FAILURE = (
    "SELECT a.subject_id, a.admittime AS t FROM admissions a WHERE EXISTS (FROM diagnoses_icd d WHERE d.hadm_id = "
    "a.hadm_id AND ((icd_version = 10 AND icd_code LIKE 'I50%') OR (icd_version = 9 AND icd_code LIKE '428%')))"
)

TEMPLATE = Template(
    id="EVT-CHG",
    title="Change between consecutive echocardiograms",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "hosp/diagnoses_icd": f.DIAGNOSIS_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "echo/structured_measurement": f.ECHO_COLUMNS,
        "echo/record_list": ("subject_id", "study_id", "acquisition_datetime", "dicom_filepath"),
    },
    rows={},
    grid=grid(
        event=[
            {
                "event_sql": HEART_FAILURE,
                "event_text": "`admittime` of an admission with a diagnosis code that begins with I50 (`icd_version` 10) or "
                "428 (`icd_version` 9)",
            },
            {
                "event_sql": "SELECT subject_id, intime AS t FROM icustays",
                "event_text": "`intime` of an ICU stay",
            },
        ],
        least=(30, 14, 7, 60),
        most=(365, 270, 180),
    ),
    text={
        "population": "Take pairs of consecutive transthoracic studies (`test_type` = `TTE`) of one patient, ordered by "
        "time, then `measurement_id`. Pairs are formed of all such studies first; then those pairs stay whose two studies "
        "have an ejection fraction and whose times are at least $least and at most $most days apart (both included).",
        "index_time": "The time of a study is the earliest `measurement_datetime` of its rows with that `test_type`.",
        "window": "An event intervenes if its time is in [time of the first study, time of the second study): the start is "
        "included, the end is not. The event is the $event_text.",
        "sources": "Tables: `data/hosp/admissions.csv`, `data/hosp/diagnoses_icd.csv`, `data/icu/icustays.csv`, "
        "`data/echo/structured-measurement.csv`. Some clips: `assets/echo/`.",
        "values": f.LVEF_TEXT,
        "statistic": "The change of a pair is the second ejection fraction minus the first. Report the mean change of the "
        "pairs with an intervening event minus the mean change of those without.",
    },
    sql=SQL,
    answer_sql="SELECT avg(lvef_next - lvef_prev) FILTER (WHERE intervening) - avg(lvef_next - lvef_prev) FILTER (WHERE NOT "
    "intervening) FROM echo_pairs",
    slots={
        **f.LVEF_SLOTS,
        "before_pairing": "true",
        "events": "$event_sql",
        "since": "e.t >= prev_time",
        "until": "e.t < next_time",
    },
    artifacts=(
        Artifact(
            "echo_pairs",
            "one row for each pair",
            ("prev_measurement_id", "next_measurement_id"),
            (
                column("prev_measurement_id", "int64", "first study"),
                column("next_measurement_id", "int64", "second study"),
                SUBJECT,
                column("prev_time", "timestamp", "time of the first"),
                column("next_time", "timestamp", "time of the second"),
                column("lvef_prev", "float64", "ejection fraction of the first", unit="%"),
                column("lvef_next", "float64", "ejection fraction of the second", unit="%"),
                column("intervening", "bool", "whether an event intervenes"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("percentage points", 2),
    tolerance=f.always("0.01"),
    predicates=lambda _: (
        *keys("echo_pairs"),
        predicate("P_OWNER", "ownership", "echo_pairs", columns=["subject_id"]),
        predicate("P_ANCHOR", "anchor_equals", "echo_pairs", columns=["prev_time", "next_time"]),
        predicate("P_LABEL", "label_match", "echo_pairs", columns=["intervening"]),
        *values("echo_pairs", lvef_prev=0.01, lvef_next=0.01),
        recompute(
            "echo_pairs",
            "difference_of_mean_change",
            0.02,
            before="lvef_prev",
            after="lvef_next",
            group="intervening",
        ),
    ),
    windows=(
        Window(
            "SELECT prev_time, next_time AS t FROM echo_pairs",
            "SELECT prev_time, next_time AS t FROM neighbours",
            "prev_time + INTERVAL $least DAY",
            "prev_time + INTERVAL $most DAY",
            is_closed=True,
        ),
    ),
    loosened=({"least": "0"}, {"most": "3650"}, f.TEE_INCLUDED.slots),
    mutations=(
        Mutation("FILTER_FIRST", {"before_pairing": "v IS NOT NULL"}),
        f.TEE_INCLUDED,
        Mutation("EVER_BEFORE", {"since": "true"}),
        Mutation("FUTURE_ROWS", {"until": "true"}),
    ),
    naive={
        "all_patients": "SELECT avg(arg_max_v - arg_min_v) FROM (SELECT arg_max(v, (t, measurement_id)) AS arg_max_v, "
        "arg_min(v, (t, measurement_id)) AS arg_min_v FROM echos GROUP BY subject_id)",
        "all_rows": "SELECT avg(TRY_CAST(result AS DOUBLE)) FROM echo_structured_measurement",
        "first_table_only": "SELECT avg(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "H1", "Q1"),
    patients=200,
    fewest_rows=20,
    assets="echo",
)
