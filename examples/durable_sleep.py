"""Five reasons not to run a task now, and none to hold a worker meanwhile: a provider's limit, a
service that is overloaded, a market that is closed, a limiter that all workers share, a circuit
breaker. The clock is moved by hand, so that the example needs no waiting and always prints the
same; without one, it is the machine's.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone

from pawl import Backoff, ManualClock, Queue, RescheduleError, RetryableError, Worker, connect

BEGIN = datetime(2026, 1, 27, 8, 0, tzinfo=timezone.utc)
clock = ManualClock(BEGIN)


class TooManyRequests(Exception):
    def __init__(self, retry_after: timedelta) -> None:
        super().__init__("429 Too Many Requests")
        self.retry_after = retry_after


class EmailProvider:
    """One e-mail in half a minute."""

    last: datetime | None = None

    async def send(self, to: str, body: str) -> None:
        pause = timedelta(seconds=30)
        if self.last and clock.now() < self.last + pause:
            raise TooManyRequests(retry_after=self.last + pause - clock.now())
        self.last = clock.now()


class Limiter:
    """One call in ten seconds, for all workers of this process."""

    free_at = BEGIN

    def wait(self) -> timedelta:
        if clock.now() < self.free_at:
            return self.free_at - clock.now()
        self.free_at = clock.now() + timedelta(seconds=10)
        return timedelta(0)


class CircuitBreaker:
    """Opens after two failures in a row, for half a minute."""

    failures = 0
    open_until = BEGIN

    def is_open(self) -> bool:
        return clock.now() < self.open_until

    def record_success(self) -> None:
        self.failures = 0

    def record_failure(self) -> None:
        self.failures += 1
        if self.failures == 2:
            self.failures = 0
            self.open_until = clock.now() + timedelta(seconds=30)


def handlers(worker: Worker) -> None:
    provider, limiter, breaker = EmailProvider(), Limiter(), CircuitBreaker()

    # 1. The provider says how long to wait.
    @worker.task("send_email")
    async def send_email(input):
        try:
            await provider.send(input["to"], input["body"])
        except TooManyRequests as error:
            raise RescheduleError(delay_seconds=error.retry_after) from error
        return {"sent": True}

    # 2. A service has enough to do.
    @worker.task("process_order")
    async def process_order(input):
        if clock.now() < BEGIN + timedelta(minutes=8):
            raise RescheduleError(delay_seconds=300)
        return {"reserved": input["items"]}

    # 3. The market is closed.
    @worker.task("market_order")
    async def market_order(input):
        opens = BEGIN + timedelta(minutes=90)
        if clock.now() < opens:
            raise RescheduleError(delay_seconds=opens - clock.now())
        return {"filled": True}

    # 4. A limiter that all workers share. The first that is refused closes the type for all that
    #    wait. This one is no coroutine: it runs in a thread.
    @worker.task("api_call")
    def api_call(input):
        if wait := limiter.wait():
            raise RescheduleError(delay_seconds=wait, scope="type")

    # 5. A circuit breaker: failures are retried, and while it is open nobody is called.
    @worker.task("external_call")
    async def external_call(input):
        if breaker.is_open():
            raise RescheduleError(delay_seconds=30)
        if clock.now() < BEGIN + timedelta(seconds=20):
            breaker.record_failure()
            raise RetryableError("the service is down")
        breaker.record_success()


async def run_all(queue: Queue, worker: Worker) -> None:
    """Runs what is due, then lets time pass until something is, until nothing waits any more."""
    while True:
        await worker.run_once()
        waiting = await queue.list(status="pending")
        if not waiting:
            return
        due = min(task.available_at for task in waiting)
        clock.advance(max(due - clock.now(), timedelta(milliseconds=1)))


async def main() -> None:
    async with connect("memory:", clock=clock) as queue:
        worker = Worker(queue, name="worker-1")
        handlers(worker)
        email = {"to": "you", "body": "hello"}
        for task_type, input in (
            ("send_email", email),
            ("send_email", email),
            ("process_order", {"items": ["book"]}),
            ("market_order", {}),
            ("api_call", {}),
            ("api_call", {}),
            ("external_call", {}),
        ):
            await queue.submit(task_type, input, backoff=Backoff(jitter=0))
        await run_all(queue, worker)
        lines = [
            f"{task.task_type}: {task.status} at {task.completed_at:%H:%M:%S}, "
            f"rescheduled {task.reschedule_count}, retried {task.retry_count}"
            for task in await queue.list()
        ]
        print(*sorted(lines), sep="\n")  # ids are random, and so is their order


if __name__ == "__main__":
    asyncio.run(main())
