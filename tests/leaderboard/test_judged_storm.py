"""Workers killed at random while they evaluate with judges: nothing stuck, nothing lost, no score moved.
Run on the set-up that DATABASE_URL and BROKER_URL name, SQLite without a broker by default."""

import random
import time
from collections import Counter

import pytest

from leaderboard.models import CaseScore, Evaluation, JudgeVerdict
from leaderboard.services import evaluations
from leaderboard.services.submissions import submit
from leaderboard.stages import JUDGES_KIND
from medbench.evals.session import Limits
from medbench.jobs.models import Job
from tests.evals.scripts import honest
from tests.jobs.processes import Processes, wait_until
from tests.leaderboard.judging import allow, judged_board, keys_asked
from tests.leaderboard.results import as_bytes, work_off

pytestmark = pytest.mark.worker
State = Job.State
SCORES = ("submission__number", "recall", "precision", "f1", "mean_case_f1", "coverage", "blocked_by")


@pytest.fixture
def server(served, settings):
    def slowly(asked):
        time.sleep(0.05)  # so that something is on its way whenever a worker dies
        return honest(asked)

    server = served(slowly)
    allow(settings, server)
    return server


@pytest.fixture
def processes(transactional_db, server, child_environment, tmp_path):
    started = Processes(child_environment, tmp_path)
    started.environment |= {
        "DJANGO_SETTINGS_MODULE": "medbench.settings",
        "MEDBENCH_JUDGE_ADDRESSES": server.base_url("openai-api"),
        "MEDBENCH_JUDGE_NETWORKS": "127.0.0.0/8",
    }
    yield started
    started.kill_all()
    assert "Traceback" not in started.logs()


def judging():
    return Job.objects.filter(kind=JUDGES_KIND)


def lose(worker):
    """Kill a worker, and let its leases run out at once: the minute they last is not waited for."""
    worker.kill()
    worker.wait()
    gone = judging().filter(state=State.RUNNING, worker__endswith=f":{worker.pid}")
    gone.update(lease_until=Job.objects.earliest("created_at").created_at)


def storm(processes, board, person, *, seed, count, blows):
    """Two workers on `count` evaluations, one of them killed at random moments."""
    chance = random.Random(seed)
    for n in range(count):
        insights = {
            f"C-{case}": [f"Finding {n} of case {case}.", "The tumour measures 6 cm."] for case in (1, 2)
        }
        submit(board, as_bytes(**insights), f"{n}.json", person)
    judging().update(max_attempts=100)
    workers = {worker.pid: worker for worker in processes.start_workers(2)}
    for _ in range(blows):
        wait_until(judging().filter(state=State.RUNNING).exists)
        time.sleep(chance.uniform(0, 0.5))
        busy = judging().filter(state=State.RUNNING).values_list("worker", flat=True)
        pids = sorted({int(name.rpartition(":")[2]) for name in busy} & workers.keys())
        if pids:
            lose(workers.pop(chance.choice(pids)))
            (new,) = processes.start_workers(1)
            workers[new.pid] = new
    wait_until(lambda: not judging().filter(state__in=(State.QUEUED, State.RUNNING)).exists())
    processes.kill_all()


def prove(processes, server, board, person, *, seed, count, blows):
    storm(processes, board, person, seed=seed, count=count, blows=blows)
    assert Counter(judging().values_list("state", flat=True)) == {State.DONE: count}
    assert judging().filter(attempt__gt=1).exists()  # the blows did hit
    assert CaseScore.objects.count() == count * board.release.cases.count()
    asked = Counter(keys_asked(server))
    assert JudgeVerdict.objects.count() == len(asked)
    # Asked twice is at most what was on its way to a worker that died: of each judge of each job.
    assert (
        asked.total() - len(asked) <= blows * 2 * len(board.profile.config["judges"]) * Limits().connections
    )

    # The same without any worker dying, asked anew, gives the same to the last bit.
    stormy = list(Evaluation.objects.order_by("submission__number").values_list(*SCORES))
    JudgeVerdict.objects.all().delete()
    for evaluation in Evaluation.objects.select_related("submission"):
        evaluations.run_again(evaluation.submission, person)
    work_off()
    calm = Evaluation.objects.filter(generation=2).order_by("submission__number")
    assert list(calm.values_list(*SCORES)) == stormy
    assert None not in {f1 for *_, f1, _, _, _ in stormy}


def test_killed_workers_lose_no_answer_and_move_no_score(processes, server, team, ada, rosa):
    board = judged_board(server, team, ada, judges=2, n_cases=2)
    prove(processes, server, board, rosa, seed=1, count=5, blows=2)


@pytest.mark.long
def test_a_hundred_evaluations_survive_killed_workers(processes, server, team, ada, rosa, settings):
    settings.SUBMISSIONS_PER_DAY = 1_000
    board = judged_board(server, team, ada, judges=2, n_cases=2)
    prove(processes, server, board, rosa, seed=7, count=100, blows=12)
