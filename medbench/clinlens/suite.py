"""A suite: which tasks stand together, pinned by their digests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout, schema
from medbench.clinlens.canonical import canonical_json, file_sha256, sha256_hex
from medbench.clinlens.manifest import read_manifest
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """One task of a suite. The suite's digest covers its manifest, package and private commitment."""

    task_id: str
    manifest_sha256: str
    package_digest: str
    private_commitment: str

    @property
    def scope(self) -> str:
        return layout.SCOPES[self.task_id[:3]]

    @property
    def capability(self) -> str:
        return layout.CAPABILITIES[self.task_id[4:7]]

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Suite:
    """suite.json; tasks in the order of their ids."""

    name: str
    source_kind: str
    source_release: str
    tasks: tuple[SuiteTask, ...]

    def as_json(self) -> bytes:
        return canonical_json(
            {
                "schema_version": schema.SUITE_SCHEMA,
                "suite": self.name,
                "source": {"kind": self.source_kind, "release": self.source_release},
                "tasks": [task.as_dict() for task in self.tasks],
            }
        )

    @property
    def digest(self) -> str:
        """What a submission and a board name: the SHA-256 of suite.json in its one spelling."""
        return sha256_hex(self.as_json())

    @property
    def scope_sizes(self) -> dict[str, int]:
        """Tasks by scope; every scope is there, if only with 0."""
        counts = Counter(task.scope for task in self.tasks)
        return {scope: counts[scope] for scope in layout.SCOPES.values()}


def read_suite(folder: Path) -> Suite:
    """The suite of a public folder; raises InvalidInput."""
    found = schema.load_document(folder / layout.SUITE, schema.SUITE)
    tasks = tuple(SuiteTask(**each) for each in found["tasks"])
    suite = Suite(found["suite"], found["source"]["kind"], found["source"]["release"], tasks)
    ids = [task.task_id for task in tasks]
    if ids != sorted(set(ids)):
        raise InvalidInput(f"{folder / layout.SUITE}: task ids must be sorted and differ.", code="suite")
    if file_sha256(folder / layout.SUITE) != suite.digest:
        raise InvalidInput(f"{folder / layout.SUITE} is not in its one spelling.", code="suite")
    return suite


def write_suite(folder: Path, task_ids: Iterable[str]) -> Suite:
    """Write suite.json beside the finished public tasks it lists; raises InvalidInput."""
    tasks, sources = [], set()
    for task_id in sorted(task_ids):
        path = folder / task_id / layout.MANIFEST
        manifest = read_manifest(path)
        if (manifest.task_id, manifest.suite) != (task_id, folder.name):
            raise InvalidInput(f"{path} is of another task or suite.", code="suite")
        sources.add((manifest.source_kind, manifest.source_release))
        tasks.append(
            SuiteTask(task_id, file_sha256(path), manifest.package_digest, manifest.private_commitment)
        )
    if len(sources) != 1:
        raise InvalidInput("The tasks of a suite must come from one source.", code="suite")
    suite = Suite(folder.name, *sources.pop(), tuple(tasks))
    (folder / layout.SUITE).write_bytes(suite.as_json())
    return suite
