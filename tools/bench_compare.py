"""How long the page takes that compares two submissions of 500 cases with 10,000 outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import result
from node import ROOT

ASKED = 20
TARGET_MS = 500


def results() -> dict[str, dict[str, object]]:
    """The slowest but one of ASKED requests, once the paired tests are kept; and the first request."""
    with tempfile.TemporaryDirectory() as folder:
        site = {
            **os.environ,
            "MEDBENCH_VAR_DIR": folder,
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
        }
        run = [sys.executable, str(ROOT / "manage.py")]
        subprocess.run([*run, "migrate", "-v0"], env=site, check=True)
        subprocess.run([*run, "collectstatic", "--noinput", "-v0"], env=site, check=True)
        here = str(ROOT / "tools")
        code = f"import sys; sys.path.insert(0, {here!r}); import bench_compare; bench_compare.ask()"
        told = subprocess.run(
            [*run, "shell", "-v0", "-c", code], env=site, check=True, capture_output=True, text=True
        )
    first, slowest, queries = json.loads(told.stdout.splitlines()[-1])
    return {
        "compare_500_cases_first_ms": result(first, "ms", 3_000),
        "compare_500_cases_p95_ms": result(slowest, "ms", TARGET_MS),
        "compare_500_cases_queries": result(queries, "queries", 25),
    }


def ask() -> None:
    """Inside the site: fill it, ask for the page, print what it took."""
    import time

    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    a, b = _fill()
    client = Client(headers={"host": "localhost"})
    client.force_login(a.submitted_by)
    took = []
    for number in range(ASKED + 1):
        start = time.perf_counter()
        with CaptureQueriesContext(connection) as asked:
            answer = client.get("/compare/", {"a": a.pk, "b": b.pk, "page": number + 1})
        took.append((time.perf_counter() - start) * 1000)
        assert answer.status_code == 200, answer.status_code
    print(json.dumps([took[0], sorted(took[1:])[-2], len(asked)]))


def _fill() -> tuple[object, object]:
    """500 cases with 10 references; two submissions with 10 outputs a case each."""
    import numpy as np

    from leaderboard.models import CaseScore, Output
    from medbench.accounts.models import Membership, Team, User
    from tests.leaderboard.build import make_board, make_evaluation, make_submission

    team = Team.objects.create(name="Bench")
    person = User.objects.create(username="rosa", name="Rosa")
    Membership.objects.create(team=team, user=person, role="researcher")
    board = make_board(team, n_cases=500)
    chance = np.random.default_rng(7)
    made = []
    for name in ("A", "B"):
        submission = make_submission(board, person, name)
        evaluation = make_evaluation(submission, 0.5)
        outputs, scores = [], []
        for row in board.release.cases.all():
            matrix = chance.random((3, 10))
            outputs += [
                Output(submission=submission, release_case=row, position=i, insight=f"Finding {i}.")
                for i in range(10)
            ]
            recall, precision = matrix.max(axis=1).mean(), matrix.max(axis=0).mean()
            scores.append(
                CaseScore(
                    evaluation=evaluation,
                    release_case=row,
                    n_references=3,
                    n_outputs=10,
                    recall=recall,
                    precision=precision,
                    f1=2 * recall * precision / (recall + precision),
                    kept=list(range(10)),
                    matrix=matrix.astype("<f8").tobytes(),
                )
            )
        Output.objects.bulk_create(outputs, batch_size=500)
        CaseScore.objects.bulk_create(scores, batch_size=500)
        made.append(submission)
    return made[0], made[1]


if __name__ == "__main__":
    print(json.dumps(results(), indent=2))
