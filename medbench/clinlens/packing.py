"""The public archive of a suite: every byte the same each time, and nothing private in it."""

from __future__ import annotations

import re
import zipfile
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.canonical import files_of
from medbench.clinlens.checked import check_package, load_task
from medbench.clinlens.manifest import NumericAnswer
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from medbench.clinlens.evaluator.results import Roots
    from medbench.clinlens.manifest import Manifest
    from medbench.clinlens.private import PrivateTask
    from medbench.clinlens.suite import Suite, SuiteTask

FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip archive can hold
FIXED_MODE = 0o100644
LEVEL = 6
LONG_LINE = 40  # characters of a workflow's line that is looked for
TELLING_DIGITS = 3  # an answer of fewer (24, 0.5) is met by chance
_NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?![\w.])")


def pack(suite: Suite, roots: Roots, out: Path, progress: Callable[[Iterable[SuiteTask]], Any] = iter) -> int:
    """Write the public archive of a suite, whole or not at all; answers the number of files.

    Raises InvalidInput where a task is damaged, something private is in it, or its rows are
    credentialed: those must not be given away.
    """
    if suite.source_kind == layout.CREDENTIALED:
        message = (
            "A suite of credentialed rows must not be given away: no archive is made. Whoever has "
            "access builds the same suite from their own copy; its digest is the same."
        )
        raise InvalidInput(message, code="credentialed_source")
    part = out.with_name(f"{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            n_files = sum(_add(archive, *each) for each in _files(suite, roots, progress))
        part.replace(out)
    except OSError as error:
        raise InvalidInput(f"{out} cannot be written: {error.strerror}.", code="not_written") from error
    finally:
        part.unlink(missing_ok=True)
    return n_files


def _files(
    suite: Suite, roots: Roots, progress: Callable[[Iterable[SuiteTask]], Any]
) -> Iterator[tuple[Path, str]]:
    """The files of a suite, each task scanned before its first."""
    yield roots.public / layout.SUITE, f"{suite.name}/{layout.SUITE}"
    for task in progress(suite.tasks):
        folder = roots.public / task.task_id
        check_package(task, folder)
        manifest, private = load_task(task, roots.public, roots.private)
        leak = find_leak(folder, manifest, private)
        if leak:
            raise InvalidInput(f"{folder}: {leak}", code="leak")
        for name in files_of(folder):
            yield folder / name, f"{suite.name}/{task.task_id}/{name}"


def find_leak(folder: Path, manifest: Manifest, private: PrivateTask) -> str:
    """What of a task's private tree stands in its public one, "" for nothing."""
    secrets = dict(_secrets(private.folder))
    for name in files_of(folder):
        data = (folder / name).read_bytes()
        for secret, what in secrets.items():
            if secret in data:
                return f"{name} holds {what}."
    if isinstance(manifest.answer, NumericAnswer):
        return _answer_leak((folder / layout.QUESTION).read_text(errors="replace"), manifest, private)
    return ""


def _secrets(folder: Path) -> Iterator[tuple[bytes, str]]:
    canary = _private_bytes(folder / layout.CANARY).strip()
    if not canary:
        raise InvalidInput(f"{folder / layout.CANARY} is empty: no leak would be found.", code="private")
    yield canary, "the canary of the private tree"
    for line in _private_bytes(folder / layout.WORKFLOW).splitlines():
        if len(line.strip()) >= LONG_LINE:
            yield line.strip(), "a line of the reference workflow"


def _private_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", code="private") from error


def _answer_leak(question: str, manifest: Manifest, private: PrivateTask) -> str:
    """Whether the answer stands in manifest or question, in any spelling of its number."""
    right = Decimal(private.answer.answer)
    if len(f"{right.normalize():f}".replace(".", "").rstrip("0")) < TELLING_DIGITS:
        return ""
    spoken = {name: value for name, value in manifest.as_dict().items() if name != "files"}
    for name, text in ((layout.MANIFEST, str(spoken)), (layout.QUESTION, question)):
        if any(Decimal(number) == right for number in _NUMBER.findall(text)):
            return f"{name} holds the reference answer."
    return ""


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> int:
    entry = zipfile.ZipInfo(name, FIXED_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = FIXED_MODE << 16
    entry.create_system = 3  # Unix, wherever this runs
    with path.open("rb") as file, archive.open(entry, "w") as packed:
        while chunk := file.read(1 << 20):
            packed.write(chunk)
    return 1
