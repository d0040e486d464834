"""Goal: processes whose clocks are wrong by minutes share one queue by the store's time: nothing
runs before it is due, no lease is taken before it is over, and those who are behind get on.

Method: workers and submitters (queue_skewed_main.cc) ten minutes ahead and ten behind, beside right
ones, on a folder and on an emulated S3; each execution leaves a file. What would go wrong goes
wrong at once: a task that is due in five minutes is due by a clock that is ten minutes ahead, and
so a lease of a minute is over.
"""

from __future__ import annotations

import contextlib
import datetime
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from queue_arena import TIME_LIMIT_SECONDS, Arena, Place, faulty_s3

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "e2e")]

import tree  # noqa: E402
from stack import wait_for  # noqa: E402

AHEAD = 600
SOON, LATER = 0, 300  # due in so many seconds
LEASE = 60
TASKS = 4
SLACK = datetime.timedelta(seconds=120)  # for a slow machine; far less than a wrong clock makes


@pytest.fixture(params=["folder", "s3"])
def arena(request: pytest.FixtureRequest, pawl: Path, tmp_path: Path) -> Iterator[Arena]:
    with contextlib.ExitStack() as stack:
        place = Place(f"dir:{tmp_path}/queue")
        if request.param == "s3":
            place = stack.enter_context(faulty_s3(pawl, tmp_path))  # whose faults never begin
        yield Arena(pawl, tmp_path / "arena", place)


def skewed(arena: Arena, verb: str, ahead: int, *words: object) -> list[str]:
    program = str(tree.build_folder() / "queue_skewed")
    return [program, verb, arena.place.url, str(ahead), *map(str, words)]


def submit(arena: Arena, ahead: int, delay: int) -> list[str]:
    done = subprocess.run(
        skewed(arena, "submit", ahead, TASKS, delay),
        env=arena.env,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@contextlib.contextmanager
def working(arena: Arena, ahead: int, hold: int = 0) -> Iterator[subprocess.Popen[str]]:
    command = skewed(arena, "work", ahead, arena.folder / "begun", LEASE, hold)
    with subprocess.Popen(command, env=arena.env, stdout=subprocess.PIPE, text=True) as worker:
        try:
            yield worker
            worker.terminate()
            assert worker.wait(TIME_LIMIT_SECONDS) == 0
        finally:
            worker.kill()


def are(arena: Arena, ids: list[str], status: str) -> bool:
    tasks = arena.tasks()
    return {tasks[id_]["status"] for id_ in ids} == {status}


def time_of(task: dict[str, object], field: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(str(task[field]).replace("Z", "+00:00"))


@pytest.mark.parametrize("ahead", [AHEAD, -AHEAD])
def test_nothing_runs_before_it_is_due_by_the_stores_time(arena: Arena, ahead: int) -> None:
    began = datetime.datetime.now(datetime.timezone.utc)
    later = submit(arena, 0, LATER)  # by a right clock
    soon = submit(arena, 0, SOON)
    with working(arena, ahead):
        wait_for(lambda: are(arena, soon, "completed"), "what is due")
        # Submitted by a clock that is wrong the other way, too.
        for id_ in (more := submit(arena, -ahead, LATER)) + later:
            assert id_ not in arena.witnessed("begun"), f"{id_} was run five minutes too early"
        fresh = submit(arena, -ahead, SOON)
        wait_for(lambda: are(arena, fresh, "completed"), "what is due by another's clock")
    assert are(arena, later + more, "pending")
    ended = datetime.datetime.now(datetime.timezone.utc)
    for id_, task in arena.tasks().items():
        for field in ("created_at", "updated_at"):
            assert began - SLACK < time_of(task, field) < ended + SLACK, (id_, field, task[field])
        if id_ in later + more:
            due = time_of(task, "available_at") - datetime.timedelta(seconds=LATER)
            assert began - SLACK < due < ended + SLACK, task


@pytest.mark.parametrize(("holder", "other"), [(0, AHEAD), (-AHEAD, 0), (-AHEAD, AHEAD)])
def test_no_lease_is_taken_before_it_is_over(arena: Arena, holder: int, other: int) -> None:
    held = submit(arena, 0, SOON)
    with working(arena, holder, hold=2) as worker:
        assert worker.stdout
        for _ in held:
            assert worker.stdout.readline().startswith("claimed ")
        # Now a process comes whose clock says that these leases are long over, and commits.
        with working(arena, other):
            own = submit(arena, other, SOON)
            wait_for(lambda: are(arena, own, "completed"), "the work of the other")
            wait_for(lambda: are(arena, held, "completed"), "what was held")
    for id_ in held:
        task = arena.tasks()[id_]
        assert (task["attempt"], task["retry_count"]) == (1, 0), task
        assert arena.witnessed("begun")[id_] == {int(str(task["output"]))}
