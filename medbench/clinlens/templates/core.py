"""What a template is: one specification that gives question, package, reference and mutants alike."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass, field
from string import Template as Text
from typing import TYPE_CHECKING, Any

from medbench.clinlens.layout import CAPABILITIES, SCOPES
from medbench.clinlens.manifest import CategoricalAnswer, Column
from medbench.clinlens.private import Predicate
from medbench.clinlens.sources.tables import COLUMNS, file_name
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from medbench.clinlens.manifest import Artifact, Dtype, NumericAnswer

Parameters = dict[str, Any]
# The paragraphs of a question, in their order. A template that leaves one open is no template.
PARAGRAPHS = ("population", "index_time", "window", "sources", "values", "statistic")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A wrong program: the slots of the SQL it fills otherwise. `only` limits it to some parameters.

    `fails` are the codes with which a submission of its output may fail: of conditions 3 to 5 or
    the ids of predicates.
    """

    name: str
    slots: dict[str, str]
    fails: tuple[str, ...] = ()
    only: tuple[tuple[str, Any], ...] = ()
    answer: str | None = None

    def applies(self, parameters: Parameters) -> bool:
        return all(parameters[name] == value for name, value in self.only)


@dataclass(frozen=True, slots=True)
class Model:
    """The closed recipe M1 over columns of the artifact `features`."""

    key: str
    features: tuple[str, ...]
    score: str = "auroc"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Of a numeric answer, with why it is what it is."""

    abs: str
    rel: str = "0"
    why: str = "half a unit of the last decimal asked for, ten times the spread over threads"


@dataclass(frozen=True, slots=True)
class Window:
    """A window of the question, stated a second time, so that the SQL can be held against it.

    `used` and `packaged` are queries over the tables that the reference leaves behind: the events it
    used, and all of their kind in the package. Each has a column `t` and what `start` and `end` need.
    """

    used: str
    packaged: str
    start: str
    end: str
    is_closed: bool = False  # the end is inside


@dataclass(frozen=True)
class Template:
    """One of the 20. Texts and SQL have `$names` of parameters and slots."""

    id: str
    title: str
    tables: dict[str, tuple[str, ...]]  # table to the columns that are packaged
    rows: dict[str, str]  # table to an SQL condition on its rows
    grid: tuple[Parameters, ...]
    text: dict[str, str]
    sql: str
    answer_sql: str
    slots: dict[str, str]
    artifacts: tuple[Artifact, ...]
    answer: Callable[[Parameters], NumericAnswer | CategoricalAnswer]
    tolerance: Callable[[Parameters], Tolerance | None]
    predicates: Callable[[Parameters], tuple[Predicate, ...]]
    mutations: tuple[Mutation, ...]
    conventions: tuple[str, ...]
    loosened: tuple[dict[str, str], ...] = ()  # slots that leave out one rule of the population each
    windows: tuple[Window, ...] = ()  # none where the whole record is the window
    naive: dict[str, str] = field(default_factory=dict)  # name to a query that ignores the question's rules
    model: Callable[[Parameters], Model] | None = None
    subjects: str | None = None  # SQL for the patients of the population, where the first artifact has none
    index: str | None = None  # SQL for what may be the index patient, stay or study: its id, its patient
    patients: int = 180  # that satisfy the population, in a package
    fewest_rows: int = 30  # of the first artifact
    assets: str | None = None
    form: str = ""  # of a template that has several: the parameter `form` of its instances
    share: int = 0  # of ten instances have this form
    forms: tuple[Template, ...] = ()  # besides this one
    version: str = "2"

    def of(self, parameters: Parameters) -> Template:
        """The form of an instance."""
        return next((each for each in self.forms if each.form == parameters.get("form")), self)

    @property
    def subjects_sql(self) -> str:
        """SQL for the patients who satisfy the population, once the reference has run."""
        return self.subjects or f"SELECT DISTINCT subject_id FROM {self.artifacts[0].name}"

    @property
    def scope(self) -> str:
        return SCOPES[self.id[:3]]

    @property
    def capability(self) -> str:
        return CAPABILITIES[self.id[4:7]]

    @property
    def is_categorical(self) -> bool:
        return isinstance(self.answer(self.grid[0]), CategoricalAnswer)

    @property
    def is_single(self) -> bool:
        """Whether a package is about one patient and no cohort."""
        return self.index is not None and not self.is_categorical

    @property
    def modalities(self) -> tuple[str, ...]:
        modules = {table.split("/")[0] for table in self.tables}
        found = {"ehr" if module in ("hosp", "icu") else module for module in modules}
        return tuple(name for name in ("ehr", "note", "ecg", "cxr", "echo") if name in found)

    def ordered_grid(self, salt: str) -> list[Parameters]:
        """The instances by SHA-256 of the suite's salt and their parameters."""

        def rank(parameters: Parameters) -> str:
            return hashlib.sha256(
                f"{salt}|{self.id}|{json.dumps(parameters, sort_keys=True)}".encode()
            ).hexdigest()

        return sorted(self.grid, key=rank)

    def applicable(self, parameters: Parameters) -> list[Mutation]:
        return [mutation for mutation in self.mutations if mutation.applies(parameters)]

    def row_condition(self, table: str, parameters: Parameters) -> str:
        return fill(self.rows.get(table, "true"), parameters)

    def spec(self, parameters: Parameters, mutation: Mutation | None = None) -> dict[str, Any]:
        """What `runner` runs: the reference, or a mutant of it."""
        slots = {name: fill(text, parameters) for name, text in self.slots.items()}
        if mutation:
            slots |= {name: fill(text, parameters) for name, text in mutation.slots.items()}
        names = parameters | slots
        answer = mutation.answer if mutation and mutation.answer else self.answer_sql
        model = self.model(parameters) if self.model else None
        return {
            "tables": {
                sql_name(table): {
                    "path": f"data/{file_name(table)}.csv",
                    "columns": {name: COLUMNS[table][name] for name in columns},
                }
                for table, columns in self.tables.items()
            },
            "sql": fill(self.sql, names),
            "answer": fill(answer, names) if answer else None,
            "artifacts": {
                each.name: {"columns": [column.name for column in each.columns], "key": list(each.key)}
                for each in self.artifacts
            },
            "model": {"key": model.key, "features": list(model.features), "score": model.score}
            if model
            else None,
            "headers": "assets/ecg" if self.assets == "ecg" else None,
        }

    def question(self, parameters: Parameters) -> str:
        """The text of the request, one paragraph for each choice; raises InvalidInput for an open one."""
        missing = [name for name in PARAGRAPHS if not self.text.get(name, "").strip()]
        if missing:
            raise InvalidInput(f"Template {self.id} leaves open: {', '.join(missing)}.", code="open_choice")
        body = [fill(self.text[name], parameters) for name in PARAGRAPHS]
        return "\n\n".join([f"# {self.title}", *body, *self._hand_in(parameters)]) + "\n"

    def _hand_in(self, parameters: Parameters) -> Iterable[str]:
        for artifact in self.artifacts:
            columns = "\n".join(f"- {_column(column)}" for column in artifact.columns)
            yield f"Hand in `artifacts/{artifact.path}`: {artifact.row_unit}. Its columns:\n\n{columns}"
        answer = self.answer(parameters).as_dict()
        if answer["type"] == "categorical":
            labels = "; ".join(f"“{label}”" for label in answer["labels"])
            yield f"Answer with exactly one of these labels: {labels}."
        else:
            unit = f" in {answer['unit']}" if answer["unit"] else ""
            yield f"Give the answer as a number{unit} with at least {answer['decimals']} decimals."


def _column(column: Any) -> str:
    null = ", may be empty" if column.nullable else ""
    enum = f", one of {', '.join(map(str, column.enum))}" if column.enum else ""
    unit = f" in {column.unit}" if column.unit else ""
    return f"`{column.name}` ({column.dtype}{null}{enum}): {column.description}{unit}"


def fill(text: str, names: dict[str, Any]) -> str:
    """A text with its `$names`, which may hold names themselves; an unknown name is an error."""
    return Text(Text(text).substitute(names)).substitute(names)


def sql_name(table: str) -> str:
    """The name of a table in reference SQL: its own, with its resource where it would not be clear."""
    module, name = table.split("/")
    return f"{module}_{name}" if module in ("cxr", "echo", "ecg") else name


def grid(**dimensions: Iterable[Any]) -> tuple[Parameters, ...]:
    """All combinations. A dimension of dicts brings several parameters at once."""
    found = []
    for values in itertools.product(*dimensions.values()):
        parameters: Parameters = {}
        for name, value in zip(dimensions, values, strict=True):
            parameters |= value if isinstance(value, dict) else {name: value}
        found.append(parameters)
    return tuple(found)


def column(
    name: str,
    dtype: Dtype,
    description: str,
    *,
    null: bool = False,
    unit: str = "",
    enum: tuple[str | int, ...] = (),
) -> Column:
    """A column of an artifact; the description is shown in the question."""
    return Column(name, dtype, null, enum, unit, description)


SUBJECT = column("subject_id", "int64", "the patient")


def predicate(id_: str, kind: str, artifact: str, **given: Any) -> Predicate:
    return Predicate(id_, kind, artifact, given)


def recompute(
    artifact: str,
    statistic: str,
    abs_: float,
    parameters: dict[str, float] | None = None,
    where: dict[str, Any] | None = None,
    **roles: str,
) -> Predicate:
    """P-RECALC: the answer follows from the artifact, its rows `where`. `roles` name its columns."""
    more = {"parameters": parameters, "where": where}
    given = {name: value for name, value in more.items() if value}
    return predicate("P_RECALC", "recompute", artifact, statistic=statistic, columns=roles, abs=abs_, **given)


def change(
    artifact: str, before: str, after: str, statistic: str, tolerance: float, row_tolerance: float
) -> tuple[Predicate, Predicate]:
    """`delta` is after minus before in every row, and the answer its statistic within twice the tolerance."""
    columns = {"before": before, "after": after, "result": "delta"}
    return (
        predicate(
            "P_DELTA", "row_formula", artifact, formula="difference", columns=columns, abs=row_tolerance
        ),
        recompute(artifact, statistic, 2 * tolerance, value="delta"),
    )


def keys(*artifacts: str) -> tuple[Predicate, ...]:
    """P-KEY of each artifact."""
    return tuple(predicate(f"P_KEY_{name}", "key_set", name) for name in artifacts)


def values(
    artifact: str, abs_: float = 0.0, fraction: float = 1.0, **columns: float
) -> tuple[Predicate, ...]:
    """P-VAL: each column equals the reference within its own tolerance."""
    return tuple(
        predicate(
            f"P_VAL_{name}",
            "values_match",
            artifact,
            column=name,
            abs=abs_ or tolerance,
            min_fraction=fraction,
        )
        for name, tolerance in columns.items()
    )
