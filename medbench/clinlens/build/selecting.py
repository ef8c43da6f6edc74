"""Which patients a package holds: those asked for, others that fail a rule, none for no reason.

If a package held exactly the cohort, its size would be the number of patients. So at least a
quarter are distractors, those first who fail one rule alone. Patients in whom a wrong window would
show come first: at random hardly a task would have an event on an edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from medbench.clinlens.sources.database import connect
from medbench.clinlens.sources.tables import COLUMNS
from medbench.clinlens.templates import runner
from medbench.clinlens.templates.core import fill, sql_name
from medbench.clinlens.templates.population import near_misses, population

if TYPE_CHECKING:
    from medbench.clinlens.build.secret import Secret
    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Mutation, Parameters, Template

POOL = 1500  # patients of a source that an instance is drawn from
PATIENTS_MOST = 600
ROWS_MOST = 560  # of the first artifact, aimed at; 600 are allowed
ON_EDGES = 12  # patients who come first for each mutation of a window
WITH_FILES = 16  # patients who come first because their studies have files
BESIDE = 3  # other patients in the package of a single one
TRIES = 120  # of an index that has the label wanted
NO_INDEX = -1


class Rejected(Exception):
    """An instance that makes no good task; the text says why."""


@dataclass
class Chosen:
    """The patients of a package, and with which index."""

    subjects: list[int]
    parameters: Parameters


class Pool:
    """The rows that a template may see, of a draw of patients, in memory."""

    def __init__(
        self, source: Source, template: Template, parameters: Parameters, secret: Secret, name: str
    ) -> None:
        self.template, self.parameters, self.secret, self.name = template, parameters, secret, name
        self.db = connect(threads=1)
        everyone = self.db.execute(f"SELECT subject_id FROM {source.relation('hosp/patients')}").fetchall()
        self.subjects = self._shuffled([row[0] for row in everyone], "pool")[:POOL]
        self.db.execute("CREATE TABLE drawn AS SELECT unnest(?) AS subject_id", [self.subjects])
        for table, columns in template.tables.items():
            self.db.execute(
                f"CREATE TABLE {sql_name(table)} AS {select(source, table, columns, self.condition(table))}"
            )
        self.db.execute(
            "CREATE TABLE wfdb_headers (study_id BIGINT, n_leads BIGINT, rate_hz BIGINT, n_samples BIGINT)"
        )

    def condition(self, table: str) -> str:
        drawn = "subject_id IN (SELECT subject_id FROM drawn)" if "subject_id" in COLUMNS[table] else "true"
        return f"{drawn} AND {self.template.row_condition(table, self.parameters | {'index': NO_INDEX})}"

    def _shuffled(self, ids: list[int], purpose: str) -> list[int]:
        return sorted(ids, key=lambda each: self.secret.hex(self.name, purpose, each))

    def choose(self, with_files: set[int], label: str | None) -> Chosen:
        """The patients of a package; raises Rejected."""
        rows = self._run()
        if self.template.is_single:
            return self._choose_single()
        eligible = population(self.db, self.template)
        others = sorted(set(self.subjects) - set(eligible))
        wanted = self._how_many(len(eligible), len(others), rows)
        first = [*self._with_files(with_files), *self._on_edges()]
        ranked = list(
            dict.fromkeys([*(s for s in first if s in eligible), *self._shuffled(list(eligible), "cohort")])
        )
        chosen = ranked[:wanted]
        near = self._near_misses(set(others))
        ranked = [*near, *self._shuffled(sorted(set(others) - set(near)), "distractors")]
        distractors = ranked[: math.ceil(len(chosen) / 3) + 1]
        found = Chosen([*chosen, *distractors], dict(self.parameters))
        if self.template.index:
            assert label is not None
            self._find_index(found, label)
        return found

    def _run(self) -> int:
        """Run the reference over the whole pool; how many rows its largest artifact has."""
        spec = self.template.spec(self._no_index)
        try:
            artifacts, _ = runner.compute(self.db, spec)
        except ValueError as error:
            raise Rejected(f"the reference has no answer: {error}") from error
        return max(len(found) for found in artifacts.values())

    def _how_many(self, eligible: int, others: int, rows: int) -> int:
        """Patients of the cohort: not always the same number, and never so many that rows overflow."""
        if not eligible:
            raise Rejected("no patient satisfies the population")
        wanted = self.parameters.get("reference") or self.template.patients * (
            0.8 + 0.2 * self.secret.share(self.name, "size")
        )
        per_patient = max(rows / eligible, 1e-9)
        limits = (eligible, 3 * others, ROWS_MOST / per_patient, PATIENTS_MOST * 0.74)
        return int(min(wanted, *limits))

    def _near_misses(self, others: set[int]) -> list[int]:
        """Patients who fail exactly one rule of the population, those of each rule in turn."""
        found = near_misses(self.db, self.template, self._no_index)
        by_rule = [self._shuffled(sorted(each & others), "near") for each in found]
        in_turn = chain.from_iterable(zip_longest(*by_rule))
        return list(dict.fromkeys(each for each in in_turn if each is not None))

    @property
    def _no_index(self) -> Parameters:
        return self.parameters | {"index": NO_INDEX}

    def _with_files(self, with_files: set[int]) -> list[int]:
        return self._shuffled(sorted(with_files & set(self.subjects)), "files")[:WITH_FILES]

    def _on_edges(self) -> list[int]:
        """Patients whose rows a wrong window changes."""
        if self.template.index:
            return []
        artifact = self.template.artifacts[0]
        found: list[int] = []
        for mutation in self.template.applicable(self.parameters):
            if mutation.name.startswith(("WINDOW", "TIE")):
                found += self._changed_by(mutation, artifact.name)[:ON_EDGES]
        return found

    def _changed_by(self, mutation: Mutation, artifact: str) -> list[int]:
        """Patients with other rows in the first artifact under a mutation. The reference ran just before."""
        template, parameters = self.template, self.parameters | {"index": NO_INDEX}
        columns = ", ".join(column.name for column in template.artifacts[0].columns)
        key = template.artifacts[0].key[0]
        owner = f"({template.subjects_sql.replace('SELECT DISTINCT subject_id', 'SELECT *', 1)})"
        owner = artifact if "subject_id" in columns else owner
        self.db.execute(f"CREATE OR REPLACE TABLE was AS SELECT {columns} FROM {artifact}")
        self.db.execute(f"CREATE OR REPLACE TABLE owners AS SELECT DISTINCT {key}, subject_id FROM {owner}")
        try:
            runner.compute(self.db, template.spec(parameters, mutation))
        except ValueError:
            return []
        rows = self.db.execute(
            f"SELECT DISTINCT subject_id FROM owners WHERE {key} IN (SELECT {key} FROM "
            f"((FROM was EXCEPT SELECT {columns} FROM {artifact}) "
            f"UNION ALL (SELECT {columns} FROM {artifact} EXCEPT FROM was)))"
        ).fetchall()
        runner.compute(self.db, template.spec(parameters))
        return self._shuffled([row[0] for row in rows], "edges")

    def _choose_single(self) -> Chosen:
        """The first index in hash order in whom every wrong program shows, and some other patients."""
        candidates = self._candidates()
        others = self._shuffled(sorted(set(self.subjects)), "distractors")[:BESIDE]
        self._copy(others)
        for index, subject in candidates:
            if subject not in others and self._shows_all(index, subject):
                return Chosen([subject, *others], self.parameters | {"index": index})
        raise Rejected(f"none of {len(candidates)} patients or stays shows every wrong program")

    def _find_index(self, chosen: Chosen, label: str) -> None:
        """The first index in hash order that gets `label` against the chosen cohort."""
        taken = set(chosen.subjects)
        candidates = [each for each in self._candidates() if each[1] not in taken][:TRIES]
        self._copy(chosen.subjects)
        for index, subject in candidates:
            if self._outputs(index, subject)[1] == label:
                chosen.subjects.append(subject)
                chosen.parameters["index"] = index
                return
        raise Rejected(f"none of {len(candidates)} patients, stays or studies is “{label}”")

    def _candidates(self) -> list[tuple[int, int]]:
        """What may be the index, each with its patient, in hash order."""
        assert self.template.index
        owner = dict(self.db.execute(fill(self.template.index, self.parameters)).fetchall())
        return [(index, owner[index]) for index in self._shuffled(sorted(owner), "index")]

    def _copy(self, subjects: list[int]) -> None:
        """The package so far, in a schema of its own beside the pool."""
        self.db.execute("CREATE OR REPLACE TABLE taken AS SELECT unnest(?) AS subject_id", [subjects])
        self.db.execute("DROP SCHEMA IF EXISTS package CASCADE; CREATE SCHEMA package")
        for name, owned in self._tables():
            where = "WHERE subject_id IN (SELECT subject_id FROM main.taken)" if owned else ""
            self.db.execute(f"CREATE TABLE package.{name} AS FROM main.{name} {where}")

    def _tables(self) -> list[tuple[str, bool]]:
        """The tables in SQL, and whether their rows belong to patients."""
        return [(sql_name(table), "subject_id" in COLUMNS[table]) for table in self.template.tables]

    def _shows_all(self, index: int, subject: int) -> bool:
        right = self._outputs(index, subject)
        mutations = self.template.applicable(self.parameters)
        return all(self._outputs(index, subject, mutation) != right for mutation in mutations)

    def _outputs(
        self, index: int, subject: int, mutation: Mutation | None = None
    ) -> tuple[dict[str, runner.Rows], str | None]:
        """What the workflow comes to with the package and this index beside it."""
        owned = [name for name, is_owned in self._tables() if is_owned]
        for name in owned:
            self.db.execute(f"INSERT INTO package.{name} FROM main.{name} WHERE subject_id = {subject:d}")
        self.db.execute("USE package")
        try:
            spec = self.template.spec(self.parameters | {"index": index}, mutation)
            return runner.compute(self.db, spec)
        finally:
            self.db.execute("USE main")
            for name in owned:
                self.db.execute(f"DELETE FROM package.{name} WHERE subject_id = {subject:d}")


def select(source: Source, table: str, columns: tuple[str, ...], condition: str) -> str:
    """SQL for rows and columns of a table: the only two operations between source and package."""
    names = ", ".join(f'"{name}"' for name in columns)
    return f"SELECT {names} FROM {source.relation(table)} WHERE {condition}"
