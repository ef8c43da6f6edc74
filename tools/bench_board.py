"""How long the page of a board with 1,000 submissions takes, and how long from an upload of 332 cases to
its place. Called by bench.py; by itself it prints its results: `.venv/bin/python tools/bench_board.py`.
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

from measure import result, sentence
from node import ROOT

if TYPE_CHECKING:
    from leaderboard.models import Board
    from medbench.accounts.models import User

ENTRIES = 1_000
VISITS = 40
OUTPUTS = 12  # of a case


def results() -> dict[str, dict[str, Any]]:
    """Server time of the page, and of submit, evaluation and ranking one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        usual = {"DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3"}
        environment = usual | os.environ | {"MEDBENCH_VAR_DIR": folder, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, __file__, folder]
        run = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    upload, visits = json.loads(run.stdout.splitlines()[-1])
    return {
        "board_page_p95_of_1000": result(1_000 * sorted(visits)[int(0.95 * len(visits))], "ms", 150),
        "upload_to_ranked_332": result(upload, "s", 5),
    }


def measure(folder: str) -> None:
    """In a process and a database of its own: prints the seconds of the upload and of every visit."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "medbench.settings")
    import django
    from django.conf import settings
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django.setup()
    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        board, person = make_board(Path(folder))
        upload = upload_to_ranked(board, person)
        fill(board, person)
        print(json.dumps([upload, [visit(board, person) for _ in range(VISITS + 1)][1:]]))
    finally:
        teardown_databases(databases, verbosity=0)


def make_board(folder: Path) -> tuple[Board, User]:
    import bench_import
    from django.core.management import call_command

    from leaderboard.models import Board
    from leaderboard.services.boards import rouge_profile
    from medbench.accounts.models import Team
    from medbench.accounts.permissions import Role
    from medbench.cases.models import Release
    from tests.people import join, make_person

    (bundle := folder / "bundle").mkdir()
    bench_import.write_bundle(bundle)
    call_command("import_benchmark", str(bundle), stdout=io.StringIO())
    board = Board.objects.create(release=Release.objects.get(), profile=rouge_profile(), split="open")
    return board, join(Team.objects.get(), make_person("rosa"), Role.RESEARCHER)


def upload_to_ranked(board: Board, person: User) -> float:
    import random

    from leaderboard.services.submissions import submit
    from tests.leaderboard.results import as_bytes, work_off

    chance = random.Random(7)
    names = board.release.cases.values_list("case__case_id", flat=True)
    data = as_bytes(**{name: [sentence(chance, n) for n in range(OUTPUTS)] for name in names})
    started = time.perf_counter()
    submit(board, data, "results.json", person)
    work_off()
    return time.perf_counter() - started


def fill(board: Board, person: User) -> None:
    """As many scored entries, each with its place stored."""
    from leaderboard import queries
    from leaderboard.models import Ranking
    from tests.leaderboard.build import make_entry

    for number in range(ENTRIES - 1):
        make_entry(board, person, f"Method {number}", 0.2 + number / 2_000, ci=[0.1, 0.8])
    place = {"group": 1, "group_rank": 1, "low": 1, "high": 9, "p_first": 0.1, "p_holm": 0.5}
    places = {str(each.pk): place for each in queries.rankable(board)}
    Ranking.objects.filter(board=board).update(places=places)


def visit(board: Board, person: User) -> float:
    from tests.people import signed_in

    client = signed_in(person)
    started = time.perf_counter()
    assert client.get(f"/boards/{board.pk}/").status_code == 200
    return time.perf_counter() - started


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        print(json.dumps(results(), indent=2))
