"""What a person chose on a page with panes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from medbench.accounts.models import User

PAGES = ("case", "workbench")
LAYOUTS = ("balanced", "slide", "report")
SIZES = ("report", "report-height", "triplets", "form")  # px
LARGEST_PX = 10_000


def remember_panes(person: User, page: str, chosen: Any) -> None:
    """Store sizes (px) and layout of the panes of `page`. Raises InvalidInput for anything else."""
    if page not in PAGES or not isinstance(chosen, dict) or not all(map(_is_choice, chosen.items())):
        raise InvalidInput("These are not sizes of panes.")
    person.panes = person.panes | {page: chosen}
    person.save(update_fields=["panes"])


def _is_choice(choice: tuple[str, Any]) -> bool:
    name, value = choice
    if name == "layout":
        return value in LAYOUTS
    return name in SIZES and type(value) is int and 0 <= value <= LARGEST_PX
