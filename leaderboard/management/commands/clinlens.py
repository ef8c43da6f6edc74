"""`manage.py clinlens COMMAND`: the same as `python -m medbench.clinlens COMMAND`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand

from medbench.clinlens.commands import main


class Command(BaseCommand):
    help = "Executable clinical tasks: source, synth, plan, build, qc, pack, check, evaluate."
    requires_system_checks = ()  # needs neither database nor server

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(main(argv[2:], prog="manage.py clinlens"))  # with its own --help, not Django's

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def handle(self, *_: Any, arguments: list[str], **__: Any) -> None:
        if status := main(arguments, prog="manage.py clinlens"):
            sys.exit(status)
