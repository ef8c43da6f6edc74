"""`make test`: every check in order, stopping at the first that fails.

--long runs the long simulations too. MEDBENCH_REQUIRE_BROWSER: 1 = fail without Chromium,
0 = leave out the browser tests and those of rooms that know no database (they ran on another set-up),
unset = run them where Chromium is found.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from node import ROOT, node
from step import step

BIN = Path(sys.executable).parent
WITHOUT_DATABASE = ("clinlens", "evals", "formats", "scoring")  # rooms below Django
MANAGE = [sys.executable, str(ROOT / "manage.py")]


def tool(name: str) -> str:
    return str(BIN / name)


def templates() -> list[str]:
    """The templates that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def production() -> dict[str, str]:
    """The environment of a site in production, for Django's deployment checks."""
    return os.environ | {
        "MEDBENCH_PRODUCTION": "True",
        "MEDBENCH_SECRET_KEY": os.urandom(50).hex(),
        "MEDBENCH_HOSTS": "medbench.example",
        "MEDBENCH_SLIDE_DIR": str(ROOT / "tests"),
        "DATABASE_URL": os.environ.get("DATABASE_URL", "postgres://medbench@database.invalid/medbench"),
    }


def static_checks() -> None:
    step("Format", [tool("ruff"), "format", "--check", "."])
    step("Lint", [tool("ruff"), "check", "."])
    step("Templates", [tool("djade"), "--check", "--target-version", "5.2", *templates()])
    step("Layers", [tool("lint-imports")])
    step("Types", [tool("mypy")])
    step("Migrations", [*MANAGE, "makemigrations", "--check", "--dry-run"])
    step(
        "Settings for production", [*MANAGE, "check", "--deploy", "--fail-level", "WARNING"], env=production()
    )


def javascript_tests() -> None:
    files = sorted(str(path) for path in (ROOT / "tests/js").glob("*.test.js"))
    if files:
        step("JavaScript", [*node(), "--test", *files])


def python_tests(*, long: bool) -> None:
    pytest = [tool("pytest"), "-q"]
    without_long = "" if long else " and not long"
    wanted = os.environ.get("MEDBENCH_REQUIRE_BROWSER", "")
    again = [f"--ignore=tests/{room}" for room in WITHOUT_DATABASE] if wanted == "0" else []
    step(
        "Tests",
        [*pytest, "-n", "2", "--dist", "worksteal", "-m", f"not browser{without_long}", *again],
        live=True,
    )
    if wanted == "0":
        print(f"Browser tests, {', '.join(WITHOUT_DATABASE)}: left out (MEDBENCH_REQUIRE_BROWSER=0)")
    elif wanted or shutil.which("chromium"):
        step("Browser tests", [*pytest, "-m", f"browser{without_long}"], live=True)
    else:
        print("Browser tests                               NOT RUN: there is no Chromium on this machine")


def main() -> None:
    os.chdir(ROOT)
    database = os.environ.get("DATABASE_URL", "sqlite").split(":")[0]
    broker = os.environ.get("BROKER_URL", "memory").split(":")[0]
    print(f"Checking MedBench on {database} with the {broker} broker")
    static_checks()
    javascript_tests()
    python_tests(long="--long" in sys.argv)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
