"""`manage.py worker`: background work, the same as `celery -A medbench worker`."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


class Command(BaseCommand):
    help = "Do background work until Ctrl-C or SIGTERM; running jobs are then handed to other workers."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--concurrency", type=positive, default=2, help="jobs at a time (2)")

    def handle(self, *, concurrency: int, **options: Any) -> None:
        from celery.bin.celery import celery  # every other command does without Celery
        from celery.exceptions import SecurityWarning

        warnings.simplefilter("ignore", SecurityWarning)  # against root, which containers run as
        # Celery's command would take BROKER_URL from the environment itself, past the settings.
        broker = f"--broker={settings.CELERY_BROKER_URL}"
        celery(["--app=medbench", broker, "--quiet", "worker", f"--concurrency={concurrency}"])  # exits
