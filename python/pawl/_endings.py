"""What a handler raises to say how its task ended."""

from __future__ import annotations

from typing import Any

from pawl import _values

SAME: Any = object()  # as an input: the one it has


class TaskError(Exception):
    """How a handler ends its task otherwise than by returning."""


class RescheduleError(TaskError):
    """Not now: again after the delay. The task sleeps, and holds no worker meanwhile.

    With a scope, all of the task's key or type, or of the queue, is closed for that time. With an
    input, the next attempt gets that, and can go on where this one was.
    """

    def __init__(
        self, delay_seconds: _values.Seconds = 60, scope: str = "task", *, input: Any = SAME
    ) -> None:
        self.delay = _values.to_delay(delay_seconds, "delay_seconds")
        self.scope = scope
        self.scope_number = _values.to_scope(scope)
        self.input_json = None if input is SAME else _values.to_json(input, "the new input")
        super().__init__(delay_seconds, scope)  # with which it comes out of another process
        self.delay_seconds = delay_seconds

    def __str__(self) -> str:
        return f"rescheduled by {self.delay_seconds} s"


class RetryableError(TaskError):
    """Something went wrong: again by the task's own backoff, and not before `delay_seconds`.

    Any other exception says the same.
    """

    def __init__(self, message: str = "", delay_seconds: _values.Seconds = 0) -> None:
        self.delay = _values.to_delay(delay_seconds, "delay_seconds")
        super().__init__(message)
        self.delay_seconds = delay_seconds


class PermanentError(TaskError):
    """It will never work: failed for good, whatever retries are left."""
