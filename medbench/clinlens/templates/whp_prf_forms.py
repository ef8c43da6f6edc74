"""WHP-PRF in its other forms: of one patient, and with discharge summaries."""

from dataclasses import replace

from medbench.clinlens.manifest import Artifact, NumericAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import (
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

LINK = "l.t >= a.admittime AND l.t < a.dischtime"
SINGLE_SQL = (
    f.LAB_SQL
    + """
CREATE OR REPLACE TABLE measurements AS
SELECT labevent_id, t AS charttime, v AS value, stay AS hadm_id, stay IS NOT NULL AS in_hospital FROM (
  SELECT l.labevent_id, l.t, l.v, $stay AS stay,
    row_number() OVER (PARTITION BY l.labevent_id ORDER BY a.admittime DESC NULLS LAST, a.hadm_id) AS nth
  FROM lab l LEFT JOIN admissions a ON a.subject_id = l.subject_id AND $link
  WHERE l.subject_id = $index
) WHERE nth = 1;
"""
)
PLACES = (
    {"place_sql": "true", "rows": {}, "place_text": "all results of the patient"},
    {
        "place_sql": "in_hospital",
        "rows": {"in_hospital": True},
        "place_text": "the results taken in hospital",
    },
    {
        "place_sql": "NOT in_hospital",
        "rows": {"in_hospital": False},
        "place_text": "the results taken outside",
    },
)
STATISTICS = (
    {"statistic": "median(value)", "statistic_text": "median", "q": 50},
    {
        "statistic": "quantile_cont(value, 0.9)",
        "statistic_text": "90th percentile (linear between neighbours)",
        "q": 90,
    },
)


def _tolerance(p: Parameters) -> Tolerance:
    return Tolerance("0.01" if p["lab_name"] == "creatinine" else "0.05")


SINGLE = Template(
    id="WHP-PRF",
    form="single",
    share=2,
    title="Profile of a laboratory test in one patient",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/admissions": f.ADMISSION_COLUMNS,
        "hosp/d_labitems": f.LABITEM_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        form=("single",),
        lab=[f.LABS[name] for name in ("creatinine", "hemoglobin", "sodium", "potassium")],
        place=PLACES,
        statistic=STATISTICS,
    ),
    text={
        "population": "The index patient is `subject_id` $index. Other patients of the package play no part.",
        "index_time": "There is no index time.",
        "window": "The window is the whole record. A result was taken in hospital if its `charttime` lies in [`admittime`, "
        "`dischtime`) of an admission of the patient: the start is included, the end is not; of several such admissions "
        "it belongs to the one with the latest `admittime`, then the smallest `hadm_id`.",
        "sources": f"Tables: `data/hosp/admissions.csv`, `data/hosp/labevents.csv`, {f.LABITEMS}.",
        "values": f.LAB_TEXT,
        "statistic": "Report the $statistic_text of $place_text.",
    },
    sql=SINGLE_SQL,
    answer_sql="SELECT $statistic FROM measurements WHERE $place_sql",
    slots={**f.LAB_SLOTS, "link": LINK, "stay": "a.hadm_id"},
    artifacts=(
        Artifact(
            "measurements",
            "one row for each result of the index patient that counts",
            ("labevent_id",),
            (
                column("labevent_id", "int64", "the result"),
                column("charttime", "timestamp", "its time"),
                column("value", "float64", "its value"),
                column("hadm_id", "int64", "the admission it belongs to, empty outside", null=True),
                column("in_hospital", "bool", "whether it was taken in hospital"),
            ),
        ),
    ),
    answer=lambda p: NumericAnswer(p["unit"], 2),
    tolerance=_tolerance,
    predicates=lambda p: (
        *keys("measurements"),
        predicate("P_ANCHOR", "anchor_equals", "measurements", columns=["charttime"]),
        *values("measurements", value=0.001, hadm_id=0),
        predicate("P_LABEL", "label_match", "measurements", columns=["in_hospital"]),
        recompute(
            "measurements",
            "percentile",
            2 * float(_tolerance(p).abs),
            {"q": p["q"]},
            p["rows"],
            value="value",
        ),
    ),
    mutations=(
        f.KEEP_DUPLICATES,
        f.DROP_NULL_HADM,
        f.STORETIME,
        Mutation("LINK_BY_ID", {"stay": "l.hadm_id"}),
    ),
    naive={
        "all_patients": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab",
        "all_rows": "SELECT avg(valuenum) FROM labevents WHERE itemid = $lab AND subject_id = $index",
        "first_table_only": "SELECT median(anchor_age) FROM patients",
    },
    index="SELECT subject_id, subject_id FROM lab GROUP BY subject_id HAVING count(*) >= 30",
    conventions=("T1", "T2", "T3", "L1", "V1", "V2", "Q1"),
)


def with_notes(usual: Template) -> Template:
    """The usual form over patients who have a discharge summary, which are counted."""
    profile = usual.artifacts[0]
    notes = column("n_notes", "int64", "discharge summaries")
    sentence = (
        " and at least one discharge summary (`note_type` = `DS`) in `data/note/discharge.csv`. Admissions"
    )
    return replace(
        usual,
        form="notes",
        share=2,
        forms=(),
        tables=usual.tables
        | {"note/discharge": ("note_id", "subject_id", "hadm_id", "note_type", "charttime")},
        grid=tuple({"form": "notes", **each, "min_adm": each["min_adm"] - 1} for each in usual.grid),
        text=usual.text
        | {
            "population": usual.text["population"].replace(". Admissions", sentence, 1),
            "sources": usual.text["sources"].replace(".csv`.", ".csv`, `data/note/discharge.csv`."),
        },
        sql=usual.sql.replace(
            "SELECT * FROM people JOIN per_patient USING (subject_id)",
            "SELECT *, coalesce(notes, 0) AS n_notes FROM people JOIN per_patient USING (subject_id) "
            "$notes JOIN (SELECT subject_id, count(*) AS notes "
            "FROM discharge WHERE note_type = 'DS' GROUP BY subject_id) USING (subject_id)",
        ),
        slots=usual.slots | {"notes": ""},
        artifacts=(replace(profile, columns=(*profile.columns, notes)),),
        predicates=lambda p: (*usual.predicates(p), *values("profile", n_notes=0)),
        loosened=(*usual.loosened, {"notes": "LEFT"}),
        mutations=(*usual.mutations, Mutation("NO_NOTES_NEEDED", {"notes": "LEFT"})),
    )
