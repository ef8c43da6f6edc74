"""import_benchmark and export_benchmark as users run them."""

import json
import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction

from medbench.cases.models import Benchmark, Case, Release
from medbench.slides.models import Slide
from tests.people import make_person


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_import_prints_one_json_object(db, mini):
    out, _ = run("import_benchmark", mini, "--json")
    answer = json.loads(out)
    assert {name: answer[name] for name in ("benchmark", "version", "cases", "triplets", "slides")} == {
        "benchmark": "tcga-mini",
        "version": "1",
        "cases": 8,
        "triplets": 62,
        "slides": 2,
    }
    assert answer["problems"] == []
    assert answer["warnings"] == []


def test_export_import_export_is_byte_equal(transactional_db, mini, tmp_path, settings):
    """Into an empty site in between: other rows, another folder of slides."""
    run("import_benchmark", mini)
    out, _ = run("export_benchmark", "tcga-mini", "--out", tmp_path / "first", "--json")
    assert json.loads(out) == {"path": str(tmp_path / "first"), "cases": 8, "triplets": 62}

    with transaction.atomic():
        call_command("flush", interactive=False, verbosity=0)
    settings.SLIDE_DIR = tmp_path / "slides"
    settings.SLIDE_DIR.mkdir()
    run("import_benchmark", tmp_path / "first")
    run("export_benchmark", "tcga-mini", "--out", tmp_path / "second")
    assert files_of(tmp_path / "first") == files_of(tmp_path / "second")
    assert {name.split("/")[0] for name in files_of(tmp_path / "first")} == {
        "benchmark.json",
        "cases.jsonl",
        "reports",
        "slides",
    }
    assert len(Slide.objects.all()) == 2


def test_export_names_a_release_or_the_working_copy(db, mini_texts, tmp_path):
    run("import_benchmark", mini_texts)
    Case.objects.filter(case_id="TCGA-CR-7395").update(site="Gingiva")
    run("export_benchmark", "tcga-mini", "--out", tmp_path / "draft", "--release", "draft")
    run("export_benchmark", "tcga-mini", "--out", tmp_path / "one", "--release", "1")
    assert '"site": "Gingiva"' in (tmp_path / "draft/cases.jsonl").read_text()
    assert '"site": "Gingiva"' not in (tmp_path / "one/cases.jsonl").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["export_benchmark", "nothing", "--out", "x"],
        ["export_benchmark", "tcga-mini", "--out", "x", "--release", "7"],
        ["export_benchmark", "tcga-mini", "--out", "x", "--release", "x"],
    ],
)
def test_export_of_what_is_not_there_is_refused(db, mini_texts, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("import_benchmark", mini_texts)
    with pytest.raises(CommandError):
        run(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_export_does_not_write_into_a_folder_that_holds_something(db, mini_texts, tmp_path):
    run("import_benchmark", mini_texts)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="not empty"):
        run("export_benchmark", "tcga-mini", "--out", tmp_path)
    assert files_of(tmp_path) == {"mine.txt": b"mine"}


def test_a_broken_bundle_leaves_nothing_and_names_every_problem(db, mini_texts, tmp_path):
    cases = (mini_texts / "cases.jsonl").read_text().splitlines()
    (tmp_path / "benchmark.json").write_bytes((mini_texts / "benchmark.json").read_bytes())
    (tmp_path / "cases.jsonl").write_text(
        "\n".join([cases[0].replace('"difficulty": 3', '"difficulty": 9'), "{"])
    )
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_benchmark", str(tmp_path), "--json", stdout=out, stderr=err)
    answer = json.loads(out.getvalue())
    places = {(each["code"], each["file"], each["line"], each["field"]) for each in answer["problems"]}
    assert ("bad_json", "cases.jsonl", 2, "") in places
    assert any(field == "difficulty" and line == 1 for _, _, line, field in places)
    assert answer["n_problems"] == len(answer["problems"])
    assert "difficulty" in err.getvalue()
    assert not Benchmark.objects.exists()


def test_a_dry_run_changes_nothing(db, mini_texts):
    out, _ = run("import_benchmark", mini_texts, "--dry-run", "--json")
    assert json.loads(out)["cases"] == 8
    assert not Benchmark.objects.exists()
    assert not Slide.objects.exists()


def test_somebody_can_be_named_as_the_importer(db, mini_texts):
    make_person("sam", is_superuser=True)
    run("import_benchmark", mini_texts, "--as", "sam")
    assert Release.objects.get().frozen_by.username == "sam"
    with pytest.raises(CommandError, match="no user"):
        run("import_benchmark", mini_texts, "--as", "nobody")


def test_exit_codes(child_environment, mini_texts, tmp_path):
    """0 done, 1 bad input with the reason on stderr, 2 wrong usage."""

    def manage(*arguments):
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            env=child_environment,
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            check=False,
        )

    done = manage("import_benchmark", mini_texts, "--json")
    assert (done.returncode, json.loads(done.stdout)["benchmark"]) == (0, "tcga-mini")
    bad = manage("import_benchmark", tmp_path / "nothing", "--json")
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["n_problems"] == 1
    assert "nothing" in bad.stderr
    assert "Traceback" not in bad.stderr
    assert manage("import_benchmark").returncode == 2
    assert manage("export_benchmark", "tcga-mini").returncode == 2
