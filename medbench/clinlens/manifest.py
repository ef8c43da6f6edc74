"""The public contract of one task: what is asked, what is given, and what must be handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from medbench.clinlens import layout, schema
from medbench.clinlens.labels import normalised
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

Dtype = Literal["int64", "float64", "string", "timestamp", "date", "bool"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an artifact. `enum` lists the values allowed, empty for any."""

    name: str
    dtype: Dtype
    nullable: bool = False
    enum: tuple[str | int, ...] = ()
    unit: str = ""
    description: str = ""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "dtype": self.dtype, "nullable": self.nullable}
        if self.enum:
            found["enum"] = list(self.enum)
        return found | {name: value for name in ("unit", "description") if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A CSV file to hand in, `artifacts/<path>`. `row_unit` says in words what one row is."""

    name: str
    row_unit: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    extra_columns: Literal["ignore", "forbid"] = "ignore"

    @property
    def path(self) -> str:
        return f"{self.name}.csv"

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": self.path,
            "row_unit": self.row_unit,
            "key": list(self.key),
            "extra_columns": self.extra_columns,
            "columns": [column.as_dict() for column in self.columns],
        }


@dataclass(frozen=True, slots=True)
class NumericAnswer:
    """A number in `unit`; `integer` marks a count, which must be met exactly."""

    unit: str
    decimals: int
    integer: bool = False

    def as_dict(self) -> dict[str, Any]:
        found = {"type": "numeric", "unit": self.unit, "decimals": self.decimals}
        return found | ({"integer": True} if self.integer else {})


@dataclass(frozen=True, slots=True)
class CategoricalAnswer:
    """One of `labels`."""

    labels: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"type": "categorical", "labels": list(self.labels)}


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the package; `rows` of a table without its header, None for other files."""

    path: str
    bytes: int
    sha256: str
    rows: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Manifest:
    """manifest.json. Scope and capability follow from `task_id`."""

    task_id: str
    suite: str
    template: str
    template_version: str
    source_kind: str
    source_release: str
    modalities: tuple[str, ...]
    conventions: tuple[str, ...]
    answer: NumericAnswer | CategoricalAnswer
    artifacts: tuple[Artifact, ...]
    files: tuple[PackedFile, ...]
    package_digest: str
    private_commitment: str

    @property
    def scope(self) -> str:
        return layout.SCOPES[self.task_id[:3]]

    @property
    def capability(self) -> str:
        return layout.CAPABILITIES[self.task_id[4:7]]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema_version": schema.MANIFEST_SCHEMA,
            "task_id": self.task_id,
            "suite": self.suite,
            "scope": self.scope,
            "capability": self.capability,
            "template": {"id": self.template, "version": self.template_version},
            "source": {"kind": self.source_kind, "release": self.source_release},
            "modalities": list(self.modalities),
            "question_file": layout.QUESTION,
            "conventions": list(self.conventions),
            "answer": self.answer.as_dict(),
            "artifacts": [artifact.as_dict() for artifact in self.artifacts],
            "limits": {"code_seconds": 3600, "rounds": 3},
            "files": [file.as_dict() for file in self.files],
            "package_digest": self.package_digest,
            "private_commitment": self.private_commitment,
        }


def read_manifest(path: Path) -> Manifest:
    """The manifest of a file; raises InvalidInput where it does not keep to schema or to itself."""
    return manifest_of(schema.load_document(path, schema.MANIFEST), str(path))


def manifest_of(document: dict[str, Any], name: str = layout.MANIFEST) -> Manifest:
    """The manifest of a JSON document; raises InvalidInput."""
    schema.check_document(document, schema.MANIFEST, name)
    manifest = Manifest(
        document["task_id"],
        document["suite"],
        document["template"]["id"],
        document["template"]["version"],
        document["source"]["kind"],
        document["source"]["release"],
        tuple(document["modalities"]),
        tuple(document["conventions"]),
        _answer(document["answer"]),
        tuple(_artifact(each) for each in document["artifacts"]),
        tuple(PackedFile(**each) for each in document["files"]),
        document["package_digest"],
        document["private_commitment"],
    )
    _check(manifest, document, name)
    return manifest


def _answer(found: dict[str, Any]) -> NumericAnswer | CategoricalAnswer:
    if found["type"] == "categorical":
        return CategoricalAnswer(tuple(found["labels"]))
    return NumericAnswer(found["unit"], found["decimals"], found.get("integer", False))


def _artifact(found: dict[str, Any]) -> Artifact:
    columns = tuple(
        Column(**(each | {"enum": tuple(each["enum"])} if "enum" in each else each))
        for each in found["columns"]
    )
    extra = found.get("extra_columns", "ignore")
    return Artifact(found["name"], found["row_unit"], tuple(found["key"]), columns, extra)


def _check(manifest: Manifest, document: dict[str, Any], name: str) -> None:
    """What a schema cannot say."""
    wrong = None
    if (manifest.scope, manifest.capability) != (document["scope"], document["capability"]):
        wrong = "scope or capability is not that of the task id."
    if len({artifact.name for artifact in manifest.artifacts}) < len(manifest.artifacts):
        wrong = "two artifacts have one name."
    for artifact, found in zip(manifest.artifacts, document["artifacts"], strict=True):
        wrong = wrong or _wrong_artifact(artifact, found["path"])
    if isinstance(manifest.answer, CategoricalAnswer):
        labels = manifest.answer.labels
        if len({normalised(label) for label in labels}) < len(labels):
            wrong = "two labels are the same when they are compared."
    if wrong:
        raise InvalidInput(f"{name}: {wrong}", code="manifest")


def _wrong_artifact(artifact: Artifact, path: str) -> str | None:
    columns = {column.name: column for column in artifact.columns}
    if len(columns) < len(artifact.columns):
        return f"artifact {artifact.name} has two columns of one name."
    if path != artifact.path:
        return f"artifact {artifact.name} must have the path {artifact.path}."
    for name in artifact.key:
        if name not in columns:
            return f"artifact {artifact.name} has no column for its key {name}."
        if columns[name].nullable or columns[name].dtype == "float64":
            return f"the key {name} of artifact {artifact.name} must be neither nullable nor float64."
    return None
