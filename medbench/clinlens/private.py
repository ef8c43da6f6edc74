"""What the evaluator alone knows of a task: row counts, key sets, predicates, answer, mutants."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout, schema
from medbench.clinlens.canonical import read_salt, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Key = tuple[Any, ...]  # the typed values of the key columns of a row


def key_set_hash(salt: bytes, keys: Iterable[Key]) -> str:
    """The salted hash of a set of keys. Values are int, str, bool, date or datetime."""
    lines = sorted(json.dumps(list(key), default=str, ensure_ascii=False) for key in keys)
    return sha256_hex(salt + "\n".join(lines).encode())


@dataclass(frozen=True, slots=True)
class ReferenceAnswer:
    """reference/answer.json: a decimal as text with its tolerances, or a label (tolerances 0)."""

    answer: str
    abs_tol: Decimal = Decimal(0)
    rel_tol: Decimal = Decimal(0)
    rationale: str = ""

    def with_answer(self, answer: str) -> ReferenceAnswer:
        """The same tolerances around another answer."""
        return replace(self, answer=answer)

    def as_dict(self) -> dict[str, Any]:
        tolerances = {"abs_tol": str(self.abs_tol), "rel_tol": str(self.rel_tol)}
        rest = {"answer": self.answer, "rationale": self.rationale}
        return {"schema_version": schema.ANSWER_SCHEMA, **rest, **tolerances}


@dataclass(frozen=True, slots=True)
class Cohort:
    """How many rows an artifact has, and the hash of its keys."""

    rows: int
    key_set: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """What a wrong program came to: its answer (None: none) and the key set of each of its artifacts.

    `first_check` is the code with which it fails, None where only the answer tells it.
    """

    name: str
    answer: str | None
    key_sets: dict[str, str]
    first_check: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Predicate:
    """One check of condition 4. `kind` and `given` are as in `schema.PREDICATES`; `id` is its code."""

    id: str
    kind: str
    artifact: str
    given: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "artifact": self.artifact, **self.given}


@dataclass(frozen=True, slots=True)
class PrivateTask:
    """The private tree of a task, but for the reference artifacts, which are read where needed."""

    folder: Path
    salt: bytes
    answer: ReferenceAnswer
    cohorts: dict[str, Cohort]  # by artifact name
    predicates: tuple[Predicate, ...]
    mutants: tuple[Mutant, ...]


def evaluation_document(cohorts: dict[str, Cohort], predicates: Iterable[Predicate]) -> dict[str, Any]:
    """evaluation.json as a document."""
    return {
        "schema_version": schema.EVALUATION_SCHEMA,
        "artifacts": {name: {"rows": each.rows, "key_set": each.key_set} for name, each in cohorts.items()},
        "predicates": [each.as_dict() for each in predicates],
    }


def mutants_document(mutants: Iterable[Mutant]) -> dict[str, Any]:
    """mutants.json as a document."""
    return {"schema_version": schema.MUTANTS_SCHEMA, "mutants": [each.as_dict() for each in mutants]}


def read_private(folder: Path) -> PrivateTask:
    """The private tree of a task; raises InvalidInput where it is not complete."""
    evaluation = schema.load_document(folder / layout.EVALUATION, schema.EVALUATION)
    answer = schema.load_document(folder / layout.REFERENCE_ANSWER, schema.ANSWER)
    mutants = schema.load_document(folder / layout.MUTANTS, schema.MUTANTS)
    return PrivateTask(
        folder,
        read_salt(folder),
        ReferenceAnswer(
            answer["answer"], Decimal(answer["abs_tol"]), Decimal(answer["rel_tol"]), answer["rationale"]
        ),
        {name: Cohort(each["rows"], each["key_set"]) for name, each in evaluation["artifacts"].items()},
        tuple(_predicate(each) for each in evaluation["predicates"]),
        tuple(Mutant(**each) for each in mutants["mutants"]),
    )


def _predicate(found: dict[str, Any]) -> Predicate:
    given = {name: value for name, value in found.items() if name not in {"id", "kind", "artifact"}}
    return Predicate(found["id"], found["kind"], found["artifact"], given)
