"""Quality control: the references pass whole, wrong programs and invented rows do not, damage is found."""

import json
import random
import shutil
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from PIL import Image

from medbench.clinlens import layout
from medbench.clinlens.build.instance import build_instance
from medbench.clinlens.build.reference import run_mutant, submission_of
from medbench.clinlens.build.selecting import Rejected
from medbench.clinlens.build.suite import build_suite
from medbench.clinlens.checked import load_task
from medbench.clinlens.commands import main
from medbench.clinlens.evaluator.conditions import evaluate_task
from medbench.clinlens.qc.assets import read_asset
from medbench.clinlens.qc.suite import check_suite
from medbench.clinlens.qc.task import check_task
from medbench.clinlens.synthetic import synthesise
from medbench.clinlens.templates import TEMPLATES, runner, template_of
from medbench.clinlens.templates.core import fill
from medbench.errors import InvalidInput
from tests.clinlens.invented import invented
from tests.clinlens.suites import plan_of

CHECKS = {
    "checksums",
    "assets",
    "schema",
    "cohort",
    "gold",
    "rerun",
    "spread",
    "tolerance",
    "mutants",
    "predicates",
    "temporal bounds",
    "naive",
    "distractors",
    "text",
    "leak",
}


def roots(plan):
    return plan.public / plan.suite, plan.private / plan.suite


def parameters_of(private):
    return json.loads((private / layout.SPEC).read_text())["parameters"]


def tasks_of(plan, suite):
    """Manifest, private tree, parameters and package of every task."""
    public, private = roots(plan)
    for task in suite.tasks:
        manifest, known = load_task(task, public, private)
        yield manifest, known, parameters_of(private / task.task_id), public / task.task_id


def test_every_task_passes_every_check_and_files_are_counted(built):
    plan, suite, _ = built
    record = check_suite(*roots(plan), [task.task_id for task in suite.tasks])
    assert record["failed"] == []
    assert record["ok"]
    assert record["tasks"] == len(suite.tasks)
    assert record["assets_read"] == len(list(roots(plan)[0].rglob("*.hea"))) > 0
    written = json.loads((roots(plan)[1] / "EVT-PRF-001" / layout.QC).read_text())
    assert {check["name"] for check in written["checks"]} == CHECKS


def test_the_references_pass_whole_through_the_command(built, tmp_path, capsys):
    plan, suite, _ = built
    where = ["--suite", plan.suite, "--public", str(plan.public), "--private", str(plan.private)]
    assert main(["qc", *where, "--task", "ADM-PRF-001", "--gold", str(tmp_path / "gold")]) == 0
    capsys.readouterr()
    assert main(["evaluate", *where, str(tmp_path / "gold"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [task["task_id"] for task in found["tasks"] if not task["strict_pass"]] == []
    assert found["submitted"] == len(suite.tasks)


def wrong_programs(plan, suite):
    """Every mutant of every task with what the evaluator says of its output."""
    for manifest, known, parameters, package in tasks_of(plan, suite):
        template = template_of(manifest.template, parameters)
        declared = {mutant.name: mutant for mutant in known.mutants}
        with runner.load(template.spec(parameters), package) as db:
            for mutation in template.applicable(parameters):
                outputs = run_mutant(db, template, parameters, mutation)
                if outputs and outputs[1] is not None:
                    submission = submission_of(template, manifest.task_id, outputs)
                    yield declared[mutation.name], evaluate_task(manifest, known, submission, "")


def check_wrong_programs(plan, suite):
    seen = 0
    for declared, verdict in wrong_programs(plan, suite):
        seen += 1
        assert not verdict.strict_pass, (verdict.task_id, declared.name)
        code = None if verdict.first_failed == "C5" else verdict.code
        assert code == declared.first_check, (verdict.task_id, declared.name)
        assert verdict.exec_success, (verdict.task_id, declared.name)  # wrong, but of the right form
    return seen


def share_of_invented(plan, suite, times):
    """How many of submissions with invented rows pass."""
    passed = total = 0
    for manifest, known, _, _ in tasks_of(plan, suite):
        for seed in range(times):
            chance = random.Random(f"{manifest.task_id} {seed}")
            rows = next(iter(known.cohorts.values())).rows  # even with the right number of rows
            verdict = evaluate_task(manifest, known, invented(manifest, rows, chance), "")
            assert verdict.exec_success, (verdict.code, verdict.messages)
            total += 1
            passed += verdict.strict_pass
    return passed / total


def test_the_output_of_every_wrong_program_fails_with_its_declared_code(built):
    plan, suite, _ = built
    assert check_wrong_programs(plan, suite) >= 30


def test_a_failed_submission_is_told_which_wrong_program_it_looks_like(built):
    plan, suite, _ = built
    named = [mutant.name for _, known, _, _ in tasks_of(plan, suite) for mutant in known.mutants]
    assert {"WINDOW_CLOSED", "STORETIME", "DROP_NULL_HADM", "LAST_NOT_FIRST"} <= set(named)


def test_invented_rows_do_not_pass(built):
    plan, suite, _ = built
    assert share_of_invented(plan, suite, times=20) <= 0.02


def copies(plan, folder, task_id):
    """Copies of the two trees of one task, to be damaged."""
    found = folder / "public" / task_id, folder / "private" / task_id
    for root, copy in zip(roots(plan), found, strict=True):
        shutil.copytree(root / task_id, copy)
    return found


@pytest.fixture
def spoilt(built, tmp_path):
    return copies(built[0], tmp_path, "EVT-PRF-001")


def complaints(task, private):
    return {
        check["name"]: check["detail"] for check in check_task(task, private)["checks"] if not check["ok"]
    }


def failed(task, private):
    return complaints(task, private).keys()


@pytest.mark.parametrize(
    ("side", "text"), [("<", "no event before its start"), (">=", "no event after its end")]
)
def test_a_package_that_ends_where_its_window_ends_is_rejected(built, tmp_path, side, text):
    task, private = copies(built[0], tmp_path, "ICU-CHG-001")
    path = task / "data/icu/chartevents.csv"
    starts = (private / layout.REFERENCE_ARTIFACTS / "pressor.csv").read_text().splitlines()[1:]
    t0 = {int(line.split(",")[0]): datetime.fromisoformat(line.split(",")[1]) for line in starts}
    header, *lines = path.read_text().splitlines()
    kept = [line for line in lines if not reaches(line.split(","), t0, side)]
    path.write_text("\n".join([header, *kept, ""]))
    assert text in complaints(task, private)["temporal bounds"]


def reaches(cells, t0, side):
    """Whether a measurement lies outside of all windows of its stay, or of a stay without any."""
    start = t0.get(int(cells[2]))
    if start is None:
        return True
    hours = (datetime.fromisoformat(cells[3]) - start) / timedelta(hours=1)
    return hours < -1.5 if side == "<" else hours >= 0


@pytest.mark.parametrize("kind", ["synthetic", "mimic_demo"])
def test_a_small_cohort_is_enough_in_the_demo_alone(built, tmp_path, kind):
    task, private = copies(built[0], tmp_path, "ICU-CHG-001")
    path = private / layout.REFERENCE_ARTIFACTS / "pressor.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:13]))
    manifest = json.loads((task / layout.MANIFEST).read_text())
    manifest["source"]["kind"] = kind
    (task / layout.MANIFEST).write_text(json.dumps(manifest))
    told = complaints(task, private).get("cohort")
    assert told == (None if kind == "mimic_demo" else "12 rows, not 20 to 600")


def test_a_workflow_that_takes_an_event_too_many_is_rejected(built, tmp_path):
    task, private = copies(built[0], tmp_path, "ICU-CHG-001")
    workflow = private / layout.WORKFLOW
    assert workflow.read_text().count("AND t < t0 AS is_pre") == 1
    workflow.write_text(workflow.read_text().replace("AND t < t0 AS is_pre", "AND t <= t0 AS is_pre"))
    assert "events used lie outside" in complaints(task, private)["temporal bounds"]


def test_a_template_whose_program_leaves_its_window_builds_nothing(made, tmp_path):
    right = TEMPLATES["ICU-CHG"]
    wrong = replace(right, slots=right.slots | {"before": right.slots["before"].replace("t < t0", "t <= t0")})
    wrong = replace(wrong, mutations=tuple(each for each in wrong.mutations if each.name == "SIGN"))
    place = plan_of(made, tmp_path, ("ICU-CHG",)).place()
    with pytest.raises(Rejected, match=r"temporal bounds: window 1 of 2: \d+ of \d+ events used lie outside"):
        build_instance(place, wrong, wrong.grid[0], "ICU-CHG-001", label=None, draw=0)
    assert not list(place.public.rglob("manifest.json"))


def test_a_predicate_that_lets_every_slip_pass_is_found(spoilt):
    task, private = spoilt
    path = private / layout.EVALUATION
    document = json.loads(path.read_text())
    idle = {"id": "P_IDLE", "kind": "domain", "artifact": "studies", "column": "value", "min": -1e12}
    document["predicates"].append(idle | {"max": 1e300})
    path.write_text(json.dumps(document))
    assert complaints(task, private)["predicates"] == "P_IDLE would pass anything"


def test_a_package_of_the_cohort_alone_is_rejected(built, tmp_path):
    task, private = copies(built[0], tmp_path, "WHP-PRF-001")
    rows = (private / layout.REFERENCE_ARTIFACTS / "profile.csv").read_text().splitlines()[1:]
    cohort = {row.split(",")[0] for row in rows}
    path = task / "data/hosp/patients.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *(line for line in lines if line.split(",")[0] in cohort), ""]))
    assert "0 of the other patients" in complaints(task, private)["distractors"]


def test_a_naive_answer_that_is_right_is_found(built, tmp_path):
    task, private = copies(built[0], tmp_path, "WHP-PRF-001")
    path = private / layout.REFERENCE_ANSWER
    template, parameters = TEMPLATES["WHP-PRF"], parameters_of(private)
    with runner.load(template.spec(parameters), task) as db:
        right = db.execute(fill(template.naive["all_rows"], parameters)).fetchone()[0]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"answer": repr(right)}))
    assert complaints(task, private)["naive"] == "the naive answer all_rows is right"


def test_a_changed_table_is_found(spoilt):
    task, private = spoilt
    path = task / "data/hosp/patients.csv"
    path.write_text(path.read_text().replace(",F,", ",M,", 1))
    assert failed(task, private) == {"checksums"}


def test_a_waveform_that_cannot_be_read_is_found(spoilt):
    task, private = spoilt
    next(task.rglob("*.dat")).write_bytes(b"short")
    assert {"checksums", "assets"} <= failed(task, private)


def test_a_changed_reference_is_found(spoilt):
    task, private = spoilt
    path = private / layout.REFERENCE_ARTIFACTS / "studies.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *lines[2:], ""]))
    assert {"gold", "rerun"} <= failed(task, private)


def test_a_reference_that_breaks_its_own_contract_is_refused(spoilt):
    task, private = spoilt
    path = private / layout.REFERENCE_ARTIFACTS / "studies.csv"
    path.write_text(path.read_text().replace("study_id", "study", 1))
    with pytest.raises(InvalidInput, match="missing_column"):
        check_task(task, private)


def test_a_workflow_that_fails_is_told(spoilt):
    task, private = spoilt
    (private / layout.WORKFLOW).write_text("raise ValueError('Error: no')\n")
    assert "rerun" in failed(task, private)


def test_a_private_line_in_the_public_tree_is_found(spoilt):
    task, private = spoilt
    canary = (private / layout.CANARY).read_text()
    (task / layout.QUESTION).write_text(f"see {canary}")
    assert "leak" in failed(task, private)


def test_an_open_name_in_a_question_is_found(spoilt):
    task, private = spoilt
    (task / layout.QUESTION).write_text("within $hours hours")
    assert "text" in failed(task, private)


@pytest.mark.parametrize("name", ["flat.jpg", "broken.jpg", "broken.dcm"])
def test_an_image_that_shows_nothing_is_found(tmp_path, name):
    path = tmp_path / name
    if name == "flat.jpg":
        Image.fromarray(np.full((8, 8), 90, np.uint8)).save(path)
    else:
        path.write_bytes(b"not an image")
    assert read_asset(path).startswith(name)


def test_an_unknown_task_is_refused(built, capsys):
    plan, _, _ = built
    where = ["--suite", plan.suite, "--public", str(plan.public), "--private", str(plan.private)]
    assert main(["qc", *where, "--task", "ICU-PRF-010", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "unknown_task"


@pytest.mark.long
def test_the_mini_suite_of_all_templates_holds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    synthesise(folder / "source", patients=600, seed="mini")
    plan = plan_of(folder / "source", folder / "out", tuple(TEMPLATES), workers=2)
    suite, _ = build_suite(plan)
    record = check_suite(*roots(plan), [task.task_id for task in suite.tasks], twice=True)
    assert (len(suite.tasks), record["failed"]) == (20, [])
    assert check_wrong_programs(plan, suite) >= 100
    assert share_of_invented(plan, suite, times=25) <= 0.02
