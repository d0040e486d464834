"""Goal: workers, submitters, brokers and the S3 of one queue may be killed at any moment: every
task reaches an end, each is completed once, by its fence, and nothing acknowledged is lost.

Method: `pawl work` and `pawl submit`, killed without warning in a loop, others in their places, and
some workers stopped for longer than their leases: on a folder; on an emulated S3 that has faults
and is killed itself; on a real one; by way of two brokers that are killed too. Then one worker is
left in peace (where there were brokers, without them), and files that each execution has left are
held against the queue. PAWL_QUEUE_KILLS is how many workers and brokers each place sees killed: 520
in all, if not set; submitters and the S3 are killed besides.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from queue_arena import TIME_LIMIT_SECONDS, Arena, Place, brokers, bucket, faulty_s3

WORKERS = 3
SUBMITTERS = 2
STALLS = 2
LEASE_SECONDS = 0.7  # as queue_arena has it
KILLS = int(os.environ.get("PAWL_QUEUE_KILLS", "130"))


class Stalls:
    """Workers that are stopped for longer than their leases, and then go on as if nothing was."""

    def __init__(self) -> None:
        self.resumed = 0
        self._until: dict[subprocess.Popen[bytes], float] = {}

    def begin(self, worker: subprocess.Popen[bytes]) -> None:
        if worker not in self._until:
            worker.send_signal(signal.SIGSTOP)
            self._until[worker] = time.monotonic() + 2 * LEASE_SECONDS

    def end_those_due(self) -> None:
        for worker, until in list(self._until.items()):
            if worker.poll() is not None or time.monotonic() > until:
                del self._until[worker]
                worker.send_signal(signal.SIGCONT)
                self.resumed += worker.poll() is None

    def are_over(self) -> bool:
        return self.resumed >= STALLS

    def spare(self, processes: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
        """Those that are not stopped just now, if there are any."""
        return [each for each in processes if each not in self._until] or processes


def replaced(
    kind: list[subprocess.Popen[bytes]],
    stalls: Stalls,
    dice: random.Random,
    start: Callable[[], subprocess.Popen[bytes]],
) -> bool:
    """Kills one of them and starts another; whether it was running."""
    victim = dice.choice(stalls.spare(kind))
    kind.remove(victim)
    was_running = victim.poll() is None
    victim.kill()
    victim.wait()
    kind.append(start())
    return was_running


def killing(arena: Arena, dice: random.Random, kills: int) -> int:
    """How many workers and brokers were killed while they ran; at the end nobody is left."""
    workers = [arena.work() for _ in range(WORKERS)]
    submitters = [arena.submit() for _ in range(SUBMITTERS)]
    killed, stalls = 0, Stalls()
    while killed < kills or not stalls.are_over():
        if dice.random() < 0.5:
            arena.wait_for_an_execution()
        time.sleep(dice.uniform(0, 0.06))
        if dice.random() < 0.3:
            stalls.begin(dice.choice(workers))
        stalls.end_those_due()
        killed += arena.place.strike(dice)
        killed += replaced(workers, stalls, dice, arena.work)
        if dice.random() < 0.5:
            replaced(submitters, stalls, dice, arena.submit)
    for each in workers + submitters:
        killed += each in workers and each.poll() is None
        each.send_signal(signal.SIGKILL)
        each.wait()
    return killed


def until_some_were_hit(arena: Arena, dice: random.Random) -> int:
    """Until those who were killed have left tasks that they were at."""
    killed, deadline = 0, time.monotonic() + TIME_LIMIT_SECONDS + KILLS
    while True:
        arena.place.ready()
        killed += killing(arena, dice, max(10, KILLS - killed))
        arena.place.at_peace()
        running = arena.run("list", "--ids", "--limit", "1", "--status", "running")
        if running and killed >= KILLS:
            return killed
        assert time.monotonic() < deadline, "the kills hit nothing"


def until_acknowledged(arena: Arena) -> None:
    """Makes the queue, before anything goes wrong."""
    arena.place.at_peace()
    with arena.submit() as first:
        assert first.wait() == 0, (arena.folder / "errors").read_text()


@pytest.mark.parametrize("where", ["folder", "s3", "radosgw", "brokers"])
def test_the_killed_lose_nothing_and_complete_nothing_twice(
    where: str, pawl: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with contextlib.ExitStack() as stack:
        place = Place(f"dir:{tmp_path}/queue")
        if where == "s3":
            place = stack.enter_context(faulty_s3(pawl, tmp_path))
        elif where == "radosgw":
            place = bucket(request.getfixturevalue("services"), tmp_path)
        elif where == "brokers":
            place = stack.enter_context(brokers(pawl, tmp_path))
        arena = Arena(pawl, tmp_path / "arena", place)
        until_acknowledged(arena)
        began = time.monotonic()
        killed = until_some_were_hit(arena, random.Random(11))
        arena.finish()
        again = arena.check()
        tasks = len(arena.acknowledged())
        print(f"{killed} kills, {tasks} tasks acknowledged, {again} claimed again,"
              f" {time.monotonic() - began:.0f} s")  # fmt: skip
        assert again, "nothing was claimed again, though it was left"
