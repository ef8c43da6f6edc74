"""Puts the code that a person saw on the 500 page into the line of the log that explains it."""

from __future__ import annotations

import logging


class RequestErrorCode(logging.Filter):
    """Django logs an uncaught exception with its request; views.server_error gave that a code."""

    def filter(self, record: logging.LogRecord) -> bool:
        code = getattr(getattr(record, "request", None), "error_code", None)
        record.code = f"[{code}] " if code else ""
        return True
