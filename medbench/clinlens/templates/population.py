"""Who is in the population of a template, and who fails one of its rules alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.templates import runner
from medbench.clinlens.templates.core import Mutation

if TYPE_CHECKING:
    import duckdb

    from medbench.clinlens.templates.core import Parameters, Template


def population(db: duckdb.DuckDBPyConnection, template: Template) -> set[int]:
    """The patients of the population. A workflow of the template has just run in `db`."""
    return {row[0] for row in db.execute(template.subjects_sql).fetchall()}


def near_misses(db: duckdb.DuckDBPyConnection, template: Template, parameters: Parameters) -> list[set[int]]:
    """By rule, the patients who are in only when it is left out. The tables are the reference's afterwards."""
    inside, found = population(db, template), []
    for slots in template.loosened:
        try:
            runner.compute(db, template.spec(parameters, Mutation("LOOSENED", slots)))
        except ValueError:  # no model without both outcomes
            continue
        found.append(population(db, template) - inside)
    runner.compute(db, template.spec(parameters))
    return found
