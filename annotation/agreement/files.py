"""Agreement as tables: all coefficients, and the ratings behind one question."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from annotation.agreement import coefficients, ratings
from medbench.formats.csv_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotation.models import Agreement, Study
    from annotation.protocols import Question

COUNTS = (
    "n_items",
    "n_annotators",
    "n_ratings",
    "n_pairable",
    "n_cannot_judge",
    "n_blank",
    "percent_agreement",
)
HEAD = (
    *("question", "title", "scale", "coefficient", "value", "ci_low", "ci_high", "reason", "reading"),
    *COUNTS,
    *("as_of", "verdicts", "generation", "seed", "b", "software_version"),
)


def coefficients_csv(agreement: Agreement) -> str:
    """Every coefficient of every question, a row each; an empty cell is no number, with its reason."""
    made = agreement.computed_at
    end = (
        made.isoformat(timespec="seconds") if made else "",
        agreement.verdicts,
        agreement.generation,
        agreement.seed,
        agreement.resamples,
        agreement.software_version,
    )
    rows = [
        (
            *(result["question"], result["title"], result["scale"]),
            *(each.name, each.value, *(each.ci or ("", "")), each.reason, each.reading),
            *(result[name] for name in COUNTS),
            *end,
        )
        for result in (agreement.result or {})["questions"]
        for each in coefficients.every(result)
    ]
    return _written([HEAD, *rows])


def ratings_csv(study: Study, question: Question) -> str:
    """The ratings of one question, wide: `item`, then a column for each annotator, by letter.

    As the command `agreement` reads them; "cannot judge" and blank are empty. Items are positions
    in the study.
    """
    table = ratings.of_question(question, ratings.said_in(study)).table
    rows = [(item, *row) for item, row in zip(table.items, table.cells, strict=True)]
    return _written([("item", *table.annotators), *rows])


def _written(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(
        ["" if cell is None else safe(cell) if isinstance(cell, str) else cell for cell in row]
        for row in rows
    )
    return text.getvalue()
