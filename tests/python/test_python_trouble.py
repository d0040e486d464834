"""Goal: a handler, a hook or a caller that does what it should not harms nobody but itself.

Method: the built package; where a whole program must survive, as a process of its own.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any

import aside
import pytest
from pawl import InvalidError, Queue, TaskStatus, Worker, connect


async def once(queue: Queue, handler: Callable[..., Any]) -> None:
    worker = Worker(queue)
    worker.task("t")(handler)
    await worker.run_once()


def raises_stop(input: object) -> None:
    next(iter([]))


async def raises_stop_later(input: object) -> None:
    next(iter([]))


def exits(input: object) -> None:
    sys.exit(3)


async def exits_later(input: object) -> None:
    sys.exit(3)


@pytest.mark.parametrize("handler", [raises_stop, raises_stop_later, exits, exits_later])
def test_whatever_a_handler_raises_is_a_retry(handler: Callable[..., Any]):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t", max_retries=0)
            await once(queue, handler)
            failed = await queue.get(task)
            assert failed.status is TaskStatus.FAILED
            wanted = "SystemExit: 3" if "exits" in handler.__name__ else "StopIteration"
            assert wanted in (failed.last_error or "")

    aside.run(test())


def test_a_stop_before_the_run_is_not_lost():
    async def test() -> None:
        async with connect("memory:") as queue:
            await queue.submit("t")
            worker = Worker(queue)
            worker.task("t")(lambda input: worker.stop())
            worker.stop()
            assert (await worker.run()).claimed == 0
            assert (await worker.run()).claimed == 1, "it was for the run that has ended"

    aside.run(test())


def test_every_stop_hook_is_called_whatever_one_of_them_does():
    async def test() -> None:
        async with connect("memory:") as queue:
            called: list[str] = []
            worker = Worker(queue)
            worker.task("t")(lambda input: None)

            @worker.on_stop
            def fails():
                called.append("fails")
                raise RuntimeError("no way to close")

            @worker.on_stop
            async def closes():
                called.append("closes")

            with pytest.raises(RuntimeError, match="no way to close"):
                await worker.run_once()
            assert called == ["fails", "closes"]

    aside.run(test())


def test_a_handler_in_a_thread_that_does_not_stop_keeps_its_task(url: str):
    """Longer than its lease and the worker's last words: nobody may begin beside it."""

    async def test() -> None:
        async with connect(url) as queue:
            task = await queue.submit("t")
            began, goes_on = threading.Event(), threading.Event()
            worker = Worker(queue, lease_seconds=2, drain_seconds=0)

            @worker.task("t")
            def deaf(input):
                began.set()
                assert goes_on.wait(2 * aside.WAIT_SECONDS)
                return "done"

            running = asyncio.create_task(worker.run())
            await aside.until(began.is_set, "the handler")
            worker.stop()
            last_words = 10.0
            await asyncio.wait([running], timeout=last_words + 3)
            assert not running.done()
            held = await queue.get(task)
            assert (held.status, held.attempt) == (TaskStatus.RUNNING, 1)
            goes_on.set()
            assert (await running).completed == 1
            assert (await queue.get(task)).output == "done"

    aside.run(test())


def test_a_cancel_is_told_from_other_reasons_to_stop(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            heard: dict[str, bool] = {}
            began = asyncio.Event()
            worker = Worker(queue, concurrency=2, lease_seconds=1, drain_seconds=0)

            @worker.task("t")
            async def waits(input, task):
                began.set()
                try:
                    await asyncio.sleep(2 * aside.WAIT_SECONDS)
                finally:
                    assert task.stop_requested
                    heard[input] = task.cancel_requested

            cancelled = await queue.submit("t", "cancelled")
            running = asyncio.create_task(worker.run())
            await began.wait()
            await queue.cancel(cancelled)
            assert (await aside.over(queue, cancelled)).status is TaskStatus.CANCELLED
            began.clear()
            await queue.submit("t", "stopped")
            await began.wait()
            worker.stop()
            await running
            assert heard == {"cancelled": True, "stopped": False}

    aside.run(test())


def test_a_text_that_is_no_utf_8_is_told_and_keeps_no_answer_back():
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t")
            native = queue._link.native
            # As a command may say it.
            await queue._link.ask(native.cancel, task.id, b"caf\xe9 closes")
            told = asyncio.gather(queue.get(task), queue.history(task), queue.submit("t"))
            got, history, other = await asyncio.wait_for(told, aside.WAIT_SECONDS)
            assert (got.cancelled_by or "").endswith("caf\ufffd closes")
            assert "caf\ufffd closes" in history[-1].text
            assert other.id != task.id

    aside.run(test())


def test_what_is_no_task_no_page_and_no_lease_is_refused():
    async def test() -> None:
        async with connect("memory:") as queue:
            with pytest.raises(InvalidError, match="'ab' is no task"):
                await queue.submit_many(["ab"])  # type: ignore[list-item]
            assert await queue.list() == []
            with pytest.raises(InvalidError, match="limit is 5000; it must be 1 to 1000"):
                await queue.list(limit=5000)
            hasty = Worker(queue, lease_seconds=0.001)
            hasty.task("t")(lambda input: None)
            with pytest.raises(InvalidError, match="lease is 1ms; it must be 100ms"):
                await hasty.run_once()

    aside.run(test())


def test_a_task_that_waits_is_held_by_no_scope():
    async def test() -> None:
        async with connect("memory:") as queue:
            assert (await queue.why(await queue.submit("t"))).scope is None

    aside.run(test())
