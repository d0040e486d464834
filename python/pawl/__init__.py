"""Tasks that can sleep, kept in a folder or a bucket and nowhere else.

    from pawl import connect, Worker, RescheduleError

    queue = await connect("dir:data/queue")     # or s3://…, http://broker
    task = await queue.submit("call_api", {"url": "…"}, max_reschedules=50)

    worker = Worker(queue, concurrency=8)

    @worker.task("call_api")
    async def call_api(input):
        raise RescheduleError(delay_seconds=60)

    await worker.run()

Nothing here blocks the event loop, or the interpreter, while a store is waited for.
"""

from pawl._clock import ManualClock
from pawl._endings import PermanentError, RescheduleError, RetryableError, TaskError
from pawl._errors import (
    Code,
    InternalError,
    InvalidError,
    NotFoundError,
    Outcome,
    PawlError,
    RefusedError,
    UnavailableError,
    UnresolvedError,
    UsageError,
)
from pawl._pawl import version as __version__
from pawl._queue import Queue, connect
from pawl._tasks import (
    Backoff,
    Hold,
    NewTask,
    QueueStats,
    SubmitManyError,
    Submitted,
    Task,
    TaskStatus,
    TypeStats,
    Version,
    Why,
    WorkerStats,
)
from pawl._worker import SyncTaskContext, TaskContext, Worker

__all__ = [
    "Backoff",
    "Code",
    "Hold",
    "InternalError",
    "InvalidError",
    "ManualClock",
    "NewTask",
    "NotFoundError",
    "Outcome",
    "PawlError",
    "PermanentError",
    "Queue",
    "QueueStats",
    "RefusedError",
    "RescheduleError",
    "RetryableError",
    "Submitted",
    "SubmitManyError",
    "SyncTaskContext",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskStatus",
    "TypeStats",
    "UnavailableError",
    "UnresolvedError",
    "UsageError",
    "Version",
    "Why",
    "Worker",
    "WorkerStats",
    "__version__",
    "connect",
]

for _name in __all__:  # as tracebacks show them
    _each = globals()[_name]
    if isinstance(_each, type) and issubclass(_each, Exception):
        _each.__module__ = __name__
