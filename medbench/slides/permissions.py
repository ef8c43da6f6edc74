"""Who may see a slide is decided by the application that owns the cases, named in settings."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import AnonymousUser
    from django.db.models import Q

    from medbench.accounts.models import User
    from medbench.slides.models import Slide

    Access = Callable[[User | AnonymousUser, Slide], bool]
    Curated = Callable[[User | AnonymousUser], Q]


@cache
def _access(dotted_path: str) -> Access:
    rule: Access = import_string(dotted_path)
    return rule


@cache
def _curated(dotted_path: str) -> Curated:
    rule: Curated = import_string(dotted_path)
    return rule


def curated(person: User | AnonymousUser) -> Q:
    """A condition on Slide: those that `person` manages, by the rule that settings.SLIDE_CURATED names."""
    return _curated(settings.SLIDE_CURATED)(person)


def may_see(person: User | AnonymousUser, slide: Slide) -> bool:
    """Whether `person` may see the pixels of `slide`, by the rule that settings.SLIDE_ACCESS names."""
    return _access(settings.SLIDE_ACCESS)(person, slide)
