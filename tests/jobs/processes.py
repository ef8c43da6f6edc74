"""Real worker processes for the tests, and a stand-in for a web process that enqueues."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from medbench.jobs.models import WorkerBeat

ROOT = Path(__file__).resolve().parents[2]
CELERY = ("-m", "celery", "-A", "medbench", "worker", "-P", "threads", "-c", "2")  # as in production
PATIENCE_S = 120  # on a busy machine; no test waits that long unless it fails


def wait_until(is_so):
    """Wait until `is_so()` is true; answers its value."""
    give_up = time.monotonic() + PATIENCE_S
    while not (value := is_so()):
        assert time.monotonic() < give_up, f"{is_so} did not come true"
        time.sleep(0.05)
    return value


class Processes:
    """Child processes with the settings of worker_settings.py, each with a log of its own."""

    def __init__(self, environment, folder):
        self.environment = environment | {
            "DJANGO_SETTINGS_MODULE": "tests.jobs.worker_settings",
            "MEDBENCH_JOB_SWEEP_SECONDS": "0.2",
            "MEDBENCH_LOG_LEVEL": "INFO",
            "C_FORCE_ROOT": "1",
        }
        self.folder = folder
        self.running = []

    def start(self, *arguments, **options):
        with (self.folder / f"{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self.environment, stderr=log, **options
            )
        self.running.append(process)
        return process

    def start_worker(self, command=CELERY):
        return self.start(*command, stdout=subprocess.DEVNULL)

    def start_workers(self, count=1, command=CELERY):
        """Start workers; answers them once they look for work."""
        workers = [self.start_worker(command) for _ in range(count)]
        for worker in workers:
            wait_until(WorkerBeat.objects.filter(worker__endswith=f":{worker.pid}").exists)
        return workers

    def logs(self):
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def kill_all(self):
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                pipe.close()
