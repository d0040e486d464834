"""What tests of the Python package share: a bound on time, and waiting for something."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timezone
from typing import Any, TypeVar

from pawl import ManualClock, Queue, Task

WAIT_SECONDS = 60.0
BEGIN = datetime(2026, 1, 27, 12, 0, tzinfo=timezone.utc)
T = TypeVar("T")


def run(test: Coroutine[Any, Any, T]) -> T:
    """In a loop of its own; one that hangs fails."""
    return asyncio.run(asyncio.wait_for(test, 2 * WAIT_SECONDS))


def clock() -> ManualClock:
    return ManualClock(BEGIN)


async def until(condition: Callable[[], Awaitable[object] | object], what: str) -> None:
    """Until the condition holds; a test that waits in vain says for what."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while True:
        holds = condition()
        if isinstance(holds, Awaitable):
            holds = await holds
        if holds:
            return
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"waited {WAIT_SECONDS:.0f} s in vain for {what}")
        await asyncio.sleep(0.01)


async def over(queue: Queue, task: Any) -> Task:
    """The task, once it is."""

    async def is_over() -> bool:
        return (await queue.get(task)).status.is_over

    await until(is_over, f"the end of {task}")
    return await queue.get(task)
