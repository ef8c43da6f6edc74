"""Whether a source has what a template needs: tables, words, and items under the names it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.sources.vocabulary import other_items, unknown_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Template


def lacking(template: Template, there: dict[str, Path]) -> list[str]:
    """The tables that a template needs and a source has not."""
    return [table for table in template.tables if table not in there]


def unfit(source: Source, template: Template) -> str:
    """Why a source with all tables cannot build a template, "" where nothing speaks against it."""
    return next(_problems(source, template), "")


def _problems(source: Source, template: Template) -> Iterator[str]:
    for table in template.tables:
        yield from unknown_words(source, table)
    labels = {each["lab"]: each["lab_name"] for each in template.grid if "lab" in each}
    yield from other_items(source, "hosp/d_labitems", "label", labels)
    units = {
        int(item): each["unit"]
        for each in template.grid
        if "items" in each
        for item in each["items"].split(", ")
    }
    yield from other_items(source, "icu/d_items", "unitname", units)
