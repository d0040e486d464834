"""A worker as a program of its own, for tests that kill it.

    worker_program.py URL LOG

Writes a line "TYPE TASK FENCE" to LOG, in one write, whenever a handler begins, and "stopped" at
the end. Types: count completes; hang waits for its end in the loop, block in a thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

from pawl import Worker, connect


async def main(url: str, log: int) -> None:
    async with connect(url) as queue:
        worker = Worker(queue, concurrency=4, lease_seconds=2, drain_seconds=1)

        def begun(task):
            os.write(log, f"{task.task.task_type} {task.id} {task.fence}\n".encode())

        @worker.task("count")
        async def count(input, task):
            begun(task)
            return task.fence

        @worker.task("hang")
        async def hang(input, task):
            begun(task)
            await asyncio.sleep(3600)

        @worker.task("block")
        def block(input, task):
            begun(task)
            while not task.stop_requested:
                time.sleep(0.01)
            raise RuntimeError("told to stop")

        @worker.on_stop
        def stopped():
            os.write(log, b"stopped\n")

        stats = await worker.run()
        os.write(log, f"given_back {stats.given_back}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)))
