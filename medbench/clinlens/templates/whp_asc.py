"""WHP-ASC: the electrical against the mechanical heart."""

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
    f.ECG_SQL
    + f.LVEF_SQL
    + """
CREATE OR REPLACE TABLE links AS
SELECT e.subject_id, e.study_id, e.qrs, e.t AS ecg_time, u.measurement_id, u.t, u.v
FROM ecg e JOIN lvef u ON u.subject_id = e.subject_id AND $linked
WHERE e.qrs IS NOT NULL;
CREATE OR REPLACE TABLE pairs AS
SELECT subject_id, count(DISTINCT study_id) AS n_ecg,
  $summary(qrs) AS qrs_median, any_n AS n_echo, any_min AS lvef_min
FROM (SELECT DISTINCT subject_id, study_id, qrs FROM links)
JOIN (SELECT subject_id, count(DISTINCT measurement_id) AS any_n, $extreme(v) AS any_min FROM links GROUP BY 1)
  USING (subject_id)
GROUP BY subject_id, any_n, any_min HAVING count(DISTINCT study_id) >= $min_ecg;
CREATE OR REPLACE TABLE recordings AS
SELECT h.study_id, e.subject_id, h.n_leads, h.rate_hz, h.n_samples
FROM wfdb_headers h JOIN ecg e USING (study_id);
"""
)

TEMPLATE = Template(
    id="WHP-ASC",
    title="QRS duration and ejection fraction",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "ecg/machine_measurements": f.ECG_COLUMNS,
        "ecg/record_list": ("subject_id", "study_id", "ecg_time", "path"),
        "echo/structured_measurement": f.ECHO_COLUMNS,
    },
    rows={},
    grid=grid(
        min_ecg=(1, 2),
        days=(90, 180, 270, 365),
        qrs=[
            {"summary": "median", "summary_text": "median"},
            {"summary": "max", "summary_text": "largest"},
            {"summary": "min", "summary_text": "smallest"},
        ],
    ),
    text={
        "population": "Take the patients who have at least $min_ecg linked ECGs. An ECG with a QRS and a transthoracic "
        "study with an ejection fraction, of one patient, are linked if their times are at most $days days apart "
        "($days days exactly included). Studies without a link are left out.",
        "index_time": "There is no index time: every linked study of a patient counts alike.",
        "window": "The window is the whole record.",
        "sources": "Tables: `data/ecg/machine_measurements.csv` (`ecg_time`), `data/ecg/record_list.csv`, "
        "`data/echo/structured-measurement.csv` (`measurement_datetime`). Waveforms of some ECGs: "
        "`assets/ecg/<study_id>.hea` and `.dat`.",
        "values": f"{f.ECG_TEXT} {f.LVEF_TEXT}",
        "statistic": "For each patient take the $summary_text QRS of the linked ECGs, each ECG once, and the lowest "
        "ejection fraction of the linked studies. Report Spearman's rho of the two over the patients, with average "
        "ranks for ties. Read the header of every waveform file, too.",
    },
    sql=SQL,
    answer_sql=f.spearman_sql("pairs", "qrs_median", "lvef_min"),
    slots={
        **f.ECG_SLOTS,
        **f.LVEF_SLOTS,
        "summary": "$summary",
        "extreme": "min",
        "linked": "abs(epoch(u.t - e.t)) <= $days * 86400",
    },
    artifacts=(
        Artifact(
            "pairs",
            "one row for each patient of the population",
            ("subject_id",),
            (
                SUBJECT,
                column("n_ecg", "int64", "linked ECGs"),
                column("qrs_median", "float64", "the QRS of the patient as asked for", unit="ms"),
                column("n_echo", "int64", "linked transthoracic studies"),
                column("lvef_min", "float64", "lowest ejection fraction", unit="%"),
            ),
        ),
        Artifact(
            "recordings",
            "one row for each waveform file in `assets/ecg`",
            ("study_id",),
            (
                column("study_id", "int64", "the ECG"),
                SUBJECT,
                column("n_leads", "int64", "leads by the header"),
                column("rate_hz", "int64", "sampling rate by the header", unit="Hz"),
                column("n_samples", "int64", "samples a lead by the header"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda _: (
        *keys("pairs", "recordings"),
        *values("pairs", n_ecg=0, qrs_median=0.01, n_echo=0, lvef_min=0.01),
        *values("recordings", n_leads=0, rate_hz=0, n_samples=0),
        predicate("P_OWNER", "ownership", "recordings", columns=["subject_id"]),
        recompute("pairs", "spearman", 0.01, x="qrs_median", y="lvef_min"),
    ),
    windows=(
        Window(
            "FROM links",
            "SELECT e.t AS ecg_time, u.t FROM ecg e JOIN lvef u USING (subject_id)",
            "ecg_time - INTERVAL $days DAY",
            "ecg_time + INTERVAL $days DAY",
            is_closed=True,
        ),
    ),
    loosened=({"linked": "true"}, {"min_ecg": "1"}, f.TEE_INCLUDED.slots, f.SENTINEL_KEPT.slots),
    mutations=(
        f.SENTINEL_KEPT,
        f.TEE_INCLUDED,
        Mutation("LINK_ALL", {"linked": "true"}),
        Mutation("MEAN_FOR_MINIMUM", {"extreme": "avg"}),
        Mutation("MEAN_FOR_MEDIAN", {"summary": "avg"}),
    ),
    naive={
        "all_patients": "SELECT corr(q, r) FROM (SELECT subject_id, avg(qrs_end - qrs_onset) AS q FROM "
        "ecg_machine_measurements GROUP BY 1) JOIN (SELECT subject_id, avg(TRY_CAST(result AS DOUBLE)) AS r FROM "
        "echo_structured_measurement GROUP BY 1) USING (subject_id)",
        "all_rows": "SELECT corr(qrs_end - qrs_onset, TRY_CAST(result AS DOUBLE)) FROM ecg_machine_measurements JOIN "
        "echo_structured_measurement USING (subject_id)",
        "first_table_only": "SELECT corr(anchor_age, anchor_year) FROM patients",
    },
    conventions=("T1", "E1", "H1", "Q1"),
    assets="ecg",
)
