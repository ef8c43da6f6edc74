"""Run one step of the set-up or the checks: say what it is and how long it took.

Its output is shown where it fails, or as it comes with `live`.
As a command: python3 tools/step.py LABEL COMMAND...
"""

from __future__ import annotations

import os
import subprocess
import sys
import time


def step(label: str, command: list[str], *, env: dict[str, str] | None = None, live: bool = False) -> None:
    """Run `command`; exits with its code where it fails."""
    started = time.monotonic()
    apart = live or "jobserver" in os.environ.get("MAKEFLAGS", "")  # others print meanwhile
    print(f"{label:<44}", end="\n" if apart else "", flush=True)
    kept = None if live else subprocess.PIPE
    result = subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=kept,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    outcome = "failed" if result.returncode else "done"
    print(f"{label + ' ' if apart else ''}{outcome} {time.monotonic() - started:7.1f} s", flush=True)
    if result.returncode:
        print((result.stdout or "").rstrip(), flush=True)
        print(f"Failed with exit code {result.returncode}: {' '.join(command)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    sys.stdout = sys.stderr  # standard output belongs to the target: `make bench` prints JSON there
    try:
        step(sys.argv[1], sys.argv[2:])
    except KeyboardInterrupt:
        sys.exit(130)
