"""The way to the extension and back: who waits for which letter."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Callable
from typing import Any

from pawl import _pawl
from pawl._errors import UsageError, error_of

log = logging.getLogger("pawl")


class Link:
    """Of one event loop.

    Answers are put into a mailbox by threads of the queue that never touch the interpreter; the
    loop is woken by a file descriptor, as by a socket, and takes all there are.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.native = _pawl.Connection()
        self._process = os.getpid()
        self._tickets = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._standing: dict[int, Callable[[Any], None]] = {}
        self.is_open = True
        self.notes = self.stand(lambda text: log.warning("%s", text))
        self.loop.add_reader(self.native.fileno(), self._deliver)

    def ask(self, call: Callable[..., None], *arguments: Any) -> asyncio.Future[Any]:
        """Calls with a ticket in front; the answer comes by the future."""
        self.check()
        ticket = next(self._tickets)
        future = self._waiting[ticket] = self.loop.create_future()
        try:
            call(ticket, *arguments)
        except BaseException:
            del self._waiting[ticket]
            raise
        return future

    def stand(self, handle: Callable[[Any], None]) -> int:
        """A ticket whose letters are handed to `handle`, until it is forgotten."""
        ticket = next(self._tickets)
        self._standing[ticket] = handle
        return ticket

    def forget(self, ticket: int) -> None:
        self._standing.pop(ticket, None)

    def check(self) -> None:
        """Raises where it cannot be used."""
        if not self.is_open:
            raise UsageError("the queue was disconnected; connect() gives another")
        if os.getpid() != self._process:
            raise UsageError("the queue was connected before a fork; connect() in the new process")
        if asyncio.get_running_loop() is not self.loop:
            raise UsageError("the queue was connected in another event loop; connect() in this one")

    def close(self) -> asyncio.Future[Any]:
        """Takes no further call; what is under way is answered."""
        closed = self.ask(self.native.close)
        self.is_open = False
        closed.add_done_callback(lambda _: self.drop())
        return closed

    def drop(self) -> None:
        """Of a queue that is closed, or was never open."""
        self.is_open = False
        self.loop.remove_reader(self.native.fileno())

    def _deliver(self) -> None:
        for ticket, value, error in self.native.take():
            if handle := self._standing.get(ticket):
                if error is None:
                    handle(value)
                else:
                    log.error("%s", error_of(error))
                continue
            future = self._waiting.pop(ticket, None)
            if future is None or future.done():  # nobody waits any more
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error_of(error))
