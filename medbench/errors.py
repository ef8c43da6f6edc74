"""The errors a person may see.

`message` is one or two plain sentences that are safe to show: what happened and what to do.
`code` is a short stable word for scripts. Details for operators belong in the log, not here.
"""


class MedBenchError(Exception):
    """Base of all errors with a message for people."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidInput(MedBenchError):
    """What was given cannot be accepted; the message says what to change."""

    code = "invalid_input"


class NotAllowed(MedBenchError):
    """The person may see the object but not do this to it (answered as 403)."""

    code = "not_allowed"


class NotFound(MedBenchError):
    """There is no such object, or the person may not know of it (answered as 404)."""

    code = "not_found"


class Conflict(MedBenchError):
    """The object changed or is in a state in which this cannot be done (answered as 409)."""

    code = "conflict"


class Unavailable(MedBenchError):
    """Something outside our control does not work now (answered as 503)."""

    code = "unavailable"
