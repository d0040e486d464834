"""Goal: a queue whose log has a hole, or whose store's clock leaps, is not led astray, and a worker
that follows a damaged log says so and ends.

Method: the real binary on a folder from which a segment is taken, or into which a damaged one is
put; and on an emulated S3 whose clock is wrong for a moment.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from pathlib import Path

import pytest
from emulation import emulator
from queueing import Queue
from stack import wait_for

TIME_LIMIT_SECONDS = 60.0
LOG = "queue/log/00"


def name(sequence: int) -> str:
    return f"{sequence:020d}"


def names(queue: Queue) -> list[str]:
    return sorted(each.name for each in (queue.folder / LOG).iterdir())


@pytest.mark.parametrize("gone", [1, 2])
def test_a_missing_segment_is_named_and_its_number_not_given_away(
    pawl: Path, tmp_path: Path, gone: int
) -> None:
    queue = Queue(pawl, tmp_path)
    ids = [queue.submit("-i", "{}") for _ in range(3)]
    lost = queue.folder / LOG / name(gone)
    body = lost.read_bytes()
    lost.unlink()
    left = names(queue)
    for words in (["list"], ["submit", "-t", "t", "-i", "{}"]):
        said = queue.try_run(*words)
        assert said.code != 0 and f"{name(gone)} is missing" in said.err, said.err
    assert names(queue) == left
    lost.write_bytes(body)
    tasks = queue.run("list", "--json").json()["tasks"]
    assert sorted(task["id"] for task in tasks) == sorted(ids)


def test_a_worker_ends_though_its_log_is_damaged_while_it_follows(
    pawl: Path, tmp_path: Path
) -> None:
    queue = Queue(pawl, tmp_path, more="  shards: 4\n")
    id_ = queue.submit("-i", "{}")
    said = tmp_path / "said"
    with said.open("w") as errors:
        worker = subprocess.Popen(
            [pawl, "work", "-t", "t", "--exec", "true"],
            cwd=queue.folder,
            env=queue.env,
            stdin=subprocess.DEVNULL,
            stderr=errors,
        )
    try:
        wait_for(lambda: queue.task(id_)["status"] == "completed", "it to work")
        for shard in range(4):
            folder = queue.folder / f"queue/log/{shard:02d}"
            for sequence in range(1, 20):  # whatever it writes meanwhile, one of them is next
                with contextlib.suppress(FileExistsError), (folder / name(sequence)).open("x") as f:
                    f.write("x")
        wait_for(lambda: "is damaged" in said.read_text(), "it to say so")
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=TIME_LIMIT_SECONDS)
    finally:
        worker.kill()
        worker.wait()


def test_a_store_whose_clock_leaps_for_a_moment_moves_nothing(pawl: Path, tmp_path: Path) -> None:
    with emulator(pawl, "s3", tmp_path) as store:
        keys = {"AWS_ACCESS_KEY_ID": "emulated-key", "AWS_SECRET_ACCESS_KEY": "emulated-secret"}
        queue = Queue(pawl, tmp_path, f"s3://pawl/queue?endpoint={store.url}", env=keys)
        later = queue.submit("-i", "{}", "--delay", "10m")
        store.skew(14 * 60 * 1000)
        queue.run("work", "-t", "t", "--exec", "true", "--once")
        store.skew(0)
        assert queue.task(later)["status"] == "pending"
        soon = queue.submit("-i", "{}", "--delay", "1s")

        def is_done() -> bool:
            queue.run("work", "-t", "t", "--exec", "true", "--once")
            return queue.task(soon)["status"] == "completed"

        wait_for(is_done, "what is due in a second")
        assert queue.task(later)["status"] == "pending"
