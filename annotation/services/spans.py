"""Passages of the report that annotators mark as evidence: checked, and as the browser counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.errors import InvalidInput
from medbench.formats.spans import as_shown, from_shown

if TYPE_CHECKING:
    from medbench.review.models import ReviewItem

MOST = 20
CHANGED = "The report text changed. Mark the passage again."


def checked(item: ReviewItem, spans: Any) -> list[dict[str, Any]]:
    """The spans of a draft as they are stored: code points of the raw text of the item's report.

    Given are those of the text as the browser shows it, with the quote there. Raises InvalidInput
    where a passage is not in the report, or the page cannot have sent this.
    """
    if not isinstance(spans, list) or len(spans) > MOST:
        raise InvalidInput(f"At most {MOST} passages can be marked.")
    if spans and item.report is None:
        raise InvalidInput("There is no report in which a passage could stand.")
    return [_checked(item, each) for each in spans]


def _checked(item: ReviewItem, given: Any) -> dict[str, Any]:
    assert item.report is not None
    try:
        start, end, quote = given["start"], given["end"], given["quote"]
    except (TypeError, KeyError):
        raise InvalidInput(CHANGED) from None
    if type(start) is not int or type(end) is not int or not isinstance(quote, str):
        raise InvalidInput(CHANGED)
    span = from_shown(item.report.text, start, end, quote)
    if span is None:
        raise InvalidInput(CHANGED, code="span_changed")
    return {"start": span.start, "end": span.end, "quote": span.quote}


def shown(item: ReviewItem, spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Stored spans as the browser counts them: what `checked` takes."""
    text = item.report.text if item.report else ""
    return [
        {
            "start": as_shown(text, each["start"]),
            "end": as_shown(text, each["end"]),
            "quote": each["quote"].replace("\r\n", "\n").replace("\r", "\n"),
        }
        for each in spans
    ]
