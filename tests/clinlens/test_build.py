"""A suite is built whole, the same each time, with nothing private in what is given away."""

import hashlib
import json
import shutil
from collections import Counter

import pytest

from medbench.clinlens import layout
from medbench.clinlens.build import suite as building
from medbench.clinlens.build.fixed import SIZES, derive_fixed, fixed_tasks
from medbench.clinlens.build.instance import build_instance
from medbench.clinlens.build.secret import read_secret
from medbench.clinlens.build.selecting import Rejected
from medbench.clinlens.build.suite import _Progress, build_suite
from medbench.clinlens.canonical import checksum_lines, package_digest, private_commitment
from medbench.clinlens.commands import main
from medbench.clinlens.evaluator.results import Roots
from medbench.clinlens.manifest import read_manifest
from medbench.clinlens.packing import pack
from medbench.clinlens.private import read_private
from medbench.clinlens.synthetic import DEMO_TABLES, synthesise
from medbench.clinlens.templates import TEMPLATES, runner, template_of
from medbench.clinlens.templates.population import near_misses, population
from medbench.errors import InvalidInput
from tests.clinlens.suites import PATIENTS, SMALL, STRUCTURED, plan_of

FROZEN = "6f377702c854d709fef05f82568f8637e7916a45bb05167636d432c7b03b44e2"  # of the 126 ids, one a line


def trees(plan):
    return plan.public / plan.suite, plan.private / plan.suite


def test_every_task_of_the_plan_is_there_with_both_of_its_trees(built):
    plan, suite, _ = built
    public, private = trees(plan)
    assert [task.task_id for task in suite.tasks] == sorted(f"{name}-001" for name in SMALL)
    for task in suite.tasks:
        assert {path.name for path in (public / task.task_id).iterdir()} >= {
            layout.MANIFEST,
            layout.QUESTION,
            layout.DATA_CARD,
            layout.DATA,
            layout.CHECKSUMS,
        }
        names = (layout.SPEC, layout.EVALUATION, layout.MUTANTS, layout.QC, layout.CANARY, layout.SALT)
        assert all((private / task.task_id / name).is_file() for name in names)


def test_digest_and_commitment_can_be_made_again_from_the_files(built):
    plan, suite, _ = built
    public, private = trees(plan)
    for task in suite.tasks:
        assert task.package_digest == package_digest(public / task.task_id)
        assert task.private_commitment == private_commitment(private / task.task_id)


def test_a_second_build_gives_the_same_bytes(made, tmp_path):
    plans = [plan_of(made, tmp_path / name, ("WHP-PRF", "ICU-PHN")) for name in ("once", "again")]
    for plan in plans:
        build_suite(plan)
    for first, second in zip(*map(trees, plans), strict=True):
        for task in ("WHP-PRF-001", "ICU-PHN-001"):
            assert checksum_lines(first / task) == checksum_lines(second / task)


def test_a_stopped_build_goes_on_and_comes_to_the_same(made, tmp_path):
    again = plan_of(made, tmp_path, ("ADM-PRF",), instances=2)
    build_suite(again)
    public, private = trees(again)
    before = (public / "ADM-PRF-001/manifest.json").stat().st_mtime_ns
    lines = checksum_lines(public / "ADM-PRF-002")
    shutil.rmtree(public / "ADM-PRF-002")  # as if it had been stopped in between
    build_suite(again)
    assert (public / "ADM-PRF-001/manifest.json").stat().st_mtime_ns == before
    assert checksum_lines(public / "ADM-PRF-002") == lines
    assert not (public / ".half").exists()
    assert not (private / ".half").exists()


def test_another_secret_is_another_suite_and_is_not_mixed_in(made, tmp_path):
    first = plan_of(made, tmp_path, ("ICU-CHG",))
    build_suite(first)
    (tmp_path / "secret").write_text("aa" * 32)
    with pytest.raises(InvalidInput, match="begun from another source"):
        build_suite(first)


def test_roots_must_lie_apart(made, tmp_path):
    plan = plan_of(made, tmp_path, ("ICU-CHG",))
    inside = building.Plan(
        made, None, None, "x", tmp_path / "all", tmp_path / "all/private", plan.secret, ("ICU-CHG",)
    )
    with pytest.raises(InvalidInput, match="apart"):
        build_suite(inside)


def test_the_private_tree_is_for_its_owner_alone(built):
    plan, _, _ = built
    assert (plan.private / plan.suite).stat().st_mode & 0o077 == 0


def test_a_new_secret_is_for_its_owner_alone(tmp_path):
    first = read_secret(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    assert read_secret(tmp_path / "new").hex("x") == first.hex("x")


def test_a_secret_that_is_none_is_refused(tmp_path):
    (tmp_path / "bad").write_text("not hexadecimal")
    with pytest.raises(InvalidInput, match="hexadecimal"):
        read_secret(tmp_path / "bad")


def test_the_public_archive_holds_nothing_private(built, tmp_path):
    plan, suite, _ = built
    assert pack(suite, Roots(*trees(plan)), tmp_path / "out.zip") > 6 * 6


def test_a_package_holds_more_patients_than_its_cohort(built):
    plan, _, _ = built
    public, private = trees(plan)
    patients = (public / "WHP-PRF-001/data/hosp/patients.csv").read_text().count("\n") - 1
    cohort = read_private(private / "WHP-PRF-001").cohorts["profile"].rows
    assert cohort <= 0.75 * patients
    assert patients <= PATIENTS


def test_rows_of_a_package_are_rows_of_the_source(built, made):
    plan, _, _ = built
    public, _ = trees(plan)
    header, *rows = (public / "WHP-PRF-001/data/hosp/admissions.csv").read_text().splitlines()
    names = (made / "hosp/admissions.csv").read_text().splitlines()[0].split(",")
    places = [names.index(name) for name in header.split(",")]
    there = {
        ",".join(line.split(",")[place] for place in places)
        for line in (made / "hosp/admissions.csv").read_text().splitlines()[1:]
    }
    assert set(rows) <= there


def test_the_manifest_names_every_file_and_no_number_of_the_cohort(built):
    plan, suite, _ = built
    public, _ = trees(plan)
    for task in suite.tasks:
        manifest = read_manifest(public / task.task_id / layout.MANIFEST)
        assert {each.path for each in manifest.files} == {
            path.relative_to(public / task.task_id).as_posix()
            for path in (public / task.task_id).rglob("*")
            if path.is_file() and path.parts[-2] != task.task_id
        }
        for artifact in manifest.artifacts:
            assert not any(character.isdigit() for character in artifact.row_unit.replace("2x2", ""))


def test_what_was_rejected_says_why(built):
    _, _, rejected = built
    assert set(rejected) == set(SMALL)
    assert all(": " in reason for reasons in rejected.values() for reason in reasons)


FORMS = [form for name in ("WHP-PRF", "ICU-PRF", "EVT-PRF") for form in TEMPLATES[name].forms]


def build_form(made, folder, form):
    """One instance of a form: its two trees."""
    place = plan_of(made, folder, (form.id,)).place()
    task_id = f"{form.id}-001"
    for parameters in form.ordered_grid("tests"):
        try:
            build_instance(place, form, parameters, task_id, label=None, draw=0)
        except Rejected:
            continue
        return place.public / task_id, place.private / task_id
    raise AssertionError(f"no instance of {form.id} {form.form} is good")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.id} {form.form}")
def test_a_template_with_several_forms_builds_each(made, tmp_path, form):
    public, private = build_form(made, tmp_path, form)
    parameters = json.loads((private / layout.SPEC).read_text())["parameters"]
    assert template_of(form.id, parameters) is form
    assert [each["ok"] for each in json.loads((private / layout.QC).read_text())["checks"]].count(False) == 0
    if form.is_single:
        patients = (public / "data/hosp/patients.csv").read_text().count("\n") - 1
        assert patients == 4  # the index patient and three who play no part
        assert read_private(private).cohorts["measurements"].rows >= 30
        assert str(parameters["index"]) in (public / layout.QUESTION).read_text()


def test_two_of_ten_profiles_are_of_one_patient_in_an_order_that_the_secret_decides(made, tmp_path):
    plan = plan_of(made, tmp_path, ("WHP-PRF", "ICU-PRF", "EVT-PRF"), instances=10)
    forms = {name: _Progress(plan.place(), TEMPLATES[name], plan).forms for name in plan.templates}
    counts = {name: Counter(each) for name, each in forms.items()}
    assert all(sum(each.values()) == 10 and each["single"] == 2 for each in counts.values())
    assert (counts["EVT-PRF"]["reports"], counts["WHP-PRF"]["notes"]) == (3, 2)
    plan.secret.write_text("ab" * 32)
    assert forms != {name: _Progress(plan.place(), TEMPLATES[name], plan).forms for name in plan.templates}


def test_a_form_whose_tables_are_missing_leaves_its_place_to_the_usual_one(tmp_path):
    synthesise(tmp_path / "demo", patients=2, seed="a", tables=DEMO_TABLES)
    plan = plan_of(tmp_path / "demo", tmp_path / "out", ("WHP-PRF",), instances=10)
    assert Counter(_Progress(plan.place(), TEMPLATES["WHP-PRF"], plan).forms) == {"single": 2, "": 8}


def test_packages_hold_patients_who_fail_one_rule_alone(built):
    plan, suite, _ = built
    for task in suite.tasks:
        public, private = (root / task.task_id for root in trees(plan))
        parameters = json.loads((private / layout.SPEC).read_text())["parameters"]
        template = template_of(task.task_id[:7], parameters)
        with runner.load(template.spec(parameters), public) as db:
            runner.compute(db, template.spec(parameters))
            near = set().union(*near_misses(db, template, parameters))
            assert len(near) >= 10, task.task_id
            assert not near & population(db, template)  # the tables are the reference's again


def test_ecgs_come_with_waveforms(built):
    plan, _, _ = built
    public, _ = trees(plan)
    folder = public / "EVT-PRF-001/assets/ecg"
    headers = sorted(path.stem for path in folder.glob("*.hea"))
    assert headers
    assert headers == sorted(path.stem for path in folder.glob("*.dat"))


def test_the_fixed_suite_is_frozen():
    tasks = fixed_tasks()
    sizes = {scope: sum(task.startswith(scope) for task in tasks) for scope in SIZES}
    assert sizes == {"WHP": 37, "ADM": 31, "ICU": 22, "EVT": 36}
    assert len(set(tasks)) == 126
    assert [task for task in tasks if task.startswith("ICU-PHN")] == [
        "ICU-PHN-002",
        "ICU-PHN-005",
        "ICU-PHN-008",
        "ICU-PHN-009",
    ]
    assert hashlib.sha256("\n".join(tasks).encode()).hexdigest() == FROZEN


def test_a_fixed_suite_needs_all_tasks(built):
    plan, _, _ = built
    with pytest.raises(InvalidInput, match="build all 200 tasks"):
        derive_fixed(plan.public, plan.private, plan.suite, "fixed126")


def test_a_template_without_its_tables_is_refused_before_anything_is_written(tmp_path, capsys):
    synthesise(tmp_path / "demo", patients=2, seed="a", tables=DEMO_TABLES)
    roots = ["--public", str(tmp_path / "pub"), "--private", str(tmp_path / "priv")]
    status = main(
        ["build", "--source", str(tmp_path / "demo"), "--suite", "x", "--templates", "EVT-PRF", *roots]
    )
    assert status == 1
    assert "EVT-PRF needs ecg/record_list, ecg/machine_measurements" in capsys.readouterr().err
    assert not (tmp_path / "pub").exists()


def test_a_source_that_is_too_small_says_which_template_fails(tmp_path, capsys):
    synthesise(tmp_path / "few", patients=3, seed="a", with_files=0)
    plan = plan_of(tmp_path / "few", tmp_path / "out", ("ICU-CHG",))
    with pytest.raises(InvalidInput, match=r"ICU-CHG: only 0 of 1 instances pass"):
        build_suite(plan)


def test_an_unknown_template_is_refused(capsys):
    assert main(["build", "--source", ".", "--suite", "x", "--templates", "ICU-XYZ", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "unknown_template"


@pytest.mark.long
@pytest.mark.parametrize("name", STRUCTURED)
def test_the_nine_structured_templates_are_built_in_the_layout_of_the_demo(
    name, tmp_path_factory, demo_layout
):
    plan = plan_of(demo_layout, tmp_path_factory.mktemp(name), (name,))
    suite, _ = build_suite(plan)
    assert len(suite.tasks) == 1


@pytest.fixture(scope="session")
def demo_layout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "source"
    synthesise(folder, patients=400, seed="demo", tables=DEMO_TABLES)
    return folder


def test_templates_are_built_in_the_layout_of_the_demo(tmp_path):
    synthesise(tmp_path / "demo", patients=200, seed="demo", tables=DEMO_TABLES)
    suite, _ = build_suite(plan_of(tmp_path / "demo", tmp_path / "out", ("ADM-PHN",)))
    assert len(suite.tasks) == 1
    assert "ADM-PHN" in TEMPLATES
