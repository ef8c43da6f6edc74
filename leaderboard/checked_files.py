"""A checked file waits here for [Submit], at most an hour, so that it is uploaded once and the form
works without script. Nothing here is a record: a file nobody submits is deleted.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core import signing
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from medbench.errors import Conflict

if TYPE_CHECKING:
    from medbench.accounts.models import User

FOLDER = "checked"
KEPT = dt.timedelta(hours=1)
KEPT_EACH = 3  # files of one person
_SALT = "leaderboard.checked_files"


@dataclass(frozen=True)
class CheckedFile:
    name: str  # as its owner calls it
    data: bytes


def keep(name: str, data: bytes, by: User) -> str:
    """Keep the bytes and answer the ticket for them, good for `by` and an hour."""
    key = f"{by.pk}/{hashlib.sha256(data).hexdigest()}"
    path = f"{FOLDER}/{key}"
    if default_storage.exists(path):
        default_storage.delete(path)  # written anew, so that its hour begins now
    default_storage.save(path, ContentFile(data))
    _drop_old()
    return signing.dumps({"user": by.pk, "key": key, "name": name}, salt=_SALT)


def get(ticket: str, by: User) -> CheckedFile:
    """The kept file. Raises Conflict where the ticket is not good or no longer."""
    try:
        held = signing.loads(ticket, salt=_SALT, max_age=KEPT)
        if held["user"] != by.pk:
            raise signing.BadSignature  # noqa: TRY301  # answered like any ticket that is not good
        with default_storage.open(f"{FOLDER}/{held['key']}") as file:
            return CheckedFile(held["name"], file.read())
    except (signing.BadSignature, FileNotFoundError):
        raise Conflict(
            "The checked file is no longer kept, so nothing was recorded. Choose the file again.",
            code="file_not_kept",
        ) from None


def _drop_old() -> None:
    """Delete what is past its hour, and all but the newest files of each person."""
    for person in default_storage.listdir(FOLDER)[0]:
        ages = {}
        for name in default_storage.listdir(f"{FOLDER}/{person}")[1]:
            with suppress(FileNotFoundError):  # dropped by somebody else at this moment
                path = f"{FOLDER}/{person}/{name}"
                ages[path] = timezone.now() - default_storage.get_modified_time(path)
        for place, (path, age) in enumerate(sorted(ages.items(), key=lambda each: each[1])):
            if age > KEPT or place >= KEPT_EACH:
                default_storage.delete(path)
