"""Goal: a Python worker that is killed loses no task and doubles no ending; one that is told to
stop gives back what it has.

Method: worker_program.py as processes of their own on one folder, ended by signals; what they began
stands in a log.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aside
import pytest
from pawl import TaskStatus, connect

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.fixture
def begin(url: str, tmp_path: Path, python_environment: dict[str, str]):
    """Starts a worker; whoever is left at the end is killed."""
    with contextlib.ExitStack() as all_of_them:

        def start() -> subprocess.Popen[str]:
            command = [sys.executable, HERE / "worker_program.py", url, tmp_path / "log"]
            return all_of_them.enter_context(running(command, python_environment))

        yield start


@contextlib.contextmanager
def running(command: list, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def begun(tmp_path: Path, what: str = "") -> list[str]:
    log = tmp_path / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if line.startswith(what)]


def test_killed_workers_lose_nothing(url: str, tmp_path: Path, begin):
    async def test() -> None:
        async with connect(url) as queue:
            hung = await queue.submit("hang")
            worker = begin()
            await aside.until(lambda: begun(tmp_path, "hang"), "the first to begin")
            for n in range(5):
                await queue.submit_many([("count", n)] * 20)
                before = len(begun(tmp_path, "count"))
                await aside.until(lambda: len(begun(tmp_path, "count")) > before, "some work")
                worker.kill()
                worker.wait()
                worker = begin()

            async def all_done() -> bool:
                return len(await queue.list(status="completed", limit=200)) == 100

            await aside.until(all_done, "the end of all")
            for task in await queue.list(status="completed", limit=200):
                assert task.output == task.fence, "the last claim's word counts"
                ends = [v for v in await queue.history(task) if v.status is TaskStatus.COMPLETED]
                assert len(ends) == 1
            await aside.until(lambda: len(begun(tmp_path, "hang")) > 1, "another to take it over")
            fences = [int(line.split()[2]) for line in begun(tmp_path, "hang")]
            assert fences == sorted(set(fences)), "each claim has a larger one"
            assert (await queue.get(hung)).status is TaskStatus.RUNNING

    aside.run(test())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_in_order(url: str, tmp_path: Path, begin, number: int):
    async def test() -> None:
        async with connect(url) as queue:
            tasks = await queue.submit_many([("hang", {}), ("block", {})])
            worker = begin()
            for kind in ("hang", "block"):
                await aside.until(lambda kind=kind: begun(tmp_path, kind), kind)
            worker.send_signal(number)
            await asyncio.to_thread(worker.wait, aside.WAIT_SECONDS)
            assert worker.returncode == 0
            assert begun(tmp_path)[-2:] == ["stopped", "given_back 2"]
            for task in tasks:
                back = await queue.get(task)
                assert (back.status, back.retry_count) == (TaskStatus.PENDING, 0)
                assert back.reschedule_count == 0

    aside.run(test())


def test_the_five_reasons_to_sleep_run(python_environment: dict[str, str]):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "durable_sleep.py"],
        env=python_environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "api_call: completed at 08:00:00, rescheduled 0, retried 0",
        "api_call: completed at 08:00:10, rescheduled 1, retried 0",
        "external_call: completed at 08:00:33, rescheduled 1, retried 2",
        "market_order: completed at 09:30:00, rescheduled 1, retried 0",
        "process_order: completed at 08:10:00, rescheduled 2, retried 0",
        "send_email: completed at 08:00:00, rescheduled 0, retried 0",
        "send_email: completed at 08:00:30, rescheduled 1, retried 0",
    ]


ENDS = {
    "without disconnecting": "await connect({url!r})",
    "in the middle of calls": (
        "queue = await connect({url!r}); [asyncio.ensure_future(queue.submit('t', n))"
        " for n in range(50)]; await asyncio.sleep(0)"
    ),
    "by an exception": "queue = await connect({url!r}); await queue.submit('t'); 1 / 0",
    "by sys.exit": "queue = await connect({url!r}); await queue.submit('t'); sys.exit(0)",
}


@pytest.mark.parametrize("how", ENDS)
def test_a_program_may_end(how: str, url: str, python_environment: dict[str, str]):
    body = ENDS[how].format(url=url)
    program = (
        "import asyncio, sys\nfrom pawl import connect\n"
        f"async def main():\n    {body}\nasyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        env=python_environment,
        capture_output=True,
        text=True,
        timeout=aside.WAIT_SECONDS,
    )
    assert done.returncode == (1 if "exception" in how else 0), done.stderr
    assert done.stderr == "" or ("exception" in how and "ZeroDivisionError" in done.stderr)


def test_a_program_ends_though_it_gave_up_on_a_store_that_is_silent(
    python_environment: dict[str, str],
):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        place = f"s3://bucket/q?endpoint=http://127.0.0.1:{port}&region=us-east-1"
        program = (
            "import asyncio\nfrom pawl import connect\n"
            "async def main():\n"
            f"    await asyncio.wait_for(connect({place!r}), 0.2)\n"
            "asyncio.run(main())\n"
        )
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**python_environment, **keys},
            capture_output=True,
            text=True,
            timeout=15,  # the store is asked for longer than that, again and again
        )
    assert done.returncode == 1, done.stderr
    assert "TimeoutError" in done.stderr
