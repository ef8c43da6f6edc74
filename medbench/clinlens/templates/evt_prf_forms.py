"""EVT-PRF in its other forms: ECGs of one patient, and how long radiology reports take."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
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

SINGLE_SQL = (
    f.ECG_SQL
    + f.link_sql("ecg", "study_id, subject_id, t")
    + """
CREATE OR REPLACE TABLE measurements AS
SELECT study_id, name AS interval, e.t AS study_time, l.hadm_id, value, l.hadm_id IS NOT NULL AS in_hospital
FROM (
  SELECT study_id, subject_id, t, unnest(['qrs', 'qt', 'qtcb', 'rr']) AS name,
    unnest([qrs, CASE WHEN $qt_ok THEN t_end - qrs_onset END, qtcb, CASE WHEN $rr_ok THEN rr_interval END]) AS value
  FROM ecg JOIN ecg_machine_measurements USING (study_id, subject_id) WHERE subject_id = $index
) e LEFT JOIN linked l USING (study_id);
"""
)
SINGLE_STATISTICS = (
    {"statistic": "median(value)", "statistic_text": "median", "q": 50},
    {"statistic": "quantile_cont(value, 0.75)", "statistic_text": "75th percentile (linear)", "q": 75},
)

SINGLE = Template(
    id="EVT-PRF",
    form="single",
    share=2,
    title="Intervals of the ECGs of one patient",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "ecg/machine_measurements": f.ECG_COLUMNS,
    },
    rows={},
    grid=grid(
        form=("single",),
        interval=("qtcb", "qrs", "qt", "rr"),
        early=(0, 6, 24),
        statistic=SINGLE_STATISTICS,
    ),
    text={
        "population": "The index patient is `subject_id` $index. Other patients of the package play no part.",
        "index_time": f.ECG_TIME_TEXT,
        "window": f.link_text("ECG", "`ecg_time`"),
        "sources": "Tables: `data/hosp/admissions.csv`, `data/ecg/machine_measurements.csv`.",
        "values": f.ECG_TEXT
        + " RR is `rr_interval` in ms, missing at 29999, 0 or below; QT is missing where QTcB is.",
        "statistic": "Give the four intervals of every ECG of the patient: `qrs`, `qt`, `qtcb` and `rr`, empty where "
        "missing. Report the $statistic_text of `$interval` over the ECGs that are linked to an admission and have one.",
    },
    sql=SINGLE_SQL,
    answer_sql="SELECT $statistic FROM measurements WHERE interval = '$interval' AND in_hospital AND value IS NOT NULL",
    slots={
        **f.ECG_SLOTS,
        **f.LINK_SLOTS,
        "rr_ok": "rr_interval > 0 AND rr_interval < 29999",
    },
    artifacts=(
        Artifact(
            "measurements",
            "one row for each interval of each ECG of the index patient",
            ("study_id", "interval"),
            (
                column("study_id", "int64", "the ECG"),
                column("interval", "string", "which interval", enum=("qrs", "qt", "qtcb", "rr")),
                column("study_time", "timestamp", "`ecg_time`"),
                column("hadm_id", "int64", "the admission it is linked to, empty without one", null=True),
                column("value", "float64", "the interval, empty where it is missing", null=True, unit="ms"),
                column("in_hospital", "bool", "whether it is linked to an admission"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("ms", 1),
    tolerance=f.always("0.5"),
    predicates=lambda p: (
        *keys("measurements"),
        predicate("P_OWNER", "ownership", "measurements", columns=["hadm_id", "in_hospital"]),
        predicate("P_ANCHOR", "anchor_equals", "measurements", columns=["study_time"]),
        *values("measurements", value=0.02),
        recompute(
            "measurements",
            "percentile",
            1,
            {"q": p["q"]},
            {"interval": p["interval"], "in_hospital": True},
            value="value",
        ),
    ),
    mutations=(
        Mutation("SENTINEL_KEPT", {**f.SENTINEL_KEPT.slots, "rr_ok": "true"}),
        Mutation("LINK_ANY_TIME", {"link": "true"}),
    ),
    naive={
        "all_patients": "SELECT avg(t_end - qrs_onset) FROM ecg_machine_measurements",
        "all_rows": "SELECT avg(t_end - qrs_onset) FROM ecg_machine_measurements WHERE subject_id = $index",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    index="SELECT subject_id, subject_id FROM ecg GROUP BY subject_id HAVING count(*) >= 8",
    conventions=("T1", "T2", "L3", "E1", "Q1"),
)

REPORTS_SQL = (
    f.CXR_SQL
    + f.link_sql("cxr", "study_id, subject_id, t")
    + """
CREATE OR REPLACE TABLE reported AS
SELECT study_id, n.charttime AS note_time, n.storetime FROM linked l JOIN radiology n USING (subject_id)
WHERE $note AND abs(epoch(n.charttime - l.t)) <= $near * 60
QUALIFY row_number() OVER (
  PARTITION BY study_id ORDER BY abs(epoch(n.charttime - l.t)), n.charttime, n.note_id) = 1;
CREATE OR REPLACE TABLE studies AS
SELECT study_id, subject_id, hadm_id, t AS study_time, epoch($known - t) / 60 AS value
FROM linked LEFT JOIN reported USING (study_id);
"""
)
REPORT_STATISTICS: tuple[Parameters, ...] = (
    {"kind": "median", "statistic": "median(value)", "statistic_text": "the median delay", "cut": 0},
    *(
        {
            "kind": "percent",
            "statistic": f"100 * avg((value > {minutes})::BIGINT)",
            "statistic_text": f"how many percent of the delays are above {minutes} min",
            "cut": minutes,
        }
        for minutes in (120, 180, 240)
    ),
)


def _is_percent(p: Parameters) -> bool:
    return bool(p["kind"] == "percent")


REPORTS = Template(
    id="EVT-PRF",
    form="reports",
    share=3,
    title="Delay of radiology reports",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
        "note/radiology": (
            "note_id",
            "subject_id",
            "hadm_id",
            "note_type",
            "note_seq",
            "charttime",
            "storetime",
        ),
    },
    rows={},
    grid=grid(
        form=("reports",),
        label=('"Edema"',),
        statistic=REPORT_STATISTICS,
        early=(0, 6, 24),
        near=(10, 30, 60),
    ),
    text={
        "population": "Take the radiograph studies that are linked to an admission.",
        "index_time": "The time of a study is that of its images. " + f.CXR_TEXT,
        "window": f.link_text("study", "its time")
        + " The report of a study is the row of `data/note/radiology.csv` of the same patient with `note_type` = `RR` "
        "(addenda are no reports) whose `charttime` is nearest to the time of the study, at most $near min before or "
        "after it, both included; ties go to the earlier `charttime`, then the smaller `note_id`.",
        "sources": "Tables: `data/hosp/admissions.csv`, `data/cxr/mimic-cxr-2.0.0-metadata.csv`, "
        "`data/cxr/mimic-cxr-2.0.0-chexpert.csv`, `data/note/radiology.csv`. Some images: `assets/cxr/`.",
        "values": "The delay of a study is the time from it to the `storetime` of its report, in minutes. Studies "
        "without a report stay in the file with an empty value and do not count in the statistic.",
        "statistic": "Of the linked studies report $statistic_text.",
    },
    sql=REPORTS_SQL,
    answer_sql="SELECT $statistic FROM studies WHERE value IS NOT NULL",
    slots={**f.CXR_SLOTS, **f.LINK_SLOTS, "note": "note_type = 'RR'", "known": "storetime"},
    artifacts=(
        Artifact(
            "studies",
            "one row for each linked study",
            ("study_id",),
            (
                column("study_id", "int64", "the radiograph study"),
                SUBJECT,
                column("hadm_id", "int64", "the admission it is linked to"),
                column("study_time", "timestamp", "its time"),
                column("value", "float64", "the delay, empty without a report", null=True, unit="minutes"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer("%", 2) if _is_percent(p) else NumericAnswer("minutes", 1),
    tolerance=lambda p: Tolerance("0.05" if _is_percent(p) else "0.5"),
    predicates=lambda p: (
        *keys("studies"),
        predicate("P_OWNER", "ownership", "studies", columns=["subject_id", "hadm_id"]),
        predicate("P_ANCHOR", "anchor_equals", "studies", columns=["study_time"]),
        *values("studies", value=0.02),
        recompute("studies", "percent_above", 0.1, {"cut": p["cut"]}, value="value")
        if _is_percent(p)
        else recompute("studies", "median", 1, value="value"),
    ),
    windows=(
        f.link_window("SELECT subject_id, t FROM cxr"),
        Window(
            "SELECT t AS study_time, note_time AS t FROM reported JOIN linked USING (study_id)",
            "SELECT cxr.t AS study_time, charttime AS t FROM cxr JOIN radiology USING (subject_id)",
            "study_time - INTERVAL $near MINUTE",
            "study_time + INTERVAL $near MINUTE",
            is_closed=True,
        ),
    ),
    loosened=({"link": "true"},),
    mutations=(
        Mutation("ADDENDA_TOO", {"note": "true"}),
        Mutation("CHARTTIME_FOR_STORETIME", {"known": "note_time"}),
        f.TIME_UNPADDED,
        f.IMAGE_NOT_STUDY,
        f.LINK_NEAREST_ADMISSION,
    ),
    naive={
        "all_patients": "SELECT avg(epoch(storetime - charttime) / 60) FROM (SELECT subject_id, max(storetime) AS "
        "storetime, min(charttime) AS charttime FROM radiology GROUP BY subject_id)",
        "all_rows": "SELECT avg(epoch(storetime - charttime) / 60) FROM radiology",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "L3", "C2", "Q1"),
    patients=120,
    assets="cxr",
)
