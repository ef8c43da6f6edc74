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
    Window,
    column,
    grid,
    keys,
    predicate,
    values,
)

LINK = "e.t >= a.admittime - INTERVAL $early HOUR AND e.t < a.dischtime"
# The latest admission that began before the study, else the nearest that began after it.
NEAREST = "(a.admittime <= e.t) DESC, abs(epoch(e.t - a.admittime)), a.hadm_id"
SQL = (
    f.ECG_SQL
    + """
CREATE OR REPLACE TABLE linked AS
SELECT * FROM (
  SELECT e.study_id, e.subject_id, a.hadm_id, e.t AS study_time, e.$interval AS value,
    row_number() OVER (PARTITION BY e.study_id ORDER BY $nearest) AS nth
  FROM ecg e JOIN admissions a ON a.subject_id = e.subject_id AND $link
) WHERE nth = 1;
CREATE OR REPLACE TABLE studies AS
SELECT study_id, subject_id, hadm_id, study_time, value, rate_hz AS sampling_hz
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
    return predicate(
        "P_RECALC",
        "recompute",
        "studies",
        statistic=names[p["kind"]],
        columns={"value": "value"},
        parameters=parameters,
        abs=0.1 if p["kind"] == "percent" else 1,
    )


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
        "index_time": "The time of an ECG is `ecg_time`; its clock runs apart from that of the hospital, which is not "
        "corrected.",
        "window": "An ECG is linked to an admission of the same patient if `ecg_time` lies in [`admittime` - $early h, "
        "`dischtime`): the start is included, the end is not. If several match, take the one with the latest `admittime` "
        "not after the ECG, else the one with the nearest later `admittime`; ties go to the smaller `hadm_id`.",
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
    slots={**f.ECG_SLOTS, "link": LINK, "nearest": NEAREST},
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
    windows=(
        Window(
            "SELECT admittime, dischtime, study_time AS t FROM linked JOIN admissions USING (hadm_id)",
            "SELECT admittime, dischtime, ecg_time AS t FROM admissions JOIN ecg_machine_measurements USING (subject_id)",
            "admittime - INTERVAL $early HOUR",
            "dischtime",
        ),
    ),
    mutations=(
        f.SENTINEL_KEPT,
        Mutation("WINDOW_CLOSED", {"link": LINK.replace("e.t < a.dischtime", "e.t <= a.dischtime")}),
        Mutation("WINDOW_SHIFT_6H", {"link": LINK.replace("$early HOUR", "$early HOUR - INTERVAL 6 HOUR")}),
        Mutation(
            "LINK_NEAREST_ADMISSION", {"link": "true", "nearest": "abs(epoch(e.t - a.admittime)), a.hadm_id"}
        ),
    ),
    naive={
        "all_patients": "SELECT avg(v) FROM (SELECT avg($interval) AS v FROM ecg GROUP BY subject_id)",
        "all_rows": "SELECT avg(t_end - qrs_onset) FROM ecg_machine_measurements",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    conventions=("T1", "T2", "L3", "E1", "Q1"),
    patients=120,
    assets="ecg",
)
