"""connect() and Queue."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Generator, Iterable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, List  # Queue has a list of its own

from pawl import _tasks, _values
from pawl._clock import ManualClock
from pawl._errors import InvalidError, PawlError, error_of
from pawl._link import Link
from pawl._tasks import (
    Backoff,
    NewTask,
    QueueStats,
    SubmitManyError,
    Submitted,
    Task,
    TaskStatus,
    Version,
    Why,
)
from pawl._values import Seconds

if TYPE_CHECKING:
    from pawl._worker import Worker

TaskId = str | Submitted | Task  # wherever a task is named


def id_of(task: TaskId) -> str:
    given = task if isinstance(task, str) else getattr(task, "id", None)
    if not isinstance(given, str):
        raise InvalidError(f"{task!r} names no task; give its id, or what submit() or get() gave")
    return _values.encodable(given)


@dataclasses.dataclass(frozen=True)
class _Options:
    url: str
    shards: int
    kept_seconds: Seconds
    create: bool
    clock: ManualClock | None

    def told(self) -> dict[str, Any]:
        if not isinstance(self.url, str):
            raise InvalidError(f"the URL of a queue is {self.url!r}; it must be a str")
        return {
            "url": _values.to_text(self.url, "url"),
            "shards": _values.to_whole(self.shards, "shards", 0, 256),
            "kept": _values.to_length(self.kept_seconds, "kept_seconds"),
            "makes": bool(self.create),
            "clock": None if self.clock is None else self.clock._native,
        }


class Connecting:
    """What connect() gives: to be awaited, or entered with `async with`."""

    def __init__(self, options: _Options) -> None:
        self._options = options
        self._queue: Queue | None = None

    def __await__(self) -> Generator[Any, None, Queue]:
        return self._connect().__await__()

    async def __aenter__(self) -> Queue:
        self._queue = await self._connect()
        return self._queue

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._queue is not None
        await self._queue.disconnect()

    async def _connect(self) -> Queue:
        told = self._options.told()
        link = Link()
        opened = link.ask(link.native.open, told, link.notes)
        try:
            await asyncio.shield(opened)
        except PawlError:
            link.drop()
            raise
        except asyncio.CancelledError:  # it opens all the same, and is closed then
            opened.add_done_callback(lambda _: link.drop() if opened.exception() else link.close())
            raise
        return Queue(link)


def connect(
    url: str = "dir:data/queue",
    *,
    shards: int = 0,
    kept_seconds: Seconds = 0,
    create: bool = True,
    clock: ManualClock | None = None,
) -> Connecting:
    """A queue: `queue = await connect(url)`, or `async with connect(url) as queue:`.

    url: dir:PATH | s3://BUCKET/PREFIX?endpoint=…&region=… (keys from the environment, as
    AWS_ACCESS_KEY_ID) | http://HOST:PORT[,HOST:PORT…][?store=URL], a `pawl serve` (its token from
    PAWL_ADMIN_TOKEN), and its store for when none answers | memory:, which ends with the
    connection.

    A queue that is not there is made, with so many shards, unless `create` is False. Tasks that are
    over are kept for `kept_seconds` (0: as it is, or 7 days). It belongs to the event loop that
    runs, and to this process: connect after a fork, not before.
    """
    return Connecting(_Options(url, shards, kept_seconds, create, clock))


class Queue:
    """Tasks, in a folder, a bucket, or behind a broker. Made by connect()."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._native = link.native
        self._workers: set[Worker] = set()  # those that run

    async def submit(
        self,
        task_type: str,
        input: Any = {},  # which nobody changes
        *,
        id: str | None = None,
        key: str | None = None,
        unique: str | None = None,
        priority: int = 0,
        max_retries: int = 3,
        max_reschedules: int | None = None,
        timeout_seconds: Seconds = 300,
        backoff: Backoff = Backoff(),
        delay_seconds: Seconds = 0,
        at: datetime | None = None,
        ttl_seconds: Seconds | None = None,
        expires_at: datetime | None = None,
    ) -> Submitted:
        """Submits a task; when this returns, it is durable.

        input: what JSON can say, up to 256 KiB and 64 levels. id: 24 hexadecimal digits, of which
        the first two are replaced by its shard's; what is answered has it as it is known.
        key: what limits and closings go by. unique: at most one task of this name among those of
        its key; the same again is the same task. priority: higher first. timeout_seconds: of one
        attempt. max_reschedules: None is unlimited. delay_seconds or at: not before. ttl_seconds
        or expires_at: it expires where it waits then, also for a retry or because it was put off.
        """
        task = NewTask(
            task_type=task_type,
            input=input,
            id=id,
            key=key,
            unique=unique,
            priority=priority,
            max_retries=max_retries,
            max_reschedules=max_reschedules,
            timeout_seconds=timeout_seconds,
            backoff=backoff,
            delay_seconds=delay_seconds,
            at=at,
            ttl_seconds=ttl_seconds,
            expires_at=expires_at,
        )
        return Submitted(*await self._link.ask(self._native.submit, task.told()))

    async def submit_many(
        self, tasks: Iterable[NewTask | tuple[str, Any] | Mapping[str, Any]]
    ) -> List[Submitted]:
        """Submits many in few commits: each a NewTask, (type, input), or a dict of arguments.

        Nothing is submitted when one of them is none that json.dumps can write. SubmitManyError,
        with the answer to each, when the queue refuses some; the others are submitted then.
        """
        told = [_tasks.new_task_of(each).told() for each in tasks]
        answers = await self._link.ask(self._native.submit_many, told)
        results: List[Submitted | PawlError] = [
            Submitted(*value) if error is None else error_of(error) for value, error in answers
        ]
        submitted = [each for each in results if isinstance(each, Submitted)]
        if len(submitted) < len(results):
            raise SubmitManyError(results)
        return submitted

    async def get(self, task: TaskId) -> Task:
        return _tasks.task_of(await self._link.ask(self._native.get, id_of(task)))

    async def list(
        self,
        *,
        status: TaskStatus | str | None = None,
        type: str | None = None,
        key: str | None = None,
        after: TaskId | None = None,
        limit: int = 100,
    ) -> List[Task]:
        """Tasks by their ids, at most 1,000; `after` is the last one of the page before."""
        try:
            wanted = None if status is None else TaskStatus(status).value
        except ValueError:
            known = ", ".join(each.value for each in TaskStatus)
            raise InvalidError(f"status is {status!r}; it must be one of {known}") from None
        query = {
            "status": wanted,
            "task_type": _values.to_text(type, "type"),
            "key": _values.to_text(key, "key"),
            "after": "" if after is None else id_of(after),
            "limit": _values.to_whole(limit, "limit", 1, 1000),
        }
        return [_tasks.task_of(each) for each in await self._link.ask(self._native.list, query)]

    async def history(self, task: TaskId) -> List[Version]:
        """Every version, the oldest first; str() of one is its line."""
        told = await self._link.ask(self._native.history, id_of(task))
        return [_tasks.version_of(each) for each in told]

    async def why(self, task: TaskId) -> Why:
        """Why it does not run."""
        return _tasks.why_of(await self._link.ask(self._native.why, id_of(task)))

    async def cancel(self, task: TaskId, reason: str = "") -> TaskStatus:
        """What the task is then: one that runs is asked to stop, and stays running meanwhile."""
        told = _values.to_text(reason, "reason")
        return TaskStatus(await self._link.ask(self._native.cancel, id_of(task), told))

    async def replay(self, task: TaskId) -> TaskStatus:
        """Of one that failed, was cancelled or expired: from the start."""
        return TaskStatus(await self._link.ask(self._native.replay, id_of(task)))

    async def close(
        self,
        name: str | None = None,
        *,
        scope: str = "key",
        until: datetime | None = None,
        delay_seconds: Seconds | None = None,
        spread_seconds: Seconds = 0,
    ) -> None:
        """Closes a key, a type or the queue: nothing of it is claimed for a while.

        Afterwards what waits is let go evenly over `spread_seconds`. To end the connection, see
        disconnect().
        """
        if (until is None) == (delay_seconds is None):
            raise InvalidError(
                "close() shuts a key, a type or the queue for a while: say either until or"
                " delay_seconds; disconnect() ends the connection"
            )
        if delay_seconds is not None:
            length = _values.to_length(delay_seconds, "delay_seconds")
            ends = min(self._now() + length, _values.LONGEST)
        else:
            assert until is not None
            ends = _values.to_instant(until, "until")
        if (name is None) != (scope == "queue"):
            raise InvalidError(f"scope is {scope!r} and name {name!r}: a key or a type has a name")
        if scope == "task":
            raise InvalidError("a task alone is not closed; cancel() it, or close its key")
        closing = {
            "scope": _values.to_scope(scope),
            "name": _values.to_text(name, "name"),
            "until": ends,
            "spread": _values.to_length(spread_seconds, "spread_seconds"),
        }
        await self._link.ask(self._native.close_scope, closing)

    async def reopen(self, name: str | None = None, *, scope: str = "key") -> None:
        """Ends a close() before its time."""
        await self.close(name, scope=scope, until=self.now() - timedelta(seconds=1))

    def now(self) -> datetime:
        """By the queue's own clock, which may be another than this machine's."""
        return _values.to_datetime(self._now())

    def _now(self) -> int:
        self._link.check()
        return int(self._native.now())

    async def stats(self) -> QueueStats:
        return _tasks.queue_stats_of(await self._link.ask(self._native.stats))

    async def disconnect(self) -> None:
        """Stops the workers that run on it, and waits until what was given is committed."""
        if not self._link.is_open:
            return
        self._link.check()
        await asyncio.gather(*(worker._stopped() for worker in list(self._workers)))
        await asyncio.shield(self._link.close())

    async def __aenter__(self) -> Queue:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.disconnect()
