"""One task of a submission: the five conditions of StrictPass in order, each with its code.

1 required files exist · 2 they can be parsed · 3 row counts are right · 4 predicates hold · 5 the
answer is right. 3 needs 2, 4 needs 3; 5 is judged whenever the answer could be parsed, so that a
right answer from a wrong cohort is seen. Source: ClinLens design, sections 4.2 to 4.8.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from medbench.clinlens import layout
from medbench.clinlens.archive import Unreadable
from medbench.clinlens.evaluator.answers import JSON_BYTES, FinalAnswer, judge, parse_answer, parse_json
from medbench.clinlens.evaluator.failure import Failed
from medbench.clinlens.evaluator.predicates import Finding, Given, find
from medbench.clinlens.evaluator.tables import CSV_BYTES, Table, parse_table
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medbench.clinlens.archive import Source
    from medbench.clinlens.manifest import Artifact, Manifest
    from medbench.clinlens.private import PrivateTask

State = Literal["pass", "fail", "not_evaluated", "internal_error"]
CONDITIONS = ("C1", "C2", "C3", "C4", "C5")
COMPLETED = "completed"
RUN_STATES = (COMPLETED, "timeout", "error")
_log = logging.getLogger(__name__)


@dataclass
class Verdict:
    """What became of one task. `code` belongs to `first_failed`; "run" is a run that did not complete.

    `findings` are of all predicates that do not hold, by their ids. `tables` and `answer` are what
    could be parsed.
    """

    task_id: str
    conditions: dict[str, State] = field(default_factory=lambda: dict.fromkeys(CONDITIONS, "not_evaluated"))
    codes: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    answer: FinalAnswer | None = None

    @property
    def first_failed(self) -> str | None:
        """The first condition that is not met, "run" where only the run did not complete."""
        failed = (name for name in CONDITIONS if self.conditions[name] in {"fail", "internal_error"})
        return next(failed, "run" if "run" in self.codes else None)

    @property
    def code(self) -> str | None:
        return self.codes[self.first_failed] if self.first_failed else None

    @property
    def is_evaluated(self) -> bool:
        """False where the evaluator itself failed: never the participant's loss."""
        return "internal_error" not in self.conditions.values()

    @property
    def exec_success(self) -> bool:
        """A completed run and a complete, parseable submission; not that it is right."""
        return "run" not in self.codes and self.conditions["C1"] == self.conditions["C2"] == "pass"

    @property
    def strict_pass(self) -> bool:
        return self.exec_success and set(self.conditions.values()) == {"pass"}

    def fail(self, condition: str, failure: Failed) -> None:
        self.conditions[condition] = "fail"
        self.codes[condition] = failure.code
        where = f"{failure.file}: " if failure.file else ""
        self.messages[condition] = f"{where}{failure.message}"


def public_check(manifest: Manifest, source: Source, prefix: str) -> Verdict:
    """Conditions 1 and 2, which need the manifest alone. `prefix` is the folder of the task, "x/"."""
    verdict = Verdict(manifest.task_id)
    if not any(name.startswith(prefix) for name in source.sizes):
        verdict.fail("C1", Failed("missing_task", "The submission has nothing for this task."))
        return verdict
    _check_run(verdict, source, f"{prefix}{layout.RUN}")
    try:
        _check_files(manifest, source, prefix)
        verdict.conditions["C1"] = "pass"
    except Failed as failure:
        verdict.fail("C1", failure)
    try:
        _parse(verdict, manifest, source, prefix)
    except Failed as failure:
        if verdict.conditions["C1"] == "pass":
            verdict.fail("C2", failure)
    return verdict


def evaluate_task(manifest: Manifest, private: PrivateTask, source: Source, prefix: str) -> Verdict:
    """All five conditions of one task."""
    verdict = public_check(manifest, source, prefix)
    if verdict.conditions["C2"] == "pass":
        try:
            _check_rows(verdict, private)
            verdict.conditions["C3"] = "pass"
        except Failed as failure:
            verdict.fail("C3", failure)
    if verdict.conditions["C3"] == "pass":
        _check_predicates(verdict, manifest, private)
    if verdict.answer:
        code = judge(verdict.answer.value, private.answer, manifest.answer)
        if code:
            verdict.fail("C5", Failed(code, "The answer is not the reference's."))
        else:
            verdict.conditions["C5"] = "pass"
    return verdict


def reference_tables(manifest: Manifest, private: PrivateTask) -> dict[str, Table]:
    """The reference artifacts by name; raises InvalidInput where they break their own contract."""
    found = {}
    for artifact in manifest.artifacts:
        path = private.folder / layout.REFERENCE_ARTIFACTS / artifact.path
        try:
            found[artifact.name] = parse_table(path.read_bytes(), artifact)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", code="private") from error
        except Failed as failure:
            raise InvalidInput(f"{path}: {failure.code}: {failure.message}", code="private") from failure
    return found


def _check_run(verdict: Verdict, source: Source, name: str) -> None:
    """Note a run that did not complete. A run without a record counts as completed."""
    if name not in source.sizes:
        return
    try:
        found = parse_json(_read(source, name, JSON_BYTES))
        state = found.get("status", COMPLETED) if isinstance(found, dict) else None
    except Failed:
        state = None
    if state != COMPLETED:
        verdict.codes["run"] = f"run_{state}" if state in RUN_STATES[1:] else "run_unreadable"


def _check_files(manifest: Manifest, source: Source, prefix: str) -> None:
    wanted = [layout.FINAL_ANSWER, *(_path(artifact) for artifact in manifest.artifacts)]
    for name in wanted:
        size = source.sizes.get(f"{prefix}{name}")
        if size is None:
            raise Failed("missing_file", "The file is missing.", name)
        if size == 0:
            raise Failed("empty_file", "The file is empty.", name)


def _parse(verdict: Verdict, manifest: Manifest, source: Source, prefix: str) -> None:
    """Parse answer and artifacts; the answer also where an artifact is missing."""
    name = layout.FINAL_ANSWER
    if f"{prefix}{name}" in source.sizes:
        with _told_of(name):
            data = _read(source, f"{prefix}{name}", JSON_BYTES)
            verdict.answer = parse_answer(data, manifest.task_id, manifest.answer)
            verdict.warnings += verdict.answer.warnings
    if verdict.conditions["C1"] != "pass":
        return
    for artifact in manifest.artifacts:
        with _told_of(_path(artifact)):
            table = parse_table(_read(source, f"{prefix}{_path(artifact)}", CSV_BYTES), artifact)
        verdict.tables[artifact.name] = table
        verdict.warnings += [each for each in table.warnings if each not in verdict.warnings]
    verdict.conditions["C2"] = "pass"


def _check_rows(verdict: Verdict, private: PrivateTask) -> None:
    for name, table in verdict.tables.items():
        wanted, file = private.cohorts[name].rows, _path(table.artifact)
        if wanted and not len(table):
            raise Failed("no_rows", "There is no row under the header.", file)
        if len(table.row_of) < len(table):
            key = ", ".join(table.artifact.key)
            raise Failed("duplicate_keys", f"Two rows have the same key ({key}).", file)
        if len(table) != wanted:
            raise Failed("row_count", "It has not as many rows as the cohort.", file)


def _check_predicates(verdict: Verdict, manifest: Manifest, private: PrivateTask) -> None:
    """Find all predicates that do not hold; the first one gives the code."""
    assert verdict.answer
    try:
        references = reference_tables(manifest, private)
        for predicate in private.predicates:
            table, reference = verdict.tables[predicate.artifact], references[predicate.artifact]
            given = Given(table, reference, private, verdict.answer.value)
            finding = find(predicate.kind, given, predicate.given)
            if finding:
                verdict.findings[predicate.id] = finding
    except Exception:  # noqa: BLE001  # whatever we do wrong is no participant's loss
        _log.exception("Condition 4 of %s cannot be evaluated.", verdict.task_id)
        verdict.conditions["C4"] = "internal_error"
        verdict.codes["C4"] = "internal_error"
        return
    if verdict.findings:
        first = next(iter(verdict.findings))
        verdict.fail("C4", Failed(first, "A check of the artifact does not hold."))
    else:
        verdict.conditions["C4"] = "pass"


def _read(source: Source, name: str, most: int) -> bytes:
    try:
        return source.read(name, most)
    except Unreadable as error:
        raise Failed(error.code, "The file cannot be read.") from error


@contextmanager
def _told_of(name: str) -> Iterator[None]:
    """Say in which file something failed."""
    try:
        yield
    except Failed as failure:
        failure.file = name
        raise


def _path(artifact: Artifact) -> str:
    return f"{layout.ARTIFACTS}/{artifact.path}"
