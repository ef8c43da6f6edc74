"""`manage.py demo` as a person starts and ends it: two real processes, one Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings

from medbench.demo.management.commands.demo import first_free_port

pytestmark = pytest.mark.worker
MANAGE = [sys.executable, "manage.py"]


def processes_of(folder):
    """Ids of the running processes that were given `folder` in their environment."""
    marker = os.fsencode(folder)
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:  # ended meanwhile
            continue
    return found


@pytest.fixture
def demo(child_environment, tmp_path):
    """The running demo and its address; whatever is left of it at the end is a failure."""
    environment = child_environment | {"MEDBENCH_VAR_DIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    collect = [*MANAGE, "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=settings.BASE_DIR, env=environment, check=True)
    with subprocess.Popen(
        [*MANAGE, "demo"], cwd=settings.BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)
            left = processes_of(tmp_path)
            for each in left:
                os.kill(each, signal.SIGKILL)
    assert left == []


def address(process):
    """Read what the demo prints up to its last line; answers the address of the site."""
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            return re.search(r"http://127\.0\.0\.1:\d+/", said)[0]
    return pytest.fail(f"The demo did not start:\n{said}")


def test_the_demo_serves_pages_and_files_and_ends_whole_by_ctrl_c(demo, tmp_path):
    site = address(demo)
    with urlopen(site) as answer:
        page = answer.read().decode()
    assert "MedBench" in page
    style = re.search(r'href="(/static/[^"]+\.css)"', page)[1]
    with urlopen(site.rstrip("/") + style) as answer:
        assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert len(processes_of(tmp_path)) >= 3  # itself, the server and the worker
    port = int(site.rsplit(":", 1)[1].strip("/"))
    assert first_free_port(port) > port  # where a second demo would go
    demo.send_signal(signal.SIGINT)
    assert demo.wait(timeout=30) == 0
    assert processes_of(tmp_path) == []


def test_the_demo_ends_with_a_message_when_its_worker_dies(demo, tmp_path):
    address(demo)
    worker = [
        each for each in processes_of(tmp_path) if b"worker" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    os.kill(worker[0], signal.SIGKILL)
    assert demo.wait(timeout=30) == 1
    assert processes_of(tmp_path) == []
