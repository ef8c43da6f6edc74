"""ADM-PRD: intensive care or death after the first day, from the first day."""

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

FEATURES = ("age", "emergency", "creatinine", "other_lab", "n_results", "edema", "qrs")
SQL = (
    f.CXR_SQL
    + f.ECG_SQL
    + """
CREATE OR REPLACE TABLE landmarks AS
SELECT a.subject_id, a.hadm_id, admittime, dischtime, deathtime, hospital_expire_flag,
  admittime + INTERVAL 24 HOUR AS landmark, $age AS age, (edregtime IS NOT NULL)::BIGINT AS emergency
FROM admissions a JOIN patients USING (subject_id)
WHERE $still_there AND $age >= 18
  AND (deathtime IS NULL OR deathtime > admittime + INTERVAL 24 HOUR)
  AND $elsewhere;
CREATE OR REPLACE TABLE results AS
SELECT l.hadm_id, itemid, t, v FROM landmarks l JOIN (
  SELECT subject_id, hadm_id AS own_hadm, itemid, $lab_time AS t, valuenum AS v FROM labevents
  WHERE valuenum > 0 AND valuenum < 400
    AND ((itemid = 50912 AND valueuom = 'mg/dL') OR (itemid = $lab AND valueuom = '$unit'))
) r USING (subject_id)
WHERE t >= admittime AND $before AND $lab_link;
CREATE OR REPLACE TABLE films AS
SELECT l.hadm_id, max(x.t) AS t, max($positive) AS edema
FROM landmarks l JOIN cxr x USING (subject_id)
WHERE x.t >= admittime - INTERVAL 6 HOUR AND x.t < landmark GROUP BY l.hadm_id;
CREATE OR REPLACE TABLE traces AS
SELECT l.hadm_id, max(e.t) AS t, max(e.qrs) AS qrs
FROM landmarks l JOIN ecg e USING (subject_id)
WHERE e.t >= admittime - INTERVAL 6 HOUR AND e.t < landmark AND e.qrs IS NOT NULL GROUP BY l.hadm_id;
CREATE OR REPLACE TABLE features AS
SELECT hadm_id, subject_id, landmark, greatest(max(r.t), max(x.t), max(e.t)) AS max_feature_time,
  age, emergency, max(v) FILTER (WHERE itemid = 50912) AS creatinine, max(v) FILTER (WHERE itemid = $lab) AS other_lab,
  count(v) AS n_results, coalesce(max(x.edema), 0) AS edema, max(e.qrs) AS qrs
FROM landmarks LEFT JOIN results r USING (hadm_id) LEFT JOIN films x USING (hadm_id) LEFT JOIN traces e USING (hadm_id)
GROUP BY ALL;
CREATE OR REPLACE TABLE labelled AS
SELECT hadm_id, subject_id, CASE WHEN $split THEN 'test' ELSE 'train' END AS split,
  (EXISTS (FROM icustays i WHERE i.hadm_id = l.hadm_id AND i.intime $from landmark
     AND i.intime < admittime + INTERVAL $until HOUR) OR $death)::BIGINT AS y_true
FROM landmarks l;
"""
)

TEMPLATE = Template(
    id="ADM-PRD",
    title="Deterioration after 24 hours",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "hosp/transfers": (
            "subject_id",
            "hadm_id",
            "transfer_id",
            "eventtype",
            "careunit",
            "intime",
            "outtime",
        ),
        "hosp/labevents": f.LAB_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
        "ecg/machine_measurements": f.ECG_COLUMNS,
    },
    rows={"hosp/labevents": "itemid IN (50912, $lab, 50931)"},
    grid=grid(
        until=(72, 48, 96),
        lab=[f.LABS[name] for name in ("white blood cells", "urea nitrogen", "sodium", "lactate")],
        outcome=[
            {
                "label": '"Edema"',
                "death_sql": "false",
                "outcome_text": "an ICU stay of the admission begins (`intime`) in [landmark, `admittime` + $until h)",
            },
            {
                "label": '"Edema"',
                "death_sql": "coalesce(deathtime < admittime + INTERVAL $until HOUR, false)",
                "outcome_text": "an ICU stay of the admission begins (`intime`), or the patient dies (`deathtime`; an "
                "empty one is no death), in [landmark, `admittime` + $until h)",
            },
        ],
    ),
    text={
        "population": "Take all admissions whose patient was at least 18 at `admittime` (`anchor_age` + its year - "
        "`anchor_year`) and which at the landmark are still in hospital (`dischtime` after it), alive (`deathtime` "
        "empty or after it) and not in intensive care (no stay of the admission with `intime` before and `outtime` "
        "after it).",
        "index_time": "The landmark is `admittime` + 24 h.",
        "window": "Test results come from [`admittime`, landmark), radiographs and ECGs from [`admittime` - 6 h, "
        "landmark): starts included, ends not. All are of the same patient. The outcome: $outcome_text.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`, "
        "`data/icu/icustays.csv`, `data/cxr/mimic-cxr-2.0.0-metadata.csv`, `data/cxr/mimic-cxr-2.0.0-chexpert.csv`, "
        "`data/ecg/machine_measurements.csv`.",
        "values": "Features: `age` in years; `emergency`, 1 if `edregtime` is given, else 0; `creatinine`, the largest "
        "result of item 50912 in mg/dL; `other_lab`, the largest of item $lab ($lab_name) in $unit; `n_results`, the "
        "number of all rows of both; results count if `valuenum` is above 0 and below 400, by `charttime`, and "
        "duplicates stay; `edema`, 1 if any radiograph study has Edema = 1 (-1 is uncertain and empty is not "
        "mentioned: both 0), else 0; `qrs`, the largest QRS. `hadm_id` of results is not used. "
        + f.CXR_TEXT
        + " "
        + f.ECG_TEXT,
        "statistic": f.MODEL_TEXT + f.AUROC_TEXT,
    },
    sql=SQL,
    answer_sql="",
    slots={
        **f.CXR_SLOTS,
        **f.ECG_SLOTS,
        **f.ADULT_SLOT,
        **f.SPLIT_SLOTS,
        "lab_time": "charttime",
        "lab_link": "true",
        "still_there": "dischtime > admittime + INTERVAL 24 HOUR",
        "elsewhere": "NOT EXISTS (FROM icustays i WHERE i.hadm_id = a.hadm_id "
        "AND i.intime < admittime + INTERVAL 24 HOUR AND i.outtime > admittime + INTERVAL 24 HOUR)",
        "before": "t < landmark",
        "positive": "(label = 1)::BIGINT",
        "from": ">=",
        "death": "$death_sql",
    },
    artifacts=(
        features(
            "hadm_id",
            "admission",
            "result or study",
            feature("age", "int64", null=False),
            feature("emergency", "int64", null=False),
            feature("creatinine"),
            feature("other_lab"),
            feature("n_results", "int64", null=False),
            feature("edema", "int64", null=False),
            feature("qrs"),
        ),
        predictions("hadm_id"),
    ),
    answer=lambda _: NumericAnswer("", 3),
    tolerance=f.always("0.005"),
    predicates=lambda _: (
        *keys("features", "predictions"),
        *checks(),
        *values(
            "features", age=0, emergency=0, creatinine=0.001, other_lab=0.001, n_results=0, edema=0, qrs=0.01
        ),
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
            "admittime - INTERVAL 6 HOUR",
            "landmark",
        ),
        Window(
            "FROM traces JOIN landmarks USING (hadm_id)",
            "SELECT admittime, landmark, t FROM landmarks JOIN ecg USING (subject_id)",
            "admittime - INTERVAL 6 HOUR",
            "landmark",
        ),
    ),
    loosened=({"age": "99"}, {"still_there": "true"}, {"elsewhere": "true"}),
    mutations=(
        *PREDICTION_MUTATIONS,
        Mutation("ROW_SPLIT", {"split": "hadm_id % 10 IN (7, 8, 9)"}),
        Mutation("FUTURE_ROWS", {"before": "t < dischtime"}),
        Mutation("WINDOW_CLOSED", {"before": "t <= landmark"}),
        Mutation("WINDOW_OPEN_START", {"from": ">"}),
        Mutation("STORETIME", {"lab_time": "storetime"}),
        Mutation("DROP_NULL_HADM", {"lab_link": "own_hadm = l.hadm_id"}),
        Mutation("UNCERTAIN_AS_POSITIVE", {"positive": "(abs(label) = 1)::BIGINT"}),
        f.SENTINEL_KEPT,
    ),
    naive=naive(),
    model=lambda _: Model("hadm_id", FEATURES),
    conventions=("T1", "T2", "T3", "A1", "C1", "C2", "E1", "S1", "M1"),
    patients=240,
)
