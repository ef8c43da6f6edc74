"""How long an annotator waits for the next item, in a study of MedInsightBench's size: 3,933 triplets,
each read by five. Called by bench.py; by itself it prints its results, on PostgreSQL where DATABASE_URL
says so: `.venv/bin/python tools/bench_annotation.py`.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import result
from node import ROOT

if TYPE_CHECKING:
    from annotation.models import Study
    from medbench.accounts.models import User

ANNOTATORS = 5
EACH = 40  # items that every annotator submits while it is measured
ANSWERS = {f"answer-{key}": "yes" for key in ("grounded", "faithful", "aligned", "category")}


def results() -> dict[str, dict[str, Any]]:
    """Server time from the press of Submit to the address of the next item, and that of its page."""
    with tempfile.TemporaryDirectory() as folder:
        usual = {"DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3"}
        environment = usual | os.environ | {"MEDBENCH_VAR_DIR": folder, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, __file__, folder]
        run = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    submits, pages = json.loads(run.stdout.splitlines()[-1])
    return {
        "next_item_p95_of_3933x5": result(1_000 * p95(submits), "ms", 100),
        "item_page_p95_of_3933x5": result(1_000 * p95(pages), "ms", 100),
    }


def p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


def measure(folder: str) -> None:
    """In a process and a database of its own: prints the seconds of every submit and every page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "medbench.settings")
    import django
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django.setup()
    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        study, people = make_study(Path(folder))
        connection.cursor().execute("ANALYZE")  # as any database does by itself before long
        times = [submit_and_open(study, person) for _ in range(EACH) for person in people]
    finally:
        teardown_databases(databases, verbosity=0)
    print(json.dumps(list(zip(*times[ANNOTATORS:], strict=True))))  # the first of each warms up


def make_study(folder: Path) -> tuple[Study, list[User]]:
    """A running study over a whole imported benchmark, half of it done."""
    import bench_import
    from django.core.management import call_command

    from annotation.models import Protocol, Study
    from annotation.services import studies
    from medbench.accounts.models import Team
    from medbench.accounts.permissions import Role
    from medbench.cases.editions import Edition
    from medbench.cases.models import Benchmark
    from medbench.review import triplets
    from tests.people import join, make_annotator

    (bundle := folder / "bundle").mkdir()
    bench_import.write_bundle(bundle)
    call_command("import_benchmark", str(bundle), stdout=io.StringIO())
    benchmark, team = Benchmark.objects.get(), Team.objects.get()
    people = [join(team, make_annotator(f"reader{n}"), Role.ANNOTATOR) for n in range(ANNOTATORS)]
    study = Study(
        benchmark=benchmark,
        title="Bench",
        protocol=Protocol.objects.get(key="triplet", version=1),
        annotators_per_item=ANNOTATORS,
    )
    items = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
    studies.start_study(studies.draft_study(study, items, people, by=people[0]))
    for seat, person in enumerate(people, 1):
        do_half(study, person, seat)
    return study, people


def do_half(study: Study, person: User, seat: int) -> None:
    from annotation.models import Assignment, Verdict, VerdictRevision

    mine = list(Assignment.objects.filter(study_item__study=study, annotator=person))
    done = mine[: len(mine) // 2]
    for number, each in enumerate(done, 1):
        each.state, each.seat, each.number = Assignment.State.SUBMITTED, seat, number
    Assignment.objects.bulk_update(done, ["state", "seat", "number"], batch_size=200)
    answers = {name.removeprefix("answer-"): value for name, value in ANSWERS.items()}
    verdicts = Verdict.objects.bulk_create(
        Verdict(assignment=each, answers=answers, version=1, submitted_version=1) for each in done
    )
    VerdictRevision.objects.bulk_create(
        VerdictRevision(verdict=each, version=1, answers=answers, submitted=True) for each in verdicts
    )


def submit_and_open(study: Study, person: User) -> tuple[float, float]:
    """The seconds of one submit with its next item, and of the page of that item."""
    from annotation.services.assignments import claim_next
    from tests.people import signed_in

    held = claim_next(study, person)
    client = signed_in(person)
    started = time.perf_counter()
    data = {**ANSWERS, "comment": "", "version": 0, "do": "submit"}
    answer = client.post(f"/annotate/{held.pk}/", data, headers={"Accept": "application/json"})
    submitted = time.perf_counter()
    page = client.get(answer.json()["next"])
    assert page.status_code == 200
    return submitted - started, time.perf_counter() - submitted


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        print(json.dumps(results(), indent=2))
