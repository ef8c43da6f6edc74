"""A slide that is withdrawn, and several server processes that each remember it."""

import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from tests.jobs.processes import ROOT, wait_until
from tests.slide_files import CMU

GONE_WITHIN_S = 5
PROCESSES = 3

PREPARE = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from medbench.accounts.models import User
from medbench.slides import services
from medbench.slides.models import Slide
person = User.objects.create_superuser("admin", password="a long enough password")
slide = Slide.objects.create(path="cmu.svs")
services.register_slide(slide)
session = SessionStore()
session[SESSION_KEY] = str(person.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = person.get_session_auth_hash()
session.save()
print(slide.pk, session.session_key)
"""
WITHDRAW = """
from medbench.slides.models import Slide
Slide.objects.update(state=Slide.State.PENDING)
"""


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "static").mkdir()
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.slides.served_settings",
        "MEDBENCH_VAR_DIR": str(tmp_path),
        "MEDBENCH_SLIDE_DIR": str(tmp_path / "slides"),
        "DATABASE_URL": f"sqlite:///{tmp_path}/site.sqlite3",
        "BROKER_URL": "memory://",
        "MEDBENCH_PRODUCTION": "False",
        "PYTHONWARNINGS": "ignore",
    }


def manage(environment, *arguments):
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


@contextmanager
def served(environment):
    """The site by several processes; answers its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        "--interface",
        "wsgi",
        "--port",
        str(port),
        "--log-level",
        "error",
        "--workers",
        str(PROCESSES),
    ]
    command = [sys.executable, "-m", "granian", *options, "medbench.wsgi:application"]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as server:
        try:
            wait_until(lambda: answers(port))
            yield port
        finally:
            server.terminate()


def answers(port):
    try:
        return ask(port, "/healthz", "").status
    except OSError:
        return None


def ask(port, address, cookies):
    """The answer to a new connection: the kernel hands it to any of the processes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", address, headers={"Cookie": cookies})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.mark.long
@pytest.mark.worker
def test_a_withdrawn_slide_is_gone_in_every_process(real, tmp_path, environment):
    (tmp_path / "slides").mkdir()
    shutil.copy2(real / CMU, tmp_path / "slides/cmu.svs")
    manage(environment, "migrate", "--verbosity", "0")
    slide, session = manage(environment, "shell", "--verbosity", "0", "-c", PREPARE).split()[-2:]
    address = f"/slides/{slide}/tiles/1/0/4_5.jpg"
    with served(environment) as port:
        opened = ask(port, f"/slides/{slide}/pyramid.json", f"sessionid={session}")
        cookies = f"sessionid={session}; {opened.headers['Set-Cookie'].split(';')[0]}"

        def asked():
            return {ask(port, address, cookies).status for _ in range(20 * PROCESSES)}

        assert asked() == {200}  # each process has met the slide now
        manage(environment, "shell", "--verbosity", "0", "-c", WITHDRAW)
        time.sleep(GONE_WITHIN_S)
        assert asked() == {404}
