"""Promises that the project's own files make."""

import json
import os
import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import get_commands

ROOT = settings.BASE_DIR
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-node.txt", "package-lock.json", ".npmrc")


def committed():
    """Path and text of every text file that git has."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0"):
        file = ROOT / name
        if name and file.is_file() and b"\0" not in (content := file.read_bytes()):
            yield name, content.decode()


def example():
    """Name and value of every setting in .env.example."""
    return dict(re.findall(r"^# ([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_env_example_names_exactly_what_the_settings_read():
    read = re.findall(r"""env\.\w+\(\s*"([A-Z_]+)\"""", (ROOT / "medbench/settings.py").read_text())
    assert sorted(example()) == sorted(set(read))


def test_every_value_of_env_example_is_accepted(tmp_path):
    values = {name: value for name, value in example().items() if value and not name.endswith("_DIR")}
    environment = os.environ | values | {"MEDBENCH_VAR_DIR": str(tmp_path)}
    checked = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_carry_no_addresses(lock):
    lines = (ROOT / lock).read_text().splitlines()
    addresses = [
        line
        for line in lines
        if "://" in line and not re.search(r'"url": "https://(github|opencollective)', line)
    ]
    assert addresses == []
    assert not [line for line in lines if re.match(r"-(i|f|-index-url|-extra-index-url|-find-links)\b", line)]


@pytest.mark.parametrize("lock", LOCKS[:3])
def test_every_package_is_locked_with_hashes(lock):
    entries = re.split(r"\n(?=\S)", (ROOT / lock).read_text().strip())
    assert [
        entry for entry in entries if not re.match(r"[\w.-]+==\S+.*--hash=sha256:", entry, re.DOTALL)
    ] == []


def test_no_file_holds_a_path_of_one_machine():
    path = re.compile(r"(?<![\w.~/-])/(home|root|Users|work|tmp)/\w")
    holding = [name for name, text in committed() if path.search(text)]
    assert holding == []


def test_every_file_is_utf8_and_small():
    large = [name for name, text in committed() if len(text) > 700_000]
    assert large == []


def test_medbench_itself_imports_nothing():
    """So that medbench.scoring and medbench.formats can be used without Django."""
    assert (ROOT / "medbench/__init__.py").read_text() == ""


def test_readme_names_the_python_and_node_that_the_project_needs():
    python = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    node = json.loads((ROOT / "package.json").read_text())["engines"]["node"].removeprefix(">=")
    readme = (ROOT / "README.md").read_text()
    assert f"Python {python} or newer" in readme
    assert f"Node.js {node} or newer" in readme


def test_readme_names_every_target_of_make():
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", (ROOT / "README.md").read_text()))
    assert targets - {"help"} == named


def test_the_version_is_the_same_everywhere():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{settings.VERSION}"' in text
    assert f"## {settings.VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_command_in_the_documents_exists():
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    own = text[text.index("## Your own benchmark") : text.index("## In production")]
    named = set(re.findall(r"manage\.py ([a-z_]+)", text)) | set(
        re.findall(r"^\| `([a-z_]+) ", own, re.MULTILINE)
    )
    assert {"migrate", "import_benchmark"} <= named
    assert named - get_commands().keys() == set()


def test_no_test_imports_a_conftest():
    """pytest loads it under another name; what rooms share is a plugin that tests/conftest.py names."""
    importing = [
        name
        for name, text in committed()
        if name.startswith("tests/") and re.search(r"from [\w.]+\.conftest import", text)
    ]
    assert importing == []
