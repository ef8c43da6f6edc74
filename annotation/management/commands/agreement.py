"""Agreement of a ratings table: the coefficients of a study's page, without a database."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.errors import InvalidInput, MedBenchError
from medbench.formats.csv_text import FILE_BYTES
from medbench.formats.problems import Problem, Refused
from medbench.formats.ratings import read_ratings
from medbench.scoring.agreement import LEVELS, RESAMPLES, RatingsTable, summary
from medbench.scoring.agreement.icc import FORMS

if TYPE_CHECKING:
    from collections.abc import Mapping


class Command(BaseCommand):
    help = "Print agreement coefficients with 95 % intervals of a ratings table in CSV, wide or long."
    requires_system_checks = ()  # a table needs no database

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "table", type=Path, help="CSV: item and a column per annotator, or item,annotator,rating"
        )
        parser.add_argument("--level", required=True, choices=LEVELS, help="what differences of ratings mean")
        parser.add_argument("--order", type=_order, metavar="a,b,c", help="the scale, lowest rating first")
        parser.add_argument("--seed", type=_whole(0), default=0, metavar="N", help="of the resamples")
        parser.add_argument("--b", type=_whole(1), default=RESAMPLES, metavar="N", help="resamples of items")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_: Any, table: Path, level: str, **options: Any) -> None:
        try:
            ratings = RatingsTable.from_rows(read_ratings(_bytes_of(table), file=table.name))
            found = summary(
                ratings, level=level, order=options["order"], b=options["b"], seed=options["seed"]
            )
        except MedBenchError as error:
            if options["json"]:
                self.stdout.write(json.dumps(_refusal(error), ensure_ascii=False))
            for problem in error.problems if isinstance(error, Refused) else ():
                self.stderr.write(str(problem))
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps(found, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("\n".join(_as_text(found)))


def _refusal(error: MedBenchError) -> dict[str, Any]:
    """What --json prints of a table that was refused."""
    if isinstance(error, Refused):
        return {"problems": error.problems.as_dicts(), "n_problems": error.problems.total}
    return {"problems": [Problem(error.code, error.message).as_dict()], "n_problems": 1}


def _whole(least: int) -> Any:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number of {least} or more")
        return int(text)

    return number


def _order(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError("ratings with commas between them")
    return names


def _bytes_of(table: Path) -> bytes:
    try:
        with table.open("rb") as opened:
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{table} cannot be read: {error.strerror}.", code="file_missing") from error


def _as_text(found: Mapping[str, Any]) -> list[str]:
    """What was rated, then a coefficient a line, then what to know about them."""
    pearson, icc = found["pearson"], found["icc"]
    rated = (
        f"{found['n_items']:,} items · {found['n_annotators']} annotators · {found['n_ratings']:,} ratings"
    )
    how = f"ICC by {icc['method']}, k = {icc['k']} · {found['b']:,} resamples of items, seed {found['seed']}"
    names = {"ac1": "Gwet's AC1", "ac2": "Gwet's AC2"}
    return [
        f"{rated}, {found['n_missing']:,} missing · {found['n_pairable']:,} items with two ratings or more",
        how,
        "",
        _line("Percent agreement", found["percent_agreement"]),
        *(_estimate(f"Alpha, {level}", each) for level, each in found["alphas"].items()),
        *(_estimate(names[key], found[key]) for key in names if found[key]),
        *(_estimate(form, icc[form]) for form in FORMS),
        _line("Pearson, mean", pearson["mean"]) + f"  of {pearson['n_pairs']} pairs of annotators",
        _line("Pearson, by Fisher's z", pearson["fisher_mean"]),
        *(f"! {warning['message']}" for warning in found["warnings"]),
    ]


def _estimate(name: str, found: Mapping[str, Any]) -> str:
    interval = "  [{:.3f}, {:.3f}]".format(*found["ci"]) if found["ci"] else ""
    reason = f"  {found['reason']}" if found["reason"] else ""
    return f"{_line(name, found['value'])}{interval}{reason}"


def _line(name: str, value: float | None) -> str:
    return f"{name:<24}{'     –' if value is None else f'{value:6.3f}'}"
