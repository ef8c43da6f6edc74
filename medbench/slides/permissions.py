"""Who may see a slide is decided by the application that owns the cases, named in settings."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import AnonymousUser

    from medbench.accounts.models import User
    from medbench.slides.models import Slide

    Access = Callable[[User | AnonymousUser, Slide], bool]


@cache
def _access(dotted_path: str) -> Access:
    rule: Access = import_string(dotted_path)
    return rule


def may_see(person: User | AnonymousUser, slide: Slide) -> bool:
    """Whether `person` may see the pixels of `slide`, by the rule that settings.SLIDE_ACCESS names."""
    return _access(settings.SLIDE_ACCESS)(person, slide)
