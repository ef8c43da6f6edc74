"""A report with the passages that its readers marked. Not as a template: every line end counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.utils.safestring import SafeString

    from medbench.cases.highlights import Segment

register = template.Library()


@register.filter
def readers_passages(segments: Iterable[Segment], letters: Mapping[int, str]) -> SafeString:
    """The text with its evidence and every passage of a reader; `letters` are theirs, by the number of
    the passage. The letter stands where a passage begins, and is no part of the text."""
    pieces = (piece for each in segments for piece in _pieces(each, letters))
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def _pieces(segment: Segment, letters: Mapping[int, str]) -> Iterable[str]:
    for number in segment.begins:
        yield format_html('<span id="span-{}" class="anchor"></span>', number)
    numbers, near = (" ".join(map(str, each)) for each in (segment.numbers, segment.near))
    if not numbers and not near:
        yield segment.text
        return
    readers = [letters[each] for each in segment.numbers if each in letters]
    begins = [letters[each] for each in segment.begins if each in letters]
    yield format_html(
        '<{0} class="{1}" data-triplets="{2}" data-near="{3}" data-by="{4}" data-begins="{5}">{6}</{0}>',
        "mark" if numbers else "span",
        "mark" if numbers else "",
        numbers,
        near,
        " ".join(dict.fromkeys(readers)),
        " ".join(dict.fromkeys(begins)),
        segment.text,
    )
