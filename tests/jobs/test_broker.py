"""A broker carries the bell and nothing else: it may lose everything or be away. A Redis of our own,
so that we may."""

import shutil
import socket
import subprocess

import pytest
import redis
from django.conf import settings

from medbench.jobs.models import Job
from tests.jobs.processes import wait_until
from tests.required import absent

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(settings.EMBEDDED_WORKER, reason="BROKER_URL names no broker"),
]


class Redis:
    """A server that keeps nothing when it stops."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.folder = folder
        self.start()

    def start(self):
        options = ("--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder))
        self.process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        wait_until(self.answers)

    def answers(self):
        try:
            return self.ask(lambda client: client.ping())
        except redis.ConnectionError:
            return False

    def ask(self, question):
        with redis.Redis(port=self.port) as client:
            return question(client)

    def workers(self):
        """How many workers listen: each has one connection for the bell, one for remote control."""
        clients = self.ask(lambda client: client.client_list())
        return sum(int(client["psub"]) for client in clients) / 2

    def stop(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def broker(tmp_path):
    if not shutil.which("redis-server"):
        absent("There is no redis-server on this machine.", "CI")
    server = Redis(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def enqueue(processes, broker):
    """Enqueues from a web process, which must answer whatever the broker does."""
    # Workers look for work at the start, then never by themselves: only the bell can wake them.
    processes.environment |= {"BROKER_URL": broker.url, "MEDBENCH_JOB_SWEEP_SECONDS": "3600"}
    web = processes.start(
        "-m", "tests.jobs.web_process", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def enqueue(steps=1):
        print(steps, file=web.stdin, flush=True)
        return Job.objects.get(pk=web.stdout.readline().strip())

    return enqueue


def is_done(job):
    return Job.objects.filter(pk=job.pk, state=Job.State.DONE).exists


def test_flushed_and_restarted_broker_loses_no_job_and_rings_again(processes, broker, enqueue, steps):
    processes.start_worker()
    wait_until(lambda: broker.workers() == 1)
    wait_until(is_done(enqueue()))

    broker.ask(lambda client: client.flushall())
    wait_until(is_done(enqueue()))

    broker.stop()
    unheard = enqueue()
    assert "The broker did not take a ring" in processes.logs()
    broker.start()
    wait_until(lambda: broker.workers() == 1)  # the worker is back by itself
    heard = enqueue()
    wait_until(is_done(heard))
    wait_until(is_done(unheard))

    assert steps.count() == 4
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}


def test_every_worker_hears_the_bell(processes, broker, enqueue, steps):
    """Two workers with one slot each: while one works, the other must take the next job."""
    for _ in range(2):
        processes.start_worker(command=("manage.py", "worker", "--concurrency=1"))
    wait_until(lambda: broker.workers() == 2)
    first, second = (enqueue(steps=40) for _ in range(2))
    wait_until(is_done(first))
    wait_until(is_done(second))
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.worker != second.worker
