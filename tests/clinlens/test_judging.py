"""`clinlens pack | check | evaluate`, as a person or a script runs them."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from django.core.management import call_command

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json, package_digest, private_commitment, write_checksums
from medbench.clinlens.commands import main
from medbench.clinlens.suite import write_suite
from tests.clinlens.build import (
    CANARY,
    GOLDEN,
    KEYS,
    RECOMPUTE,
    RIGHT,
    ROWS,
    WORKFLOW,
    right_files,
    write_folder,
    write_golden,
    write_many,
    write_zip,
    zipped,
)
from tests.commands.run import ROOT, on_its_own

CSV = f"tasks/{GOLDEN}/artifacts/cohort.csv"
CLOSED = ROWS.replace("2151-03-02 09:59:00", "2151-03-02 10:00:00").encode()


@pytest.fixture
def golden(tmp_path):
    return write_golden(tmp_path)


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on the suite in tmp_path; answers status, stdout and stderr."""

    def run_it(name, *arguments):
        roots = ["--public", tmp_path / "public", "--private", tmp_path / "private", "--suite", "mini"]
        given = [name, *([] if name == "check" else roots), *arguments]
        status = main([str(each) for each in given])
        return status, *capsys.readouterr()

    return run_it


def test_evaluate_prints_conditions_counts_interval_and_mistake(run, golden, tmp_path):
    _, suite = golden
    status, out, err = run("evaluate", write_zip(tmp_path / "run.zip", right_files(suite) | {CSV: CLOSED}))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"SelfDebug · gpt-5.5 on mini {suite.digest[:12]} (synthetic) · complete"
    assert "icu stay           1         0 0.000         1 1.000   [0.000, 0.793]" in lines
    assert any(line.startswith("Overall (macro)") and "scope_without_tasks" in line for line in lines)
    assert f"{GOLDEN}  +      +      +     x       +       C4 P2_window" in lines
    assert "             Files  Parse  Rows  Checks  Answer" in lines
    assert lines[-1].endswith("your window includes its end")


def test_evaluate_as_json_prints_one_object_and_writes_the_same(run, golden, tmp_path):
    _, suite = golden
    path = write_zip(tmp_path / "run.zip", right_files(suite))
    status, out, err = run("evaluate", path, "--json", "--out", tmp_path / "results.json")
    results = json.loads(out)
    assert (status, err, out.count("\n")) == (0, "", 1)
    assert (tmp_path / "results.json").read_bytes() == canonical_json(results)
    assert results["schema_version"] == "clinlens.results/1"
    assert results["submission_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert results["scopes"]["icu_stay"] | {"wilson95": None} == {
        "n": 1,
        "strict": 1,
        "exec": 1,
        "strict_rate": "1.000000",
        "exec_rate": "1.000000",
        "wilson95": None,
    }


def test_evaluate_prints_overall_with_its_interval(run, tmp_path):
    _, suite = write_many(tmp_path, [f"{scope}-PRF-{n:03}" for scope in layout.SCOPES for n in (1, 2)])
    files = right_files(suite, [task.task_id for task in suite.tasks][:7])
    _, out, _ = run("evaluate", write_zip(tmp_path / "run.zip", files))
    assert "partial, 7 of 8, not ranked" in out
    overall = next(line for line in out.splitlines() if line.startswith("Overall"))
    assert overall.split() == ["Overall", "(macro)", "0.875", "0.875", "[0.750,", "1.000]"]


def test_a_refused_submission_ends_with_1_and_its_code(run, golden, tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(b"no zip")
    status, out, err = run("evaluate", path, "--json", "--out", tmp_path / "results.json")
    assert (status, json.loads(out)["code"]) == (1, "archive_unreadable")
    assert err.startswith("archive_unreadable: The submission is refused:")
    assert not (tmp_path / "results.json").exists()


def test_a_fault_of_the_evaluator_ends_with_1(run, tmp_path):

    broken = RECOMPUTE.__class__(
        "P4", "recompute", "cohort", RECOMPUTE.given | {"columns": {"value": "split"}}
    )
    _, suite = write_golden(tmp_path, predicates=(KEYS, broken))
    status, out, err = run("evaluate", write_zip(tmp_path / "run.zip", right_files(suite)))
    assert status == 1
    assert "no score" in err
    assert f"{GOLDEN}  +      +      +     ?       +       C4 internal_error" in out


@pytest.mark.parametrize("name", ["../etc", "absent"])
def test_a_suite_that_is_not_there_is_named(run, golden, tmp_path, name):
    status, _, err = run("evaluate", tmp_path / "run.zip", "--suite", name)
    assert status == 1
    assert "suite.json" in err


@pytest.mark.parametrize(
    "arguments", [[], ["judge"], ["evaluate"], ["check", "x"], ["evaluate", "--suite", "x"]]
)
def test_wrong_usage_ends_with_2(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def public_task(tmp_path):
    return tmp_path / "public" / "mini" / GOLDEN


def test_check_needs_the_public_package_alone(run, golden, tmp_path):
    """A participant's folder of one task; a wrong answer and a wrong cohort are not told."""
    out_dir = write_folder(
        tmp_path / "out",
        {"final_answer.json": b'{"answer": 9}', "artifacts/cohort.csv": ROWS[:120].rpartition("\n")[0]},
    )
    shutil.rmtree(tmp_path / "private")
    status, out, err = run("check", "--task", public_task(tmp_path), out_dir)
    assert (status, out, err) == (0, "1 of 1 tasks can be parsed.\n", "")


def test_check_names_what_cannot_be_parsed(run, golden, tmp_path):
    files = {"final_answer.json": b'{"answer": 9}', "artifacts/cohort.csv": ROWS.replace(",301,", ",3.01e2,")}
    status, out, err = run(
        "check", "--task", public_task(tmp_path), write_zip(tmp_path / "o.zip", files), "--json"
    )
    assert (status, json.loads(out)["tasks"][0]["code"]) == (1, "dtype")
    message = "artifacts/cohort.csv: Line 2, stay_id: “3.01e2” is not a whole number (int64)."
    assert err == f"{GOLDEN}: dtype: {message}\n"


def test_check_takes_a_whole_suite_and_a_whole_submission(run, tmp_path):
    _, suite = write_many(tmp_path, ["WHP-PRF-001", "ICU-PRF-001"])
    path = write_zip(tmp_path / "run.zip", right_files(suite, ["WHP-PRF-001"]))
    status, out, err = run("check", "--task", tmp_path / "public/mini", path)
    assert (status, out) == (1, "1 of 2 tasks can be parsed.\n")
    assert err.startswith("ICU-PRF-001: missing_task:")
    status, *_ = run("check", "--task", tmp_path / "public/mini/WHP-PRF-001", path)
    assert status == 0


def test_check_of_no_task_is_refused(run, tmp_path):
    status, _, err = run("check", "--task", tmp_path, tmp_path)
    assert status == 1
    assert "neither a task nor a suite" in err


def test_pack_makes_the_same_public_archive_each_time(run, golden, tmp_path):
    _, suite = golden
    digests = set()
    for name in ("one.zip", "two.zip"):
        status, out, _ = run("pack", "--out", tmp_path / name, "--json")
        found = json.loads(out)
        assert (status, found["tasks"], found["suite_digest"]) == (0, 1, suite.digest)
        digests.add(found["sha256"])
    assert len(digests) == 1
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = archive.namelist()
        assert names[0] == "mini/suite.json"
        assert {name.split("/", 2)[-1] for name in names[1:]} == {
            "CHECKSUMS.sha256",
            "DATA_CARD.md",
            "data/icu/icustays.csv",
            "manifest.json",
            "question.md",
        }
        assert not any(CANARY.encode() in archive.read(name) for name in names)


def rebuilt(tmp_path, name, text, commitment=None):
    """The public task with another file in it, its digests made anew; what a careless build would do."""
    public = public_task(tmp_path)
    (public / name).write_text(text)
    manifest = json.loads((public / "manifest.json").read_bytes())
    for file in manifest["files"]:
        data = (public / file["path"]).read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest["package_digest"] = package_digest(public)
    manifest["private_commitment"] = commitment or manifest["private_commitment"]
    (public / "manifest.json").write_bytes(canonical_json(manifest))
    write_checksums(public)
    write_suite(public.parent, [GOLDEN])


@pytest.mark.parametrize(
    ("name", "text", "leak"),
    [
        ("DATA_CARD.md", f"Made with {CANARY}.\n", "canary"),
        ("data/icu/icustays.csv", f"subject_id\n{WORKFLOW.splitlines()[1]}\n", "reference workflow"),
        ("question.md", "The answer is 2.550, is it not?\n", "reference answer"),
    ],
)
def test_pack_stops_at_a_leak(run, golden, tmp_path, name, text, leak):
    rebuilt(tmp_path, name, text)
    status, _, err = run("pack", "--out", tmp_path / "mini.zip")
    assert status == 1
    assert f"{name} holds" in err
    assert leak in err
    assert not list(tmp_path.glob("mini.zip*"))


def test_a_short_answer_that_stands_in_the_question_by_chance_is_no_leak(run, tmp_path):
    write_golden(tmp_path, right=replace(RIGHT, answer="24.0"))
    rebuilt(tmp_path, "question.md", "Take the first 24 h.\n")
    assert run("pack", "--out", tmp_path / "mini.zip")[0] == 0


def test_pack_stops_at_a_file_that_no_manifest_names(run, golden, tmp_path):
    (public_task(tmp_path) / "data" / "reference.csv").write_text("x\n")
    status, _, err = run("pack", "--out", tmp_path / "mini.zip")
    assert (status, err.partition(":")[0]) == (1, "digest")


@pytest.mark.parametrize(
    ("name", "content"), [("CANARY", ""), ("CANARY", None), ("reference/workflow.py", None)]
)
def test_pack_does_not_scan_without_something_to_look_for(run, golden, tmp_path, name, content):
    path = tmp_path / "private" / "mini" / GOLDEN / name
    path.unlink()
    if content is not None:
        path.write_text(content)
    rebuilt(
        tmp_path,
        "DATA_CARD.md",
        "Times are local.\n",
        commitment=private_commitment(path.parents[name.count("/")]),
    )
    status, _, err = run("pack", "--out", tmp_path / "mini.zip")
    assert (status, err.partition(":")[0]) == (1, "private")


def test_results_that_cannot_be_written_leave_nothing(run, golden, tmp_path):
    _, suite = golden
    (tmp_path / "taken").mkdir()
    path = write_zip(tmp_path / "run.zip", right_files(suite))
    status, _, err = run("evaluate", path, "--out", tmp_path / "taken")
    assert (status, err.partition(":")[0]) == (1, "not_written")
    assert not list(tmp_path.glob("*.part"))


def test_pack_gives_no_credentialed_rows_away(run, tmp_path):
    write_golden(tmp_path, kind="mimic_full")
    status, _, err = run("pack", "--out", tmp_path / "mini.zip")
    assert (status, err.partition(":")[0]) == (1, "credentialed_source")


def test_no_django_is_needed(golden, tmp_path):
    _, suite = golden
    path = tmp_path / "run.zip"
    path.write_bytes(zipped(right_files(suite)))
    script = "import sys; sys.modules['django'] = None; from medbench.clinlens import __main__"
    roots = ["--public", str(tmp_path / "public"), "--private", str(tmp_path / "private"), "--suite", "mini"]
    done = subprocess.run(
        [sys.executable, "-c", script, "evaluate", *roots, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{GOLDEN}  +      +      +     +       +       PASS" in done.stdout


def test_manage_py_hands_over(golden, tmp_path):
    done = on_its_own("clinlens", "check", "--task", public_task(tmp_path), tmp_path / "absent.zip", "--json")
    assert (done.status, json.loads(done.out)["code"]) == (1, "archive_unreadable")


def test_manage_py_ends_wrong_usage_with_2():
    with pytest.raises(SystemExit) as ended:
        call_command("clinlens", "nonsense")
    assert ended.value.code == 2
