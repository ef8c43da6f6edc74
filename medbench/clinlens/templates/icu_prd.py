"""ICU-PRD: death or a long stay from the first day in intensive care."""

from medbench.clinlens.manifest import NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    Model,
    Mutation,
    Template,
    Tolerance,
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

FEATURES = ("heart_rate_mean", "pressure_min", "saturation_min", "gcs_min", "lab_max", "urine_ml")
SQL = """
CREATE OR REPLACE TABLE landmarks AS
SELECT i.subject_id, i.hadm_id, stay_id, intime, outtime, intime + INTERVAL 24 HOUR AS landmark,
  deathtime, hospital_expire_flag
FROM (SELECT *, row_number() OVER (PARTITION BY subject_id ORDER BY intime, stay_id) AS nth FROM icustays) i
JOIN admissions USING (hadm_id) JOIN patients p ON p.subject_id = i.subject_id
WHERE $stays AND $adult AND $long_enough
  AND (deathtime IS NULL OR deathtime > intime + INTERVAL 24 HOUR);
CREATE OR REPLACE TABLE signs AS
SELECT l.stay_id, itemid, t, v FROM landmarks l JOIN (
  SELECT stay_id, itemid, $chart_time AS t, valuenum AS v FROM chartevents
  WHERE (itemid = 220045 AND $rate_ok) OR (itemid IN (220052, 220181) AND $pressure_ok)
    OR (itemid = 220277 AND $saturation_ok) OR (itemid IN (220739, 223900, 223901) AND valuenum BETWEEN 1 AND 6)
) c USING (stay_id) WHERE t >= intime AND $before;
CREATE OR REPLACE TABLE coma AS
SELECT stay_id, min(total) AS gcs_min FROM (
  SELECT stay_id, t, sum(v) AS total FROM signs WHERE itemid IN (220739, 223900, 223901)
  GROUP BY stay_id, t HAVING count(DISTINCT itemid) = 3) GROUP BY stay_id;
CREATE OR REPLACE TABLE results AS
SELECT l.stay_id, max(t) AS t, max(v) AS v FROM landmarks l JOIN (
  SELECT subject_id, $lab_time AS t, valuenum AS v FROM labevents
  WHERE itemid = $lab AND valueuom = '$unit' AND valuenum BETWEEN $low AND $high) r USING (subject_id)
WHERE t >= intime AND $before GROUP BY l.stay_id;
CREATE OR REPLACE TABLE urine AS
SELECT l.stay_id, max(charttime) AS t, sum(value) AS ml FROM landmarks l JOIN outputevents o USING (stay_id)
WHERE o.itemid = 226559 AND o.charttime >= intime AND o.charttime $urine_end landmark GROUP BY l.stay_id;
CREATE OR REPLACE TABLE features AS
SELECT stay_id, subject_id, landmark, greatest(max(s.t), max(r.t), max(u.t)) AS max_feature_time,
  avg(s.v) FILTER (WHERE itemid = 220045) AS heart_rate_mean,
  min(s.v) FILTER (WHERE itemid IN (220052, 220181)) AS pressure_min,
  min(s.v) FILTER (WHERE itemid = 220277) AS saturation_min,
  max(gcs_min) AS gcs_min, max(r.v) AS lab_max, max(u.ml) AS urine_ml
FROM landmarks LEFT JOIN signs s USING (stay_id) LEFT JOIN coma USING (stay_id)
LEFT JOIN results r USING (stay_id) LEFT JOIN urine u USING (stay_id) GROUP BY stay_id, subject_id, landmark;
CREATE OR REPLACE TABLE labelled AS
SELECT stay_id, subject_id, CASE WHEN $split THEN 'test' ELSE 'train' END AS split,
  (outtime > intime + INTERVAL 72 HOUR OR $death)::BIGINT AS y_true FROM landmarks;
"""

TEMPLATE = Template(
    id="ICU-PRD",
    title="Death or a long stay in intensive care",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "icu/icustays": f.STAY_COLUMNS,
        "icu/d_items": f.ITEM_COLUMNS,
        "icu/chartevents": f.CHART_COLUMNS,
        "icu/outputevents": (
            "subject_id",
            "hadm_id",
            "stay_id",
            "charttime",
            "storetime",
            "itemid",
            "value",
            "valueuom",
        ),
    },
    rows={
        "hosp/labevents": f"itemid IN ($lab, {f.OTHER_ITEMS})",
        "icu/chartevents": "itemid IN (220045, 220052, 220181, 220277, 220739, 223900, 223901)",
    },
    grid=grid(
        outcome=[
            {
                "death_sql": "coalesce(deathtime <= outtime, false)",
                "death_text": "`deathtime` is given and not after `outtime`",
            },
            {
                "death_sql": "hospital_expire_flag = 1",
                "death_text": "`hospital_expire_flag` of the admission is 1",
            },
        ],
        score=[
            {"score": "auroc", "score_text": f.AUROC_TEXT},
            {"score": "brier", "score_text": f.BRIER_TEXT},
        ],
        lab=[
            f.LABS[name]
            for name in ("lactate", "creatinine", "urea nitrogen", "white blood cells", "potassium", "sodium")
        ],
    ),
    text={
        "population": "Take the first ICU stay (by `intime`, then `stay_id`) of each patient; keep it if the patient was "
        "at least 18 at `intime` (`anchor_age` + its year - `anchor_year`), `outtime` is after the landmark and "
        "`deathtime` of the admission is empty or after the landmark.",
        "index_time": "The landmark is `intime` + 24 h.",
        "window": "Features come from [`intime`, landmark) by `charttime`: the start is included, the end is not. Outcome: "
        "`outtime` is more than 72 h after `intime`, or $death_text.",
        "sources": "Tables: `data/hosp/patients.csv`, `data/hosp/admissions.csv`, `data/hosp/labevents.csv`, "
        "`data/icu/icustays.csv`, `data/icu/chartevents.csv`, `data/icu/outputevents.csv`, `data/icu/d_items.csv`.",
        "values": "Features of a stay: `heart_rate_mean`, mean of item 220045 with `valuenum` in [20, 250]; "
        "`pressure_min`, least of items 220052 and 220181 in [20, 200]; `saturation_min`, least of item 220277 in [40, "
        "100]; `gcs_min`, least sum of items 220739, 223900, 223901 (each in [1, 6]) charted at one `charttime`, all "
        "three present; `lab_max`, largest result of the patient for item $lab ($lab_name) in $unit within [$low, "
        "$high]; `urine_ml`, sum of `value` of item 226559. Every row counts, duplicates too.",
        "statistic": f.MODEL_TEXT + "$score_text",
    },
    sql=SQL,
    answer_sql="",
    slots={
        "adult": "anchor_age + year(intime) - anchor_year >= 18",
        **f.SPLIT_SLOTS,
        "stays": "nth = 1",
        "long_enough": "outtime > intime + INTERVAL 24 HOUR",
        "chart_time": "charttime",
        "lab_time": "charttime",
        "before": "t < landmark",
        "urine_end": "<",
        "rate_ok": "valuenum BETWEEN 20 AND 250",
        "pressure_ok": "valuenum BETWEEN 20 AND 200",
        "saturation_ok": "valuenum BETWEEN 40 AND 100",
        "death": "$death_sql",
    },
    artifacts=(
        features(
            "stay_id",
            "stay",
            "value",
            feature("heart_rate_mean"),
            feature("pressure_min"),
            feature("saturation_min"),
            feature("gcs_min"),
            feature("lab_max"),
            feature("urine_ml"),
        ),
        predictions("stay_id"),
    ),
    answer=lambda p: NumericAnswer("", 3 if p["score"] == "auroc" else 4),
    tolerance=lambda p: Tolerance("0.005" if p["score"] == "auroc" else "0.001"),
    predicates=lambda p: (
        *keys("features", "predictions"),
        *checks(p["score"], 0.01 if p["score"] == "auroc" else 0.002),
        *values(
            "features",
            heart_rate_mean=0.02,
            pressure_min=0.001,
            saturation_min=0.001,
            gcs_min=0.001,
            lab_max=0.001,
            urine_ml=0.01,
        ),
    ),
    windows=(
        Window(
            "FROM signs JOIN landmarks USING (stay_id)",
            "SELECT intime, landmark, charttime AS t FROM landmarks JOIN chartevents USING (stay_id)",
            "intime",
            "landmark",
        ),
        Window(
            "FROM results JOIN landmarks USING (stay_id)",
            "SELECT intime, landmark, charttime AS t FROM landmarks JOIN labevents USING (subject_id)",
            "intime",
            "landmark",
        ),
    ),
    loosened=({"adult": "true"}, {"long_enough": "true"}),
    mutations=(
        *PREDICTION_MUTATIONS,
        Mutation("FUTURE_ROWS", {"before": "t < outtime", "urine_end": "< outtime AND intime <"}),
        Mutation("WINDOW_CLOSED", {"before": "t <= landmark", "urine_end": "<="}),
        Mutation("STORETIME", {"chart_time": "storetime", "lab_time": "storetime"}),
        Mutation("ALL_STAYS", {"stays": "true"}),
        Mutation(
            "SENTINEL_KEPT",
            {"rate_ok": "valuenum >= 0", "pressure_ok": "valuenum >= 0", "saturation_ok": "valuenum >= 0"},
        ),
    ),
    naive=naive("$score"),
    model=lambda p: Model("stay_id", FEATURES, p["score"]),
    conventions=("T1", "T2", "T3", "A1", "S1", "M1"),
    patients=200,
)
