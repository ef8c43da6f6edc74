"""Open a board for a release."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.models import EvaluatorProfile
from leaderboard.services.boards import open_board, rouge_profile
from medbench.cases.models import Release, Split
from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Open the board of one split of a release; an open one is left as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="name of the benchmark")
        parser.add_argument("--release", type=int, help="number of the release; the newest by default")
        parser.add_argument("--split", choices=Split.values, default=Split.OPEN.value)
        parser.add_argument("--profile", default="", help="digest of an active profile; ROUGE-1 by default")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(
        self, *, benchmark: str, release: int | None, split: str, profile: str, **options: Any
    ) -> None:
        try:
            board = open_board(_release(benchmark, release), _profile(profile), split, by=None)
        except MedBenchError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"board": str(board.pk), "split": board.split}))
        else:
            self.stdout.write(f"Board of {board}: /boards/{board.pk}/")


def _release(benchmark: str, number: int | None) -> Release:
    found = Release.objects.filter(benchmark__name=benchmark).select_related("benchmark__team")
    if number is not None:
        found = found.filter(number=number)
    release = found.order_by("-number").first()
    if release is None:
        which = "no release yet" if number is None else f"no release {number}"
        raise CommandError(f"“{benchmark}” is no benchmark here, or it has {which}.")
    return release


def _profile(digest: str) -> EvaluatorProfile:
    if not digest:
        return rouge_profile()
    found = list(EvaluatorProfile.objects.filter(sha256__startswith=digest)[:2])
    if len(found) != 1:
        which = "More than one" if found else "No"
        raise CommandError(f"{which} profile begins with “{digest}”. Its page shows the digest.")
    return found[0]
