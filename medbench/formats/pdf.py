"""The text layer of a PDF from a stranger, read in a child process that can be killed."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

from medbench.formats.sources import Unfit

TIMEOUT_S = 30
MEMORY_MB = 1024
TEXT_MOST = 5_000_000  # bytes
_CHILD = Path(__file__).with_name("pdf_child.py")


def text_layer(pdf: bytes, *, timeout_s: float = TIMEOUT_S, memory_mb: int = MEMORY_MB) -> str:
    """The text of all pages, one line feed between pages.

    Raises Unfit with code `pdf_unreadable` (damaged, encrypted, takes too long or too much memory)
    or `pdf_no_text` (pictures only).
    """
    limits = [str(memory_mb), str(math.ceil(timeout_s)), str(TEXT_MOST)]
    command = [sys.executable, "-I", str(_CHILD), *limits]
    try:
        child = subprocess.run(  # noqa: S603  # our own file
            command, input=pdf, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unfit("pdf_unreadable", f"Its text could not be read within {timeout_s:g} s.") from error
    if child.returncode:
        raise Unfit("pdf_unreadable", "The PDF is damaged, encrypted or too large to read.")
    text = child.stdout.decode("utf-8")
    if not text.strip():
        raise Unfit("pdf_no_text", "The PDF has no text layer. Give the report as text.")
    return text
