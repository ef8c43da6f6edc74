"""The files of a suite: one spelling, digests that anyone can compute, and no second meaning."""

import hashlib
import json
import shutil
import subprocess

import pytest

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json, package_digest, private_commitment, write_checksums
from medbench.clinlens.checked import check_package, load_task
from medbench.clinlens.labels import normalised
from medbench.clinlens.manifest import manifest_of, read_manifest
from medbench.clinlens.private import Predicate
from medbench.clinlens.suite import read_suite, write_suite
from medbench.errors import InvalidInput
from tests.clinlens.build import (
    GOLDEN,
    KEYS,
    LABELS,
    PREDICATES,
    SALT,
    mutant,
    write_golden,
    write_many,
    write_task,
)


@pytest.fixture
def golden(tmp_path):
    """The golden suite: its roots, its suite, and the public and private folder of its task."""
    roots, suite = write_golden(tmp_path)
    return roots, suite, roots.public / GOLDEN, roots.private / GOLDEN


def load(golden):
    roots, suite, *_ = golden
    return load_task(suite.tasks[0], roots.public, roots.private)


def code_of(work, *args):
    with pytest.raises(InvalidInput) as refused:
        work(*args)
    return refused.value.code


def change(path, **fields):
    """Change fields of a JSON file."""
    path.write_bytes(canonical_json(json.loads(path.read_bytes()) | fields))


def test_canonical_json_is_one_spelling():
    assert canonical_json({"b": [1, "ä"], "a": None}) == '{"a":null,"b":[1,"ä"]}\n'.encode()
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})


def sha256sum(folder, *left_out):
    """What a person would get by hand for the files of a tree."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    listed = [name for name in names if name not in left_out]
    return subprocess.run(["sha256sum", *listed], cwd=folder, capture_output=True, check=True).stdout


def test_digests_are_what_sha256sum_says(golden):
    *_, public, private = golden
    lines = sha256sum(public, layout.MANIFEST, layout.CHECKSUMS)
    assert package_digest(public) == hashlib.sha256(lines).hexdigest()
    assert sha256sum(public, layout.CHECKSUMS) == (public / layout.CHECKSUMS).read_bytes()
    lines = sha256sum(private, layout.SALT, layout.QC)
    assert private_commitment(private) == hashlib.sha256(SALT + lines).hexdigest()


def test_a_manifest_is_read_as_it_was_written(golden):
    *_, public, _ = golden
    document = json.loads((public / "manifest.json").read_bytes())
    assert read_manifest(public / "manifest.json").as_dict() == document
    assert read_manifest(public / "manifest.json").scope == "icu_stay"


def test_a_suite_is_read_as_it_was_written(tmp_path):
    roots, suite = write_many(tmp_path, ["WHP-PRF-001", "ICU-PRF-001", "WHP-PRF-002"])
    again = read_suite(roots.public)
    assert again == suite
    assert again.digest == hashlib.sha256((roots.public / "suite.json").read_bytes()).hexdigest()
    assert again.scope_sizes == {"whole_patient": 2, "admission": 0, "icu_stay": 1, "event_study": 0}


def test_a_suite_file_in_another_spelling_is_refused(golden):
    """Else its digest would not be what sha256sum says."""
    roots, *_ = golden
    path = roots.public / "suite.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=2))
    assert code_of(read_suite, roots.public) == "suite"


def test_the_same_tasks_make_the_same_bytes(tmp_path):
    first, second = (write_golden(tmp_path / name) for name in ("a", "b"))
    assert first[1].digest == second[1].digest


@pytest.mark.parametrize(
    "changed",
    [
        {"task_id": "ICU-PRD-011"},
        {"scope": "admission"},
        {"suite": "Mini Suite"},
        {"limits": {"code_seconds": 60, "rounds": 3}},
        {"answer": {"type": "numeric", "unit": "mg/dL"}},
        {"answer": {"type": "categorical", "labels": ["a", "b", "c"]}},
        {"answer": {"type": "categorical", "labels": ["a", "b", "c", "A."]}},
        {"package_digest": "0"},
        {"artifacts": []},
        {"remark": "an unknown field"},
    ],
    ids="-".join,
)
def test_a_manifest_that_breaks_its_schema_is_refused(golden, changed):
    *_, public, _ = golden
    document = json.loads((public / "manifest.json").read_bytes())
    assert code_of(manifest_of, document | changed) in {"schema", "manifest"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("key", ["hadm_id"]), ("key", ["lact"]), ("key", ["last_obs"]), ("path", "other.csv"), ("name", "../x")],
)
def test_an_artifact_that_contradicts_itself_is_refused(golden, field, value):
    *_, public, _ = golden
    document = json.loads((public / "manifest.json").read_bytes())
    document["artifacts"][0][field] = value
    assert code_of(manifest_of, document) in {"schema", "manifest"}


def test_a_sound_task_is_loaded_and_its_package_is_complete(golden):
    _, suite, public, _ = golden
    manifest, private = load(golden)
    assert manifest == check_package(suite.tasks[0], public)
    assert private.cohorts["cohort"].rows == 3
    assert [predicate.id for predicate in private.predicates] == [
        "P1_keys",
        "P2_window",
        "P3_split",
        "P4_recompute",
    ]


def test_quality_control_may_write_its_record_afterwards(golden):
    *_, private = golden
    (private / "qc.json").write_text("{}\n")
    load(golden)


def test_a_changed_reference_is_noticed(golden):
    *_, private = golden
    change(private / layout.REFERENCE_ANSWER, answer="2.56")
    assert code_of(load, golden) == "commitment"


def test_a_changed_manifest_is_noticed(golden):
    *_, public, _ = golden
    change(public / "manifest.json", conventions=["T1"])
    assert code_of(load, golden) == "digest"


def test_a_missing_private_tree_is_named(golden):
    *_, private = golden
    shutil.rmtree(private)
    assert code_of(load, golden) == "private_missing"


def spoil_table(public):
    (public / "data/icu/icustays.csv").write_text("subject_id\n")


def add_file(public):
    (public / "data/answer.csv").write_text("2.55\n")


def add_link(public):
    (public / "data/link.csv").symlink_to("/etc/passwd")


def lose_table(public):
    (public / "data/icu/icustays.csv").unlink()


@pytest.mark.parametrize("spoil", [spoil_table, add_file, add_link, lose_table])
def test_a_package_that_is_not_as_it_was_built_is_noticed(golden, spoil):
    _, suite, public, _ = golden
    spoil(public)
    assert code_of(check_package, suite.tasks[0], public) in {"digest", "special_file"}


def test_a_file_that_the_manifest_does_not_name_is_noticed_behind_right_checksums(golden):
    roots, _, public, _ = golden
    add_file(public)
    change(public / "manifest.json", package_digest=package_digest(public))
    write_checksums(public)
    suite = write_suite(roots.public, [GOLDEN])
    assert code_of(check_package, suite.tasks[0], public) == "files"


def predicate(kind, **given):
    return Predicate("P9", kind, "cohort", given)


MEAN = {"statistic": "mean", "columns": {"value": "lact"}, "abs": 0.01}
MISFITS = [
    {"predicates": PREDICATES[1:]},  # no key_set: invented rows would pass
    {"predicates": (KEYS, KEYS)},
    {"predicates": (KEYS, predicate("sums_to", column="weight", total=3))},
    {"predicates": (KEYS, predicate("sums_to", column="lact"))},
    {"predicates": (KEYS, predicate("trust_me"))},
    {"predicates": (KEYS, predicate("recompute", **MEAN | {"statistic": "mode"}))},
    {"predicates": (KEYS, predicate("recompute", **MEAN | {"columns": {"x": "lact"}}))},
    {"predicates": (KEYS, predicate("recompute", **MEAN | {"where": {"set": "test"}}))},
    {"asked": LABELS},
    {"mutants": [mutant("WINDOW_CLOSED", "NaN")]},
]


@pytest.mark.parametrize("task", MISFITS, ids=range(len(MISFITS)))
def test_a_private_tree_that_does_not_fit_is_refused(tmp_path, task):
    roots, suite = write_golden(tmp_path, **task)
    assert code_of(load, (roots, suite)) in {"private", "schema"}


def test_a_suite_has_one_source(tmp_path):
    roots, _ = write_many(tmp_path, ["WHP-PRF-001"])
    write_task(roots, "WHP-PRF-002", kind="mimic_demo")
    assert code_of(write_suite, roots.public, ["WHP-PRF-001", "WHP-PRF-002"]) == "suite"


@pytest.mark.parametrize("text", ["{", '{"suite": 1, "suite": 2}', "[]", '{"suite": "x"}', ""])
def test_a_damaged_suite_file_is_refused_with_its_place(tmp_path, text):
    (tmp_path / "suite.json").write_text(text)
    with pytest.raises(InvalidInput, match=r"suite\.json"):
        read_suite(tmp_path)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Non–cardiogenic", "non-cardiogenic", True),
        ("ＩＣＵ", "icu", True),
        ("'reduced'", "Reduced", True),
        ("reduced..", "Reduced", False),
        ("not reduced", "reduced", False),
        ("mildly-reduced", "mildly reduced", False),
    ],
)
def test_labels_forgive_spelling_alone(one, other, same):
    assert (normalised(one) == normalised(other)) is same
