"""Which templates a source can build, and why not the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.clinlens.build.fitness import lacking, unfit
from medbench.clinlens.build.selecting import NO_INDEX, select
from medbench.clinlens.build.suite import DRAWS, INSTANCES_MOST
from medbench.clinlens.sources.database import connect
from medbench.clinlens.templates import TEMPLATES, runner
from medbench.clinlens.templates.core import sql_name

if TYPE_CHECKING:
    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Template


def plan_source(source: Source) -> dict[str, dict[str, Any]]:
    """By template: the tables missing, else the patients of its population at its first parameters."""
    return {name: _plan(source, template) for name, template in TEMPLATES.items()}


def _plan(source: Source, template: Template) -> dict[str, Any]:
    missing = lacking(template, source.paths)
    if missing:
        return {"buildable": False, "missing": missing, "problem": "", "patients": None, "instances": 0}
    problem = unfit(source, template)
    patients = 0 if problem else _population(source, template)
    if not problem and not patients:
        problem = "no patient satisfies the population"
    return {
        "buildable": not problem,
        "missing": [],
        "problem": problem,
        "patients": patients,
        "instances": 0 if problem else min(INSTANCES_MOST, len(template.grid) * DRAWS),
    }


def _population(source: Source, template: Template) -> int:
    parameters = template.grid[0] | {"index": NO_INDEX}
    with connect(threads=1) as db:
        for table, columns in template.tables.items():
            condition = template.row_condition(table, parameters)
            db.execute(f"CREATE TABLE {sql_name(table)} AS {select(source, table, columns, condition)}")
        db.execute(
            "CREATE TABLE wfdb_headers (study_id BIGINT, n_leads BIGINT, rate_hz BIGINT, n_samples BIGINT)"
        )
        try:
            runner.compute(db, template.spec(parameters))
        except ValueError:  # no model without both outcomes
            return 0
        return len(db.execute(template.subjects_sql).fetchall())
