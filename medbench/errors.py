"""The errors a person may see.

`message` is one or two plain sentences that are safe to show: what happened and what to do.
`code` is a short stable word for scripts. `status` is the HTTP status that pages and API answer
with. Details for operators belong in the log, not here.
"""


class MedBenchError(Exception):
    """Base of all errors with a message for people."""

    code = "error"
    status = 400

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidInput(MedBenchError):
    """What was given cannot be accepted; the message says what to change."""

    code = "invalid_input"


class NotAllowed(MedBenchError):
    """The person may see the object but not do this to it."""

    code = "not_allowed"
    status = 403


class NotFound(MedBenchError):
    """There is no such object, or the person may not know of it."""

    code = "not_found"
    status = 404

    def __init__(self, message: str = "There is nothing here, or it is not open to you.") -> None:
        super().__init__(message)


class Conflict(MedBenchError):
    """The object changed or is in a state in which this cannot be done."""

    code = "conflict"
    status = 409


class TooOften(MedBenchError):
    """Tried too many times; the message says when to try again."""

    code = "too_often"
    status = 429

    def __init__(self, message: str, *, wait_s: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.wait_s = wait_s


class Unavailable(MedBenchError):
    """Something outside our control does not work now."""

    code = "unavailable"
    status = 503
