"""`manage.py demo`: the site and its worker on this machine, started and ended together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from medbench.demo.people import PASSWORD, PEOPLE

if TYPE_CHECKING:
    from argparse import ArgumentParser

HOST = "127.0.0.1"
START_SECONDS = 60
END_SECONDS = 10

Children = dict[str, subprocess.Popen[bytes]]


class Command(BaseCommand):
    help = "Serve MedBench on this machine with one worker. Ctrl-C ends both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="where to look for a free port first")

    def handle(self, *, port: int, **options: Any) -> None:
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, signal.default_int_handler)
        port = first_free_port(port)
        children: Children = {}
        try:
            children["web server"] = start(
                "-m", "granian", *server_options(port), "medbench.wsgi:application"
            )
            children["worker"] = start("manage.py", "worker")
            wait_for_answer(port, children)
            self.stdout.write(welcome(port))
            self.stdout.flush()
            while True:
                refuse_dead(children)
                time.sleep(0.2)
        except KeyboardInterrupt:
            self.stdout.write("\nEnding the web server and the worker.")
        finally:
            end(children)


def server_options(port: int) -> list[str]:
    """One process with threads: SQLite has one writer anyway, and tiles are read outside the lock."""
    return [
        *("--interface", "wsgi", "--host", HOST, "--port", str(port)),
        *("--blocking-threads", "4", "--log-level", "warning"),
    ]


def first_free_port(port: int) -> int:
    """The first port from `port` on that nobody listens on; raises CommandError after 100 ports."""
    for candidate in range(port, port + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, candidate))
            except OSError:
                continue
            return candidate
    raise CommandError(f"No port from {port} to {port + 99} is free. Name another: --port 9000")


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """A child of this Python in a session of its own, so that Ctrl-C reaches the parent alone."""
    return subprocess.Popen(  # noqa: S603  # our own modules
        [sys.executable, *arguments],
        cwd=settings.BASE_DIR,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def refuse_dead(children: Children) -> None:
    """Raise CommandError where a child has ended by itself."""
    for name, child in children.items():
        if child.poll() is not None:
            raise CommandError(f"The {name} ended (exit code {child.returncode}). Its last words are above.")


def wait_for_answer(port: int, children: Children) -> None:
    """Return when the site answers; raises CommandError where it cannot."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        refuse_dead(children)
        try:
            with urlopen(f"http://{HOST}:{port}/", timeout=START_SECONDS):
                return
        except HTTPError as error:
            raise CommandError(f"The site answers with an error ({error.code}); its log is above.") from error
        except URLError:
            time.sleep(0.1)
    raise CommandError(f"The site did not answer within {START_SECONDS} s.")


def welcome(port: int) -> str:
    """Where the site is and who can sign in."""
    people = [f"  {who.username:<8}{who.role:<13}{who.to_do}" for who in PEOPLE]
    return "\n".join(
        [
            "",
            f"MedBench is running at http://{HOST}:{port}/",
            "",
            f"Sign in with the password {PASSWORD} as",
            *people,
            "",
            f"Everything is kept in {settings.VAR_DIR}. Ctrl-C ends it.",
        ]
    )


def end(children: Children) -> None:
    """Ask every child to end, then make sure that nothing of its session is left."""
    for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(again, signal.SIG_IGN)
    for child in children.values():
        child.terminate()
    give_up = time.monotonic() + END_SECONDS
    for child in children.values():
        with suppress(subprocess.TimeoutExpired):
            child.wait(max(0.1, give_up - time.monotonic()))
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
