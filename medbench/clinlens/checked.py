"""The two trees of a task, checked against each other and against the suite before they are used."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.canonical import checksum_lines, file_sha256, package_digest, private_commitment
from medbench.clinlens.evaluator.formulas import FORMULAS
from medbench.clinlens.evaluator.statistics import STATISTICS
from medbench.clinlens.labels import normalised
from medbench.clinlens.manifest import CategoricalAnswer, Manifest, read_manifest
from medbench.clinlens.private import PrivateTask, read_private
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medbench.clinlens.private import Predicate
    from medbench.clinlens.suite import SuiteTask

_COLUMN_OPTIONS = ("column", "anchor", "subject", "split", "label", "score")


def load_task(task: SuiteTask, public: Path, private: Path) -> tuple[Manifest, PrivateTask]:
    """Manifest and private tree of a task of a suite, as the suite pins them; raises InvalidInput."""
    path, folder = public / task.task_id / layout.MANIFEST, private / task.task_id
    manifest = read_manifest(path)
    if file_sha256(path) != task.manifest_sha256:
        raise InvalidInput(f"{path} is not the one that the suite pins.", code="digest")
    if not folder.is_dir():
        raise InvalidInput(f"There is no private tree in {folder}.", code="private_missing")
    if private_commitment(folder) != task.private_commitment:
        raise InvalidInput(f"{folder} was changed after the suite was built.", code="commitment")
    return manifest, checked_private(manifest, folder)


def checked_private(manifest: Manifest, folder: Path) -> PrivateTask:
    """The private tree of a task, where it fits the manifest; raises InvalidInput."""
    private = read_private(folder)
    wrong = next(_misfits(manifest, private), None)
    if wrong:
        raise InvalidInput(f"{folder}: {wrong}", code="private")
    return private


def check_package(task: SuiteTask, folder: Path) -> Manifest:
    """The manifest of a public task whose files are all there, unchanged, and no others.

    Raises InvalidInput.
    """
    manifest = read_manifest(folder / layout.MANIFEST)
    lines = checksum_lines(folder, [layout.CHECKSUMS])
    try:
        stated = (folder / layout.CHECKSUMS).read_text()
    except OSError as error:
        raise InvalidInput(f"{folder} has no {layout.CHECKSUMS}.", code="digest") from error
    if lines != stated:
        raise InvalidInput(f"{folder} is not as its {layout.CHECKSUMS} says.", code="digest")
    digests = (package_digest(folder), file_sha256(folder / layout.MANIFEST), manifest.private_commitment)
    if digests != (task.package_digest, task.manifest_sha256, task.private_commitment):
        raise InvalidInput(f"{folder} is not the task that the suite pins.", code="digest")
    found = {path: digest for digest, path in (line.split("  ", 1) for line in lines.splitlines())}
    odd = _odd_file(manifest, found)
    if odd:
        raise InvalidInput(f"{folder / odd} is not as the manifest says.", code="files")
    return manifest


def _odd_file(manifest: Manifest, found: dict[str, str]) -> str:
    """A file that manifest and folder (digests by path) do not agree on, "" for none."""
    named = {file.path: file.sha256 for file in manifest.files}
    beside = {layout.MANIFEST, layout.QUESTION, layout.DATA_CARD}
    odd = {path for path in found.keys() - named.keys() if path not in beside}
    odd |= {path for path, digest in named.items() if found.get(path) != digest}
    odd |= beside - found.keys()
    return min(odd, default="")


def _misfits(manifest: Manifest, private: PrivateTask) -> Iterator[str]:
    """What in a private tree does not fit the public contract."""
    names = {artifact.name for artifact in manifest.artifacts}
    if private.cohorts.keys() != names:
        yield "the artifacts of evaluation.json are not those of the manifest."
    checked = {each.artifact for each in private.predicates if each.kind == "key_set"}
    for name in sorted(names - checked):
        yield f"artifact {name} has no predicate key_set: invented rows would pass."
    if len({each.id for each in private.predicates}) < len(private.predicates):
        yield "two predicates have one id."
    for predicate in private.predicates:
        yield from _misfits_of(predicate, manifest)
    yield from _answer_misfits(manifest, private)


def _misfits_of(predicate: Predicate, manifest: Manifest) -> Iterator[str]:
    artifact = next((each for each in manifest.artifacts if each.name == predicate.artifact), None)
    if artifact is None:
        yield f"predicate {predicate.id} is of no artifact."
        return
    known = {column.name for column in artifact.columns}
    for name in _columns_of(predicate.given):
        if name not in known:
            yield f"predicate {predicate.id}: artifact {artifact.name} has no column {name}."
    for option, registry in (("statistic", STATISTICS), ("formula", FORMULAS)):
        asked = predicate.given.get(option)
        if asked is not None and asked not in registry:
            yield f"predicate {predicate.id}: there is no {option} {asked}."
        elif asked is not None and set(registry[asked][0]) != predicate.given["columns"].keys():
            yield f"predicate {predicate.id}: {asked} needs the columns {', '.join(registry[asked][0])}."


def _columns_of(given: dict[str, Any]) -> Iterator[str]:
    """Every column that a predicate names."""
    yield from (given[option] for option in _COLUMN_OPTIONS if option in given)
    columns = given.get("columns", ())
    yield from columns.values() if isinstance(columns, dict) else columns
    yield from given.get("where", ())
    yield from (at["anchor"] for side in ("start", "end") if (at := given.get(side)))


def _answer_misfits(manifest: Manifest, private: PrivateTask) -> Iterator[str]:
    answers = [private.answer.answer, *(m.answer for m in private.mutants if m.answer is not None)]
    if isinstance(manifest.answer, CategoricalAnswer):
        labels = {normalised(label) for label in manifest.answer.labels}
        if normalised(private.answer.answer) not in labels:
            yield "the reference answer is no label of the manifest."
    elif not all(map(_is_finite, answers)):
        yield "an answer is no finite decimal."


def _is_finite(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False
