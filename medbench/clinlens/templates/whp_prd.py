"""WHP-PRD: death or unplanned readmission after the first discharge."""

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

FEATURES = ("age", "los_hours", "creatinine", "other_lab", "edema")
SQL = (
    f.CXR_SQL
    + """
CREATE OR REPLACE TABLE landmarks AS
SELECT subject_id, hadm_id, admittime, dischtime AS landmark, dod, $age AS age FROM (
  SELECT *, row_number() OVER (PARTITION BY subject_id ORDER BY admittime $direction, hadm_id) AS nth
  FROM admissions WHERE dischtime > admittime
) JOIN patients USING (subject_id)
WHERE nth = 1 AND $alive AND $age >= 18;
CREATE OR REPLACE TABLE results AS
SELECT hadm_id, itemid, charttime AS t, labevent_id, valuenum AS v, row_number() OVER (
  PARTITION BY hadm_id, itemid ORDER BY charttime DESC, labevent_id DESC) AS nth
FROM landmarks JOIN (
  SELECT subject_id, itemid, charttime, storetime, labevent_id, valuenum FROM labevents
  WHERE valuenum > 0 AND valuenum < 400
    AND ((itemid = 50912 AND valueuom = 'mg/dL') OR (itemid = $lab AND valueuom = '$unit'))
) USING (subject_id)
WHERE $lab_time >= admittime AND $lab_before;
CREATE OR REPLACE TABLE films AS
SELECT hadm_id, max(t) AS t, max($positive) AS edema
FROM landmarks JOIN cxr USING (subject_id) WHERE t >= admittime AND t < landmark GROUP BY hadm_id;
CREATE OR REPLACE TABLE features AS
SELECT l.subject_id, hadm_id, landmark, greatest(max(r.t), max(x.t)) AS max_feature_time,
  age, epoch(landmark - admittime) / 3600 AS los_hours,
  max(r.v) FILTER (WHERE itemid = 50912 AND nth = 1) AS creatinine,
  max(r.v) FILTER (WHERE itemid = $lab AND nth = 1) AS other_lab,
  coalesce(max(x.edema), 0) AS edema
FROM landmarks l LEFT JOIN results r USING (hadm_id) LEFT JOIN films x USING (hadm_id)
GROUP BY ALL;
CREATE OR REPLACE TABLE labelled AS
SELECT hadm_id, subject_id, CASE WHEN $split THEN 'test' ELSE 'train' END AS split,
  ($death OR EXISTS (
    FROM admissions a WHERE a.subject_id = l.subject_id AND a.dischtime > a.admittime AND $unplanned
      AND a.admittime >= landmark + INTERVAL 1 DAY AND a.admittime <= landmark + INTERVAL $days DAY
  ))::BIGINT AS y_true
FROM landmarks l;
"""
)

TEMPLATE = Template(
    id="WHP-PRD",
    title="Outcome after the first discharge",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "hosp/diagnoses_icd": f.DIAGNOSIS_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
    },
    rows={"hosp/labevents": "itemid IN (50912, $lab, 50931)"},
    grid=grid(
        days=(30, 90, 180, 365),
        lab=[f.LABS[name] for name in ("sodium", "hemoglobin", "urea nitrogen")],
        outcome=[
            {
                "label": '"Edema"',
                "outcome": "death or unplanned readmission",
                "death_sql": "coalesce(dod + INTERVAL 1 DAY > landmark AND dod + INTERVAL 1 DAY <= landmark + "
                "INTERVAL $days DAY, false)",
                "death_text": "The patient dies (`dod`, known at the end of that day, which is 00:00 of the next) in "
                "(landmark, landmark + $days d], or",
            },
            {
                "label": '"Edema"',
                "outcome": "unplanned readmission",
                "death_sql": "false",
                "death_text": "Deaths do not count;",
            },
        ],
    ),
    text={
        "population": "Take the first admission (by `admittime`, then `hadm_id`) of each patient among those whose "
        "`dischtime` is after `admittime`; keep it if the patient was at least 18 then (`anchor_age` + year of "
        "`admittime` - `anchor_year`) and `hospital_expire_flag` is 0.",
        "index_time": "The landmark is the `dischtime` of this admission.",
        "window": "Features come from [`admittime`, landmark), its end not included. The outcome is $outcome after the "
        "landmark: $death_text an admission whose `admission_type` is not `ELECTIVE` and whose `dischtime` is after its "
        "`admittime` begins in [landmark + 1 d, landmark + $days d], both included (earlier ones are transfers).",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`, "
        "`data/cxr/mimic-cxr-2.0.0-metadata.csv`, `data/cxr/mimic-cxr-2.0.0-chexpert.csv`. Diagnosis codes in "
        "`data/hosp/diagnoses_icd.csv` are known after discharge only and must not be used.",
        "values": "Features: `age` in years at `admittime`; `los_hours` from `admittime` to the landmark; `creatinine`, "
        "the last result (by `charttime`, then `labevent_id`) of item 50912 in mg/dL with `valuenum` above 0 and below "
        "400 in the window; `other_lab`, the same for item $lab ($lab_name) in $unit; `edema`, 1 if any "
        "radiograph study in the window has Edema = 1 (-1 is uncertain and empty is not mentioned: both 0), else 0. "
        "`hadm_id` of results is not used. " + f.CXR_TEXT,
        "statistic": f.MODEL_TEXT + f.AUROC_TEXT,
    },
    sql=SQL,
    answer_sql="",
    slots={
        **f.CXR_SLOTS,
        **f.ADULT_SLOT,
        **f.SPLIT_SLOTS,
        "lab_time": "charttime",
        "lab_before": "charttime < landmark",
        "positive": "(label = 1)::BIGINT",
        "direction": "",
        "alive": "hospital_expire_flag = 0",
        "unplanned": "admission_type <> 'ELECTIVE'",
        "death": "$death_sql",
    },
    artifacts=(
        features(
            "hadm_id",
            "admission",
            "result or study",
            feature("age", "int64", null=False),
            feature("los_hours", null=False),
            feature("creatinine"),
            feature("other_lab"),
            feature("edema", "int64", null=False),
        ),
        predictions("hadm_id"),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda _: (
        *keys("features", "predictions"),
        *checks(),
        *values("features", age=0, los_hours=0.02, creatinine=0.001, other_lab=0.001, edema=0),
    ),
    windows=(
        Window(
            "FROM results JOIN landmarks USING (hadm_id)",
            "SELECT admittime, landmark, charttime AS t FROM landmarks JOIN labevents USING (subject_id)",
            "admittime",
            "landmark",
        ),
        Window(
            "FROM films JOIN landmarks USING (hadm_id)",
            "SELECT admittime, landmark, t FROM landmarks JOIN cxr USING (subject_id)",
            "admittime",
            "landmark",
        ),
    ),
    loosened=({"age": "99"}, {"alive": "true"}),
    mutations=(
        *PREDICTION_MUTATIONS,
        Mutation("FUTURE_ROWS", {"lab_before": "true"}),
        Mutation("STORETIME", {"lab_time": "storetime", "lab_before": "storetime < landmark"}),
        Mutation("LAST_NOT_FIRST", {"direction": "DESC"}),
        Mutation("UNCERTAIN_AS_POSITIVE", {"positive": "(abs(label) = 1)::BIGINT"}),
        f.TIME_UNPADDED,
        f.AGE_ANCHOR_ONLY,
        Mutation("PLANNED_TOO", {"unplanned": "true"}),
    ),
    naive=naive(),
    model=lambda _: Model("hadm_id", FEATURES),
    conventions=("T1", "T2", "T3", "T4", "A1", "C1", "C2", "S1", "M1"),
    patients=320,
)
