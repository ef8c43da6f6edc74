"""Patients of a package who are not asked for: without them its size would be the answer to who is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.templates.population import near_misses, population

if TYPE_CHECKING:
    import duckdb

    from medbench.clinlens.templates.core import Parameters, Template

SHARE = 4  # one patient of so many, at least


def too_few_distractors(db: duckdb.DuckDBPyConnection, template: Template, parameters: Parameters) -> str:
    """What is missing, "" for nothing. The reference has just run in `db`."""
    row = db.execute("SELECT count(*) FROM patients").fetchone()
    assert row is not None
    if template.is_single:
        return "" if row[0] > 1 else "there is no patient but the one asked for"
    eligible = len(population(db, template))
    others = row[0] - eligible
    near = len(set[int]().union(*near_misses(db, template, parameters)))
    if others * SHARE >= row[0] and near:
        return ""
    return f"{near} of the other patients, {others} of {row[0]}, fail one rule alone"
