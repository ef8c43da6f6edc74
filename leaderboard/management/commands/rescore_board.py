"""Score a whole board anew, beside the generation that is shown."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.models import Board
from leaderboard.services.rescorings import rescore
from medbench.accounts.models import User
from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Queue a new generation of a board; it is shown at once when the workers have scored all of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("board", type=uuid.UUID, help="id of the board, as in its address")
        parser.add_argument("--reason", required=True, help="why; everybody who reads the board sees it")
        parser.add_argument("--by", required=True, help="sign-in name of the curator who asks")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *, board: uuid.UUID, reason: str, by: str, **options: Any) -> None:
        found = Board.objects.select_related("release__benchmark__team", "profile").filter(pk=board).first()
        if found is None:
            raise CommandError("There is no such board. The page of a board has its id in the address.")
        person = User.objects.filter(username=by).first()
        if person is None:
            raise CommandError(f"Nobody signs in as “{by}”.")
        try:
            made = rescore(found, reason, person)
        except MedBenchError as error:
            raise CommandError(error.message) from error
        total = made.evaluations.count()
        if options["json"]:
            said = json.dumps({"board": str(found.pk), "generation": made.number, "evaluations": total})
        else:
            said = f"Queued generation {made.number} of {found}: {total} evaluations."
        self.stdout.write(said)
