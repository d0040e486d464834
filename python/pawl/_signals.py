"""SIGTERM and SIGINT, for all workers that run in the main thread."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """The first signal stops every worker; the next one is the program's own again."""

    def __init__(self) -> None:
        self._stops: list[Callable[[], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}

    def watch(self, stop: Callable[[], None]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # where Python knows no signals
        self._stops.append(stop)
        if self._loop is not None:
            return
        self._loop = asyncio.get_running_loop()
        for number in SIGNALS:
            self._before[number] = signal.getsignal(number)
            self._loop.add_signal_handler(number, self._stop)

    def forget(self, stop: Callable[[], None]) -> None:
        if stop in self._stops:
            self._stops.remove(stop)
        if not self._stops:
            self._restore()

    def _stop(self) -> None:
        self._restore()
        for stop in list(self._stops):
            stop()

    def _restore(self) -> None:
        if self._loop is None:
            return
        for number, handler in self._before.items():
            self._loop.remove_signal_handler(number)
            if handler is not None:  # one that was not set by Python
                signal.signal(number, handler)
        self._before.clear()
        self._loop = None


signals = Signals()
