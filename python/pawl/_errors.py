"""What goes wrong."""

from __future__ import annotations

import enum


class Code(enum.StrEnum):
    INVALID = "invalid"
    USAGE = "usage"
    REFUSED = "refused"
    UNRESOLVED = "unresolved"
    NOT_FOUND = "not_found"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class Outcome(enum.StrEnum):
    """What became of the effect. Only what was not applied may simply be done again."""

    NOT_APPLIED = "not_applied"
    APPLIED = "applied"
    UNKNOWN = "unknown"


class PawlError(Exception):
    """An answer of the queue that is no good one."""

    code = Code.INTERNAL

    def __init__(
        self,
        message: str,
        outcome: Outcome = Outcome.NOT_APPLIED,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.outcome = outcome
        self.retry_after_seconds = retry_after_seconds


class InvalidError(PawlError, ValueError):
    """Something given, or the log of the queue, is not what it must be."""

    code = Code.INVALID


class UsageError(PawlError):
    """Called wrongly."""

    code = Code.USAGE


class RefusedError(PawlError):
    """A limit, the task's state, or the other side said no."""

    code = Code.REFUSED


class UnresolvedError(PawlError):
    """Nobody can know yet what became of it."""

    code = Code.UNRESOLVED


class NotFoundError(PawlError, LookupError):
    code = Code.NOT_FOUND


class UnavailableError(PawlError):
    """A store or the network does not answer."""

    code = Code.UNAVAILABLE


class InternalError(PawlError):
    """A bug in pawl."""


_BY_CODE: dict[str, type[PawlError]] = {
    kind.code: kind
    for kind in (
        InvalidError,
        UsageError,
        RefusedError,
        UnresolvedError,
        NotFoundError,
        UnavailableError,
        InternalError,
    )
}


def error_of(told: tuple[str, str, str, int]) -> PawlError:
    """Of what the extension says."""
    code, outcome, message, retry_after = told
    wait = retry_after / 1e9 if retry_after else None
    return _BY_CODE[code](message, Outcome(outcome), wait)
