"""Seal every judge's key anew, after a new secret was put first in MEDBENCH_JUDGE_SECRETS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from leaderboard import sealing
from leaderboard.models import Judge
from medbench.errors import Conflict


class Command(BaseCommand):
    help = "Seal all keys of judges with the first of MEDBENCH_JUDGE_SECRETS."

    @transaction.atomic
    def handle(self, **_: Any) -> None:
        judges = Judge.objects.select_for_update().exclude(key_encrypted=b"")
        for judge in judges:
            try:
                judge.key_encrypted = sealing.reseal(judge.key_encrypted)
            except Conflict as error:
                raise CommandError(f"{judge.name}: {error.message}") from error
            judge.save(update_fields=["key_encrypted"])
        self.stdout.write(f"{len(judges)} sealed anew.")
