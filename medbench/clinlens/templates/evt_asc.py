"""EVT-ASC: a radiographic finding and the nearest laboratory value."""

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
    + f.CXR_SQL
    + """
CREATE OR REPLACE TABLE cxr_lab AS
SELECT study_id, subject_id, study_time, label, lab_time, lab_value,
  epoch(lab_time - study_time) / 3600 AS gap_hours
FROM (
  SELECT x.study_id, x.subject_id, x.t AS study_time, $positive AS label, l.t AS lab_time, l.v AS lab_value,
    row_number() OVER (PARTITION BY x.study_id ORDER BY abs(epoch(l.t - x.t)), l.t $tie, l.labevent_id) AS nth
  FROM cxr x JOIN lab l ON l.subject_id = x.subject_id AND abs(epoch(l.t - x.t)) $within $limit * 3600
  WHERE x.frontal AND $labelled
) WHERE nth = 1;
"""
)

TEMPLATE = Template(
    id="EVT-ASC",
    title="A radiographic finding and a laboratory value",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        finding=[
            {"label": '"Edema"', "finding": "Edema"},
            {"label": '"Pleural Effusion"', "finding": "Pleural Effusion"},
        ],
        limit=(12, 24, 6),
        lab=[f.LABS[name] for name in ("NTproBNP", "creatinine", "hemoglobin", "white blood cells")],
    ),
    text={
        "population": "Take the radiograph studies with at least one frontal image (`ViewPosition` AP or PA), whose "
        "$finding is 1 (positive) or 0 (negative), and with a $lab_name result near them. Uncertain (-1) and not mentioned "
        "(empty) studies are left out.",
        "index_time": "The index time is the time of the study. " + f.CXR_TEXT,
        "window": "Results of the same patient with `charttime` at most $limit h before or after the study, both ends "
        "included.",
        "sources": "Tables: `data/hosp/labevents.csv`, `data/cxr/mimic-cxr-2.0.0-metadata.csv`, "
        "`data/cxr/mimic-cxr-2.0.0-chexpert.csv`. Some images: `assets/cxr/`.",
        "values": f.LAB_TEXT
        + " Each study gets the result nearest in time; of two equally near the earlier one, then "
        "the smaller `labevent_id`.",
        "statistic": "Report the chance that the result of a positive study is larger than that of a negative one: over all "
        "pairs of a positive and a negative study, the share with a larger result plus half of the share with equal ones.",
    },
    sql=SQL,
    answer_sql="SELECT (sum((p.lab_value > n.lab_value)::BIGINT) + sum((p.lab_value = n.lab_value)::BIGINT) / 2) / count(*) "
    "FROM cxr_lab p, cxr_lab n WHERE p.label AND NOT n.label",
    slots={
        **f.LAB_SLOTS,
        **f.CXR_SLOTS,
        "positive": "label = 1",
        "labelled": "label IN (0, 1)",
        "tie": "",
        "within": "<=",
    },
    artifacts=(
        Artifact(
            "cxr_lab",
            "one row for each study of the population",
            ("study_id",),
            (
                column("study_id", "int64", "the radiograph study"),
                SUBJECT,
                column("study_time", "timestamp", "its time"),
                column("label", "bool", "whether the finding is positive"),
                column("lab_time", "timestamp", "`charttime` of the nearest result"),
                column("lab_value", "float64", "the nearest result"),
                column("gap_hours", "float64", "from the study to the result", unit="hours"),
            ),
        ),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda p: (
        *keys("cxr_lab"),
        predicate("P_OWNER", "ownership", "cxr_lab", columns=["subject_id"]),
        predicate("P_ANCHOR", "anchor_equals", "cxr_lab", columns=["study_time"]),
        predicate("P_LABEL", "label_match", "cxr_lab", columns=["label"]),
        predicate(
            "P_TIME",
            "time_window",
            "cxr_lab",
            column="lab_time",
            start={"anchor": "study_time", "hours": -p["limit"]},
            end={"anchor": "study_time", "hours": p["limit"]},
            closed="both",
        ),
        *values("cxr_lab", lab_time=0, lab_value=0.001),
        predicate(
            "P_GAP",
            "row_formula",
            "cxr_lab",
            formula="hours_between",
            columns={"start": "study_time", "end": "lab_time", "result": "gap_hours"},
            abs=0.02,
        ),
        recompute("cxr_lab", "concordance", 0.01, value="lab_value", group="label"),
    ),
    windows=(
        Window(
            "SELECT study_time, lab_time AS t FROM cxr_lab",
            "SELECT cxr.t AS study_time, charttime AS t FROM cxr JOIN labevents USING (subject_id)",
            "study_time - INTERVAL $limit HOUR",
            "study_time + INTERVAL $limit HOUR",
            is_closed=True,
        ),
    ),
    loosened=({"labelled": "true"}, {"within": "<= 20 *"}),
    mutations=(
        Mutation("WINDOW_OPEN", {"within": "<"}, only=(("lab", 50963), ("limit", 12))),
        Mutation("TIE_TO_LATER", {"tie": "DESC"}, only=(("lab", 50963),)),
        Mutation("UNCERTAIN_AS_POSITIVE", {"positive": "abs(label) = 1", "labelled": "label IN (-1, 0, 1)"}),
        Mutation(
            "BLANK_AS_NEGATIVE",
            {"positive": "coalesce(label, 0) = 1", "labelled": "coalesce(label, 0) IN (0, 1)"},
        ),
        f.TIME_UNPADDED,
        f.IMAGE_NOT_STUDY,
        f.STORETIME,
        f.DROP_NULL_HADM,
    ),
    naive={
        "all_patients": "SELECT avg((p.v > n.v)::BIGINT) FROM (SELECT avg(v) AS v FROM lab JOIN cxr USING (subject_id) "
        "WHERE label = 1 GROUP BY subject_id) p, (SELECT avg(v) AS v FROM lab JOIN cxr USING (subject_id) "
        "WHERE label = 0 GROUP BY subject_id) n",
        "all_rows": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab",
        "first_table_only": "SELECT avg((label = 1)::BIGINT) FROM cxr",
    },
    conventions=("T1", "T3", "C1", "C2", "V1", "V2", "Q1"),
    patients=140,
    assets="cxr",
)
