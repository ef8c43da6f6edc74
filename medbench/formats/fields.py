"""The fields of a JSON object from a stranger: taken by name and type, or a precise problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.formats.text import is_blank, is_storable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from medbench.formats.problems import Findings, Place

LARGEST = 10**15  # of a number that is stored


class Fields:
    """Takes fields from one JSON object (or entries of a list, by number) and tells `findings` what
    is missing or wrong.

    A wrong field is answered with an empty value of its type: reading goes on, to find everything
    that is wrong in one go. null counts as missing.
    """

    def __init__(self, found: Mapping[Any, Any], findings: Findings, place: Place = ()) -> None:
        self._found = found
        self._findings = findings
        self._place = place
        self._taken: set[str | int] = set()

    def schema(self, name: str) -> None:
        """Check that the object says which format it is."""
        self._taken.add("schema")
        if self._found.get("schema") != name:
            place = (*self._place, "schema")
            at = place if "schema" in self._found else self._place
            self._findings.problem("wrong_schema", f"“schema” must be “{name}”.", place, at)

    def text(
        self,
        name: str | int,
        *,
        required: bool = True,
        blank: bool = False,
        longest: int | None = None,
        too_long: str = "text_too_long",
    ) -> str:
        """A text of at most `longest` characters that says something, unless it may be `blank`."""
        value = self._take(name, str, "a text", required=required)
        if not isinstance(value, str):
            return ""
        if not is_storable(value):
            self.wrong("bad_character", "It holds a NUL character or half of a surrogate pair.", name)
        elif required and not blank and is_blank(value):
            self.wrong("missing_field", f"“{name}” is blank.", name)
        elif longest is not None and len(value) > longest:
            self.wrong(too_long, f"{len(value):,} characters, limit {longest:,}.", name)
        return value

    def choice(self, name: str, choices: Collection[str], *, default: str | None = None) -> str:
        """One of `choices`; missing is `default` where there is one."""
        value = self.text(name, required=default is None)
        if value and value not in choices:
            self.wrong("bad_value", f"It must be one of {', '.join(choices)}.", name)
        return value or default or ""

    def integer(self, name: str, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        value = self._take(name, int, "a whole number")
        if isinstance(value, int) and not low <= value <= high:
            self.wrong("bad_value", f"It must be from {low} to {high}.", name)
        return value if isinstance(value, int) else low

    def number(self, name: str) -> float | None:
        """A number of 0 or more, or None where it is missing."""
        value = self._take(name, (int, float), "a number", required=False)
        if value is not None and not 0 <= value <= LARGEST:
            self.wrong("bad_value", "It must be a number of 0 or more.", name)
            return None
        return value if isinstance(value, int | float) else None

    def number_or_text(self, name: str) -> float | str | None:
        """A finite number or a text, or None where it is missing."""
        value = self._take(name, (int, float, str), "a number or a text", required=False)
        if isinstance(value, str):
            return self.text(name, required=False)
        if value is not None and not -LARGEST <= value <= LARGEST:
            self.wrong("bad_value", "The number is too large.", name)
            return None
        return value if isinstance(value, int | float) else None

    def rows(self, name: str) -> list[Any]:
        """A list."""
        value = self._take(name, list, "a list")
        return value if isinstance(value, list) else []

    def inner(self, name: str, *, required: bool = True) -> Fields | None:
        """The fields of an object."""
        value = self._take(name, dict, "an object", required=required)
        return Fields(value, self._findings, (*self._place, name)) if isinstance(value, dict) else None

    def has(self, name: str) -> bool:
        return self._found.get(name) is not None

    def wrong(self, code: str, message: str, name: str | int) -> None:
        """Report a problem of the field `name`."""
        self._findings.problem(code, message, (*self._place, name))

    def finish(self) -> None:
        """Warn of the fields that nobody took."""
        for name in self._found:
            if name not in self._taken:
                self._findings.warn_of_unknown((*self._place, name))

    def _take(
        self, name: str | int, kind: type | tuple[type, ...], kind_name: str, *, required: bool = True
    ) -> Any:
        self._taken.add(name)
        value = self._found.get(name)
        if value is None:
            if required:
                place = (*self._place, name)
                self._findings.problem("missing_field", f"“{name}” is missing.", place, self._place)
        elif not isinstance(value, kind) or isinstance(value, bool):
            self.wrong("wrong_type", f"It must be {kind_name}, not {kind_of(value)}.", name)
            return None
        return value


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
