"""Goal: tasks at certain times, by the verbs as a user types them.

Method: a queue in a folder, and three workers who wait for a minute to begin.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from queueing import Queue
from stack import wait_for


@pytest.fixture
def queue(pawl: Path, tmp_path: Path) -> Queue:
    return Queue(pawl, tmp_path)


def test_schedules_are_made_changed_and_triggered(queue: Queue) -> None:
    create = ("schedule", "create", "nightly", "--cron", "0 3 * * *", "-t", "report")
    made = queue.run(*create, "--zone", "Europe/Zurich", "-i", '{"a":1}', "--json").json()
    assert made["zone"] == "Europe/Zurich" and made["enabled"] and made["input"] == {"a": 1}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT0[12]:00:00.000Z", made["next"])
    assert queue.run("schedule", "list", "--names").lines == ["nightly"]
    assert "0 3 * * *" in queue.run("schedule", "list").out
    assert queue.run("schedule", "disable", "nightly", "--json").json()["next"] is None
    assert "disabled" in queue.run("schedule", "show", "nightly").out
    assert queue.run("schedule", "enable", "nightly", "--json").json()["enabled"]
    (id_,) = queue.run("schedule", "trigger", "nightly").lines
    assert queue.task(id_)["task_type"] == "report" and queue.task(id_)["input"] == {"a": 1}
    deleted = queue.run("schedule", "delete", "nightly", "--json").json()
    assert deleted == {"name": "nightly", "deleted": True}
    assert queue.try_run("schedule", "show", "nightly").code == 5
    assert queue.try_run("schedule", "delete", "nightly").code == 5
    assert queue.run("schedule", "list").out == "there are no schedules\n"
    wrong = queue.try_run(*create[:4], "61 * * * *", "-t", "x")
    assert wrong.code == 2 and "minute" in wrong.err
    nowhere = queue.try_run(*create, "--zone", "Mars/Olympus")
    assert nowhere.code != 0 and "Mars/Olympus" in nowhere.err


def test_a_schedule_fires_once_however_many_work(queue: Queue) -> None:
    queue.run("schedule", "create", "often", "--cron", "* * * * *", "-t", "t")
    words = ("work", "-t", "t", "--exec", "true")
    with queue.started(*words), queue.started(*words), queue.started(*words):
        time.sleep(60 - time.time() % 60)  # until the next minute begins
        wait_for(lambda: queue.run("list", "--status", "completed", "--ids").lines, "a firing")
        time.sleep(2)  # for any other that fires for the same minute
    due = [each["available_at"] for each in queue.run("list", "--json").json()["tasks"]]
    assert len({at[: len("2026-01-01T00:00")] for at in due}) == len(due) <= 2, due
