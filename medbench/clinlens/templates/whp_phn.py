"""WHP-PHN: the course of heart failure of one patient against a reference cohort."""

from medbench.clinlens.manifest import Artifact, CategoricalAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
    SUBJECT,
    Mutation,
    Template,
    column,
    grid,
    keys,
    predicate,
    values,
)

LABELS = ("no heart failure evidence", "reduced", "mildly reduced", "preserved", "improved")
PHRASE = "(heart failure|HFrEF|HFpEF)"
SQL = (
    f.LVEF_SQL
    + """
CREATE OR REPLACE TABLE timeline AS
SELECT measurement_id, t AS measurement_datetime, v AS lvef FROM lvef WHERE subject_id = $index;
CREATE OR REPLACE TABLE reference AS
SELECT subject_id, $first AS lvef_first, $last AS lvef_last, count(*) AS n_lvef
FROM lvef WHERE $others GROUP BY subject_id;
CREATE OR REPLACE TABLE evidence AS
SELECT 'code' AS kind, count(*) AS n FROM diagnoses_icd WHERE subject_id = $index
  AND ((icd_version = 10 AND icd_code LIKE 'I50%') OR (icd_version = 9 AND icd_code LIKE '428%'))
UNION ALL
SELECT 'phrase', count(*) FROM discharge WHERE subject_id = $index AND regexp_matches(text, '$phrase', 'i');
"""
)

TEMPLATE = Template(
    id="WHP-PHN",
    title="Course of heart failure",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/diagnoses_icd": f.DIAGNOSIS_COLUMNS,
        "note/discharge": ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "text"),
        "echo/structured_measurement": f.ECHO_COLUMNS,
    },
    rows={},
    grid=grid(reference=(80, 100, 120, 150, 180, 200), share=(0.75, 0.7, 0.8, 0.9), phrase=(PHRASE,)),
    text={
        "population": "The index patient is `subject_id` $index. The reference cohort is every other patient of the "
        "package with an ejection fraction.",
        "index_time": "There is no index time: the record is read in order of `measurement_datetime`, ties by "
        "`measurement_id`.",
        "window": "The window is the whole record.",
        "sources": "Tables: `data/hosp/diagnoses_icd.csv`, `data/note/discharge.csv`, "
        "`data/echo/structured-measurement.csv`.",
        "values": f.LVEF_TEXT
        + " The time of a study is the earliest of its rows. Evidence of heart failure is any "
        "code of the index patient that begins with I50 (`icd_version` 10) or 428 (`icd_version` 9), or any discharge "
        "text that matches the regular expression `$phrase`, upper or lower case.",
        "statistic": "Test in this order. Without evidence: no heart failure evidence. Else, if the first ejection "
        "fraction is at most 40 and last minus first is at least the $share quantile (linear between neighbours) of "
        "last minus first over the reference patients with two or more ejection fractions: improved. Else by the last "
        "one: at most 40 reduced, below 50 mildly reduced, otherwise preserved.",
    },
    sql=SQL,
    answer_sql="""
SELECT CASE
  WHEN (SELECT sum(n) FROM evidence) = 0 THEN 'no heart failure evidence'
  WHEN first <= 40 AND last - first >= (
    SELECT quantile_cont(lvef_last - lvef_first, $share) FROM reference WHERE n_lvef >= 2) THEN 'improved'
  WHEN last <= 40 THEN 'reduced' WHEN last < 50 THEN 'mildly reduced' ELSE 'preserved' END
FROM (SELECT arg_min(lvef, (measurement_datetime, measurement_id)) AS first,
             arg_max(lvef, (measurement_datetime, measurement_id)) AS last FROM timeline)
""",
    slots={
        **f.LVEF_SLOTS,
        "first": "arg_min(v, (t, measurement_id))",
        "last": "arg_max(v, (t, measurement_id))",
        "others": "subject_id <> $index",
    },
    artifacts=(
        Artifact(
            "timeline",
            "one row for each ejection fraction of the index patient",
            ("measurement_id",),
            (
                column("measurement_id", "int64", "the study"),
                column("measurement_datetime", "timestamp", "its time"),
                column("lvef", "float64", "its ejection fraction", unit="%"),
            ),
        ),
        Artifact(
            "reference",
            "one row for each reference patient",
            ("subject_id",),
            (
                SUBJECT,
                column("lvef_first", "float64", "first ejection fraction", unit="%"),
                column("lvef_last", "float64", "last ejection fraction", unit="%"),
                column("n_lvef", "int64", "number of ejection fractions"),
            ),
        ),
        Artifact(
            "evidence",
            "two rows: code and phrase",
            ("kind",),
            (
                column("kind", "string", "kind of evidence", enum=("code", "phrase")),
                column("n", "int64", "codes or discharge texts of that kind"),
            ),
        ),
    ),
    answer=lambda _: CategoricalAnswer(LABELS),
    tolerance=lambda _: None,
    predicates=lambda _: (
        *keys("timeline", "reference", "evidence"),
        predicate("P_TIME", "anchor_equals", "timeline", columns=["measurement_datetime"]),
        *values("timeline", lvef=0.01),
        *values("reference", lvef_first=0.01, lvef_last=0.01, n_lvef=0),
        *values("evidence", n=0),
    ),
    loosened=(f.TEE_INCLUDED.slots,),
    mutations=(
        f.TEE_INCLUDED,
        Mutation("INDEX_IN_REFERENCE", {"others": "true"}),
        Mutation(
            "LAST_NOT_FIRST",
            {"first": "arg_max(v, (t, measurement_id))", "last": "arg_min(v, (t, measurement_id))"},
        ),
        Mutation("LOWEST_FOR_LAST", {"last": "min(v)"}),
    ),
    subjects="SELECT DISTINCT subject_id FROM reference",
    index="SELECT DISTINCT subject_id, subject_id FROM echo_structured_measurement WHERE measurement = 'lvef' AND test_type = 'TTE' "
    "AND TRY_CAST(result AS DOUBLE) IS NOT NULL",
    conventions=("T1", "H1", "Q1"),
    fewest_rows=1,
)
