"""EVT-PRD: a new finding on the next radiograph."""

from medbench.clinlens.manifest import NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    Model,
    Mutation,
    Template,
    Window,
    grid,
    keys,
    values,
)
from medbench.clinlens.templates.prediction import (
    PREDICTION_MUTATIONS,
    checks,
    feature,
    features,
    naive,
    predictions,
)

FEATURES = ("age", "is_male", "bnp", "other_lab", "qrs", "uncertain")
SQL = (
    f.CXR_SQL
    + f.ECG_SQL
    + """
CREATE OR REPLACE TABLE landmarks AS
SELECT study_id, subject_id, t AS landmark, next_label, $age AS age, (gender = 'M')::BIGINT AS is_male
FROM (
  SELECT *, lead(t) OVER w AS next_time, lead(label) OVER w AS next_label
  FROM cxr WHERE $before_pairing WINDOW w AS (PARTITION BY subject_id ORDER BY t, study_id)
) c JOIN patients USING (subject_id)
WHERE $negative AND next_label IN (0, 1) AND next_time $within t + INTERVAL $days DAY;
CREATE OR REPLACE TABLE results AS
SELECT study_id, itemid, r.t, v, row_number() OVER (PARTITION BY study_id, itemid ORDER BY r.t DESC, labevent_id DESC) AS nth
FROM landmarks l JOIN (
  SELECT subject_id, hadm_id, labevent_id, itemid, $lab_time AS t, valuenum AS v FROM labevents
  WHERE (itemid = 50963 AND valueuom = 'pg/mL' AND valuenum BETWEEN 1 AND 200000)
    OR (itemid = $lab AND valueuom = '$unit' AND valuenum BETWEEN $low AND $high)
) r USING (subject_id)
WHERE r.t >= landmark - INTERVAL 7 DAY AND $before AND $lab_hadm;
CREATE OR REPLACE TABLE traces AS
SELECT study_id, t, qrs FROM (
  SELECT l.study_id, e.t, e.qrs, row_number() OVER (PARTITION BY l.study_id ORDER BY e.t DESC, e.study_id DESC) AS nth
  FROM landmarks l JOIN ecg e USING (subject_id)
  WHERE e.qrs IS NOT NULL AND e.t < landmark AND e.t >= landmark - INTERVAL 365 DAY
) WHERE nth = 1;
CREATE OR REPLACE TABLE earlier AS
SELECT l.study_id, count(*) AS n FROM landmarks l JOIN cxr x USING (subject_id)
WHERE x.t < landmark AND x.label = -1 GROUP BY l.study_id;
CREATE OR REPLACE TABLE features AS
SELECT study_id, subject_id, landmark, greatest(max(r.t), max(e.t)) AS max_feature_time, age, is_male,
  max(r.v) FILTER (WHERE itemid = 50963 AND nth = 1) AS bnp,
  max(r.v) FILTER (WHERE itemid = $lab AND nth = 1) AS other_lab, max(e.qrs) AS qrs, coalesce(max(n), 0) AS uncertain
FROM landmarks LEFT JOIN results r USING (study_id) LEFT JOIN traces e USING (study_id) LEFT JOIN earlier USING (study_id)
GROUP BY study_id, subject_id, landmark, age, is_male;
CREATE OR REPLACE TABLE labelled AS
SELECT study_id, subject_id, CASE WHEN $split THEN 'test' ELSE 'train' END AS split, next_label::BIGINT AS y_true
FROM landmarks;
"""
)

TEMPLATE = Template(
    id="EVT-PRD",
    title="A new finding on the next radiograph",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "ecg/machine_measurements": f.ECG_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
    },
    rows={"hosp/labevents": "itemid IN (50963, $lab, 50931)"},
    grid=grid(
        finding=[
            {"label": '"Edema"', "finding": "Edema"},
            {"label": '"Pleural Effusion"', "finding": "Pleural Effusion"},
        ],
        days=(3, 7, 5),
        lab=[f.LABS[name] for name in ("creatinine", "white blood cells", "urea nitrogen", "sodium")],
    ),
    text={
        "population": "Take the radiograph studies with $finding = 0 whose next study of the same patient (by time, then "
        "`study_id`, whatever its label) is at most $days days later ($days days included) and has $finding 0 or 1. "
        "Uncertain (-1) and not mentioned (empty) are neither.",
        "index_time": "The landmark is the time of the study. " + f.CXR_TEXT,
        "window": "Test results come from [landmark - 7 d, landmark), the last ECG from [landmark - 365 d, landmark): "
        "starts included, ends not. Outcome: the next study has $finding = 1.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/labevents.csv`, `data/ecg/machine_measurements.csv`, "
        "`data/cxr/mimic-cxr-2.0.0-metadata.csv`, `data/cxr/mimic-cxr-2.0.0-chexpert.csv`.",
        "values": "Features: `age`, `anchor_age` + year of the landmark - `anchor_year`; `is_male`, 1 if `gender` is M, else "
        "0; `bnp`, the last result (by `charttime`, then `labevent_id`) of item 50963 in pg/mL within [1, 200000]; "
        "`other_lab`, the same of item $lab ($lab_name) in $unit within [$low, $high]; `qrs`, the QRS of the last ECG that "
        "has one (by `ecg_time`, then `study_id`); `uncertain`, the number of studies of the patient before the landmark "
        "with $finding = -1. `hadm_id` of results is not used. " + f.ECG_TEXT,
        "statistic": f.MODEL_TEXT + f.AUROC_TEXT,
    },
    sql=SQL,
    answer_sql="",
    slots={
        **f.CXR_SLOTS,
        **f.ECG_SLOTS,
        **f.SPLIT_SLOTS,
        "age": "anchor_age + year(t) - anchor_year",
        "lab_time": "charttime",
        "lab_hadm": "true",
        "before": "r.t < landmark",
        "before_pairing": "true",
        "negative": "label = 0",
        "within": "<=",
    },
    artifacts=(
        features(
            "study_id",
            "radiograph study",
            "result or ECG",
            feature("age", "int64", null=False),
            feature("is_male", "int64", null=False),
            feature("bnp"),
            feature("other_lab"),
            feature("qrs"),
            feature("uncertain", "int64", null=False),
        ),
        predictions("study_id"),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda _: (
        *keys("features", "predictions"),
        *checks(),
        *values("features", age=0, is_male=0, bnp=0.001, other_lab=0.001, qrs=0.01, uncertain=0),
    ),
    windows=(
        Window(
            "FROM results JOIN landmarks USING (study_id)",
            "SELECT landmark, charttime AS t FROM landmarks JOIN labevents USING (subject_id)",
            "landmark - INTERVAL 7 DAY",
            "landmark",
        ),
        Window(
            "FROM traces JOIN landmarks USING (study_id)",
            "SELECT landmark, t FROM landmarks JOIN ecg USING (subject_id)",
            "landmark - INTERVAL 365 DAY",
            "landmark",
        ),
    ),
    loosened=({"negative": "true"}, {"days": "365"}),
    mutations=(
        *PREDICTION_MUTATIONS,
        Mutation("ROW_SPLIT", {"split": "study_id % 10 IN (7, 8, 9)"}),
        Mutation("FUTURE_ROWS", {"before": "true"}),
        Mutation("BLANK_AS_NEGATIVE", {"negative": "coalesce(label, 0) = 0"}),
        Mutation("FILTER_FIRST", {"before_pairing": "label IN (0, 1)"}),
        Mutation("STORETIME", {"lab_time": "storetime"}),
        Mutation("DROP_NULL_HADM", {"lab_hadm": "hadm_id IS NOT NULL"}),
        f.TIME_UNPADDED,
        f.IMAGE_NOT_STUDY,
        f.SENTINEL_KEPT,
        Mutation("AGE_ANCHOR_ONLY", {"age": "anchor_age"}),
    ),
    naive=naive(),
    model=lambda _: Model("study_id", FEATURES),
    conventions=("T1", "T2", "T3", "A1", "C1", "C2", "E1", "S1", "M1"),
    patients=200,
)
