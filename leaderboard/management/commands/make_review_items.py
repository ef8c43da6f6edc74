"""Put outputs of a board's submissions up for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from leaderboard.audits import SAMPLE
from leaderboard.models import Board
from leaderboard.services.review_items import make_review_items
from medbench.errors import MedBenchError
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from argparse import ArgumentParser

KINDS = {"outputs": ReviewItem.Kind.OUTPUT, "novelty": ReviewItem.Kind.NOVELTY}


class Command(BaseCommand):
    help = "Make review items of a board's ranked submissions; an output is put up once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("board", type=UUID, help="id of the board, from its address")
        parser.add_argument("--kind", choices=KINDS, required=True)
        parser.add_argument("--per-method", type=int, default=SAMPLE, help=f"{SAMPLE} by default")
        parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same; 1 by default")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *, board: UUID, kind: str, per_method: int, seed: int, **options: Any) -> None:
        found = Board.objects.select_related("release", "profile").filter(pk=board).first()
        if found is None:
            raise CommandError(f"There is no board {board}.")
        try:
            made = make_review_items(found, KINDS[kind], by=None, per_method=per_method, seed=seed)
        except MedBenchError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            ids = [str(item.pk) for item in made.items]
            self.stdout.write(json.dumps({"items": ids, "new": made.n_new}))
        else:
            self.stdout.write(f"{len(made.items)} items, {made.n_new} of them new.")
