"""People: signing in, becoming one, becoming the first."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.tokens import default_token_generator
from django.contrib.contenttypes.models import ContentType
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from medbench.accounts.attempts import address_of, count_attempt
from medbench.accounts.models import User
from medbench.accounts.queries import nobody_is_here
from medbench.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest

log = logging.getLogger(__name__)

# Attempts within attempts.WINDOW. A name is counted together with the address that tries it, so a
# stranger elsewhere cannot lock its owner out; an address alone may be a whole hospital.
TRIES_PER_NAME_AND_ADDRESS = 5
TRIES_PER_ADDRESS = 50
REGISTRATIONS_PER_ADDRESS = 10


def sign_in(request: HttpRequest, name: str, password: str) -> User:
    """Sign in by name or e-mail; the session of `request` is that person's from here on.

    Raises:
        TooOften: too many failures for this name from this address, or from this address.
        InvalidInput: name or password is wrong; the same words for both.
    """
    name = User.normalize_username(name.strip())
    address = address_of(request)
    attempt = count_attempt(
        {
            f"sign in from {address}": TRIES_PER_ADDRESS,
            f"sign in from {address} as {name.casefold()}": TRIES_PER_NAME_AND_ADDRESS,
        }
    )
    user = auth.authenticate(request, username=name, password=password)
    if not isinstance(user, User):
        raise InvalidInput("Name or password is not right.", code="wrong_sign_in")
    attempt.delete()
    auth.login(request, user)
    return user


def add_person(username: str, name: str, email: str, password: str, *, site_curator: bool = False) -> User:
    """A new account, of checked fields (forms.PersonForm). A site curator curates every team.

    Raises:
        Conflict: somebody else took the sign-in name or e-mail address a moment ago.
    """
    try:
        with transaction.atomic():
            return User.objects.create_user(
                username, email, password, name=name, is_staff=site_curator, is_superuser=site_curator
            )
    except IntegrityError as error:
        raise Conflict("This sign-in name or e-mail address was taken a moment ago.") from error


def make_site_curator(user: User, password: str | None = None) -> None:
    """Let `user` curate every team and open the operators' pages; set a new password if given."""
    user.is_staff = user.is_superuser = user.is_active = True
    if password is not None:
        user.set_password(password)
    user.save()


def find_by_reset_link(person_id: int, token: str) -> User:
    """Whoever may set a new password by this link.

    Raises:
        Conflict: nobody may (any more). The same words whether or not there is such a person.
    """
    user = User.objects.filter(pk=person_id, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        raise Conflict("This link was used, has expired, or is not whole. Ask a curator for a new one.")
    return user


def set_password_by_link(user: User, password: str) -> None:
    """Give a new password to `user`, who came by a reset link. Sessions end and tokens are revoked:
    whoever held the account before does not keep a way in."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        user.api_tokens.filter(revoked_at=None).update(revoked_at=timezone.now())


def add_first_curator(username: str, name: str, email: str, password: str) -> User:
    """The site curator of a site without users.

    Raises:
        NotFound: somebody is here already.
    """
    with transaction.atomic():
        # Of two first visitors at once, the second waits at this row and then finds the first.
        ContentType.objects.select_for_update().get(app_label="accounts", model="user")
        if not nobody_is_here():
            raise NotFound
        return add_person(username, name, email, password, site_curator=True)


def first_visit_code() -> str:
    """What the first visitor of a production site must know, so that no stranger comes first.

    Made from the site's secret key: every process and machine knows it and nothing is stored. It
    works once, because the first visit exists once.
    """
    return salted_hmac("medbench.first_visit", "code", algorithm="sha256").hexdigest()[:16]


def check_first_visit_code(request: HttpRequest, code: str) -> None:
    """Raise InvalidInput unless `code` is right, TooOften where it is being guessed."""
    if not settings.PRODUCTION:
        return
    attempt = count_attempt({f"first visit from {address_of(request)}": TRIES_PER_NAME_AND_ADDRESS})
    if not constant_time_compare(code.strip(), first_visit_code()):
        raise InvalidInput("This is not the code that `manage.py first_visit_code` prints on the server.")
    attempt.delete()
