"""Goal: from Python a queue is what it is from C++ and the command line: tasks are submitted,
followed and changed, and what is wrong is an exception that says so.

Method: the built package on a queue in memory, whose clock the test moves, and on one in a folder.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import aside
import pytest
from pawl import (
    Backoff,
    Code,
    Hold,
    InvalidError,
    NewTask,
    NotFoundError,
    Outcome,
    PawlError,
    Queue,
    RefusedError,
    SubmitManyError,
    TaskStatus,
    UnavailableError,
    UsageError,
    connect,
)

LATER = aside.BEGIN + timedelta(hours=1)


def test_a_task_keeps_what_it_was_told():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            told = {"url": "https://example.org", "größe": [1, 2.5, None, True]}
            submitted = await queue.submit(
                "call_api",
                told,
                key="acme",
                priority=5,
                max_retries=7,
                max_reschedules=9,
                timeout_seconds=20,
                delay_seconds=60,
                ttl_seconds=600,
            )
            assert submitted.fresh
            task = await queue.get(submitted)
            assert task == await queue.get(submitted.id) == await queue.get(task)
            assert (task.id, task.task_type, task.input) == (submitted.id, "call_api", told)
            assert (task.key, task.priority) == ("acme", 5)
            assert (task.status, task.attempt, task.fence) == (TaskStatus.PENDING, 0, 0)
            assert task.status == "pending" and f"{task.status}" == "pending"
            assert (task.max_retries, task.max_reschedules) == (7, 9)
            assert (task.retry_count, task.reschedule_count) == (0, 0)
            assert task.timeout_seconds == 20
            assert task.created_at == clock.now()
            assert task.available_at == clock.now() + timedelta(seconds=60)
            assert task.expires_at == clock.now() + timedelta(seconds=600)
            assert task.unique is task.worker_id is task.output is task.last_error is None
            other = await queue.get(await queue.submit("t", at=LATER, expires_at=LATER))
            assert (other.input, other.max_reschedules) == ({}, None)
            assert (other.available_at, other.expires_at) == (LATER, LATER)

    aside.run(test())


@pytest.mark.parametrize("told", [0, "text", [], None, False, 0.1, 12345678901234567890, "😀é\0"])
def test_an_input_may_be_any_json(told: object):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.get(await queue.submit("t", told))
            assert task.input == told and type(task.input) is type(told)

    aside.run(test())


def test_times_may_be_numbers_and_lengths_however_long():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            for delay, waits in (
                (1.5, timedelta(seconds=1.5)),
                (Decimal("0.25"), timedelta(seconds=0.25)),
                (timedelta(days=2, microseconds=1), timedelta(days=2, microseconds=1)),
                (86400, timedelta(days=1)),
            ):
                task = await queue.get(await queue.submit("t", delay_seconds=delay))
                assert task.available_at == clock.now() + waits, delay
            for never in (math.inf, 1e300, 10**30, timedelta.max):
                task = await queue.get(await queue.submit("t", delay_seconds=never))
                assert task.available_at.year > 2200, never

    aside.run(test())


def test_one_task_under_one_name_or_id():
    async def test() -> None:
        async with connect("memory:") as queue:
            first = await queue.submit("t", {"a": 1, "b": 2}, unique="u")
            again = await queue.submit("t", {"a": 1, "b": 2}, unique="u")
            assert (again.id, again.fresh) == (first.id, False)
            with pytest.raises(RefusedError) as refused:
                await queue.submit("t", {"a": 2}, unique="u")
            assert (refused.value.code, refused.value.outcome) == ("refused", "not_applied")
            named = await queue.submit("t", id="00000000000000000000abcd")
            assert named.id == "00000000000000000000abcd"
            assert not (await queue.submit("t", id=named.id)).fresh

    aside.run(test())


def test_many_are_submitted_in_their_order():
    async def test() -> None:
        async with connect("memory:") as queue:
            submitted = await queue.submit_many(
                [
                    NewTask("a", {"n": 0}, priority=3),
                    ("b", {"n": 1}),
                    {"task_type": "c", "input": {"n": 2}, "key": "acme"},
                ]
            )
            tasks = [await queue.get(each) for each in submitted]
            assert [task.task_type for task in tasks] == ["a", "b", "c"]
            assert [task.input["n"] for task in tasks] == [0, 1, 2]
            assert (tasks[0].priority, tasks[2].key) == (3, "acme")
            assert await queue.submit_many([]) == []
            assert len(await queue.submit_many(("t", n) for n in range(1500))) == 1500
            assert (await queue.stats()).submitted == 1503

    aside.run(test())


def test_each_of_many_says_what_is_wrong_with_it():
    async def test() -> None:
        async with connect("memory:") as queue:
            with pytest.raises(SubmitManyError, match="2 of 3 tasks.*task 1: ") as wrong:
                await queue.submit_many([("a", 1), ("", 2), NewTask("c", priority=1000)])
            good, *bad = wrong.value.results
            assert not isinstance(good, PawlError) and (await queue.get(good)).input == 1
            assert [type(each) for each in bad] == [InvalidError, InvalidError]
            assert wrong.value.code is Code.INVALID
            with pytest.raises(InvalidError, match="'b' cannot be written as JSON"):
                await queue.submit_many([("a", 1), ("b", {1, 2})])
            with pytest.raises(InvalidError, match="is no task"):
                await queue.submit_many([("a", 1, 2, 3, *"abcdefghijkl")])
            with pytest.raises(InvalidError, match="is no task"):
                await queue.submit_many([{"type": "a"}])
            assert len(await queue.list()) == 1

    aside.run(test())


def test_tasks_are_listed_by_what_they_are_page_after_page():
    async def test() -> None:
        async with connect("memory:") as queue:
            for n in range(5):
                await queue.submit("a" if n < 3 else "b", n, key="acme" if n == 4 else None)
            assert len(await queue.list()) == 5
            assert {task.input for task in await queue.list(type="a")} == {0, 1, 2}
            assert [task.input for task in await queue.list(key="acme")] == [4]
            assert await queue.list(status="completed") == []
            assert len(await queue.list(status=TaskStatus.PENDING, type="b")) == 2
            first = await queue.list(limit=3)
            second = await queue.list(limit=3, after=first[-1])
            assert len(first) == 3 and len(second) == 2
            assert [*first, *second] == await queue.list()

    aside.run(test())


def test_a_history_has_the_lines_of_the_command_line():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t")
            assert await queue.cancel(task, "no longer wanted") is TaskStatus.CANCELLED
            assert await queue.replay(task) is TaskStatus.PENDING
            versions = await queue.history(task)
            assert str(versions[0]) == "Version 1: pending (created)"
            assert [each.status for each in versions] == ["pending", "cancelled", "pending"]
            assert "no longer wanted" in versions[1].text
            assert versions[0].at == clock.now() == queue.now()

    aside.run(test())


def test_a_key_a_type_or_the_queue_is_closed_and_opened():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t", key="acme")
            assert (await queue.why(task)).hold is Hold.WAITS
            await queue.close("acme", delay_seconds=60)
            why = await queue.why(task)
            assert (why.hold, why.scope, why.name) == (Hold.CLOSED, "key", "acme")
            assert why.until is not None and why.until >= clock.now() + timedelta(seconds=60)
            await queue.reopen("acme")
            await queue.close("t", scope="type", until=LATER, spread_seconds=5)
            assert (await queue.why(task)).scope == "type"
            await queue.reopen("t", scope="type")
            await queue.close(scope="queue", until=LATER)
            assert (await queue.why(task)).scope == "queue"
            await queue.reopen(scope="queue")
            assert (await queue.why(task)).hold is Hold.WAITS
            sleeps = await queue.submit("t", at=LATER)
            assert (await queue.why(sleeps)).hold is Hold.NOT_DUE
            assert (await queue.why(sleeps)).until == LATER

    aside.run(test())


def test_figures_are_told():
    async def test() -> None:
        async with connect("memory:") as queue:
            await queue.submit_many([("a", 1), ("a", 2), NewTask("b", delay_seconds=60)])
            stats = await queue.stats()
            assert stats.submitted == 3 and stats.commits >= 1
            by_type = {each.task_type: each for each in stats.types}
            assert (by_type["a"].pending, by_type["a"].due, by_type["b"].due) == (2, 2, 0)
            assert by_type["a"].oldest_due is not None and by_type["b"].oldest_due is None

    aside.run(test())


def test_what_was_submitted_is_there_when_the_folder_is_opened_again(url: str, tmp_path: Path):
    async def test() -> None:
        async with connect(url) as queue:
            task = await queue.submit("t", {"n": 1})
        queue = await connect(url)
        assert (await queue.get(task)).input == {"n": 1}
        await queue.disconnect()
        await queue.disconnect()  # again does nothing
        with pytest.raises(NotFoundError, match=str(tmp_path)):
            await connect(f"dir:{tmp_path}/none", create=False)

    aside.run(test())


def test_two_hundred_submits_at_once_share_their_commits(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            submitted = await asyncio.gather(*(queue.submit("t", n) for n in range(200)))
            assert len({each.id for each in submitted}) == 200
            tasks = await queue.list(limit=1000)
            assert sorted(task.input for task in tasks) == list(range(200))
            assert (await queue.stats()).commits < 200

    aside.run(test())


def test_who_stops_waiting_harms_nobody(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            for n in range(20):
                waiting = asyncio.create_task(queue.submit("t", n))
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await queue.submit("last")
            assert len(await queue.list(type="last")) == 1
        connecting = asyncio.ensure_future(connect(url))
        await asyncio.sleep(0)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting

    aside.run(test())


def test_no_thread_of_python_is_made_for_a_call(url: str):
    async def test() -> None:
        before = threading.active_count()
        async with connect(url) as queue:
            await asyncio.gather(*(queue.submit("t", n) for n in range(50)))
            assert threading.active_count() == before

    aside.run(test())


# What is wrong.

WRONG: dict[str, tuple[Callable[[Queue], Awaitable[Any]], str]] = {
    "an input that JSON cannot say": (
        lambda queue: queue.submit("t", {"when": aside.BEGIN}),
        "the input of 't' cannot be written as JSON: .*datetime",
    ),
    "an input that is not a number": (lambda queue: queue.submit("t", math.nan), "JSON"),
    "an input within itself": (lambda queue: queue.submit("t", endless()), "JSON"),
    "an input of half characters": (lambda queue: queue.submit("t", "\ud800"), "JSON"),
    "an input that is too large": (lambda queue: queue.submit("t", "x" * 300_000), "input"),
    "no type": (lambda queue: queue.submit(""), "type"),
    "a type that is none": (lambda queue: queue.submit(7), "must be a str"),
    "a key that is none": (lambda queue: queue.submit("t", key=7), "key is 7"),
    "a delay that is none": (lambda queue: queue.submit("t", delay_seconds="1"), "delay_seconds"),
    "a delay below 0": (lambda queue: queue.submit("t", delay_seconds=-1), "0 or more"),
    "a time for an attempt below 0": (
        lambda queue: queue.submit("t", timeout_seconds=timedelta(seconds=-1)),
        "timeout_seconds is .*0 or more",
    ),
    "a closing below 0": (lambda queue: queue.close("k", delay_seconds=-0.5), "0 or more"),
    "two beginnings": (
        lambda queue: queue.submit("t", delay_seconds=5, at=aside.BEGIN),
        "not both",
    ),
    "no time to live": (lambda queue: queue.submit("t", ttl_seconds=0), "more than 0"),
    "two ends": (
        lambda queue: queue.submit("t", ttl_seconds=5, expires_at=aside.BEGIN),
        "not both",
    ),
    "a delay of nothing": (lambda queue: queue.submit("t", delay_seconds=None), "delay_seconds"),
    "a delay that is not a number": (
        lambda queue: queue.submit("t", delay_seconds=math.nan),
        "delay_seconds",
    ),
    "retries below none": (lambda queue: queue.submit("t", max_retries=-1), "max_retries is -1"),
    "half a retry": (lambda queue: queue.submit("t", max_retries=0.5), "max_retries is 0.5"),
    "a time without a zone": (
        lambda queue: queue.submit("t", at=datetime(2026, 1, 1)),
        "at is 2026.*without a time zone",
    ),
    "a backoff that is none": (lambda queue: queue.submit("t", backoff=5), "a Backoff"),
    "a jitter that is none": (
        lambda queue: queue.submit("t", backoff=Backoff(jitter=-1)),
        "jitter is -1.*0 to 1",
    ),
    "a multiplier that is none": (
        lambda queue: queue.submit("t", backoff=Backoff(multiplier=0)),
        "multiplier is 0.*1 to 10",
    ),
    "a wait below 0": (
        lambda queue: queue.submit("t", backoff=Backoff(base_seconds=-1)),
        "base_seconds is -1.*0 or more",
    ),
    "a table that is none": (
        lambda queue: queue.submit("t", backoff=Backoff(delays_seconds=5)),
        "delays_seconds is 5; it must be a list",
    ),
    "more than a page": (lambda queue: queue.list(limit=1001), "1 to 1000"),
    "more retries than there may be": (
        lambda queue: queue.submit("t", max_retries=1_000_001),
        "0 to 1000000",
    ),
    "a status that is none": (lambda queue: queue.list(status="done"), "one of pending, running"),
    "an id that is none": (lambda queue: queue.get("abc"), "abc"),
    "no id": (lambda queue: queue.get(None), "names no task"),
    "a scope that is none": (
        lambda queue: queue.close("a", scope="galaxy", delay_seconds=1),
        "one of task, key, type, queue",
    ),
    "a closing without an end": (lambda queue: queue.close("a"), r"disconnect\(\) ends the conn"),
    "a closing of a nameless key": (lambda queue: queue.close(delay_seconds=1), "has a name"),
    "a closing of a task": (
        lambda queue: queue.close("a", scope="task", delay_seconds=1),
        "close its key",
    ),
}


def endless() -> list[Any]:
    within: list[Any] = []
    within.append(within)
    return within


@pytest.mark.parametrize("what", WRONG)
def test_wrong_is(what: str):
    call, says = WRONG[what]

    async def test() -> None:
        async with connect("memory:") as queue:
            with pytest.raises(InvalidError, match=says) as wrong:
                await call(queue)
            assert wrong.value.code is Code.INVALID
            assert wrong.value.outcome is Outcome.NOT_APPLIED
            assert isinstance(wrong.value, ValueError)
            assert (await queue.stats()).submitted == 0

    aside.run(test())


@pytest.mark.parametrize(
    ("url", "says"),
    [("ftp://a/b", "a queue is at dir:"), ("", "dir:"), ("queue", "dir:"), (7, "must be a str")],
)
def test_a_url_that_is_none_is_refused(url: str, says: str):
    async def test() -> None:
        with pytest.raises(InvalidError, match=says):
            await connect(url)

    aside.run(test())


def test_an_absent_task_is_not_found():
    async def test() -> None:
        async with connect("memory:") as queue:
            for call in (queue.get, queue.history, queue.why, queue.cancel, queue.replay):
                with pytest.raises(NotFoundError) as wrong:
                    await call("0" * 24)
                assert wrong.value.code is Code.NOT_FOUND
            task = await queue.submit("t")
            with pytest.raises(RefusedError):
                await queue.replay(task)

    aside.run(test())


def test_a_broker_that_is_dead_is_unavailable(free_port: Callable[[], int]):
    async def test() -> None:
        port = free_port()
        with pytest.raises(UnavailableError, match=f"127.0.0.1:{port}") as wrong:
            await connect(f"http://127.0.0.1:{port}")
        assert wrong.value.code is Code.UNAVAILABLE
        assert wrong.value.outcome is Outcome.NOT_APPLIED

    aside.run(test())


def test_a_queue_that_was_left_says_so():
    async def left() -> Queue:
        queue = await connect("memory:")
        await queue.disconnect()
        with pytest.raises(UsageError, match="disconnected"):
            await queue.submit("t")
        return await connect("memory:")

    queue = aside.run(left())

    async def elsewhere() -> None:
        with pytest.raises(UsageError, match="another event loop"):
            await queue.submit("t")

    aside.run(elsewhere())


def test_a_queue_does_not_go_over_a_fork():
    async def test() -> None:
        async with connect("memory:") as queue:
            child = os.fork()
            if child == 0:
                try:
                    await queue.submit("t")
                except UsageError as error:
                    os._exit(0 if "fork" in str(error) else 2)
                os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
            await queue.submit("t")

    aside.run(test())


def test_now_is_in_utc():
    clock = aside.clock()
    assert clock.now() == aside.BEGIN and clock.now().tzinfo is timezone.utc
    clock.advance(timedelta(minutes=1))
    clock.advance(0.5)
    assert clock.now() == aside.BEGIN + timedelta(seconds=60.5)
