"""Commands as a user runs them, in a process of their own or in this one."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[2]
NO_DATABASE = "postgres://nobody@127.0.0.1:1/nowhere"


class Done(NamedTuple):
    status: int
    out: str
    err: str


def in_process(name, *args):
    """In this process. pytest-django forbids the database to tests that do not ask for it."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(name, *map(str, args), stdout=out, stderr=err)
    except CommandError as error:
        return Done(error.returncode, out.getvalue(), f"{err.getvalue()}{error}")
    return Done(0, out.getvalue(), err.getvalue())


def on_its_own(name, *args):
    """As a process with a database that cannot be reached."""
    done = subprocess.run(
        [sys.executable, "manage.py", name, *map(str, args)],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": NO_DATABASE},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Done(done.returncode, done.stdout, done.stderr)
