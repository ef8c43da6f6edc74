"""A tile of a slide over HTTP: the site with its wrapper and without it, and OpenSlide's example application.

That application is fetched for the run and kept nowhere. All servers are granian with one process and four
threads; what counts is their processor time a request.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

import psutil
from node import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Place = tuple[int, int]

CONNECTIONS, WARM_UP, ROUNDS = 32, 200, 3
LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]+)\r\n", re.IGNORECASE)
CASE = {
    "case_id": "BENCH-1",
    "project": "Bench",
    "site": "Colon",
    "difficulty": 1,
    "goal": "Look at the slide.",
    "slide": "slides/small.svs",
    "report": {"text": "A report."},
    "triplets": [
        {
            "id": "1",
            "category": "descriptive",
            "question": "What is it?",
            "insight": "A report.",
            "evidence": "A report.",
        }
    ],
}


def requests_us(folder: Path, slide: Path, places: Sequence[Place], width_px: int) -> dict[str, float]:
    """Microseconds of processor time of the server for a tile, by server.

    `places` are columns and rows of level 0 of `slide`, whose longer side has `width_px` pixels.
    """
    site = Site(folder, slide, places)
    app = deep_zoom_app(folder, slide)
    deepest = (width_px - 1).bit_length()
    deep_zoom = [f"/slide_files/{deepest}/{column}_{row}.jpeg" for column, row in places]
    return {
        "wrapper": served_us("medbench.wsgi:application", ROOT, site.environment, site.addresses, site),
        "django": served_us("medbench.wsgi:django_application", ROOT, site.environment, site.addresses, site),
        "deep zoom": served_us("bench_app:application", app, {}, deep_zoom),
    }


class Site:
    """A site of ours with one slide, and the session of one who may see it."""

    def __init__(self, folder: Path, slide: Path, places: Sequence[Place]) -> None:
        (bundle := folder / "bundle/slides").mkdir(parents=True)
        (bundle / slide.name).hardlink_to(slide)
        info = {"schema": "medbench.benchmark/1", "name": "bench", "title": "Bench", "version": "1"}
        info |= {"description": "", "licence": "CC0-1.0", "citation": ""}
        (bundle.parent / "benchmark.json").write_text(json.dumps(info))
        (bundle.parent / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
        self.environment = {
            "MEDBENCH_VAR_DIR": str(folder / "var"),
            "MEDBENCH_SLIDE_DIR": str(folder / "var/slides"),
            "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
            "BROKER_URL": "memory://",
            "MEDBENCH_PRODUCTION": "False",
            "MEDBENCH_DEBUG": "False",
        }
        (folder / "var/slides").mkdir(parents=True)
        (folder / "var/static").mkdir()  # WhiteNoise warns of a missing folder
        self._manage("migrate", "--verbosity", "0")
        self._manage("import_benchmark", str(bundle.parent))
        self.slide_id, self.session = self._manage("shell", "--verbosity", "0", "-c", PREPARE).split()[-2:]
        self.addresses = [f"/slides/{self.slide_id}/tiles/1/0/{column}_{row}.jpg" for column, row in places]

    def _manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        environment = os.environ | self.environment
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        return done.stdout

    def cookies(self, port: int) -> str:
        """What the viewer has after its first request: session and token."""
        connection = http.client.HTTPConnection("127.0.0.1", port)
        session = f"sessionid={self.session}"
        connection.request("GET", f"/slides/{self.slide_id}/pyramid.json", headers={"Cookie": session})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        assert json.loads(answer.read())["levels"][0]["passthrough"]
        return f"{session}; {answer.headers['Set-Cookie'].split(';')[0]}"


PREPARE = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from medbench.accounts.models import User
from medbench.slides import services
from medbench.slides.models import Slide
person = User.objects.create_superuser("bench", password="a long enough password")
slide = Slide.objects.get()
services.register_slide(slide)
session = SessionStore()
session[SESSION_KEY] = str(person.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = person.get_session_auth_hash()
session.save()
print(slide.pk, session.session_key)
"""


def deep_zoom_app(folder: Path, slide: Path) -> Path:
    """OpenSlide's example application and the Flask that it asks for, in a folder for PYTHONPATH."""
    import openslide

    app = folder / "deep_zoom"
    pip = [sys._base_executable, "-m", "pip", "--quiet", "--python", sys.executable]  # type: ignore[attr-defined]  # noqa: SLF001  # .venv has no pip
    subprocess.run([*pip, "install", "--target", str(app), "flask"], check=True)
    source = f"openslide-python=={openslide.__version__}"
    download = ["download", "--no-deps", "--no-binary", "openslide-python", "--dest", str(folder), source]
    subprocess.run([*pip, *download], check=True)
    with tarfile.open(next(folder.glob("openslide_python-*.tar.gz"))) as archive:
        for member in archive.getmembers():
            parts = member.name.split("/examples/deepzoom/")
            if len(parts) == 2:
                member.name = parts[1]
                archive.extract(member, app, filter="data")
    (app / "bench_app.py").write_text(
        "from deepzoom_server import create_app\n"
        f"application = create_app({{'DEEPZOOM_SLIDE': {str(slide)!r}}})\n"
    )
    return app


def served_us(
    target: str, folder: Path, environment: dict[str, str], addresses: list[str], site: Site | None = None
) -> float:
    with served(target, folder, environment) as (server, port):
        headers = {"Cookie": site.cookies(port)} if site else {}
        ask(port, addresses[:WARM_UP], headers)
        rounds = []
        for _ in range(ROUNDS):
            before = processor_seconds(server)
            ask(port, addresses, headers)
            rounds.append((processor_seconds(server) - before) / len(addresses))
        return 1e6 * median(rounds)


@contextmanager
def served(target: str, folder: Path, environment: dict[str, str]) -> Iterator[tuple[psutil.Process, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--log-level", "error"]
    command = [sys.executable, "-m", "granian", *options, "--blocking-threads", "4", target]
    path = {"PYTHONPATH": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=os.environ | path | environment) as process:
        try:
            wait_for(port)
            yield psutil.Process(process.pid), port
        finally:
            process.terminate()


def wait_for(port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def processor_seconds(server: psutil.Process) -> float:
    times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def ask(port: int, addresses: list[str], headers: dict[str, str]) -> None:
    """Fetch all addresses over many connections at once. Bare sockets: a client that is slower than the
    server lets it fall asleep between requests, and waking up is then most of what it does."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "127.0.0.1", **headers}.items())

    def fetch(some: list[str]) -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            for address in some:
                connection.sendall(f"GET {address} HTTP/1.1\r\n{lines}\r\n".encode())
                receive_picture(connection)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(fetch, [addresses[n::CONNECTIONS] for n in range(CONNECTIONS)]))


def receive_picture(connection: socket.socket) -> None:
    received, end = b"", -1
    while end < 0:
        received += connection.recv(1 << 16)
        end = received.find(b"\r\n\r\n")
    length = LENGTH.search(received, 0, end + 2)
    assert received.startswith(b"HTTP/1.1 200 "), received[:200]
    assert length, received[:200]
    missing = end + 4 + int(length[1]) - len(received)
    while missing > 0:
        missing -= len(connection.recv(1 << 16))
