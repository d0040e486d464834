"""Time that a test moves, so that it tests sleeping tasks without waiting."""

from __future__ import annotations

from datetime import datetime

from pawl import _pawl, _values


class ManualClock:
    """For `connect("memory:", clock=…)`: a store of files has times of its own."""

    def __init__(self, begin: datetime) -> None:
        self._native = _pawl.ManualClock(_values.to_instant(begin, "begin"))

    def now(self) -> datetime:
        return _values.to_datetime(self._native.now())

    def advance(self, seconds: _values.Seconds) -> None:
        self._native.advance(_values.to_length(seconds, "seconds"))
