"""Goal: a handler in Python says how its task ended by what it returns or raises, in the event loop
or in a thread, and hears of everything that a handler in C++ does.

Method: the built package on a queue in memory, whose clock the test moves; where handlers and time
must go on by themselves, in a folder.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import logging
import pickle
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import aside
import pytest
from pawl import (
    Backoff,
    InvalidError,
    PermanentError,
    Queue,
    RefusedError,
    RescheduleError,
    RetryableError,
    SyncTaskContext,
    Task,
    TaskContext,
    TaskStatus,
    UsageError,
    Worker,
    WorkerStats,
    connect,
)

ID = "0" * 20 + "abcd"
LONG = 2 * aside.WAIT_SECONDS  # for what somebody else must end
SOON = 3.0  # a lease, whose renewal tells of a cancel


def as_thread(handler: Callable[..., Any]) -> Callable[..., Any]:
    return handler


def as_coroutine(handler: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handler)
    async def in_the_loop(*given: Any) -> Any:
        return handler(*given)

    return in_the_loop


BOTH = pytest.mark.parametrize("way", [as_thread, as_coroutine])


async def ran(queue: Queue, handler: Callable[..., Any], **options: Any) -> WorkerStats:
    """Runs what is due of the type `t` with this handler."""
    worker = Worker(queue, **options)
    worker.task("t")(handler)
    return await worker.run_once()


@BOTH
def test_what_a_handler_returns_is_the_output(way: Callable[..., Any]):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t", {"n": 20})
            stats = await ran(queue, way(lambda input: {"n": input["n"] + 1}), name="w1")
            assert (stats.claimed, stats.completed) == (1, 1)
            done = await queue.get(task)
            assert (done.status, done.output, done.worker_id) == ("completed", {"n": 21}, "w1")
            assert done.completed_at is not None
            nothing = await queue.submit("t", {"n": 1})
            await ran(queue, way(lambda input: None))
            assert (await queue.get(nothing)).output is None
            assert (await queue.get(nothing)).output_json == "null"

    aside.run(test())


@BOTH
def test_a_task_is_put_off_without_touching_its_retries(way: Callable[..., Any]):
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t", max_reschedules=1)

            def not_now(input: object) -> None:
                raise RescheduleError(delay_seconds=60)

            assert (await ran(queue, way(not_now))).rescheduled == 1
            assert (await ran(queue, way(not_now))).claimed == 0, "it sleeps"
            asleep = await queue.get(task)
            assert asleep.available_at == clock.now() + timedelta(seconds=60)
            assert (asleep.status, asleep.reschedule_count, asleep.retry_count) == ("pending", 1, 0)
            clock.advance(60)
            assert (await ran(queue, way(not_now))).failed == 1
            assert (await queue.get(task)).last_error == "Max reschedules (1) exceeded"

    aside.run(test())


def test_delays_may_be_nothing_huge_or_below_nothing():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t")
            for delay, after in ((0, 0), (-5, 0), (86400, 86400), (timedelta(hours=1), 3600)):
                worker = Worker(queue)

                @worker.task("t")
                async def later(input, delay=delay, worker=worker):
                    worker.stop()  # what is due at once stays
                    raise RescheduleError(delay_seconds=delay)

                assert (await worker.run()).rescheduled == 1
                asleep = await queue.get(task)
                assert asleep.available_at == clock.now() + timedelta(seconds=after), delay
                clock.advance(after)
            await ran(queue, always(RescheduleError(delay_seconds=10**12)))
            assert (await queue.get(task)).available_at.year > 2200

    aside.run(test())


def always(error: BaseException) -> Callable[[object], None]:
    def handler(input: object) -> None:
        raise error

    return handler


@BOTH
def test_what_went_wrong_is_retried_until_no_retry_is_left(
    way: Callable[..., Any], caplog: pytest.LogCaptureFixture
):
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t", max_retries=2, backoff=Backoff(jitter=0))
            assert (await ran(queue, way(always(RetryableError("no answer"))))).retried == 1
            failed = await queue.get(task)
            assert (failed.last_error, failed.retry_count) == ("no answer", 1)
            assert failed.available_at == clock.now() + timedelta(seconds=1)
            assert not caplog.records, "that is no surprise"
            clock.advance(1)
            assert (await ran(queue, way(always(KeyError("url"))))).retried == 1
            assert (await queue.get(task)).last_error == "KeyError: 'url'"
            assert "KeyError" in caplog.text, "with its traceback"
            clock.advance(2)
            assert (await ran(queue, way(always(RetryableError("no answer"))))).failed == 1
            assert (await queue.get(task)).reschedule_count == 0

    aside.run(test())


def test_a_retry_may_name_the_earliest_time():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            task = await queue.submit("t", backoff=Backoff(jitter=0))
            await ran(queue, always(RetryableError("busy", delay_seconds=90)))
            assert (await queue.get(task)).available_at == clock.now() + timedelta(seconds=90)

    aside.run(test())


@BOTH
def test_what_cannot_work_fails_for_good(way: Callable[..., Any]):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t")
            assert (await ran(queue, way(always(PermanentError("no such \ud800"))))).failed == 1
            failed = await queue.get(task)
            assert (failed.status, failed.retry_count) == (TaskStatus.FAILED, 0)
            assert failed.last_error == "no such ?"
            assert await queue.replay(task) is TaskStatus.PENDING

    aside.run(test())


@BOTH
def test_an_output_that_json_cannot_say_is_not_done_again(way: Callable[..., Any]):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t")
            assert (await ran(queue, way(lambda input: {1, 2}))).failed == 1
            assert "what the handler returned" in (await queue.get(task)).last_error

    aside.run(test())


def test_a_scope_is_closed_for_all_that_wait():
    async def test() -> None:
        async with connect("memory:") as queue:
            for _ in range(3):
                await queue.submit("t", key="acme")
            other = await queue.submit("t", key="globex")
            calls = []

            async def limited(input: object, task: TaskContext) -> None:
                if task.key == "acme":
                    calls.append(task.id)
                    raise RescheduleError(delay_seconds=60, scope="key")

            await ran(queue, limited)
            assert len(calls) == 1
            assert (await queue.get(other)).status is TaskStatus.COMPLETED

    aside.run(test())


@BOTH
def test_a_task_that_is_put_off_goes_on_where_it_was(way: Callable[..., Any]):
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t", {"pages": 3})

            def one_page(input: Any) -> object:
                if input["pages"] == 0:
                    return "all"
                raise RescheduleError(0, input={"pages": input["pages"] - 1})

            assert (await ran(queue, way(one_page))).rescheduled == 3
            done = await queue.get(task)
            assert (done.output, done.input, done.retry_count) == ("all", {"pages": 0}, 0)

    aside.run(test())


def test_endings_say_what_is_wrong_with_them():
    with pytest.raises(InvalidError, match="the new input cannot be written as JSON"):
        RescheduleError(60, input={1, 2})
    with pytest.raises(InvalidError, match="one of task, key, type, queue"):
        RescheduleError(60, scope="galaxy")
    with pytest.raises(InvalidError, match="delay_seconds is None"):
        RescheduleError(delay_seconds=None)
    assert RescheduleError().delay_seconds == 60


def test_endings_come_out_of_another_process_as_they_were():
    for end in (
        RescheduleError(5, "key", input=[1]),
        RetryableError("busy", 7),
        PermanentError("never"),
        RefusedError("no", retry_after_seconds=1.5),
    ):
        other = pickle.loads(pickle.dumps(end))
        assert type(other) is type(end) and str(other) == str(end)
        assert vars(other) == vars(end)


# What a handler is called with.


def test_a_context_is_given_to_whoever_has_a_parameter_for_it():
    seen: dict[str, Any] = {}

    async def alone(input):
        seen["alone"] = None

    async def second(input, context):
        seen["second"] = context

    def named(input, task=None):
        seen["named"] = task

    def by_name(input, *, task):
        seen["by_name"] = task

    def other(input, attempts=3):
        seen["other"] = attempts

    class Object:
        async def __call__(self, input, task):
            seen["object"] = task

        async def method(self, input, task):
            seen["method"] = task

    async def test() -> None:
        async with connect("memory:") as queue:
            worker = Worker(queue, concurrency=4)
            handlers = {
                "alone": alone,
                "second": second,
                "named": named,
                "by_name": by_name,
                "other": other,
                "object": Object(),
                "method": Object().method,
                "partial": functools.partial(second),
            }
            for task_type, handler in handlers.items():
                assert worker.task(task_type)(handler) is handler
                await queue.submit(task_type)
            assert (await worker.run_once()).completed == len(handlers)

    aside.run(test())
    assert seen["alone"] is None and seen["other"] == 3
    for name in ("second", "object", "method"):
        assert isinstance(seen[name], TaskContext), name
    for name in ("named", "by_name"):
        assert isinstance(seen[name], SyncTaskContext), name


def test_a_handler_knows_its_task_and_its_fence_grows():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            submitted = await queue.submit("t", {"n": 1}, key="acme")
            fences = []

            async def handler(input: object, task: TaskContext) -> None:
                assert isinstance(task.task, Task) and task.task.input == input == {"n": 1}
                assert (task.id, task.key) == (submitted.id, "acme")
                assert task.attempt == len(fences) + 1
                assert not task.stop_requested and task.stop_reason is None
                fences.append(task.fence)
                raise RescheduleError(delay_seconds=1)

            for _ in range(3):
                await ran(queue, handler)
                clock.advance(1)
            assert fences == sorted(set(fences)) and fences[0] > 0

    aside.run(test())


def test_a_lease_is_extended_from_both_kinds():
    async def test() -> None:
        clock = aside.clock()
        async with connect("memory:", clock=clock) as queue:
            ends = []

            async def later(input: object, task: TaskContext) -> None:
                ends.append(await task.extend(300))

            def threaded(input: object, task: SyncTaskContext) -> str:
                ends.append(task.extend(timedelta(minutes=5)))
                return task.wait(queue.submit("follow_up")).id

            await queue.submit("t")
            await ran(queue, later)
            task = await queue.submit("t")
            await ran(queue, threaded)
            assert ends == [clock.now() + timedelta(minutes=5)] * 2
            assert (await queue.get((await queue.get(task)).output)).task_type == "follow_up"

    aside.run(test())


# Many at once, and the loop.


def test_as_many_run_at_once_as_may():
    async def test() -> None:
        async with connect("memory:") as queue:
            await queue.submit_many([("loop", n) for n in range(4)])
            await queue.submit_many([("thread", n) for n in range(4)])
            all_there, in_threads = asyncio.Event(), threading.Barrier(4, timeout=LONG)
            arrived = []
            worker = Worker(queue, concurrency=8)

            @worker.task("loop")
            async def loop(input):
                arrived.append(input)
                if len(arrived) == 4:
                    all_there.set()
                await all_there.wait()  # of whom none would come back alone

            @worker.task("thread")
            def thread(input):
                in_threads.wait()

            assert (await worker.run_once()).completed == 8

    aside.run(test())


def test_a_handler_that_blocks_its_thread_holds_up_neither_the_loop_nor_leases(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            go_on, began = threading.Event(), threading.Event()
            task = await queue.submit("t")
            worker = Worker(queue, lease_seconds=3)

            @worker.task("t")
            def blocks(input):
                began.set()
                assert go_on.wait(LONG)
                return "done"

            running = asyncio.create_task(worker.run())
            await aside.until(began.is_set, "the handler")
            first = await queue.get(task)

            async def renewed() -> bool:
                now = await queue.get(task)
                return now.lease_expires_at > first.lease_expires_at + timedelta(seconds=1.5)

            await aside.until(renewed, "two renewals")  # while the loop goes on, as this shows
            await queue.submit("another")
            go_on.set()
            assert (await aside.over(queue, task)).output == "done"
            worker.stop()
            stats = await running
            assert (stats.claimed, stats.completed) == (1, 1)

    aside.run(test())


HELD = """
cd {folder}
expires() {{ {pawl} get {task} | sed -n 's/^lease_expires_at: //p'; }}
first=$(expires)
for i in $(seq 600); do
  [ "$(expires)" = "$first" ] || exit 0
  sleep 0.1
done
exit 1
"""


def test_leases_are_renewed_while_a_handler_holds_the_interpreter(
    url: str, tmp_path: Path, pawl: Path
):
    """It calls a function of C without letting go of the interpreter's lock, for as long as it
    takes until somebody else has seen a renewal."""
    (tmp_path / "pawl.yaml").write_text(f'queue: {{ url: "{url}" }}\n')

    async def test() -> None:
        async with connect(url) as queue:
            await queue.submit("t")

            def holds(input: object, task: SyncTaskContext) -> int:
                command = HELD.format(folder=tmp_path, pawl=pawl, task=task.id)
                return ctypes.PyDLL(None).system(command.encode())

            stats = await ran(queue, holds, lease_seconds=SOON)
            assert stats.completed == 1
            (task,) = await queue.list()
            assert (task.output, task.attempt) == (0, 1)

    aside.run(test())


# Stops.


def test_a_cancel_reaches_an_async_handler_as_asyncio_does(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            began, reasons = asyncio.Event(), []
            task = await queue.submit("t")
            worker = Worker(queue, lease_seconds=SOON)

            @worker.task("t")
            async def sleeps(input, task):
                began.set()
                try:
                    await asyncio.sleep(LONG)
                except asyncio.CancelledError:
                    assert task.stop_requested
                    reasons.append(task.stop_reason)
                    raise

            running = asyncio.create_task(worker.run())
            await began.wait()
            assert await queue.cancel(task, "a mistake") is TaskStatus.RUNNING
            assert (await aside.over(queue, task)).status is TaskStatus.CANCELLED
            assert "cancelled" in reasons[0]
            worker.stop()
            assert (await running).cancelled == 1

    aside.run(test())


def test_a_cancel_is_seen_by_a_handler_in_a_thread(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            began, waits = threading.Event(), threading.Event()
            task = await queue.submit("t")
            worker = Worker(queue, lease_seconds=SOON)

            @worker.task("t")
            def works(input, task):
                began.set()
                while not task.stop_requested:
                    waits.wait(0.01)
                raise RetryableError(task.stop_reason)

            running = asyncio.create_task(worker.run())
            await aside.until(began.is_set, "the handler")
            await queue.cancel(task)
            assert (await aside.over(queue, task)).status is TaskStatus.CANCELLED
            worker.stop()
            await running

    aside.run(test())


def test_a_handler_that_takes_too_long_is_cancelled_and_retried(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            task = await queue.submit("t", timeout_seconds=1, max_retries=0)
            worker = Worker(queue)

            @worker.task("t")
            async def sleeps(input):
                await asyncio.sleep(LONG)

            running = asyncio.create_task(worker.run())
            failed = await aside.over(queue, task)
            assert (failed.status, failed.last_error) == (TaskStatus.FAILED, "timed out after 1s")
            worker.stop()
            await running

    aside.run(test())


def test_who_completes_in_spite_of_a_stop_has_completed(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            began = asyncio.Event()
            task = await queue.submit("t")
            worker = Worker(queue, drain_seconds=0)

            @worker.task("t")
            async def stubborn(input):
                began.set()
                try:
                    await asyncio.sleep(LONG)
                except asyncio.CancelledError:
                    return "all the same"

            running = asyncio.create_task(worker.run())
            await began.wait()
            worker.stop()
            assert (await running).completed == 1
            assert (await queue.get(task)).output == "all the same"

    aside.run(test())


def test_a_stop_lets_handlers_end_and_gives_back_what_does_not(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            goes_on, began = asyncio.Event(), []
            quick, slow = await queue.submit("quick"), await queue.submit("slow")
            worker = Worker(queue, concurrency=2, drain_seconds=LONG)

            @worker.task("quick")
            async def ends(input):
                began.append("quick")
                await goes_on.wait()

            @worker.task("slow")
            async def does_not(input):
                began.append("slow")
                await asyncio.sleep(LONG)

            running = asyncio.create_task(worker.run())
            await aside.until(lambda: len(began) == 2, "both")
            worker.stop()
            goes_on.set()
            await aside.over(queue, quick)
            worker.stop(drain_seconds=0)
            stats = await running
            assert (stats.completed, stats.given_back) == (1, 1)
            back = await queue.get(slow)
            assert (back.status, back.retry_count, back.reschedule_count) == ("pending", 0, 0)

    aside.run(test())


def test_a_run_that_is_cancelled_gives_back_what_it_had(url: str):
    async def test() -> None:
        async with connect(url) as queue:
            began = asyncio.Event()
            task = await queue.submit("t")
            worker = Worker(queue, drain_seconds=0)

            @worker.task("t")
            async def sleeps(input):
                began.set()
                await asyncio.sleep(LONG)

            running = asyncio.create_task(worker.run())
            await began.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            back = await queue.get(task)
            assert (back.status, back.retry_count) == (TaskStatus.PENDING, 0)

    aside.run(test())


def test_a_loop_that_ends_gives_back_what_its_worker_had(url: str):
    async def left() -> None:
        queue, began = await connect(url), asyncio.Event()
        await queue.submit("t", id=ID)
        worker = Worker(queue)

        @worker.task("t")
        async def sleeps(input):
            began.set()
            await asyncio.sleep(LONG)

        left.running = asyncio.create_task(worker.run())  # type: ignore[attr-defined]
        await began.wait()

    asyncio.run(left())  # cancels all there is, as it ends

    async def after() -> None:
        async with connect(url) as queue:
            back = await queue.get(ID)
            assert (back.status, back.retry_count) == (TaskStatus.PENDING, 0)

    aside.run(after())


def test_a_loop_that_ends_waits_for_a_handler_in_a_thread(url: str):
    """Which cannot be cancelled: nobody else may begin before it has ended, and its word counts."""

    async def left() -> None:
        queue, began, waits = await connect(url), threading.Event(), threading.Event()
        await queue.submit("t", id=ID)
        worker = Worker(queue)

        @worker.task("t")
        def works(input, task):
            began.set()
            while not task.stop_requested:
                waits.wait(0.01)
            return task.stop_reason

        left.running = asyncio.create_task(worker.run())  # type: ignore[attr-defined]
        await aside.until(began.is_set, "the handler")

    asyncio.run(left())

    async def after() -> None:
        async with connect(url) as queue:
            done = await queue.get(ID)
            assert (done.status, done.output) == (TaskStatus.COMPLETED, "the worker ends")

    aside.run(after())


def test_a_handler_cancelled_from_within_is_retried():
    async def test() -> None:
        async with connect("memory:") as queue:
            task = await queue.submit("t")

            async def waits_for_what_was_cancelled(input: object) -> None:
                future = asyncio.get_running_loop().create_future()
                future.cancel()
                await future

            assert (await ran(queue, waits_for_what_was_cancelled)).retried == 1
            assert "CancelledError" in (await queue.get(task)).last_error

    aside.run(test())


def test_disconnecting_stops_the_workers(url: str):
    async def test() -> None:
        began = asyncio.Event()
        async with connect(url) as queue:
            await queue.submit("t")
            worker = Worker(queue, drain_seconds=0)

            @worker.task("t")
            async def sleeps(input):
                began.set()
                await asyncio.sleep(LONG)

            running = asyncio.create_task(worker.run())
            await began.wait()
        assert (await running).given_back == 1

    aside.run(test())


# Around a run.


def test_hooks_stand_around_a_run():
    async def test() -> None:
        async with connect("memory:") as queue:
            seen: list[str] = []
            await queue.submit("t")
            worker = Worker(queue)
            worker.task("t")(lambda input: seen.append("task"))

            @worker.on_start
            async def opens():
                await asyncio.sleep(0)
                seen.append("start")

            @worker.on_stop
            def closes():
                seen.append("stop")

            await worker.run_once()
            assert seen == ["start", "task", "stop"]

            @worker.on_start
            def breaks():
                raise RuntimeError("no database")

            with pytest.raises(RuntimeError, match="no database"):
                await worker.run_once()
            assert seen == ["start", "task", "stop", "start", "stop"]

    aside.run(test())


def test_a_hook_may_stop_the_worker_or_leave_the_queue():
    async def test() -> None:
        queue = await connect("memory:")
        await queue.submit("t")
        worker = Worker(queue)
        worker.task("t")(lambda input: None)
        worker.on_start(worker.stop)
        worker.on_stop(queue.disconnect)
        assert (await worker.run()).claimed == 0
        with pytest.raises(UsageError, match="disconnected"):
            await worker.run()

    aside.run(test())


def test_a_worker_runs_again_after_its_end():
    async def test() -> None:
        async with connect("memory:") as queue:
            worker = Worker(queue)

            @worker.task("t")
            async def once(input):
                worker.stop()

            for _ in range(2):
                await queue.submit("t")
                assert (await worker.run()).completed == 1

    aside.run(test())


def test_a_worker_says_what_is_wrong_with_it():
    async def test() -> None:
        async with connect("memory:") as queue:
            with pytest.raises(UsageError, match="no handler"):
                await Worker(queue).run()
            for concurrency in (0, -1, 1.5, "8", 1_001):
                with pytest.raises(InvalidError, match="concurrency"):
                    Worker(queue, concurrency=concurrency)
            with pytest.raises(InvalidError, match="is no queue"):
                Worker("dir:data/queue")
            worker = Worker(queue)
            with pytest.raises(InvalidError, match="worker.task"):
                worker.task(lambda input: None)
            with pytest.raises(InvalidError, match="takes no input"):
                worker.task("t")(lambda: None)
            worker.task("t")(lambda input: None)
            with pytest.raises(UsageError, match="a handler of 't' already"):
                worker.task("t")(lambda input: None)
            running = asyncio.create_task(worker.run())
            await asyncio.sleep(0)
            with pytest.raises(UsageError, match="runs already"):
                await worker.run()
            with pytest.raises(UsageError, match="before run"):
                worker.task("u")(lambda input: None)
            worker.stop()
            await running

    aside.run(test())


def test_an_ending_that_comes_too_late_is_refused(url: str, caplog: pytest.LogCaptureFixture):
    """The task is another's by then: its fence says so."""
    caplog.set_level(logging.WARNING, "pawl")

    async def test() -> None:
        async with connect(url) as queue:
            began, goes_on = threading.Event(), threading.Event()
            task = await queue.submit("t", timeout_seconds=1)
            late, next_one = Worker(queue, name="late"), Worker(queue, name="next")

            @late.task("t")
            def blocks(input, task):
                began.set()
                assert goes_on.wait(LONG)
                with pytest.raises(RefusedError):
                    task.extend(30)
                return "late"

            @next_one.task("t")
            async def ends(input):
                return "next"

            first = asyncio.create_task(late.run())
            await aside.until(began.is_set, "the first")
            second = asyncio.create_task(next_one.run())
            assert (await aside.over(queue, task)).output == "next"
            late.stop()
            goes_on.set()
            assert (await first).refused == 1
            next_one.stop()
            await second
            assert (await queue.get(task)).output == "next"

    aside.run(test())
