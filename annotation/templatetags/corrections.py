"""Tracked changes as HTML. Not as a template: every line end of a text counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.safestring import SafeString

    from annotation.corrections import Piece

register = template.Library()

# Said by screen readers, few of which tell of <ins> and <del>.
_SAID = {"del": "removed: ", "ins": "added: "}


@register.filter
def tracked_changes(pieces: Iterable[Piece]) -> SafeString:
    """A text with what was removed and what was added."""
    return format_html_join("", "{}", ((_piece(each),) for each in pieces))


def _piece(piece: Piece) -> str:
    if piece.kind == "same":
        return piece.text
    said = _SAID[piece.kind]
    return format_html('<{0}><span class="visually-hidden">{1}</span>{2}</{0}>', piece.kind, said, piece.text)
