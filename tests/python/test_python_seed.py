"""Goal: code that was written for `oq` runs as it stands with `pawl` in its place.

Method: every Python sample of the description of durable sleep, written out here as it is there but
for the name that is imported, is executed with stand-ins for what it calls. The queue is in memory,
on a clock that the test moves.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import aside
import pawl as package
import pytest
from pawl import ManualClock, Queue, Submitted, Task, TaskStatus, Worker, connect

CALL_API = '''
from pawl import connect, Worker, RescheduleError

@worker.task("call_api")
async def call_api(input):
    try:
        response = await external_api.post(input["url"], input["data"])
        return {"status": response.status}
    except RateLimitError as e:
        # API returned 429 - reschedule for later
        raise RescheduleError(delay_seconds=e.retry_after or 60)
    except ServiceUnavailable:
        # Backpressure - try again in 5 minutes
        raise RescheduleError(delay_seconds=300)
'''

SUBMIT = '''
# Unlimited reschedules (default)
task = await queue.submit("call_api", {"url": "..."})

# Limit reschedules to prevent infinite loops
task = await queue.submit(
    "call_api",
    {"url": "..."},
    max_reschedules=100,  # Fail after 100 reschedules
)

# Combined with other options
task = await queue.submit(
    "call_api",
    {"url": "..."},
    max_retries=3,        # Retries for actual failures
    max_reschedules=50,   # Reschedules for rate limits
    timeout_seconds=300,
)
'''

EXCEEDED = '''
# Task has been rescheduled 100 times, max is 100
# Next reschedule will fail the task permanently

@worker.task("call_api")
async def call_api(input):
    raise RescheduleError(delay_seconds=60)
    # Task transitions to Failed with:
    # last_error: "Max reschedules (100) exceeded"
'''

SEND_EMAIL = '''
@worker.task("send_email")
async def send_email(input):
    try:
        await email_provider.send(input["to"], input["body"])
        return {"sent": True}
    except TooManyRequests as e:
        # Provider says wait 30 seconds
        raise RescheduleError(delay_seconds=e.retry_after)
'''

PROCESS_ORDER = '''
@worker.task("process_order")
async def process_order(input):
    if await inventory_service.is_overloaded():
        # Service is busy, try in 5 minutes
        raise RescheduleError(delay_seconds=300)

    return await inventory_service.reserve(input["items"])
'''

MARKET_ORDER = '''
@worker.task("market_order")
async def market_order(input):
    if not is_market_open():
        # Wait until market opens
        seconds_until_open = get_seconds_until_market_open()
        raise RescheduleError(delay_seconds=seconds_until_open)

    return await execute_trade(input)
'''

API_CALL = '''
# Each worker checks a shared rate limit before processing
@worker.task("api_call")
async def api_call(input):
    # Check your own rate limiter (Redis, etc.)
    if not await rate_limiter.acquire("api_calls"):
        raise RescheduleError(delay_seconds=1)

    return await api.call(input)
'''

EXTERNAL_CALL = '''
@worker.task("external_call")
async def external_call(input):
    if circuit_breaker.is_open("external_service"):
        # Circuit is open, back off
        raise RescheduleError(delay_seconds=30)

    try:
        result = await external_service.call(input)
        circuit_breaker.record_success("external_service")
        return result
    except ServiceError as e:
        circuit_breaker.record_failure("external_service")
        raise RetryableError(str(e))
'''

AT_ONCE = '''
# Yield to other tasks, process this one later
raise RescheduleError(delay_seconds=0)
'''

TOMORROW = '''
# Reschedule for tomorrow
raise RescheduleError(delay_seconds=86400)
'''

OWN_LIMITER = '''
rate_limiter = RateLimiter(max_per_minute=100)

@worker.task("call_api")
async def call_api(input):
    if not rate_limiter.try_acquire():
        raise RescheduleError(delay_seconds=1)
    return await api.call(input)
'''


class Stub:
    """Whatever is called on it gives the next of `answers`, or raises it."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def next(self, name: str, *given: Any) -> Any:
        self.calls.append((name, given))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Awaited(Stub):
    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*given: Any) -> Any:
            return self.next(name, *given)

        return call


class Called(Stub):
    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given: self.next(name, *given)


class Refused(Exception):
    def __init__(self, retry_after: int | None = None) -> None:
        super().__init__("refused")
        self.retry_after = retry_after


class Unavailable(Exception):
    pass


class Sample:
    """A sample that was executed, and the worker it registered its handler with."""

    def __init__(self, queue: Queue, clock: ManualClock, text: str, **names: Any) -> None:
        self.queue, self.clock = queue, clock
        self.worker = Worker(queue, name="worker-1")
        known = {name: getattr(package, name) for name in ("RescheduleError", "RetryableError")}
        exec(text, {**known, **names, "worker": self.worker})

    async def ends(self, task: Submitted) -> Task:
        """One attempt, as soon as it is due."""
        due = (await self.queue.get(task)).available_at
        self.clock.advance(max(due - self.clock.now(), timedelta(0)))
        stats = await self.worker.run_once()
        assert stats.claimed == 1
        return await self.queue.get(task)

    async def sleeps(self, task: Submitted, seconds: int) -> None:
        """One attempt, that puts the task off by so much."""
        before = (await self.queue.get(task)).reschedule_count
        asleep = await self.ends(task)
        assert asleep.status is TaskStatus.PENDING
        assert asleep.available_at == self.clock.now() + timedelta(seconds=seconds)
        assert asleep.reschedule_count == before + 1


def samples(test: Callable[[Queue, ManualClock], Any]) -> Callable[[], None]:
    """A test with a queue and its clock."""

    def run() -> None:
        async def within() -> None:
            clock = aside.clock()
            async with connect("memory:", clock=clock) as queue:
                await test(queue, clock)

        aside.run(within())

    run.__name__ = test.__name__
    return run


@samples
async def test_call_api(queue: Queue, clock: ManualClock):
    class Response:
        status = 200

    api = Awaited(Refused(7), Refused(None), Unavailable(), Response())
    names = {"RateLimitError": Refused, "ServiceUnavailable": Unavailable, "external_api": api}
    sample = Sample(queue, clock, CALL_API, **names)
    task = await queue.submit("call_api", {"url": "u", "data": [1]})
    for seconds in (7, 60, 300):
        await sample.sleeps(task, seconds)
    assert (await sample.ends(task)).output == {"status": 200}
    assert api.calls == [("post", ("u", [1]))] * 4
    assert (await queue.get(task)).retry_count == 0


@samples
async def test_submit_with_max_reschedules(queue: Queue, clock: ManualClock):
    seen: list[Submitted] = []
    names = {"queue": queue, "seen": seen}
    submits = SUBMIT.replace("task = await", "seen.append(await").replace(")\n", "))\n")
    assert submits.count("seen.append") == 3
    for text in (SUBMIT, submits):
        exec("async def sample():\n" + textwrap.indent(text, "    "), names)
        await names["sample"]()
    tasks = [await queue.get(task) for task in seen]
    assert [task.max_reschedules for task in tasks] == [None, 100, 50]
    assert {(task.max_retries, task.timeout_seconds) for task in tasks} == {(3, 300)}


@samples
async def test_when_max_reschedules_is_exceeded(queue: Queue, clock: ManualClock):
    sample = Sample(queue, clock, EXCEEDED)
    task = await queue.submit("call_api", {"url": "..."}, max_reschedules=100)
    for _ in range(100):
        await sample.sleeps(task, 60)
    failed = await sample.ends(task)
    assert failed.status is TaskStatus.FAILED
    assert failed.last_error == "Max reschedules (100) exceeded"


@samples
async def test_api_rate_limiting(queue: Queue, clock: ManualClock):
    provider = Awaited(Refused(30), None)
    names = {"email_provider": provider, "TooManyRequests": Refused}
    sample = Sample(queue, clock, SEND_EMAIL, **names)
    task = await queue.submit("send_email", {"to": "you", "body": "hello"})
    await sample.sleeps(task, 30)
    assert (await sample.ends(task)).output == {"sent": True}


@samples
async def test_upstream_backpressure(queue: Queue, clock: ManualClock):
    service = Awaited(True, True, False, ["book"])
    sample = Sample(queue, clock, PROCESS_ORDER, inventory_service=service)
    task = await queue.submit("process_order", {"items": ["book"]})
    for _ in range(2):
        await sample.sleeps(task, 300)
    assert (await sample.ends(task)).output == ["book"]
    assert service.calls[-1] == ("reserve", (["book"],))


@samples
async def test_time_based_processing(queue: Queue, clock: ManualClock):
    opens = clock.now() + timedelta(seconds=5400)

    async def execute_trade(input: object) -> object:
        return {"filled": input}

    names = {
        "is_market_open": lambda: clock.now() >= opens,
        "get_seconds_until_market_open": lambda: (opens - clock.now()).total_seconds(),
        "execute_trade": execute_trade,
    }
    sample = Sample(queue, clock, MARKET_ORDER, **names)
    task = await queue.submit("market_order", {"size": 1})
    await sample.sleeps(task, 5400)
    assert (await sample.ends(task)).output == {"filled": {"size": 1}}


@samples
async def test_distributed_rate_limiting(queue: Queue, clock: ManualClock):
    limiter, api = Awaited(False, True), Awaited("answer")
    sample = Sample(queue, clock, API_CALL, rate_limiter=limiter, api=api)
    task = await queue.submit("api_call", {"n": 1})
    await sample.sleeps(task, 1)
    assert (await sample.ends(task)).output == "answer"
    assert limiter.calls == [("acquire", ("api_calls",))] * 2


@samples
async def test_circuit_breaker_pattern(queue: Queue, clock: ManualClock):
    # is_open, then what was recorded
    breaker = Called(False, None, True, False, None)
    service = Awaited(Unavailable("it is down"), "answer")
    names = {"circuit_breaker": breaker, "external_service": service, "ServiceError": Unavailable}
    sample = Sample(queue, clock, EXTERNAL_CALL, **names)
    task = await queue.submit("external_call")
    failed = await sample.ends(task)
    assert (failed.last_error, failed.retry_count, failed.reschedule_count) == ("it is down", 1, 0)
    await sample.sleeps(task, 30)
    done = await sample.ends(task)
    assert (done.output, done.retry_count, done.reschedule_count) == ("answer", 1, 1)
    assert [name for name, _ in breaker.calls] == [
        *("is_open", "record_failure", "is_open", "is_open", "record_success"),
    ]
    assert [str(version) for version in await queue.history(task)][0::2] == [
        "Version 1: pending (created)",
        (await queue.history(task))[2].text,  # when it is retried has some jitter
        "Version 5: pending (rescheduled, available_at: +30s, count: 1)",
        "Version 7: completed",
    ]


@samples
async def test_delays_of_nothing_and_of_a_day(queue: Queue, clock: ManualClock):
    for text, seconds in ((AT_ONCE, 0), (TOMORROW, 86400)):
        body = '@worker.task("t")\nasync def t(input):\n    worker.stop()\n'
        sample = Sample(queue, clock, body + textwrap.indent(text, "    "))
        task = await queue.submit("t")
        assert (await sample.worker.run()).rescheduled == 1
        asleep = await queue.get(task)
        assert asleep.available_at == clock.now() + timedelta(seconds=seconds)
        await queue.cancel(task)


@samples
async def test_a_limiter_of_ones_own(queue: Queue, clock: ManualClock):
    limiter, made = Called(False, True), {}
    names = {"RateLimiter": lambda **how: made.update(how) or limiter, "api": Awaited("answer")}
    sample = Sample(queue, clock, OWN_LIMITER, **names)
    task = await queue.submit("call_api")
    await sample.sleeps(task, 1)
    assert (await sample.ends(task)).output == "answer"
    assert made == {"max_per_minute": 100}


@samples
async def test_the_history_of_a_task_that_slept(queue: Queue, clock: ManualClock):
    delays = iter([60, 120])
    worker_names = iter(["worker-1", "worker-2", "worker-1"])
    task = await queue.submit("t")
    for name in worker_names:
        worker = Worker(queue, name=name)

        @worker.task("t")
        async def sleeps(input):
            if delay := next(delays, None):
                raise package.RescheduleError(delay_seconds=delay)

        await worker.run_once()
        clock.advance(120)
    assert [*map(str, await queue.history(task))] == [
        "Version 1: pending (created)",
        "Version 2: running (claimed by worker-1)",
        "Version 3: pending (rescheduled, available_at: +60s, count: 1)",
        "Version 4: running (claimed by worker-2)",
        "Version 5: pending (rescheduled, available_at: +120s, count: 2)",
        "Version 6: running (claimed by worker-1)",
        "Version 7: completed",
    ]


def test_the_names_of_the_description_are_there():
    for name in ("connect", "Worker", "RescheduleError", "RetryableError", "PermanentError"):
        assert name in package.__all__
    with pytest.raises(ImportError):
        exec("from pawl import nothing_of_the_kind", {})
