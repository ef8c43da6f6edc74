"""EVT-PHN: congestion around one radiograph in three sources."""

from medbench.clinlens.manifest import Artifact, CategoricalAnswer
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import Mutation, Template, Window, column, grid, keys, predicate, values

LABELS = ("concordant", "radiograph only", "cardiac sign only", "neither", "not assessable")
SQL = (
    f.LAB_SQL
    + f.LVEF_SQL
    + f.CXR_SQL
    + """
CREATE OR REPLACE TABLE nearest AS
SELECT study_id, labevent_id, x.t AS study_time, l.t, l.v FROM cxr x JOIN lab l USING (subject_id)
WHERE abs(epoch(l.t - x.t)) $within $days * 86400
QUALIFY row_number() OVER (PARTITION BY study_id ORDER BY abs(epoch(l.t - x.t)), l.t, labevent_id) = 1;
CREATE OR REPLACE TABLE reference AS SELECT study_id, v AS ntprobnp FROM nearest WHERE $others;
CREATE OR REPLACE TABLE heart AS
SELECT measurement_id, u.t, u.v FROM cxr x JOIN lvef u USING (subject_id)
WHERE study_id = $index AND abs(epoch(u.t - x.t)) <= $days * 86400
ORDER BY abs(epoch(u.t - x.t)), u.t, measurement_id LIMIT 1;
CREATE OR REPLACE TABLE sources AS
SELECT 'radiograph' AS source, study_id AS item_id, t AS item_time, label::DOUBLE AS value, coalesce($positive, false)
  AS abnormal FROM cxr WHERE study_id = $index
UNION ALL
SELECT 'ntprobnp', n.labevent_id, n.t, n.v, n.v > (SELECT quantile_cont(ntprobnp, $share) FROM reference)
FROM (SELECT 1) LEFT JOIN nearest n ON n.study_id = $index
UNION ALL
SELECT 'lvef', h.measurement_id, h.t, h.v, h.v < 40 FROM (SELECT 1) LEFT JOIN heart h ON true;
"""
)

TEMPLATE = Template(
    id="EVT-PHN",
    title="Congestion in three sources",
    tables={
        "hosp/patients": f.PATIENT_COLUMNS,
        "hosp/labevents": f.LAB_COLUMNS,
        "cxr/metadata": f.CXR_COLUMNS,
        "cxr/chexpert": f.CHEXPERT_COLUMNS,
        "echo/structured_measurement": f.ECHO_COLUMNS,
    },
    rows=f.LAB_ROWS,
    grid=grid(
        lab=(f.LABS["NTproBNP"],),
        finding=({"label": '"Edema"'},),
        days=(3, 7),
        reference=(60, 90, 120, 150),
        share=(0.75, 0.7, 0.8),
    ),
    text={
        "population": "The index study is the radiograph `study_id` $index. Reference studies are all other radiograph "
        "studies of the package with an NTproBNP in their window.",
        "index_time": "The index time of a study is its time. " + f.CXR_TEXT,
        "window": "Results (`charttime`) and transthoracic studies (their earliest `measurement_datetime`) of the same "
        "patient at most $days days before or after the study, both ends included.",
        "sources": "Tables: `data/hosp/labevents.csv`, `data/cxr/mimic-cxr-2.0.0-metadata.csv`, "
        "`data/cxr/mimic-cxr-2.0.0-chexpert.csv`, `data/echo/structured-measurement.csv`.",
        "values": f.LAB_TEXT
        + " "
        + f.LVEF_TEXT
        + " Of each source the item nearest in time counts, then the earlier, then "
        "the smaller id.",
        "statistic": "Radiograph: abnormal if Edema = 1; -1, 0 and empty are not. NTproBNP: abnormal if above the $share "
        "quantile (linear between neighbours) of the nearest NTproBNP of the reference studies. Ejection fraction: "
        "abnormal if below 40. Id, time, value and abnormal stay empty for a source without an item. If NTproBNP and "
        "ejection fraction are both empty: not assessable. Else a cardiac sign is an abnormal NTproBNP or ejection "
        "fraction: radiograph and sign, concordant; only the radiograph abnormal, radiograph only; only a sign, cardiac "
        "sign only; else neither.",
    },
    sql=SQL,
    answer_sql="""
SELECT CASE WHEN bnp IS NULL AND ef IS NULL THEN 'not assessable'
  WHEN film AND (coalesce(bnp, false) OR coalesce(ef, false)) THEN 'concordant' WHEN film THEN 'radiograph only'
  WHEN coalesce(bnp, false) OR coalesce(ef, false) THEN 'cardiac sign only' ELSE 'neither' END
FROM (SELECT bool_or(abnormal) FILTER (WHERE source = 'radiograph') AS film,
  bool_or(abnormal) FILTER (WHERE source = 'ntprobnp') AS bnp, bool_or(abnormal) FILTER (WHERE source = 'lvef') AS ef
  FROM sources)
""",
    slots={
        **f.LAB_SLOTS,
        **f.LVEF_SLOTS,
        **f.CXR_SLOTS,
        "within": "<=",
        "positive": "label = 1",
        "others": "study_id <> $index",
    },
    artifacts=(
        Artifact(
            "sources",
            "three rows, one for each source",
            ("source",),
            (
                column("source", "string", "the source", enum=("radiograph", "ntprobnp", "lvef")),
                column("item_id", "int64", "`study_id`, `labevent_id` or `measurement_id`", null=True),
                column("item_time", "timestamp", "time of the item", null=True),
                column("value", "float64", "label, NTproBNP or ejection fraction", null=True),
                column("abnormal", "bool", "whether it is abnormal", null=True),
            ),
        ),
        Artifact(
            "reference",
            "one row for each reference study",
            ("study_id",),
            (
                column("study_id", "int64", "the radiograph study"),
                column("ntprobnp", "float64", "its nearest NTproBNP", unit="pg/mL"),
            ),
        ),
    ),
    answer=lambda _: CategoricalAnswer(LABELS),
    tolerance=lambda _: None,
    predicates=lambda _: (
        *keys("sources", "reference"),
        *values("sources", item_id=0, item_time=0, value=0.001, abnormal=0),
        *values("reference", ntprobnp=0.001),
        predicate("P_DOMAIN", "domain", "reference", column="ntprobnp", min=0),
    ),
    windows=(
        Window(
            "FROM nearest",
            "SELECT cxr.t AS study_time, charttime AS t FROM cxr JOIN labevents USING (subject_id)",
            "study_time - INTERVAL $days DAY",
            "study_time + INTERVAL $days DAY",
            is_closed=True,
        ),
    ),
    loosened=({"within": "<= 20 *"}, {"lab": "50931", "lab_unit": "true"}),
    mutations=(
        f.TIME_UNPADDED,
        f.STORETIME,
        f.DROP_NULL_HADM,
        Mutation("FAR_TOO", {"within": "<= 2 *"}, only=(("days", 3),)),
    ),
    subjects="SELECT DISTINCT subject_id FROM cxr JOIN reference USING (study_id)",
    index="SELECT study_id, subject_id FROM cxr_chexpert",
    conventions=("T1", "T3", "C1", "C2", "V1", "V2", "H1", "Q1"),
    fewest_rows=3,
)
