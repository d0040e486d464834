"""Goal: the verbs of the queue do what their help says: what is printed is read and checked.

Method: the real binary as a user runs it, on a folder; the main ways once more on a real S3.
"""

from __future__ import annotations

import json
import os
import pty
import pwd
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from emulation import Emulator, emulator
from queueing import Queue, Said
from stack import wait_for

NOBODY = "0" * 22 + "ff"
SECTIONS = {"put", "get", "list", "delete", "price"}


@pytest.fixture
def queue(pawl: Path, tmp_path: Path) -> Queue:
    return Queue(pawl, tmp_path)


# Submitting.


def test_a_task_is_printed_as_the_seed_has_it(queue: Queue) -> None:
    id_ = queue.submit("-i", '{"b": 1, "a": "x"}', "--key", "acme", "--max-reschedules", "100")
    fields = queue.run("get", id_).fields()
    assert fields["id"] == id_
    assert fields["task_type"] == "t"
    assert fields["status"] == "pending"
    assert json.loads(fields["input"]) == {"a": "x", "b": 1}
    assert fields["key"] == "acme"
    assert fields["reschedule_count"] == "0"
    assert fields["max_reschedules"] == "100"
    assert fields["max_retries"] == "3"
    task = queue.task(id_)
    assert task["id"] == id_ and task["input"] == {"a": "x", "b": 1}
    assert queue.run("history", id_).out == "Version 1: pending (created)\n"


def test_every_term_reaches_the_task(queue: Queue) -> None:
    terms = (
        *("--max-retries", "7", "--timeout", "90s", "--priority", "-5", "--ttl", "1h"),
        *("--base-delay", "2s", "--max-delay", "30s", "--unique", "one", "--delay", "5m"),
    )
    task = queue.task(queue.submit(*terms))
    assert task["max_retries"] == 7 and task["timeout_seconds"] == 90
    assert task["priority"] == -5 and task["unique"] == "one"
    assert task["retry_policy"]["initial_interval_ms"] == 2000
    assert task["retry_policy"]["max_interval_ms"] == 30000
    assert task["expires_at"] is not None
    assert task["available_at"] > task["created_at"]
    at = queue.task(queue.submit("--at", "2099-01-01T00:00:00Z"))
    assert at["available_at"] == "2099-01-01T00:00:00.000Z"


def test_inputs_come_from_files_and_from_standard_input(queue: Queue) -> None:
    (queue.folder / "in.json").write_text('{"from": "file"}\n')
    assert queue.task(queue.submit("-i", "@in.json"))["input"] == {"from": "file"}
    said = queue.run("submit", "-t", "t", "-i", "-", stdin='{"from": "stdin"}')
    assert queue.task(said.lines[0])["input"] == {"from": "stdin"}
    several = queue.run("submit", "-t", "t", "-i", "1", "-i", "2", "--json").json()["tasks"]
    assert [queue.task(each["id"])["input"] for each in several] == [1, 2]


def test_many_are_submitted_from_lines(queue: Queue) -> None:
    lines = "".join(f'{{"n": {n}}}\n' for n in range(2500))
    said = queue.run("submit", "-t", "bulk", "--many", "-", stdin=lines)
    assert len(set(said.lines)) == 2500
    (depth,) = queue.run("stats", "--json").json()["types"]
    assert depth["pending"] == depth["due"] == 2500
    bad = queue.try_run("submit", "-t", "bulk", "--many", "-", stdin='{"n": 1}\n{oops\n')
    assert bad.code == 2 and "-:2 is not JSON" in bad.err and "nothing was submitted" in bad.err
    assert queue.run("stats", "--json").json()["types"][0]["pending"] == 2500


def test_a_bar_is_drawn_on_a_terminal(queue: Queue) -> None:
    (queue.folder / "many.jsonl").write_text("1\n" * 3000)
    seen = queue.on_a_terminal("submit", "-t", "t", "--many", "many.jsonl")
    assert "submitted [####################] 100%  3000/3000" in seen
    assert "exported" in queue.on_a_terminal("export", "all.jsonl")


def test_a_unique_name_gives_the_same_task(queue: Queue) -> None:
    words = ("submit", "-t", "t", "--unique", "u", "--json")
    first = queue.run(*words, "-i", '{"a":1}').json()
    said = queue.run(*words, "-i", '{ "a" : 1.0 }')
    again = said.json()
    assert first["fresh"] and not again["fresh"] and first["id"] == again["id"]
    assert "1 task of that name had been submitted before" in said.err
    other = queue.try_run(*words, "-i", '{"a":2}')
    assert other.code == 3 and "--input" not in other.err
    several = queue.try_run(*words, "-i", '{"a":1}', "-i", "2")
    assert several.code == 3 and several.err.startswith("pawl: --input 2: ")


def test_what_is_wrong_with_a_submit_is_said(queue: Queue) -> None:
    def told(*words: str) -> Said:
        return queue.try_run("submit", *words)

    assert told().code == 2 and "--type is missing" in told().err
    assert "--input is not JSON" in told("-t", "t", "-i", "{").err
    assert "--delay: " in told("-t", "t", "--delay", "soon").err
    assert "give --delay or --at, not both" in told(
        *("-t", "t", "--delay", "1s", "--at", "2099-01-01T00:00:00Z")
    ).err
    assert "--priority is 'x'" in told("-t", "t", "--priority", "x").err
    long_name = told("-t", "x" * 300)
    assert long_name.code == 2 and "300 bytes" in long_name.err
    huge = queue.try_run("submit", "-t", "t", "-i", "-", stdin=json.dumps("x" * 300_000))
    assert huge.code == 2 and "input has" in huge.err
    assert told("-t", "").code == told("-t", "t", "--timeout", "8d").code == 2
    log = (queue.folder / "queue" / "log").rglob("*")
    assert not [each for each in log if each.is_file()], "nothing of that was submitted"


# Looking.


def test_what_is_wrong_makes_no_queue(queue: Queue) -> None:
    (queue.folder / "lines").write_text("1\nno\n")
    for words in (("-i", "{no"), ("-i", "@missing"), ("--many", "lines"), ("--delay", "soon")):
        assert queue.try_run("submit", "-t", "t", *words).code in (1, 2, 5)
    assert not (queue.folder / "queue").exists()
    said = queue.try_run("submit", "-t")
    assert said.code == 2 and "--type needs a value: --type TYPE" in said.err


def test_a_task_that_is_not_there_is_not_found(queue: Queue) -> None:
    missing = queue.try_run("get", NOBODY)
    assert missing.code == 5 and "there is no queue at dir:queue yet" in missing.err
    assert not (queue.folder / "queue").exists(), "looking makes nothing"
    queue.submit()
    for verb in ("get", "history", "why", "cancel", "replay"):
        said = queue.try_run(verb, NOBODY)
        assert said.code == 5 and f"there is no task {NOBODY}" in said.err, verb
    assert queue.try_run("get", "12").code == 2


def test_why_names_what_holds_a_task_up(queue: Queue) -> None:
    later = queue.submit("--delay", "1h")
    assert re.fullmatch(r"it is not due before \S+Z \(in \S+\)\n", queue.run("why", later).out)
    due = queue.submit("--key", "acme")
    assert "no worker has claimed this type: start one" in queue.run("why", due).out
    queue.run("close", "acme", "--for", "1h")
    closed = queue.run("why", due)
    assert closed.out.startswith("key acme is closed until ")
    assert "pawl open acme" in closed.out
    assert queue.run("why", due, "--json").json()["hold"] == "closed"
    queue.run("open", "acme")
    queue.run("close", "--type", "t", "--for", "1h")
    assert queue.run("why", due).out.startswith("type t is closed until ")
    queue.run("open", "--type", "t")
    queue.run("close", "--queue", "--until", "2099-01-01T00:00:00Z")
    assert "the queue is closed until 2099-01-01T00:00:00Z" in queue.run("why", due).out
    assert "the queue is closed until 2099-01-01T00:00:00Z" in queue.run("stats").out
    queue.run("open", "--queue")
    queue.run("close", "acme", "--for", "2h")
    sleeps = queue.submit("--key", "acme", "--delay", "1h")
    assert queue.run("why", sleeps).out.startswith("key acme is closed until ")
    queue.run("close", "acme", "--for", "10m")
    assert queue.run("why", sleeps).out.startswith("it is not due before ")
    queue.run("cancel", due)
    assert queue.run("why", due).out.startswith("it is over: cancelled")


def test_lists_go_by_status_type_and_key(queue: Queue) -> None:
    a = queue.submit("--key", "k1", type_="a")
    b = queue.submit("--key", "k2", type_="b")
    queue.run("cancel", a)
    assert queue.run("list", "--ids").lines == sorted([a, b])
    assert queue.run("list", "--ids", "--status", "pending").lines == [b]
    assert queue.run("list", "--ids", "-t", "a").lines == [a]
    assert queue.run("list", "--ids", "--key", "k2").lines == [b]
    assert queue.run("list", "--ids", "--limit", "1").lines == sorted([a, b])[:1]
    assert queue.run("list", "--ids", "--after", sorted([a, b])[0]).lines == sorted([a, b])[1:]
    head, *rows = queue.run("list").lines
    assert head.split()[:4] == ["id", "type", "status", "key"] and len(rows) == 2
    tasks = queue.run("list", "--json").json()["tasks"]
    assert {task["id"]: task["status"] for task in tasks} == {a: "cancelled", b: "pending"}
    assert queue.try_run("list", "--limit", "0").code == 2
    assert queue.try_run("list", "--status", "lost").code == 2


def test_a_list_says_that_there_is_more_and_ids_are_all(queue: Queue) -> None:
    queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 1_150)
    ids = queue.run("list", "--ids").lines
    assert len(ids) == len(set(ids)) == 1_150
    page = queue.run("list", "--json")
    assert len(page.json()["tasks"]) == 100 and page.json()["more"] is True
    assert page.err == f"there are more: pawl list --json --after {ids[99]}\n"
    named = queue.run("list", "--config", "pawl.yaml", "--limit", "2")
    assert f"pawl list --config pawl.yaml --limit 2 --after {ids[1]}" in named.err
    rest = queue.run("list", "--json", "--limit", "1000", "--after", ids[150])
    assert (len(rest.json()["tasks"]), rest.json()["more"], rest.err) == (999, False, "")
    some = [each for each in ids if each.startswith(ids[700][:4])]
    assert queue.run("list", "--ids", "--prefix", ids[700][:4]).lines == some


def test_the_view_of_many_types_keeps_its_rates_in_sight(queue: Queue) -> None:
    for number in range(40):
        queue.submit(type_=f"type{number}")
    shown = queue.on_a_terminal("stats", "--watch", "--count", "1", size=(20, 120))
    lines = shown.split("\x1b[J")[-1].splitlines()
    assert len(lines) == 19 and lines[1].startswith("submitted ")
    assert re.fullmatch(r"\d+ more lines", lines[-1])


def test_tail_tells_what_happens(queue: Queue) -> None:
    old = queue.submit()
    with queue.started("tail", "--json") as tail:
        assert tail.stdout
        # It begins with now, whenever that is.
        while not select.select([tail.stdout], [], [], 0)[0]:
            queue.submit(type_="before")
        id_ = queue.submit("--key", "k", type_="seen")
        queue.run("cancel", id_, "--reason", "enough")
        events = []
        while len(events) < 2:
            event = json.loads(tail.stdout.readline())
            assert event["id"] != old, "it was there before"
            if event["task_type"] == "seen":
                events.append(event)
    assert [(e["id"], e["status"], e["reason"]) for e in events] == [
        (id_, "pending", "created"),
        (id_, "cancelled", "cancelled"),
    ]
    assert events[0]["task_type"] == "seen" and events[0]["key"] == "k"
    assert events[1]["detail"].endswith("enough")
    said = queue.run("tail", "--since", "1h", "--for", "0s", "--status", "pending")
    told = [line.split()[1] for line in said.lines]
    assert (told[0], told[-1]) == (old, id_)
    assert all(re.match(r"\d{4}-\S+Z  \S+  \S+  pending  created", line) for line in said.lines)


# Changing.


def test_cancelled_tasks_can_be_replayed(queue: Queue) -> None:
    one, two = queue.submit(), queue.submit()
    said = queue.run("cancel", one, two, "--reason", "mistake")
    assert said.lines == [f"{one}  cancelled", f"{two}  cancelled"]
    assert queue.task(one)["cancelled_by"].endswith("mistake")
    assert queue.run("cancel", one).code == 0, "again changes nothing"
    assert queue.run("replay", one).out == f"{one}  pending again, from the start\n"
    assert queue.task(one)["status"] == "pending"
    others = [queue.submit(), queue.submit()]
    queue.run("cancel", *others)
    both = queue.run("replay", *others)
    assert both.lines == [f"{each}  pending again, from the start" for each in others]
    mixed = queue.try_run("replay", "audit.jsonl", one)
    assert mixed.code == 2 and "give one FILE, or the IDs of tasks" in mixed.err
    refused = queue.try_run("replay", queue.submit())
    assert refused.code == 3 and "only what failed" in refused.err
    assert [line.split(": ")[1].split(" ")[0] for line in queue.run("history", one).lines] == [
        *("pending", "cancelled", "pending"),
    ]


def test_options_of_a_watch_go_with_it(queue: Queue) -> None:
    queue.submit()
    for words in (["--every", "2s"], ["--count", "2"], ["--watch", "--every", "0s"]):
        assert queue.try_run("stats", *words).code == 2, words


def test_who_cancelled_is_kept(queue: Queue) -> None:
    id_ = queue.submit()
    queue.env = {**queue.env, "USER": "", "LC_ALL": "C"}
    queue.run("cancel", id_, "--reason", "mistake")
    me = pwd.getpwuid(os.geteuid()).pw_name
    assert queue.task(id_)["cancelled_by"] == f"{me}: mistake"
    assert "what is done is done" in " ".join(queue.run("cancel", "--help").out.split())


def test_all_of_a_type_are_cancelled(queue: Queue) -> None:
    ids = queue.run("submit", "-t", "a", "-i", "1", "-i", "2", "-i", "3").lines
    other = queue.submit(type_="b")
    assert len(queue.run("cancel", "-t", "a", "--json").json()["tasks"]) == 3
    assert {queue.task(id_)["status"] for id_ in ids} == {"cancelled"}
    assert queue.task(other)["status"] == "pending"
    assert queue.try_run("cancel").code == 2
    assert queue.try_run("cancel", other, "-t", "b").code == 2


def test_scopes_are_closed_until_an_instant(queue: Queue) -> None:
    queue.submit()
    said = queue.run("close", "acme", "--until", "2099-01-01T00:00:00Z")
    assert re.fullmatch(r"key acme is closed until 2099-01-01T00:00:00Z \(in .*\)\n", said.out)
    (closing,) = queue.run("stats", "--json").json()["closings"]
    assert closing == {"name": "acme", "scope": "key", "until": "2099-01-01T00:00:00.000Z"}
    assert queue.run("open", "acme").out == "key acme is open\n"
    opened = queue.run("open", "acme", "--json").json()
    assert opened == {"name": "acme", "scope": "key", "until": None}
    assert queue.run("stats", "--json").json()["closings"] == []
    for wrong in (("acme",), ("acme", "--queue", "--for", "1s"), ("--for", "1s")):
        assert queue.try_run("close", *wrong).code == 2
    past = queue.try_run("close", "acme", "--until", "2020-01-01T00:00:00Z")
    assert past.code == 2 and "that is past" in past.err


def test_limits_are_set_listed_and_removed(queue: Queue) -> None:
    queue.run("limit", "set", "--key", "acme", "--rate", "10/1s", "--running", "5")
    queue.run("limit", "set", "--each-key", "--running", "2")
    limits = queue.run("limit", "list", "--json").json()["limits"]
    assert {"scope": "key", "name": "acme", "rate": "10/1s", "running": 5} in limits
    assert {"scope": "each_key", "name": None, "rate": None, "running": 2} in limits
    assert "key acme" in queue.run("limit", "list").out
    removed = queue.run("limit", "remove", "--key", "acme", "--json").json()
    assert removed == {"scope": "key", "name": "acme", "rate": None, "running": None}
    assert len(queue.run("limit", "list", "--json").json()["limits"]) == 1
    assert queue.try_run("limit", "remove", "--key", "acme").code == 5
    assert queue.try_run("limit", "set", "--key", "acme").code == 2


# While it runs.


def test_a_running_task_says_who_has_it_and_holds_others_up(queue: Queue) -> None:
    queue.run("limit", "set", "--each-key", "--running", "1")
    ids = [queue.submit("--key", "acme", type_="slow") for _ in range(2)]
    with queue.started("work", "-t", "slow", "--exec", "sleep 30", "--concurrency", "2"):
        wait_for(lambda: queue.run("list", "--ids", "--status", "running").lines, "a claim")
        (running,) = queue.run("list", "--ids", "--status", "running").lines
        (held,) = {*ids} - {running}
        why = queue.run("why", running).out
        assert re.match(r"it runs: \S+ has it, with fence \d+; its lease ends at \S+ \(in ", why)
        limited = queue.run("why", held)
        assert limited.out.startswith("it is limited: of key acme as many run as may at once")
        assert queue.run("why", held, "--json").json()["hold"] == "concurrency"
        assert queue.run("cancel", running).out == f"{running}  runs; it was asked to stop\n"
        wait_for(lambda: queue.task(running)["status"] == "cancelled", "the end of it")
    reasons = [v["reason"] for v in queue.run("history", "--json", running).json()["versions"]]
    assert reasons == ["created", "claimed", "cancel_asked", "cancelled"]


def test_limits_of_the_configuration_are_set_by_a_worker(queue: Queue) -> None:
    queue.configure(more="  limits:\n    - {scope: type, name: t, rate: 7/1s, running: 3}\n")
    queue.submit()
    assert queue.run("limit", "list").out == "there are no limits\n"
    queue.run("work", "-t", "t", "--exec", "true", "--once")
    (limit,) = queue.run("limit", "list", "--json").json()["limits"]
    assert limit == {"scope": "type", "name": "t", "rate": "7/1s", "running": 3}


# The whole.


def test_stats_are_shown_once_or_again_and_again(queue: Queue) -> None:
    queue.submit(type_="a")
    queue.submit("--delay", "1h", type_="b")
    lines = queue.run("stats").lines
    assert lines[0].split()[:4] == ["type", "pending", "due", "running"]
    assert lines[1].split()[:3] == ["a", "1", "1"]
    assert lines[2].split()[:3] == ["b", "1", "0"]
    assert lines[3].split()[:3] == ["all", "2", "1"]
    assert queue.run("stats", "--types").lines == ["a", "b"]
    looks = queue.run("stats", "--watch", "--json", "--every", "100ms", "--count", "3").lines
    assert len(looks) == 3 and "rates" in json.loads(looks[-1])
    screen = queue.on_a_terminal("stats", "--watch", "--every", "100ms", "--count", "2")
    assert screen.count("\033[H\033[J") == 2 and "submitted 0.0/s" in screen
    assert "dir:queue" in screen and "oldest due" in screen


def test_cost_is_told_by_kind(queue: Queue) -> None:
    queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 1000)
    cost = queue.run("cost", "--json").json()
    assert cost["tasks"] == 1000 and cost["commits"] < 20
    assert set(cost["task"]) == set(cost["idle_hour"]) == SECTIONS
    assert cost["task"]["put"] <= 0.05
    assert cost["idle_hour"]["get"] <= 1000 and cost["idle_hour"]["put"] == 0
    assert cost["this_command"]["put"] == 0
    text = queue.run("cost").out
    assert "a million tasks" in text and "an idle hour" in text and "USD" not in text
    assert cost["currency"] is None and cost["idle_hour"]["price"] is None, "a folder has none"


def test_an_export_can_be_imported_elsewhere(queue: Queue) -> None:
    kept = queue.submit("-i", '{"a":[1,2]}', "--key", "k", "--delay", "1h")
    gone = queue.submit()
    queue.run("cancel", gone)
    told = queue.run("export", "all.jsonl", "--history")
    assert told.out == "" and told.err == "exported 2 tasks\n"
    assert (queue.folder / "all.jsonl").stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in (queue.folder / "all.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} == {kept, gone}
    assert all(line["history"]["versions"] for line in lines)
    assert queue.run("export", "--status", "pending").lines[0].startswith("{")
    before = queue.task(kept)
    queue.configure("dir:elsewhere")
    counts = queue.run("import", "all.jsonl", "--json").json()
    assert counts == {"imported": 1, "known": 0, "left_out": 1, "refused": 0}
    after = queue.task(kept)
    for member in ("input", "key", "available_at", "max_retries", "task_type", "priority"):
        assert after[member] == before[member]
    assert "1 were there already" in queue.run("import", "all.jsonl").out
    queue.run("import", "all.jsonl", "--status", "cancelled")
    assert queue.task(gone)["status"] == "pending"
    broken = queue.try_run("import", "-", stdin='{"id": 1}\n')
    assert broken.code == 2 and "-:1: " in broken.err


def test_a_folder_is_no_file_of_tasks(queue: Queue) -> None:
    queue.submit()
    for words in (("import", "."), ("submit", "-t", "t", "--many", ".")):
        said = queue.try_run(*words)
        assert said.code == 6 and "cannot read '.'" in said.err, said.err


def test_an_export_that_fails_leaves_the_last_one(queue: Queue) -> None:
    queue.submit()
    queue.run("export", "all.jsonl")
    last = (queue.folder / "all.jsonl").read_text()
    (queue.folder / "all.jsonl.partial").mkdir()
    said = queue.try_run("export", "all.jsonl")
    assert said.code == 6 and "cannot write 'all.jsonl.partial'" in said.err, said.err
    assert (queue.folder / "all.jsonl").read_text() == last
    assert queue.run("export", "/dev/stdout").out == last


def test_an_export_keeps_the_order_of_tasks(queue: Queue) -> None:
    inputs = [str(number) for number in range(20)]
    due = [queue.submit("-i", one) for one in inputs]
    later = queue.submit("--delay", "1h", "-i", "99")
    soon = queue.submit("--delay", "30m", "-i", "98")
    lines = [json.loads(line) for line in queue.run("export").lines]
    assert [line["id"] for line in lines] == [*due, soon, later]
    assert queue.run("export", "all.jsonl").code == 0
    queue.configure("dir:elsewhere")
    queue.run("import", "all.jsonl")
    one_by_one = ("--concurrency", "1", "--once")
    queue.run("work", "-t", "t", "--exec", "cat >> ran; echo >> ran", *one_by_one)
    assert (queue.folder / "ran").read_text().split() == inputs


def test_an_import_names_the_lines_that_are_refused(queue: Queue) -> None:
    queue.submit("-i", "1")
    queue.submit("-i", "2", "--unique", "u")
    lines = queue.run("export").lines
    queue.configure("dir:elsewhere")
    queue.submit("-i", "3", "--unique", "u")
    said = queue.try_run("import", "-", stdin="\n".join(lines))
    assert said.code == 3 and "pawl: -:2: 'u' is already the name of task" in said.err, said.err


def test_what_was_to_be_cancelled_is_not_imported(queue: Queue) -> None:
    id_ = queue.submit()
    with queue.started("work", "-t", "t", "--exec", "sleep 60"):
        wait_for(lambda: queue.task(id_)["status"] == "running", "it runs")
        line = queue.run("export").lines[0]
    lines = [line, line.replace('"cancel_requested":false', '"cancel_requested":true')]
    assert lines[0] != lines[1]
    for number, one in enumerate(lines):
        queue.configure(f"dir:elsewhere-{number}")
        counts = queue.run("import", "-", "--json", stdin=one).json()
        assert counts == {"imported": 1 - number, "known": 0, "left_out": number, "refused": 0}


def test_ids_that_cannot_be_printed_are_not_lost(queue: Queue) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [queue.pawl, "submit", "-t", "t", "-i", "1", "-i", "2"],
            cwd=queue.folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 4
    said, *ids = done.stderr.splitlines()[:3]
    assert said == "pawl: submitted, though it cannot be printed:"
    assert queue.run("list", "--ids").lines == sorted(ids)


def test_shards_hold_one_queue(pawl: Path, tmp_path: Path) -> None:
    queue = Queue(pawl, tmp_path, more="  shards: 8\n")
    ids = queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 256).lines
    assert len({id_[:2] for id_ in ids}) == 8  # by dice, of which 256 miss none
    assert queue.run("list", "--ids", "--limit", "1000").lines == sorted(ids)
    queue.run("close", "--type", "t", "--for", "1h")
    holds = {queue.run("why", id_, "--json").json()["hold"] for id_ in ids[:8]}
    assert holds == {"closed"}
    few = queue.try_run("limit", "set", "--queue", "--running", "3")
    assert few.code == 2 and "cannot be shared out among 8 shards" in few.err
    queue.configure(more="  shards: 4\n")
    other = queue.try_run("stats")
    assert other.code == 1 and "was made with shards: 8" in other.err


def test_a_damaged_segment_is_named(queue: Queue) -> None:
    queue.submit()
    (segment,) = (queue.folder / "queue" / "log" / "00").iterdir()
    segment.chmod(0o600)
    segment.write_bytes(segment.read_bytes()[:-1] + b"x")
    said = queue.try_run("stats")
    assert said.code == 1 and "segment 1 of shard 0 is damaged" in said.err
    assert len(said.err.splitlines()) == 1, "it is said once"


def test_a_queue_of_a_newer_format_is_left_alone(queue: Queue) -> None:
    queue.submit()
    file = queue.folder / "queue" / "queue.json"
    file.chmod(0o600)
    file.write_text(file.read_text().replace('"format":1', '"format":99'))
    for words in (("stats",), ("submit", "-t", "t"), ("work", "-t", "t", "--exec", "true")):
        said = queue.try_run(*words)
        assert said.code == 1 and "written by a newer pawl (format 99)" in said.err, said.err
    doctor = queue.try_run("doctor", "--json").json()["checks"]
    (found,) = [each for each in doctor if each["check"] == "queue"]
    assert found["status"] == "fail" and "left as it is" in found["advice"]


@pytest.mark.parametrize("left", ["log", "snapshot"])
def test_a_queue_without_its_settings_is_not_made_anew(
    pawl: Path, tmp_path: Path, left: str
) -> None:
    """With the shards it was not made with, most tasks would be seen by nobody."""
    queue = Queue(pawl, tmp_path, more="  shards: 4\n")
    queue.submit("--key", "acme")
    folder = queue.folder / "queue"
    file = folder / "queue.json"
    kept = file.read_text()
    file.unlink()
    (folder / "log").rename(folder / left)
    for words in (("stats",), ("submit", "-t", "t"), ("work", "-t", "t", "--exec", "true")):
        said = queue.try_run(*words)
        assert said.code == 1 and "queue.json is missing at dir:" in said.err, said.err
        assert f"though {left}/" in said.err, said.err
    assert not file.exists()
    doctor = queue.try_run("doctor", "--json").json()["checks"]
    (found,) = [each for each in doctor if each["check"] == "queue"]
    assert found["status"] == "fail" and "queue.json is missing" in found["found"]
    file.write_text(kept)
    (folder / left).rename(folder / "log")
    assert len(queue.run("list", "--ids").lines) == 1


def in_a_bucket(pawl: Path, folder: Path, url: str) -> Queue:
    keys = {"AWS_ACCESS_KEY_ID": "emulated-key", "AWS_SECRET_ACCESS_KEY": "emulated-secret"}
    place = f"s3://pawl/q?endpoint={url}&region=us-east-1"
    return Queue(pawl, folder, place, env=keys)


def test_a_store_that_ignores_conditions_is_refused(pawl: Path, tmp_path: Path) -> None:
    script = {"settings": {"conditions": "ignored"}}
    with emulator(pawl, "s3", tmp_path, script) as store:
        queue = in_a_bucket(pawl, tmp_path, store.url)
        for words in (("submit", "-t", "t"), ("work", "-t", "t", "--exec", "true", "--once")):
            said = queue.try_run(*words)
            assert said.code == 1 and "would lose tasks" in said.err, said.err
        doctor = queue.try_run("doctor", "--json").json()["checks"]
        (found,) = [each for each in doctor if each["check"] == "queue.url"]
        assert found["status"] == "fail" and "would lose tasks" in found["found"]
        assert queue.try_run("stats").code == 5, "no queue was made there"


def test_the_verbs_work_on_the_emulated_s3(pawl: Path, tmp_path: Path) -> None:
    with emulator(pawl, "s3", tmp_path) as store:
        queue = in_a_bucket(pawl, tmp_path, store.url)
        ids = queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 50).lines
        queue.run("work", "-t", "t", "--exec", "cat", "--concurrency", "4", "--once")
        assert queue.task(ids[7])["output"] == 1
        assert "50" in queue.run("stats").lines[1].split()
        wrong = {**queue.env, "AWS_SECRET_ACCESS_KEY": "hush-hush"}
        queue.env = wrong
        said = queue.try_run("stats")
        assert said.code == 3 and "check the secret key" in said.err
        assert "hush-hush" not in said.err


def never_answered(
    store: Emulator, queue: Queue, *words: str, nth: int = 1, stdin: str = ""
) -> Said:
    """Its nth segment is written, and from then on the store answers nothing."""

    def segments() -> int:
        return sum("/log/" in row["key"] for row in store.control("GET", "/objects")["objects"])

    def silent(call: str, first: int) -> dict[str, object]:
        when = {"call": call, "nth": first}
        return {"when": when, "do": "delay_after_accept", "delay": "10m", "times": 0}

    before = segments()
    store.faults({"script": [silent("put", nth)]})
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(queue.try_run, *words, stdin=stdin)
        wait_for(lambda: segments() == before + nth, "the segment")
        store.faults({"script": [silent(call, 1) for call in ("put", "get", "list")]})
        said.result()
    store.faults({})
    return said.result()


def a_lost_submit_names_its_ids(store: Emulator, queue: Queue) -> None:
    queue.submit()
    lost = never_answered(store, queue, "submit", "-t", "lost")
    (known,) = queue.run("list", "-t", "lost", "--ids").lines
    assert lost.code == 4 and f"pawl get' {known}" in lost.err, lost.err


def a_lost_trigger_names_its_task(store: Emulator, queue: Queue) -> None:
    queue.run("schedule", "create", "nightly", "-t", "lost", "--cron", "@daily")
    lost = never_answered(store, queue, "schedule", "trigger", "nightly")
    (known,) = queue.run("list", "-t", "lost", "--ids").lines
    assert lost.code == 4 and f"pawl get' {known}" in lost.err, lost.err


def a_lost_cancel_says_so(store: Emulator, queue: Queue) -> None:
    lost = never_answered(store, queue, "cancel", queue.submit())
    assert lost.code == 4, lost.err


def a_submit_that_breaks_off_names_every_id(store: Emulator, queue: Queue) -> None:
    """What is in the queue afterwards was either told to be there, or named as in doubt."""
    queue.submit(type_="first")
    words = ("submit", "-t", "t", "--json", "--many", "-")
    lost = never_answered(store, queue, *words, nth=3, stdin="1\n" * 2_500)
    assert lost.code == 4, lost.err
    known = {each["id"] for each in lost.json()["tasks"]}
    assert len(known) >= 1_000 and len(lost.json()["unknown"]) >= 500
    there = set(queue.run("list", "-t", "t", "--ids").lines)
    assert known <= there <= known | set(lost.json()["unknown"])
    for each in lost.json()["unknown"]:
        assert each in lost.err


def test_what_nobody_knows_of_is_told_as_such(pawl: Path, tmp_path: Path) -> None:
    """Side by side: each waits for as long as pawl tries."""

    def one(what: Callable[[Emulator, Queue], None]) -> None:
        folder = tmp_path / what.__name__
        folder.mkdir()
        with emulator(pawl, "s3", folder) as store:
            what(store, in_a_bucket(pawl, folder, store.url))

    cases = (
        a_lost_submit_names_its_ids,
        a_lost_trigger_names_its_task,
        a_lost_cancel_says_so,
        a_submit_that_breaks_off_names_every_id,
    )
    with ThreadPoolExecutor(len(cases)) as pool:
        for _ in pool.map(one, cases):
            pass


def test_a_store_that_is_away_is_said_to_be(pawl: Path, tmp_path: Path) -> None:
    url = "s3://bucket/q?endpoint=http://127.0.0.1:1&region=us-east-1"
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "hush-hush"}
    queue = Queue(pawl, tmp_path, url, env=keys)
    said = queue.try_run("stats")
    assert said.code == 6 and "hush-hush" not in said.err
    doctor = queue.try_run("doctor", "--json").json()["checks"]
    (found,) = [each for each in doctor if each["check"] == "queue.url"]
    assert found["status"] == "fail" and "hush-hush" not in json.dumps(doctor)


def test_doctor_looks_at_the_queue(queue: Queue) -> None:
    def checks() -> dict[str, dict[str, str]]:
        found = queue.try_run("doctor", "--json").json()["checks"]
        return {each["check"]: each for each in found if each["check"].startswith("queue")}

    assert "not there yet" in checks()["queue.url"]["found"]
    queue.submit()
    found = checks()
    assert found["queue.url"]["status"] == "ok"
    assert "conditional writes" in found["queue.url"]["found"]
    assert found["queue clock"]["status"] == "ok"
    assert found["queue"]["found"].startswith("1 task pending (1 due)")
    probes = (queue.folder / "queue" / "probe").rglob("*")
    assert not [each for each in probes if each.is_file()], "what it wrote is gone"


@pytest.fixture
def elsewhere(queue: Queue) -> Queue:
    """One whose configuration has to be named."""
    (queue.folder / "pawl.yaml").rename(queue.folder / "other.yaml")
    return queue


SHELLS = {
    "bash": """
        source ./completions
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _pawl
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """,
    "fish": "source ./completions; complete -C '{words}'",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_ids_and_types(elsewhere: Queue, pawl: Path, shell: str) -> None:
    queue = elsewhere
    named = ("--config", "other.yaml")
    (id_,) = queue.run("submit", "-t", "call_api", *named).lines
    (queue.folder / "completions").write_text(queue.run("completions", shell).out)

    def completed(words: str) -> list[str]:
        options = {"bash": ["--norc"], "fish": ["--no-config"]}[shell]
        done = subprocess.run(
            [shell, *options, "-c", SHELLS[shell].format(words=words)],
            cwd=queue.folder,
            env={**queue.env, "PATH": f"{pawl.parent}:{queue.env['PATH']}", "HOME": "."},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return [line.split("\t")[0] for line in done.stdout.splitlines() if line]

    assert completed(f"pawl get --config other.yaml {id_[:6]}") == [id_]
    assert completed(f"pawl list --config other.yaml --after {id_[:6]}") == [id_]
    assert completed(f"pawl replay --config other.yaml {id_[:6]}") == [], "it has not failed"
    assert completed("pawl list --config other.yaml --type call") == ["call_api"]
    assert completed("pawl submit --config other.yaml -t c") == ["call_api"]
    assert completed(f"pawl get {id_[:6]}") == [], "there is no queue by default"
    for odd in ("weird type", "type", "mail:work", "mail:play"):
        queue.run("submit", "-t", odd, *named)
    behind = {"bash": "", "fish": "mail:"}[shell]  # bash itself keeps what stands before a colon
    space = {"bash": "weird\\ type", "fish": "weird type"}[shell]
    assert completed("pawl list --config other.yaml --type w") == [space]
    assert completed("pawl list --config other.yaml --type t") == ["type"]
    colon = {"bash": "mail :", "fish": "mail:"}[shell]
    listed = f"pawl list --config other.yaml --type {colon}"
    assert completed(listed) == [f"{behind}play", f"{behind}work"]
    assert completed(f"{listed}{' ' if shell == 'bash' else ''}w") == [f"{behind}work"]
    queue.run("schedule", "create", "by night", "--cron", "0 3 * * *", "-t", "type", *named)
    shown = completed("pawl schedule show --config other.yaml by")
    assert shown == [space.replace("weird", "by").replace("type", "night")]
    queue.run("submit", "-t", "$(touch owned)", *named)
    completed("pawl list --config other.yaml --type ")
    assert not (queue.folder / "owned").exists()


def test_zsh_completes_ids_and_types(elsewhere: Queue, pawl: Path) -> None:
    """zsh completes on a terminal alone, so one is made."""
    queue = elsewhere
    (id_,) = queue.run("submit", "-t", "call_api", "--config", "other.yaml").lines
    (queue.folder / "_pawl").write_text(queue.run("completions", "zsh").out)
    (queue.folder / ".zshrc").write_text(
        f"fpath=({queue.folder} $fpath); autoload -U compinit; compinit -u -D\nPS1='ready>'\n"
    )
    zsh, terminal = pty.fork()
    if zsh == 0:
        os.chdir(queue.folder)
        path = f"{pawl.parent}:{queue.env['PATH']}"
        environment = {"PATH": path, "ZDOTDIR": str(queue.folder), "TERM": "dumb"}
        os.execvpe("zsh", ["zsh", "-o", "NO_GLOBAL_RCS", "-i"], environment)
    try:
        hear(terminal, b"ready>")
        os.write(terminal, f"pawl get --config other.yaml {id_[:4]}\t\n".encode())
        heard = hear(terminal, b"reschedule_count: 0")
        assert f"id: {id_}".encode() in heard
        hear(terminal, b"ready>")
        os.write(terminal, b"pawl list --config other.yaml --ids -t cal\t\n")
        hear(terminal, id_.encode())
        hear(terminal, b"ready>")
        odd = queue.run("submit", "-t", "weird type", "--config", "other.yaml").lines[0]
        os.write(terminal, b"pawl list --config other.yaml --ids -t wei\t\n")
        hear(terminal, odd.encode())
        hear(terminal, b"ready>")
        # A file, or a task that failed.
        queue.run("work", "-t", "call_api", "--exec", "exit 65", "--once", "--config", "other.yaml")
        os.write(terminal, f"pawl replay --config other.yaml {id_[:4]}\t".encode())
        hear(terminal, id_.encode())
    finally:
        os.kill(zsh, signal.SIGKILL)
        os.waitpid(zsh, 0)
        os.close(terminal)


def hear(terminal: int, wanted: bytes) -> bytes:
    """What the terminal shows, up to the wanted words and what came with them."""
    heard = b""
    while wanted not in heard:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"waited for {wanted!r} and saw {heard!r}"
        heard += os.read(terminal, 65536)
    return heard


# Many at once.


def test_many_processes_submit_to_one_queue(queue: Queue) -> None:
    queue.submit()
    processes = [
        subprocess.Popen(
            [queue.pawl, "submit", "-t", "t", "--many", "-"],
            cwd=queue.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("1\n" * 50)
        process.stdin.close()
    ids = []
    for process in processes:
        assert process.stdout
        ids += process.stdout.read().split()
        assert process.wait(60) == 0
        process.stdout.close()
    assert len(set(ids)) == 300
    assert queue.run("stats", "--json").json()["types"][0]["pending"] == 301


# On a real S3.


def on_a_server(pawl: Path, folder: Path, services: dict[str, str], bucket: str) -> Queue:
    keys = {name: services[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    prefix = f"e2e/{folder.name}-{time.time_ns()}"
    url = f"s3://{bucket}/{prefix}?endpoint={services['PAWL_TEST_S3']}&region=us-east-1"
    return Queue(pawl, folder, url, env=keys)


def test_the_verbs_work_on_a_bucket(
    pawl: Path, tmp_path: Path, services: dict[str, str]
) -> None:
    queue = on_a_server(pawl, tmp_path, services, services["PAWL_TEST_S3_BUCKET"])
    assert queue.try_run("stats").code == 5
    id_ = queue.submit("-i", '{"a":1}', "--key", "acme")
    assert queue.task(id_)["input"] == {"a": 1}
    queue.run("close", "acme", "--for", "1h")
    assert queue.run("why", id_).out.startswith("key acme is closed until ")
    queue.run("cancel", id_)
    assert queue.run("replay", id_).code == 0
    assert len(queue.run("history", id_).lines) == 3
    ids = queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 1200).lines
    assert queue.run("stats", "--json").json()["types"][0]["pending"] == 1201
    assert queue.run("list", "--ids", "--limit", "1000").lines == sorted([id_, *ids])[:1000]
    cost = queue.run("cost", "--json").json()
    assert cost["task"]["put"] <= 0.05 and cost["this_command"]["list"] <= 2
    doctor = queue.try_run("doctor", "--json").json()["checks"]
    found = {each["check"]: each["status"] for each in doctor}
    assert found["queue.url"] == found["queue clock"] == found["queue"] == "ok"
    wait_for(lambda: queue.run("stats", "--types").lines == ["t"], "the types")


def test_no_queue_is_made_in_a_bucket_with_versions(
    pawl: Path, tmp_path: Path, services: dict[str, str]
) -> None:
    # There the server lets all win who create one name at once.
    bucket = f"versions-{time.time_ns()}"
    user = f"{services['AWS_ACCESS_KEY_ID']}:{services['AWS_SECRET_ACCESS_KEY']}"
    signed = ("--user", user, "--aws-sigv4", "aws:amz:us-east-1:s3")
    hashed = ("-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD")
    enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    for more in (("",), ("?versioning=", "--data", enabled)):
        where = f"{services['PAWL_TEST_S3']}/{bucket}{more[0]}"
        curl = ("curl", "-sS", "--fail-with-body", *signed, *hashed, "-X", "PUT", where, *more[1:])
        subprocess.run(curl, check=True, timeout=60)
    queue = on_a_server(pawl, tmp_path, services, bucket)
    said = queue.try_run("submit", "-t", "t")
    assert said.code == 1 and "keep versioning of the bucket off" in said.err, said.err
    doctor = queue.try_run("doctor", "--json").json()["checks"]
    (found,) = [each for each in doctor if each["check"] == "queue.url"]
    assert found["status"] == "fail" and "would lose tasks" in found["found"], found
    assert queue.try_run("stats").code == 5, "no queue was made there"
