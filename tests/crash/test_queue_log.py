"""Goal: eight processes that append to one shard make one log: nothing acknowledged is lost,
nothing is there twice, and everybody gets on.

Method: they commit as fast as they can into one folder, or one bucket of a real S3; some are killed
without warning, and others take their places. At the end the log is read. On a folder they go on
for a minute, elsewhere and under kills for some seconds, which PAWL_QUEUE_SECONDS makes longer.
"""

from __future__ import annotations

import collections
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from queue_arena import Place, bucket

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402

PROCESSES = 8
CALLERS = 4
SECONDS = int(os.environ.get("PAWL_QUEUE_SECONDS", "3"))
KILLS = 6
MINUTE_SECONDS = max(60, SECONDS)
TIME_LIMIT_SECONDS = 60.0 + MINUTE_SECONDS


class Appender:
    """One process, and the file that it speaks to: a pipe could lose what a killed one said."""

    def __init__(self, place: Place, said: Path, seconds: int) -> None:
        self.said = said
        program = tree.build_folder() / "queue_appender"
        command = [program, "append", place.url, said.stem, str(seconds), str(CALLERS)]
        with said.open("wb") as out:
            self.process = subprocess.Popen(
                command, env={**os.environ, **place.env}, stdout=out, stderr=subprocess.PIPE
            )

    def lines(self, word: str) -> list[str]:
        lines = self.said.read_text(encoding="ascii").splitlines()
        return [line.split()[1] for line in lines if line.startswith(word + " ")]

    def finish(self) -> None:
        """It ends when each of its callers had something stored: who gets none holds it up."""
        _, error = self.process.communicate(timeout=TIME_LIMIT_SECONDS)
        assert self.process.returncode == 0, error.decode()


def read(place: Place) -> tuple[list[str], list[str]]:
    """The ids in the segments, and those that a replica has."""
    result = subprocess.run(
        [tree.build_folder() / "queue_appender", "read", place.url],
        env={**os.environ, **place.env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120 + 10 * MINUTE_SECONDS,
    )
    assert result.returncode == 0, result.stderr
    words = [line.split() for line in result.stdout.splitlines()]
    segments = {int(w[1]) for w in words if w[0] == "logged"}
    assert segments == set(range(1, len(segments) + 1)), "the log has holes"
    return [w[2] for w in words if w[0] == "logged"], [w[1] for w in words if w[0] == "held"]


def check(appenders: list[Appender], place: Place) -> int:
    """How many tasks there are."""
    logged, held = read(place)
    twice = [task for task, times in collections.Counter(logged).items() if times > 1]
    assert not twice, f"{len(twice)} tasks are in the log twice"
    assert sorted(logged) == sorted(held)
    there = set(logged)
    for appender in appenders:
        lost = [task for task in appender.lines("stored") if task not in there]
        assert not lost, f"{len(lost)} tasks of {appender.said.stem} were acknowledged and are lost"
        never = [task for task in appender.lines("refused") if task in there]
        assert not never, f"{len(never)} tasks of {appender.said.stem} are there though refused"
    return len(there)


@pytest.fixture(params=["folder", "radosgw"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return Place(f"dir:{tmp_path}/queue")
    return bucket(request.getfixturevalue("services"), tmp_path)


def test_eight_processes_make_one_log(place: Place, tmp_path: Path) -> None:
    seconds = MINUTE_SECONDS if place.url.startswith("dir:") else SECONDS
    appenders = [Appender(place, tmp_path / f"p{i}.txt", seconds) for i in range(PROCESSES)]
    for appender in appenders:
        appender.finish()
    tasks = check(appenders, place)
    stored = sorted(len(appender.lines("stored")) for appender in appenders)
    print(f"{tasks} tasks in {seconds} s; each process stored {stored}")


def test_the_killed_take_nothing_with_them(place: Place, tmp_path: Path) -> None:
    dice = random.Random(7)
    running = [Appender(place, tmp_path / f"p{i}.txt", SECONDS) for i in range(PROCESSES)]
    everybody = list(running)
    for kill in range(KILLS):
        time.sleep(SECONDS / (KILLS + 2))
        victim = running.pop(dice.randrange(len(running)))
        victim.process.kill()
        victim.process.wait()
        running.append(Appender(place, tmp_path / f"q{kill}.txt", max(1, SECONDS // 2)))
        everybody.append(running[-1])
    for appender in running:
        appender.finish()
    check(everybody, place)
