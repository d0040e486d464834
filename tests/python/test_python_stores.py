"""Goal: the package does on S3, and by way of a broker, what it does in a folder; and one queue is
shared with the command line.

Method: one journey, on a real folder, on `pawl emulate s3` with lost answers, and on `pawl serve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aside
import pytest
import stack
from emulation import Emulator, emulator
from pawl import (
    NewTask,
    RefusedError,
    RescheduleError,
    TaskStatus,
    UnavailableError,
    Worker,
    connect,
)

TOKEN = "correct-horse-battery"
S3_KEYS = {"AWS_ACCESS_KEY_ID": "emulated-key", "AWS_SECRET_ACCESS_KEY": "emulated-secret"}


@contextlib.contextmanager
def in_a_folder(pawl: Path, folder: Path, environment: pytest.MonkeyPatch) -> Iterator[str]:
    yield f"dir:{folder}/queue"


@contextlib.contextmanager
def in_a_bucket(pawl: Path, folder: Path, environment: pytest.MonkeyPatch) -> Iterator[str]:
    for name, value in S3_KEYS.items():
        environment.setenv(name, value)
    with emulator(pawl, "s3", folder) as store:
        yield f"s3://pawl/tasks?endpoint={store.url}&region=us-east-1"


@contextlib.contextmanager
def behind_a_broker(pawl: Path, folder: Path, environment: pytest.MonkeyPatch) -> Iterator[str]:
    environment.setenv("PAWL_ADMIN_TOKEN", TOKEN)
    settings = {"token": TOKEN, "more": f'queue: {{ url: "dir:{folder}/queue" }}'}
    with stack.running(pawl, **settings) as gateway:
        yield f"http://127.0.0.1:{gateway.admin}"


STORES = pytest.mark.parametrize("store", [in_a_folder, in_a_bucket, behind_a_broker])


@STORES
def test_a_journey(store, pawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def test(url: str) -> None:
        async with connect(url) as queue:
            await queue.submit_many([NewTask("add", [n, 1], key=f"k{n % 3}") for n in range(40)])
            await asyncio.gather(*(queue.submit("sleep", n) for n in range(20)))
            gone = await queue.submit("add", [0, 0], delay_seconds=3600)
            assert await queue.cancel(gone) is TaskStatus.CANCELLED
            worker, slept = Worker(queue, concurrency=16), set()

            @worker.task("add")
            def add(input):
                return sum(input)

            @worker.task("sleep")
            async def sleep(input, task):
                if input not in slept:
                    slept.add(input)
                    raise RescheduleError(delay_seconds=0)
                return task.attempt

            running = asyncio.create_task(worker.run())

            async def all_done() -> bool:
                return len(await queue.list(status="completed", limit=100)) == 60

            await aside.until(all_done, "the end of all")
            worker.stop()
            stats = await running
            assert (stats.completed, stats.rescheduled) == (60, 20), stats
            tasks = await queue.list(status="completed", limit=100)
            added = sorted(task.output for task in tasks if task.task_type == "add")
            assert added == list(range(1, 41))
            assert {task.output for task in tasks if task.task_type == "sleep"} == {2}
            lines = [str(version) for version in await queue.history(gone)]
            assert lines[0].startswith("Version 1: pending (created") and "cancelled" in lines[1]
            assert (await queue.stats()).completed == 60

    with store(pawl, tmp_path, monkeypatch) as url:
        aside.run(test(url))


def test_answers_that_get_lost_lose_and_double_nothing(
    pawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def test(store: Emulator) -> None:
        url = f"s3://pawl/tasks?endpoint={store.url}&region=us-east-1"
        async with connect(url) as queue:
            store.faults({"seed": 7, "rates": {"drop_after_accept": 0.2}, "calls": ["put"]})
            worker, runs = Worker(queue, concurrency=4), []

            @worker.task("t")
            async def count(input):
                runs.append(input)

            for n in range(20):
                await queue.submit("t", n)
            running = asyncio.create_task(worker.run())

            async def all_done() -> bool:
                return len(await queue.list(status="completed")) == 20

            await aside.until(all_done, "the end of all")
            worker.stop()
            await running
            assert set(runs) == set(range(20))
            for task in await queue.list():
                states = [version.status for version in await queue.history(task)]
                assert states.count(TaskStatus.COMPLETED) == 1

    for name, value in S3_KEYS.items():
        monkeypatch.setenv(name, value)
    with emulator(pawl, "s3", tmp_path) as store:
        aside.run(test(store))


def test_the_queue_is_that_of_the_command_line(pawl: Path, tmp_path: Path):
    (tmp_path / "pawl.yaml").write_text('queue: { url: "dir:queue" }\n')

    def command(*words: str) -> str:
        return subprocess.run(
            [pawl, *words], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
        ).stdout

    async def test() -> None:
        async with connect(f"dir:{tmp_path}/queue") as queue:
            from_python = await queue.submit("t", {"n": 1}, key="acme", max_reschedules=5)
            shown = json.loads(command("get", "--json", from_python.id))
            task = await queue.get(from_python)
            assert shown["input"] == task.input and shown["max_reschedules"] == 5
            names = {field.name for field in dataclasses.fields(task)}
            assert shown.keys() - {"retry_policy"} == names - {"input_json", "output_json"}
            from_shell = command("submit", "-t", "t", "-i", '{"n":2}').strip()
            worker = Worker(queue, concurrency=2)

            @worker.task("t")
            async def double(input):
                return input["n"] * 2

            await aside.until(lambda: seen(queue, from_shell), "the other's task")
            await worker.run_once()
            assert (await aside.over(queue, from_shell)).output == 4
            assert json.loads(command("get", "--json", from_python.id))["output"] == 2
            lines = [str(version) for version in await queue.history(from_shell)]
            assert command("history", from_shell).splitlines() == lines

    aside.run(test())


async def seen(queue, task: str) -> bool:
    return task in {each.id for each in await queue.list()}


def test_who_has_no_right_is_refused(pawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def test(url: str) -> None:
        with pytest.raises(RefusedError) as wrong:
            async with connect(url) as queue:
                await queue.submit("t")
        assert "horse" not in str(wrong.value)

    with behind_a_broker(pawl, tmp_path, monkeypatch) as url:
        monkeypatch.setenv("PAWL_ADMIN_TOKEN", "wrong-horse")
        aside.run(test(url))


def test_a_bucket_out_of_reach_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, free_port, tmp_path: Path
):
    for name, value in S3_KEYS.items():
        monkeypatch.setenv(name, value)

    async def test() -> None:
        loop_goes_on = asyncio.create_task(asyncio.sleep(0.05))
        with pytest.raises(UnavailableError):
            await connect(f"s3://pawl/t?endpoint=http://127.0.0.1:{free_port()}&region=us-east-1")
        assert loop_goes_on.done()

    aside.run(test())


def test_a_slow_store_does_not_hold_up_the_program(
    pawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def test(url: str, store: Emulator) -> None:
        async with connect(url) as queue:
            await queue.submit("t")
            slow = {"when": {"call": "put"}, "do": "delay_before_accept", "delay": "2s"}
            store.faults({"script": [slow]})
            submitted = asyncio.create_task(queue.submit("t"))
            ticks = 0
            while not submitted.done():
                await asyncio.sleep(0.01)
                ticks += 1
            assert (await submitted).fresh
            assert ticks > 20, "the loop stood still while the store was waited for"

    for name, value in S3_KEYS.items():
        monkeypatch.setenv(name, value)
    with emulator(pawl, "s3", tmp_path) as store:
        url = f"s3://pawl/tasks?endpoint={store.url}&region=us-east-1"
        aside.run(test(url, store))
