"""Goal: the queue does all that its document, "Rate limiting via durable sleep", says.

Method: a test for each behaviour, edge case and question of the document, by the command line on a
folder or on an emulated S3; a handler that puts its task off is a command that ends with 75. The
document's Python runs in tests/python/test_python_seed.py. docs/seed-coverage.md has the map.
"""

from __future__ import annotations

import contextlib
import datetime
import signal
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from emulation import emulator
from queueing import Queue
from stack import wait_for

DAY = 86_400


def puts_off(seconds: float, **more: str) -> str:
    """A handler that is told to come back later."""
    scope = f',"scope":"{more["scope"]}"' if "scope" in more else ""
    return f"""echo '{{"delay_seconds":{seconds}{scope}}}'; exit 75"""


@pytest.fixture
def queue(pawl: Path, tmp_path: Path) -> Queue:
    return Queue(pawl, tmp_path)


def work(queue: Queue, command: str, *more: str) -> str:
    """What is due, until nothing is; what the worker said."""
    return queue.run("work", "-t", "t", "--exec", command, "--once", *more).err


class Crashed(Exception):
    """Of a test that wants its worker killed, and not ended."""


@contextlib.contextmanager
def working(queue: Queue, command: str, *more: str) -> Iterator[None]:
    words = [queue.pawl, "work", "-t", "t", "--exec", command, *more]
    with subprocess.Popen(
        words, cwd=queue.folder, env=queue.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def put_off_by(task: dict[str, Any]) -> float:
    """From its last change to when it is due."""
    return (instant(task["available_at"]) - instant(task["updated_at"])).total_seconds()


# Solution.


def test_updates_available_at_to_now_plus_delay(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, puts_off(60))
    assert put_off_by(queue.task(id_)) == 60


def test_returns_task_to_pending_status(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, puts_off(60))
    task = queue.task(id_)
    assert (task["status"], task["lease_expires_at"]) == ("pending", None)


def test_frees_worker_to_process_other_tasks(queue: Queue) -> None:
    sleeper = queue.submit("-i", '"sleep"')
    others = [queue.submit("-i", '"go"') for _ in range(3)]
    work(queue, 'read -r what; test "$what" = \'"go"\' || ' + "{ " + puts_off(3600) + "; }")
    assert queue.task(sleeper)["status"] == "pending"
    assert {queue.task(id_)["status"] for id_ in others} == {"completed"}


def test_task_becomes_claimable_again_after_delay(queue: Queue) -> None:
    id_ = queue.submit()
    with working(queue, 'test "$PAWL_ATTEMPT" = 2 || { ' + puts_off(1) + "; }"):
        wait_for(lambda: queue.task(id_)["status"] == "completed", "the second attempt")
    lines = queue.run("history", id_).lines
    assert lines[2] == "Version 3: pending (rescheduled, available_at: +1s, count: 1)"
    versions = queue.run("history", id_, "--json").json()["versions"]
    waited = instant(versions[3]["at"]) - instant(versions[2]["at"])
    assert waited.total_seconds() >= 1, "it was claimed before it was due"


# The command line.


def test_submit_with_max_reschedules_flag(queue: Queue) -> None:
    words = ("submit", "-t", "call_api", "-i", '{"url": "..."}', "--max-reschedules", "100")
    (id_,) = queue.run(*words).lines
    assert queue.task(id_)["max_reschedules"] == 100


def test_check_task_reschedule_count(queue: Queue) -> None:
    id_ = queue.submit("--max-reschedules", "100")
    for _ in range(5):
        work(queue, 'test "$PAWL_ATTEMPT" -gt 5 || { ' + puts_off(0) + "; }")
    shown = queue.run("get", id_).fields()
    assert (shown["reschedule_count"], shown["max_reschedules"]) == ("5", "100")


# Fields.


def test_task_fields_reschedule_count_and_max_reschedules(queue: Queue) -> None:
    id_ = queue.submit("-i", '{"url":"..."}', type_="call_api")
    task = queue.task(id_)
    expected = {
        "id": id_,
        "task_type": "call_api",
        "status": "pending",
        "input": {"url": "..."},
        "retry_count": 0,
        "max_retries": 3,
        "reschedule_count": 0,
        "max_reschedules": None,
    }
    assert {name: task[name] for name in expected} == expected
    assert task["available_at"].endswith("Z") and task["created_at"].endswith("Z")


# Behaviour.


def test_reschedule_flow(queue: Queue) -> None:
    id_, other = queue.submit(), queue.submit()
    said = work(queue, 'test "$PAWL_TASK_ID" != ' + id_ + " || { " + puts_off(60) + "; }")
    task = queue.task(id_)
    assert (task["status"], task["reschedule_count"]) == ("pending", 1)
    assert put_off_by(task) == 60
    assert "it is not due before" in queue.run("why", id_).out
    assert queue.task(other)["status"] == "completed", "the worker did not pick up the next task"
    assert "2 claimed" in said and "1 rescheduled" in said


def test_reschedule_vs_retry_trigger_delay_counter_and_limit(queue: Queue) -> None:
    retried = queue.submit("-i", "1", "--base-delay", "1h", "--max-delay", "1h")
    rescheduled = queue.submit("-i", "75")
    work(queue, 'read -r code; echo \'{"delay_seconds":7}\'; exit "$code"')
    retry, reschedule = queue.task(retried), queue.task(rescheduled)
    assert (retry["retry_count"], retry["reschedule_count"]) == (1, 0)
    assert (reschedule["retry_count"], reschedule["reschedule_count"]) == (0, 1)
    assert 2700 <= put_off_by(retry) <= 3600  # the backoff's, with its jitter
    assert put_off_by(reschedule) == 7  # the handler's
    assert (retry["max_retries"], reschedule["max_reschedules"]) == (3, None)


def test_when_max_reschedules_exceeded_task_fails(queue: Queue) -> None:
    id_ = queue.submit("--max-reschedules", "2")
    work(queue, puts_off(0))
    task = queue.task(id_)
    assert (task["status"], task["reschedule_count"]) == ("failed", 2)
    assert task["last_error"] == "Max reschedules (2) exceeded"
    assert (task["attempt"], task["retry_count"]) == (3, 0)


# Edge cases.


def test_delay_seconds_0_goes_to_back_of_queue(queue: Queue) -> None:
    first, second, third = (queue.submit("-i", str(number)) for number in range(3))
    command = (
        'echo "$PAWL_TASK_ID" >> order;'
        f' test "$PAWL_TASK_ID.$PAWL_ATTEMPT" != {first}.1 || {{ {puts_off(0)}; }}'
    )
    work(queue, command, "--concurrency", "1")
    assert (queue.folder / "order").read_text().split() == [first, second, third, first]


@pytest.mark.parametrize("seconds", [DAY, 400 * 365 * DAY, 10**15])
def test_very_large_delays_have_no_upper_limit(queue: Queue, seconds: int) -> None:
    id_ = queue.submit()
    work(queue, puts_off(seconds))
    task = queue.task(id_)
    assert (task["status"], task["reschedule_count"]) == ("pending", 1), task
    last = 200 * 365 * DAY  # instants end in the year 2262
    assert put_off_by(task) == seconds or put_off_by(task) > last and seconds > last
    work(queue, "true")
    assert queue.task(id_)["status"] == "pending", "it was run before its time"


def test_reschedule_during_retry_counters_are_tracked_separately(queue: Queue) -> None:
    id_ = queue.submit("--base-delay", "1ms", "--max-delay", "1ms")
    # Put off, failed, put off, failed, done.
    command = (
        'case "$PAWL_ATTEMPT" in 1|3) ' + puts_off(0) + ";; 2|4) exit 1;; esac; echo done"
    )
    with working(queue, command):
        wait_for(lambda: queue.task(id_)["status"] == "completed", "its end")
    task = queue.task(id_)
    assert (task["retry_count"], task["reschedule_count"], task["attempt"]) == (2, 2, 5)


# Implementation.


def test_task_state_machine_update(queue: Queue) -> None:
    """Every arrow of the drawing: to running and back, completed, failed, failed by the most."""
    ids = {name: queue.submit("-i", f'"{name}"') for name in ("completes", "fails", "sleeps")}
    ids["exceeds"] = queue.submit("-i", '"exceeds"', "--max-reschedules", "0")
    command = (
        'read -r what; case "$what" in *completes*) exit 0;; *fails*) exit 65;; esac; '
        + puts_off(3600)
    )
    work(queue, command)
    status = {name: queue.task(id_)["status"] for name, id_ in ids.items()}
    assert status == {
        "completes": "completed",
        "fails": "failed",
        "sleeps": "pending",
        "exceeds": "failed",
    }
    histories = {name: queue.run("history", id_).lines for name, id_ in ids.items()}
    assert all(": running (claimed by " in lines[1] for lines in histories.values())


# Metrics.


@pytest.fixture
def numbers(queue: Queue, free_port: Callable[[], int]) -> Iterator[Callable[[], str]]:
    """Of a worker that put off one task by a minute."""
    port = free_port()
    id_ = queue.submit()

    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return answer.read().decode()

    with working(queue, puts_off(60), "--metrics", f"127.0.0.1:{port}"):
        wait_for(lambda: queue.task(id_)["reschedule_count"] == 1, "the reschedule")
        yield read


def test_metric_tasks_rescheduled_total_by_task_type(numbers: Callable[[], str]) -> None:
    wait_for(lambda: 'pawl_tasks_rescheduled_total{task_type="t"} 1' in numbers(), "the count")


def test_metric_reschedule_delay_seconds_by_task_type(numbers: Callable[[], str]) -> None:
    wait_for(
        lambda: 'pawl_reschedule_delay_seconds_sum{task_type="t"} 60' in numbers(), "the delay"
    )
    assert 'pawl_reschedule_delay_seconds_bucket{task_type="t",le="' in numbers()


# Version history.


def test_version_history_shows_reschedules(queue: Queue) -> None:
    id_ = queue.submit()
    command = (
        'case "$PAWL_ATTEMPT" in 1) ' + puts_off(0.1) + ";; 2) " + puts_off(0.2) + ";; esac"
    )
    with working(queue, command):
        wait_for(lambda: queue.task(id_)["status"] == "completed", "its end")
    lines = queue.run("history", id_).lines
    assert [line.split(" by ")[0] for line in lines] == [
        "Version 1: pending (created)",
        "Version 2: running (claimed",
        "Version 3: pending (rescheduled, available_at: +0.1s, count: 1)",
        "Version 4: running (claimed",
        "Version 5: pending (rescheduled, available_at: +0.2s, count: 2)",
        "Version 6: running (claimed",
        "Version 7: completed",
    ]


# Principles, and what the document compares itself with.


@pytest.fixture
def bucket(
    pawl: Path, tmp_path: Path
) -> Iterator[tuple[Callable[[str], Queue], Callable[[], dict[str, int]]]]:
    """Queues on S3, by prefix, and the requests they have cost so far."""
    with emulator(pawl, "s3", tmp_path) as s3:
        keys = {"AWS_ACCESS_KEY_ID": "emulated-key", "AWS_SECRET_ACCESS_KEY": "emulated-secret"}

        def queue_in(prefix: str) -> Queue:
            url = f"s3://pawl/{prefix}?endpoint={s3.url}&region=us-east-1"
            (tmp_path / prefix).mkdir()
            return Queue(pawl, tmp_path / prefix, url, env=keys)

        yield queue_in, lambda: s3.stats()["requests"]


def test_s3_is_the_only_dependency(
    bucket: tuple[Callable[[str], Queue], Callable[[], dict[str, int]]],
) -> None:
    queue = bucket[0]("queue")
    id_ = queue.submit()
    before = sorted(queue.folder.rglob("*"))
    work(queue, 'test "$PAWL_ATTEMPT" = 2 || { ' + puts_off(0) + "; }")
    assert queue.task(id_)["status"] == "completed"
    assert sorted(queue.folder.rglob("*")) == before, "something is kept beside the bucket"


def test_a_reschedule_takes_no_additional_s3_operations_per_claim(
    bucket: tuple[Callable[[str], Queue], Callable[[], dict[str, int]]],
) -> None:
    """What a worker costs is the same whether its handler completes or puts off: no token is read
    and no bucket is written first."""
    queue_in, requests = bucket
    costs = []
    for name, command in (("completes", "true"), ("sleeps", puts_off(3600))):
        queue = queue_in(name)
        queue.submit()
        before = requests()
        work(queue, command)
        after = requests()
        costs.append({kind: after[kind] - before[kind] for kind in ("puts", "lists", "gets")})
    completed, put_off = costs
    looks = 3  # for news, now and then
    assert put_off.pop("gets") <= completed.pop("gets") + looks, costs
    assert completed == put_off and put_off["puts"] <= 3, costs


def test_crash_safe_a_task_that_sleeps_outlives_everybody(queue: Queue) -> None:
    id_, others = queue.submit(), [queue.submit() for _ in range(3)]
    command = f'test "$PAWL_TASK_ID" = {id_} || sleep 60; ' + puts_off(2)
    words = (command, "--concurrency", "4", "--lease", "1s")
    with contextlib.suppress(Crashed), working(queue, *words):
        wait_for(lambda: queue.task(id_)["reschedule_count"] == 1, "the reschedule")
        for each in others:
            wait_for(lambda each=each: queue.task(each)["status"] == "running", "the others")
        raise Crashed
    # Nobody runs now, and nobody had the time to say so: what sleeps is durable, and due by itself,
    # and what was in the middle is due when its lease is over.
    with working(queue, "echo late", "--lease", "60s"):
        for each in (id_, *others):
            wait_for(lambda each=each: queue.task(each)["status"] == "completed", "another worker")
    assert (queue.task(id_)["output"], queue.task(id_)["retry_count"]) == ("late", 0)
    assert {queue.task(each)["attempt"] for each in others} == {2}


# Questions.


def test_unlimited_reschedules_are_intentional(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, 'test "$PAWL_ATTEMPT" = 40 || { ' + puts_off(0) + "; }")
    task = queue.task(id_)
    assert (task["status"], task["reschedule_count"]) == ("completed", 39)


def test_limit_rate_even_when_api_does_not_return_429(queue: Queue) -> None:
    """By the queue itself, too: the document leaves it to the handler."""
    queue.run("limit", "set", "--type", "t", "--rate", "2/1h")
    ids = [queue.submit() for _ in range(4)]
    work(queue, "true")
    done = [id_ for id_ in ids if queue.task(id_)["status"] == "completed"]
    assert 1 <= len(done) <= 2, "the rate was passed"
    assert queue.task(ids[-1])["attempt"] == 0, "a limited task was claimed"


def test_global_rate_limits_across_all_workers(queue: Queue) -> None:
    """One handler that hears of a limit closes the key for every worker, with one write."""
    ids = [queue.submit("--key", "acme") for _ in range(3)]
    other = queue.submit("--key", "other")
    command = 'test "$PAWL_TASK_KEY" != acme || { ' + puts_off(3600, scope="key") + "; }"
    work(queue, command, "--concurrency", "1")
    work(queue, command)
    attempts = [queue.task(id_)["attempt"] for id_ in ids]
    assert sorted(attempts) == [0, 0, 1], "others of the key were claimed"
    assert queue.task(other)["status"] == "completed"
