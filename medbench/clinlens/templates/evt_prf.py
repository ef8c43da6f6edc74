"""EVT-PRF: intervals of ECGs recorded in hospital."""

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.private import Predicate
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Parameters,
    Template,
    Tolerance,
    column,
    grid,
    keys,
    predicate,
    recompute,
    values,
)
from medbench.clinlens.templates.evt_prf_forms import REPORTS, SINGLE

SQL = (
    f.ECG_SQL
    + f.link_sql("ecg", "study_id, subject_id, t, qrs, qtcb")
    + """
CREATE OR REPLACE TABLE studies AS
SELECT study_id, subject_id, hadm_id, t AS study_time, $interval AS value, rate_hz AS sampling_hz
FROM linked LEFT JOIN wfdb_headers USING (study_id);
"""
)
STATISTICS = (
    {"kind": "median", "statistic": "median(value)", "statistic_text": "the median", "cut": 0, "q": 0},
    {
        "kind": "percentile",
        "statistic": "quantile_cont(value, 0.9)",
        "statistic_text": "the 90th percentile (linear between neighbours)",
        "cut": 0,
        "q": 90,
    },
)


def _statistics() -> list[Parameters]:
    found: list[Parameters] = []
    for interval, name, cuts in (("qtcb", "QTcB", (500, 480)), ("qrs", "QRS", (120, 110))):
        head = {"interval": interval, "interval_name": name}
        found += [{**head, **each} for each in STATISTICS]
        found += [
            {
                **head,
                "kind": "percent",
                "statistic": f"100 * avg((value > {cut})::BIGINT)",
                "statistic_text": f"how many percent are above {cut} ms",
                "cut": cut,
                "q": 0,
            }
            for cut in cuts
        ]
    return found


def _recompute(p: Parameters) -> Predicate:
    names = {"median": "median", "percentile": "percentile", "percent": "percent_above"}
    parameters = {"percentile": {"q": p["q"]}, "percent": {"cut": p["cut"]}}.get(p["kind"], {})
    tolerance = 0.1 if p["kind"] == "percent" else 1
    return recompute("studies", names[p["kind"]], tolerance, parameters, value="value")


TEMPLATE = Template(
    id="EVT-PRF",
    title="Intervals of ECGs in hospital",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "ecg/record_list": ("subject_id", "study_id", "ecg_time", "path"),
        "ecg/machine_measurements": f.ECG_COLUMNS,
    },
    rows={},
    grid=grid(statistic=_statistics(), early=(0, 6, 24)),
    text={
        "population": "Take the ECGs of `data/ecg/machine_measurements.csv` that are linked to an admission.",
        "index_time": f.ECG_TIME_TEXT,
        "window": f.link_text("ECG", "`ecg_time`"),
        "sources": "Tables: `data/hosp/admissions.csv`, `data/ecg/machine_measurements.csv`, `data/ecg/record_list.csv`. "
        "Waveforms of some ECGs: `assets/ecg/<study_id>.hea` and `.dat`.",
        "values": f.ECG_TEXT
        + " ECGs with a missing interval stay in the file of studies with an empty value and do not "
        "count in the statistic.",
        "statistic": "Of the $interval_name of the linked ECGs report $statistic_text. For ECGs with a waveform file give "
        "the sampling rate in its header.",
    },
    sql=SQL,
    answer_sql="SELECT $statistic FROM studies WHERE value IS NOT NULL",
    slots={**f.ECG_SLOTS, **f.LINK_SLOTS},
    artifacts=(
        Artifact(
            "studies",
            "one row for each linked ECG",
            ("study_id",),
            (
                column("study_id", "int64", "the ECG"),
                SUBJECT,
                column("hadm_id", "int64", "the admission it is linked to"),
                column("study_time", "timestamp", "`ecg_time`"),
                column("value", "float64", "the interval, empty where it is missing", null=True, unit="ms"),
                column(
                    "sampling_hz",
                    "int64",
                    "by the header, empty without a waveform file",
                    null=True,
                    unit="Hz",
                ),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer(
        "%" if p["kind"] == "percent" else "ms", 2 if p["kind"] == "percent" else 1
    ),
    tolerance=lambda p: Tolerance("0.05" if p["kind"] == "percent" else "0.5"),
    predicates=lambda p: (
        *keys("studies"),
        predicate("P_OWNER", "ownership", "studies", columns=["subject_id", "hadm_id"]),
        predicate("P_ANCHOR", "anchor_equals", "studies", columns=["study_time"]),
        *values("studies", value=0.02, sampling_hz=0),
        _recompute(p),
    ),
    windows=(f.link_window("SELECT subject_id, t FROM ecg"),),
    loosened=({"link": "true"},),
    mutations=(
        f.SENTINEL_KEPT,
        Mutation("WINDOW_CLOSED", {"link": f.LINK.replace("e.t < a.dischtime", "e.t <= a.dischtime")}),
        Mutation("WINDOW_SHIFT_6H", {"link": f.LINK.replace("$early HOUR", "$early HOUR - INTERVAL 6 HOUR")}),
        f.LINK_NEAREST_ADMISSION,
    ),
    naive={
        "all_patients": "SELECT avg(v) FROM (SELECT avg($interval) AS v FROM ecg GROUP BY subject_id)",
        "all_rows": "SELECT avg(t_end - qrs_onset) FROM ecg_machine_measurements",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "L3", "E1", "Q1"),
    patients=120,
    forms=(SINGLE, REPORTS),
    assets="ecg",
)
