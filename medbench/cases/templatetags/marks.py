"""Marked passages as HTML. Not as templates: in a report every line end counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.safestring import SafeString

    from medbench.cases.highlights import Segment

register = template.Library()


@register.filter
def found_words(segments: Iterable[Segment]) -> SafeString:
    """A text with the words that a search found."""
    return _join(
        format_html('<mark class="mark">{}</mark>', each.text) if each.numbers else each.text
        for each in segments
    )


@register.filter
def passages(segments: Iterable[Segment], current: int | None) -> SafeString:
    """A report with the passages of its triplets, those of triplet `current` marked as such."""
    return _join(piece for each in segments for piece in _pieces(each, current))


def _pieces(segment: Segment, current: int | None) -> list[str]:
    pieces: list[str] = [
        format_html('<span id="span-{}" class="anchor"></span>', number) for number in segment.begins
    ]
    near = format_html(' data-near="{}"', _numbers(segment.near)) if segment.near else ""
    if segment.numbers:
        kind = "mark is-current" if current in segment.numbers else "mark"
        numbers = _numbers(segment.numbers)
        mark = '<mark class="{}" data-triplets="{}"{}>{}</mark>'
        pieces.append(format_html(mark, kind, numbers, near, segment.text))
    elif near:
        pieces.append(format_html("<span{}>{}</span>", near, segment.text))
    else:
        pieces.append(segment.text)
    return pieces


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


def _join(pieces: Iterable[str]) -> SafeString:
    return format_html_join("", "{}", ((piece,) for piece in pieces))
