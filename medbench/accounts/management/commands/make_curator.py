"""Make a site curator: a new account, or one that exists."""

from __future__ import annotations

import getpass
import json
import sys
from typing import TYPE_CHECKING, Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from medbench.accounts.forms import PersonForm
from medbench.accounts.models import User
from medbench.accounts.services.people import add_person, make_site_curator

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Make NAME a site curator, who curates every team. A new NAME needs a password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument("--email", default="")
        parser.add_argument("--full-name", default="", help="as pages show it; NAME where not given")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, **options: Any) -> None:
        name = options["name"]
        try:
            user = User.objects.get_by_natural_key(name)
            made = False
            password = _read_password(options) if options["password_stdin"] else None
            if password is not None:
                validate_password(password, user)
            make_site_curator(user, password)
        except User.DoesNotExist:
            made = True
            user = _add(name, options)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"name": user.username, "made": made, "site_curator": True}))
        else:
            self.stdout.write(f"{user.username} curates every benchmark of this site.")


def _add(name: str, options: dict[str, Any]) -> User:
    form = PersonForm(
        {
            "username": name,
            "name": options["full_name"] or name,
            "email": options["email"],
            "password": _read_password(options),
        }
    )
    if not form.is_valid():
        problems = [f"{field}: {error}" for field, errors in form.errors.items() for error in errors]
        raise CommandError("\n".join(problems))
    return add_person(**form.cleaned_data, site_curator=True)


def _read_password(options: dict[str, Any]) -> str:
    if options["password_stdin"]:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("Give the password with --password-stdin, or run this in a terminal.")
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("The same again: "):
        raise CommandError("The two passwords differ. Nothing was saved.")
    return password
