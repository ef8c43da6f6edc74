"""Submit a result file: the same check and record as the page and the API."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard import queries
from leaderboard.services.submissions import ResultsRefused, limits, submit
from medbench.accounts.models import User
from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from leaderboard.models import Submission


class Command(BaseCommand):
    help = "Check a result file and submit it to a board; its evaluation runs in the background."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--board", required=True, type=uuid.UUID, help="id, as in the board's address")
        parser.add_argument("--as", required=True, dest="user", help="name of the submitter")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *, file: Path, board: uuid.UUID, user: str, **options: Any) -> None:
        try:
            submission = self._submit(file, board, user)
        except ResultsRefused as refusal:
            if options["json"]:
                self.stdout.write(json.dumps(refusal.as_dict()))
            else:
                self.stderr.write("\n".join(str(each) for each in refusal.answer.problems))
            raise CommandError(refusal.message) from refusal
        except MedBenchError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            made = {"ok": True, "id": str(submission.pk), "number": submission.number}
            self.stdout.write(json.dumps(made | {"warnings": submission.warnings}))
        else:
            self.stdout.write(f"Submission {submission.number} received: /submissions/{submission.pk}/")

    def _submit(self, file: Path, board_pk: uuid.UUID, name: str) -> Submission:
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"There is no user “{name}”.")
        try:
            with file.open("rb") as opened:
                data = opened.read(limits().file_bytes + 1)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        return submit(queries.board(person, board_pk), data, file.name, person)
