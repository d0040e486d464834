"""Worker: runs the tasks of a queue with functions of the program."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

from pawl import _pawl, _values
from pawl._endings import PermanentError, RescheduleError, RetryableError
from pawl._errors import InvalidError, UsageError
from pawl._queue import Queue
from pawl._signals import signals
from pawl._tasks import Task, WorkerStats, task_of
from pawl._values import Seconds

log = logging.getLogger("pawl")

Handler = Callable[..., Any]
Hook = Callable[[], None | Awaitable[None]]
HandlerT = TypeVar("HandlerT", bound=Handler)
HookT = TypeVar("HookT", bound=Hook)
T = TypeVar("T")


class _Context:
    """A task while its handler has it."""

    def __init__(self, worker: Worker, run: _pawl.Run) -> None:
        self.task: Task = task_of(run.info())  # as it was claimed
        self._link = worker.queue._link
        self._run = run

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def key(self) -> str | None:
        return self.task.key

    @property
    def attempt(self) -> int:
        """Claims so far, this one included."""
        return self.task.attempt

    @property
    def fence(self) -> int:
        """The fencing token: grows with every claim, so that who is late can be told."""
        return self.task.fence

    @property
    def stop_requested(self) -> bool:
        """The task was cancelled, has used up its time, was lost, or the worker ends."""
        return self._run.stop_asked()

    @property
    def cancel_requested(self) -> bool:
        """Somebody has cancelled the task: it is not run again."""
        return self._run.cancel_requested()

    @property
    def stop_reason(self) -> str | None:
        return self._run.stop_reason() or None

    async def _extend(self, seconds: Seconds) -> datetime:
        lease = _values.to_length(seconds, "seconds")
        return _values.to_datetime(await self._link.ask(self._run.extend, lease))


class TaskContext(_Context):
    """What an async handler gets as `task`."""

    async def extend(self, seconds: Seconds) -> datetime:
        """How long the next lease is to be; when it ends then. Leases are renewed by themselves."""
        return await self._extend(seconds)


class SyncTaskContext(_Context):
    """What a handler that runs in a thread gets as `task`."""

    def extend(self, seconds: Seconds) -> datetime:
        """How long the next lease is to be; when it ends then. Leases are renewed by themselves."""
        return self.wait(self._extend(seconds))

    def wait(self, awaitable: Coroutine[Any, Any, T]) -> T:
        """Runs it in the worker's event loop and waits: `task.wait(queue.submit(…))`."""
        return asyncio.run_coroutine_threadsafe(awaitable, self._link.loop).result()


def is_async(handler: Handler) -> bool:
    call = getattr(handler, "__call__", None)  # noqa: B004 - of an object
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)


def way_of(handler: Handler) -> Callable[[Any, _Context], Any]:
    """How it is called: with its context where it has a parameter called `task`, or a second one
    that must be given."""
    try:
        parameters = inspect.signature(handler).parameters.values()
    except ValueError:  # of something built in
        return lambda input, _: handler(input)
    kinds = inspect.Parameter
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not placed and not any(p.kind is kinds.VAR_POSITIONAL for p in parameters):
        raise InvalidError(f"{handler!r} takes no input: a handler is called with it")
    if any(p.name == "task" and p.kind is kinds.KEYWORD_ONLY for p in parameters):
        return lambda input, task: handler(input, task=task)
    if any(p.name == "task" or p.default is p.empty for p in placed[1:2]):
        return lambda input, task: handler(input, task)
    return lambda input, _: handler(input)


class _Handling:
    """A handler, and how it is called."""

    def __init__(self, handler: Handler) -> None:
        self.is_async = is_async(handler)
        self._call = way_of(handler)

    def begin(self, context: _Context) -> Any:
        try:
            return self._call(context.task.input, context)
        except StopIteration as error:  # no future takes one, and nobody would hear of the end
            raise RuntimeError(f"the handler raised {error!r}") from error


class Worker:
    """Claims tasks of the types it has handlers for, `concurrency` at once.

        worker = Worker(queue, concurrency=8)

        @worker.task("call_api")
        async def call_api(input): ...

        await worker.run()

    An async handler runs in the event loop, any other in a thread. It is called with the input and,
    where it has a second parameter or one called `task`, with the task's context. What it returns
    is the task's output, up to 256 KiB: more fails the task. RescheduleError puts the task off,
    PermanentError fails it for good; any other exception is a retry.

    Leases are renewed meanwhile, whatever the handlers do with the interpreter. Where a task is to
    stop (it was cancelled, has used up its time, was lost, or the worker ends), an async handler is
    cancelled as asyncio cancels; one in a thread should look at task.stop_requested now and then.
    """

    def __init__(
        self,
        queue: Queue,
        concurrency: int = 1,
        *,
        name: str | None = None,
        lease_seconds: Seconds = 30,
        drain_seconds: Seconds = 30,
    ) -> None:
        """name: shown in histories (default: host and process). drain_seconds: how long handlers
        may go on when the worker is stopped, before they are told to stop. One in a thread that
        does not is waited for, with its lease renewed: nobody else begins beside it."""
        if not isinstance(queue, Queue):
            raise InvalidError(f"{queue!r} is no queue; await connect(…) gives one")
        self.queue = queue
        self._concurrency = _values.to_whole(concurrency, "concurrency", 1, 1000)
        self._name = _values.to_text(name, "name")
        self._lease = _values.to_length(lease_seconds, "lease_seconds")
        self._drain = _values.to_length(drain_seconds, "drain_seconds")
        self._handlers: dict[str, _Handling] = {}
        self._start_hooks: list[Hook] = []
        self._stop_hooks: list[Hook] = []
        self._running = False
        self._stop_asked = False
        self._native: _pawl.RunningWorker | None = None
        self._ended: asyncio.Future[None] | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._handled: set[asyncio.Task[None]] = set()

    def task(self, task_type: str) -> Callable[[HandlerT], HandlerT]:
        """Says what handles tasks of this type; the function stays as it is."""
        if not isinstance(task_type, str):
            raise InvalidError(f"the type is {task_type!r}: write @worker.task(\"type\")")

        def keep(handler: HandlerT) -> HandlerT:
            if self._running:
                raise UsageError("the worker runs: handlers are named before run()")
            if task_type in self._handlers:
                raise UsageError(
                    f"there is a handler of {task_type!r} already; a new Worker has none"
                )
            self._handlers[task_type] = _Handling(handler)
            return handler

        return keep

    def on_start(self, hook: HookT) -> HookT:
        """Called, and awaited, before the first claim."""
        self._start_hooks.append(hook)
        return hook

    def on_stop(self, hook: HookT) -> HookT:
        """Called, and awaited, when all handlers have ended, however the run ends."""
        self._stop_hooks.append(hook)
        return hook

    async def run(self, *, handle_signals: bool = True) -> WorkerStats:
        """Until stop(), or SIGTERM or SIGINT; then handlers may go on for `drain_seconds`, and
        those that do not stop when they are told to are waited for.

        The program's own way with signals comes back with the first of them, so that a second one
        ends it. Where run() is cancelled it stops in the same way, and then raises.
        """
        return await self._run(once=False, handle_signals=handle_signals)

    async def run_once(self, *, handle_signals: bool = True) -> WorkerStats:
        """Until nothing is due."""
        return await self._run(once=True, handle_signals=handle_signals)

    def stop(self, drain_seconds: Seconds | None = None) -> None:
        """Claims nothing more; what was not begun is given back. From any thread.

        Of a worker that does not run yet: its next run claims nothing.
        """
        drain = self._drain
        if drain_seconds is not None:
            drain = _values.to_length(drain_seconds, "drain_seconds")
        self._stop_asked = True
        native = self._native
        if native is not None:
            native.stop(drain)

    # ---- a run

    async def _run(self, once: bool, handle_signals: bool) -> WorkerStats:
        if self._running:
            raise UsageError("the worker runs already")
        self.queue._link.check()
        if not self._handlers:
            raise UsageError("there is no handler: name one with @worker.task(\"type\")")
        self._running = True
        if handle_signals:
            signals.watch(self.stop)
        try:
            for hook in self._start_hooks:
                await _called(hook)
            return await self._work(once)
        finally:
            signals.forget(self.stop)
            try:
                await _called_all(self._stop_hooks)
            finally:
                self._running = self._stop_asked = False

    async def _work(self, once: bool) -> WorkerStats:
        link = self.queue._link
        link.check()  # a hook may have left the queue
        begins = link.stand(self._begin)
        how = {
            "name": self._name,
            "concurrency": self._concurrency,
            "lease": self._lease,
            "types": list(self._handlers),
        }
        if not all(each.is_async for each in self._handlers.values()):
            self._threads = ThreadPoolExecutor(self._concurrency, "pawl-worker")
        self._native = _pawl.RunningWorker(link.native, how, begins, link.notes)
        self._ended = link.loop.create_future()
        self.queue._workers.add(self)
        try:
            if self._stop_asked:  # before, or by a hook
                self._native.stop(0)
            ended = link.ask(self._native.run, once)
            cancelled = await self._until(ended, self._drain)
            stats = WorkerStats(**ended.result())
            if cancelled is not None:
                raise cancelled
            return stats
        finally:
            self._native = None
            self.queue._workers.discard(self)
            self._ended.set_result(None)
            link.forget(begins)
            if self._threads is not None:
                self._threads.shutdown(wait=False)
                self._threads = None

    async def _until(
        self, ended: asyncio.Future[Any], drain: int
    ) -> asyncio.CancelledError | None:
        """Until it has ended. Where we are cancelled meanwhile the worker is stopped, and this
        returned at the end."""
        cancelled: asyncio.CancelledError | None = None
        while not ended.done():
            try:
                await asyncio.wait([ended])
            except asyncio.CancelledError as error:
                if self._native is not None:
                    self._native.stop(0 if cancelled else drain)
                cancelled = error
        return cancelled

    async def _stopped(self) -> None:
        self.stop()
        if self._ended is not None:
            await asyncio.shield(self._ended)

    # ---- a task

    def _begin(self, run: _pawl.Run) -> None:
        handled = asyncio.get_running_loop().create_task(self._handle(run))
        self._handled.add(handled)
        handled.add_done_callback(self._handled.discard)

    async def _handle(self, run: _pawl.Run) -> None:
        if run.stop_asked():
            return run.retry(run.stop_reason(), 0)
        try:
            handling = self._handlers[run.task_type()]
            call = self._in_loop if handling.is_async else self._in_thread
            output = await call(handling, run)
        except RescheduleError as end:
            run.reschedule(end.delay, end.scope_number, end.input_json)
        except RetryableError as end:
            run.retry(_values.encodable(str(end)), end.delay)
        except PermanentError as end:
            run.fail(_values.encodable(str(end)))
        except asyncio.CancelledError:
            self._was_cancelled(run)
        except BaseException as error:
            log.exception("a handler of %s failed", run.task_type())
            run.retry(_values.encodable(f"{type(error).__name__}: {error}"), 0)
            # The task of a handler that calls sys.exit() would end one worker after the other.
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            _complete(run, output)

    async def _in_loop(self, handling: _Handling, run: _pawl.Run) -> Any:
        """A stop cancels it."""
        link, me = self.queue._link, asyncio.current_task()
        assert me is not None
        cancel = me.cancel

        def stop(_: object) -> None:
            cancel()

        ticket = link.stand(stop)
        run.on_stop(ticket)
        try:
            return await handling.begin(TaskContext(self, run))
        finally:
            link.forget(ticket)

    async def _in_thread(self, handling: _Handling, run: _pawl.Run) -> Any:
        """A thread cannot be cancelled: whoever cancels us waits for it, and its word counts."""
        assert self._threads is not None
        begin = functools.partial(handling.begin, SyncTaskContext(self, run))
        within = contextvars.copy_context()
        ended = asyncio.get_running_loop().run_in_executor(self._threads, within.run, begin)
        await self._until(ended, 0)
        output = ended.result()
        return await output if inspect.isawaitable(output) else output

    def _was_cancelled(self, run: _pawl.Run) -> None:
        """By a stop; by somebody who ends the whole loop, and the worker with it; or within."""
        me = asyncio.current_task()
        if not run.stop_asked() and me is not None and me.cancelling():
            self.stop(0)
        run.retry(run.stop_reason() or "CancelledError: the handler was cancelled", 0)


def _complete(run: _pawl.Run, output: Any) -> None:
    try:
        told = _values.to_json(output, "what the handler returned")
    except InvalidError as error:  # what it did is done: to do it again would not help
        return run.fail(_values.encodable(str(error)))
    run.complete(told)


async def _called_all(hooks: Sequence[Hook]) -> None:
    """Whatever one of them raises, the rest is called; then it is raised."""
    async with contextlib.AsyncExitStack() as stack:
        for hook in reversed(hooks):
            stack.push_async_callback(_called, hook)


async def _called(hook: Hook) -> None:
    result = hook()
    if inspect.isawaitable(result):
        await result
