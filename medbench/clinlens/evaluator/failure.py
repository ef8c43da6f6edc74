"""Why a condition is not met."""

from __future__ import annotations

from medbench.formats.text import printable

MESSAGE = 300


class Failed(Exception):
    """A condition is not met. The message is for the participant: it never holds what is expected."""

    def __init__(self, code: str, message: str = "", file: str = "") -> None:
        super().__init__(message or code)
        self.code = code
        self.message = printable(message, MESSAGE)
        self.file = file
