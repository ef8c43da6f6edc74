"""What applications contribute to pages they do not own: links of the bar, blocks of the home page.

An application registers in its AppConfig.ready(); `web` knows no application by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest


@dataclass(frozen=True)
class Link:
    """One link of the bar. `count` answers a number to show, None to show the link alone, or
    False to leave the link out for this person. `is_action`: drawn as a button at the right.
    `in_menu`: in the menu under the person's name."""

    label: str
    url_name: str
    order: int
    count: Callable[[HttpRequest], int | bool | None]
    is_action: bool = False
    in_menu: bool = False


@dataclass(frozen=True)
class Block:
    """One block of the home page: `context` answers None where the person has no use for it."""

    template: str
    order: int
    context: Callable[[HttpRequest], dict[str, Any] | None]


_links: list[Link] = []
_blocks: list[Block] = []


def add_link(link: Link) -> None:
    """Add a link to the bar of every page."""
    _links.append(link)
    _links.sort(key=lambda each: each.order)


def add_home_block(block: Block) -> None:
    """Add a block to the home page."""
    _blocks.append(block)
    _blocks.sort(key=lambda each: each.order)


def links(request: HttpRequest) -> list[dict[str, Any]]:
    """The links this person sees, with the current one marked."""
    if not hasattr(request, "user"):  # an error before authentication
        return []
    # Links that depend on the same question ask it once.
    counts = {count: count(request) for count in dict.fromkeys(link.count for link in _links)}
    shown = []
    for link in _links:
        count = counts[link.count]
        if count is False:
            continue
        url = reverse(link.url_name)
        current = request.path.startswith(url)
        shown.append(
            {
                "label": link.label,
                "url": url,
                "count": count,
                "current": current,
                "is_action": link.is_action,
                "in_menu": link.in_menu,
            }
        )
    return shown


def home_blocks(request: HttpRequest) -> list[dict[str, Any]]:
    """Template and context of each block this person sees."""
    shown = []
    for block in _blocks:
        context = block.context(request)
        if context is not None:
            shown.append({"template": block.template, "context": context})
    return shown
