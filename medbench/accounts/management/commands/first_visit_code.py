"""Print the code that the first visitor of a production site must give."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from medbench.accounts.queries import nobody_is_here
from medbench.accounts.services.people import first_visit_code


class Command(BaseCommand):
    help = "Print the code for /first-visit/, where the site's first curator is made."

    def handle(self, **_: Any) -> None:
        if not nobody_is_here():
            raise CommandError("The first visit is over. Use make_curator.")
        self.stdout.write(first_visit_code())
