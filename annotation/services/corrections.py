"""The corrections of a draft: checked before they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.corrections import lines, texts_of
from medbench.errors import InvalidInput
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medbench.review.models import ReviewItem

LONGEST = 10_000  # characters


def checked(item: ReviewItem, given: Mapping[str, str]) -> dict[str, str]:
    """The corrections as they are stored: only texts that differ from what stands. An empty one
    proposes nothing. Raises InvalidInput for what the page cannot have sent."""
    standing = texts_of(item)
    if given.keys() - standing.keys():
        raise InvalidInput("A correction belongs to no text of this item. Load the page again.")
    proposed = {name: lines(text).strip() for name, text in given.items()}
    for name, text in proposed.items():
        if len(text) > LONGEST:
            raise InvalidInput(f"The corrected {name} has at most {LONGEST:,} characters.")
        if not is_storable(text):
            raise InvalidInput(f"The corrected {name} has a character that cannot be stored. Remove it.")
    return {name: text for name, text in proposed.items() if text and text != standing[name].strip()}
