"""Text as it is scored: the one normal form, shared with the readers of files."""

from medbench.formats.text import normalise

__all__ = ("normalise",)
