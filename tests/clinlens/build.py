"""Small suites and submissions, made by hand: the golden task of the design and tasks like it."""

import io
import json
import zipfile
from dataclasses import replace
from decimal import Decimal

from medbench.clinlens import layout
from medbench.clinlens.canonical import (
    canonical_json,
    file_sha256,
    files_of,
    package_digest,
    private_commitment,
    write_checksums,
)
from medbench.clinlens.evaluator.results import SUBMISSION_SCHEMA, Roots
from medbench.clinlens.evaluator.tables import parse_table
from medbench.clinlens.manifest import (
    Artifact,
    CategoricalAnswer,
    Column,
    Manifest,
    NumericAnswer,
    PackedFile,
)
from medbench.clinlens.private import (
    Cohort,
    Mutant,
    Predicate,
    ReferenceAnswer,
    evaluation_document,
    key_set_hash,
    mutants_document,
)
from medbench.clinlens.suite import write_suite

SALT = bytes(range(32))
CANARY = "canary-5d3f0c1e9a8b7c6d5e4f3a2b1c0d9e8f"
GOLDEN = "ICU-PRD-004"
SCOPE_SIZES = {"WHP": 37, "ADM": 31, "ICU": 22, "EVT": 36}
WORKFLOW = (
    "def answer(stays):\n    return stays.drop_nulls('lact').mean_of_the_last_lactate_in_the_window()\n"
)

COHORT = Artifact(
    "cohort",
    "one row for each eligible stay",
    ("stay_id",),
    (
        Column("subject_id", "int64"),
        Column("stay_id", "int64"),
        Column("intime", "timestamp"),
        Column("last_obs", "timestamp", nullable=True),
        Column("split", "string", enum=("train", "test")),
        Column("lact", "float64", nullable=True),
    ),
)
ROWS = """subject_id,stay_id,intime,last_obs,split,lact
10000001,301,2150-01-01 00:00:00,2150-01-01 05:00:00,train,2.0
10000008,302,2151-03-01 10:00:00,2151-03-02 09:59:00,test,3.1
10000012,303,2152-03-01 10:00:00,,train,
"""
KEYS = Predicate("P1_keys", "key_set", "cohort", {})
WINDOW = Predicate(
    "P2_window",
    "time_window",
    "cohort",
    {
        "column": "last_obs",
        "start": {"anchor": "intime", "hours": 0},
        "end": {"anchor": "intime", "hours": 24},
        "closed": "left",
    },
)
SPLIT = Predicate("P3_split", "split_rule", "cohort", {"subject": "subject_id", "split": "split"})
RECOMPUTE = Predicate(
    "P4_recompute",
    "recompute",
    "cohort",
    {"statistic": "mean", "columns": {"value": "lact"}, "abs": 0.01},
)
PREDICATES = (KEYS, WINDOW, SPLIT, RECOMPUTE)
NUMERIC = NumericAnswer("mmol/L", 2)
COUNT = NumericAnswer("stays", 0, integer=True)
LABELS = CategoricalAnswer(
    ("No heart failure evidence", "Reduced", "Mildly reduced", "Preserved", "Improved")
)
RIGHT = ReferenceAnswer("2.55", Decimal("0.005"), Decimal(0), "half a unit of the last decimal asked")


def write_task(
    roots,
    task_id=GOLDEN,
    *,
    asked=NUMERIC,
    right=RIGHT,
    predicates=PREDICATES,
    mutants=(),
    artifact=COHORT,
    rows=ROWS,
    kind="synthetic",
):
    """Write the two trees of one task."""
    public, private = roots.public / task_id, roots.private / task_id
    table = parse_table(rows.encode(), artifact)
    cohort = Cohort(len(table), key_set_hash(SALT, table.keys))
    _write(
        private,
        {
            layout.SALT: f"{SALT.hex()}\n",
            layout.CANARY: f"{CANARY}\n",
            layout.SPEC: canonical_json({"canary": CANARY, "template": task_id[:7]}),
            layout.WORKFLOW: f"# {CANARY}\n{WORKFLOW}",
            layout.REFERENCE_ANSWER: canonical_json(right.as_dict()),
            layout.EVALUATION: canonical_json(evaluation_document({artifact.name: cohort}, predicates)),
            layout.MUTANTS: canonical_json(mutants_document(mutants)),
            f"{layout.REFERENCE_ARTIFACTS}/{artifact.path}": rows,
        },
    )
    _write(
        public,
        {
            layout.QUESTION: "Among adult ICU stays in data/icu/icustays.csv, report the mean lactate.\n",
            layout.DATA_CARD: "Times are local.\n",
            "data/icu/icustays.csv": "subject_id,stay_id,intime\n10000001,301,2150-01-01 00:00:00\n",
        },
    )
    manifest = Manifest(
        task_id,
        roots.public.name,
        task_id[:7],
        "1",
        kind,
        "1",
        ("ehr",),
        ("T1", "T2"),
        asked,
        (artifact,),
        tuple(_packed(public, name) for name in files_of(public) if not name.startswith("manifest")),
        package_digest(public),
        private_commitment(private),
    )
    (public / layout.MANIFEST).write_bytes(canonical_json(manifest.as_dict()))
    write_checksums(public)
    return manifest


def write_golden(folder, **task):
    """The suite of the golden task alone; its roots."""
    roots = roots_in(folder)
    write_task(roots, **task)
    return roots, write_suite(roots.public, [GOLDEN])


def task_ids(sizes=SCOPE_SIZES):
    """Ids of as many tasks in each scope, capabilities as even as possible."""
    return [
        f"{scope}-{capability}-{number:03}"
        for scope, size in sizes.items()
        for place, capability in enumerate(layout.CAPABILITIES)
        for number in range(1, 1 + size // 5 + (place < size % 5))
    ]


def write_many(folder, ids):
    """A suite of tasks that all ask for the same; its roots."""
    roots = roots_in(folder)
    for task_id in ids:
        write_task(roots, task_id)
    return roots, write_suite(roots.public, ids)


def roots_in(folder, name="mini"):
    return Roots(folder / "public" / name, folder / "private" / name)


def answer_json(value, **more):
    return json.dumps({"answer": value, **more}).encode()


def submission_json(suite, /, **more):
    document = {
        "schema_version": SUBMISSION_SCHEMA,
        "suite": suite.name,
        "suite_digest": suite.digest,
        "system": {"name": "SelfDebug", "backbone": "gpt-5.5"},
        "runs": 1,
    }
    return json.dumps(document | more).encode()


def right_files(suite, ids=None, answer=b'{"answer": 2.55}', rows=ROWS):
    """A submission that is right in every task of `ids`: bytes by name."""
    files = {layout.SUBMISSION: submission_json(suite)}
    for task_id in [task.task_id for task in suite.tasks] if ids is None else ids:
        files[f"tasks/{task_id}/final_answer.json"] = answer
        files[f"tasks/{task_id}/artifacts/cohort.csv"] = rows.encode()
    return files


def write_zip(path, files):
    """A zip archive of bytes by name; a list of pairs may hold a name twice."""
    path.write_bytes(zipped(files))
    return path


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return data.getvalue()


def write_folder(path, files):
    _write(path, files)
    return path


def mutant(name, answer=None, rows=None, first_check=None):
    """A wrong program by its answer and its artifact."""
    keys = {} if rows is None else {"cohort": key_set_hash(SALT, parse_table(rows.encode(), COHORT).keys)}
    return Mutant(name, answer, keys, first_check)


def without(column):
    """The golden artifact's contract without one column."""
    return replace(COHORT, columns=tuple(each for each in COHORT.columns if each.name != column))


def _write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _packed(folder, name):
    path = folder / name
    rows = path.read_bytes().count(b"\n") - 1 if name.endswith(".csv") else None
    return PackedFile(name, path.stat().st_size, file_sha256(path), rows)
