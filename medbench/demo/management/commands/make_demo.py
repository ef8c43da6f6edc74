"""Fill the site with the demo's benchmark: `manage.py make_demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from medbench.demo import making

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Make the demo's people, slides, benchmark, study and board. May be run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-slides", action="store_true", help="leave out the slides")

    def handle(self, *, no_slides: bool, **_: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo's passwords are known to everybody: it is not made in production.")
        drawn = settings.VAR_DIR / "demo-slides"
        with tqdm(desc="Demo", total=making.SLIDES + 4, disable=None, leave=False) as bar:
            if not no_slides:
                making.make_slides(drawn, bar.update)
            people = making.make_people()
            release = making.make_benchmark(people["ada"], drawn, people)
            bar.update()
            making.make_study(release, people["ada"], [people["bruno"], people["chen"]])
            bar.update()
            making.make_boards(release, people["ada"], people["rosa"])
            bar.update()
            making.work_off_jobs(bar.update)
        self.stdout.write("The demo is made.")
