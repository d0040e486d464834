"""Goal: what pawl has decided comes out again from its audit log, and a log in which anything was
changed, or from which a record is missing, does not replay; nor one whose hashes were put right
after a decision was edited.

Method: logs of a running pawl under traffic that is allowed and refused, over every algorithm; the
same logs with a number edited, and with lines changed, removed, swapped, added and torn.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import stack

BUCKETS = """
    - { name: pace, algorithm: token_bucket, rate: 5/1m, burst: 3 }
    - { name: window, scope: everyone, rate: 6/1m }
    - { name: month, algorithm: calendar, limit: 8, every: month, zone: Europe/Zurich,
        anchor: 2026-01-31T06:30 }
    - { name: watched, algorithm: token_bucket, rate: 1/1h, shadow: true }
    - { name: exact, scope: address, algorithm: sliding_log, rate: 7/1m }
    - { name: slots, algorithm: concurrency, slots: 5 }"""


def replay(pawl: Path, log: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [pawl, "replay", log, *words], capture_output=True, text=True, timeout=stack.WAIT_SECONDS
    )


def traffic(gateway: stack.Gateway) -> set[int]:
    statuses = set()
    for i in range(24):
        statuses.add(gateway.get(f"/{i}", tenant=f"t{i % 3}").status)
    stack.wait_for(lambda: len(gateway.audited("request")) == 24, "the records")
    return statuses


def chained(lines: list[str]) -> list[str]:
    """The same records, each with the hash that it now has."""
    out, prev = [], "0" * 64
    for line in lines:
        record = json.loads(line)
        del record["hash"]
        record["prev"] = prev
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        prev = hashlib.sha256(text.encode()).hexdigest()
        record["hash"] = prev
        out.append(
            json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        )
    return out


def edit(lines: list[str], index: int, change: Callable[[dict], None]) -> list[str]:
    record = json.loads(lines[index])
    change(record)
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return [*lines[:index], text + "\n", *lines[index + 1 :]]


def test_what_was_decided_comes_out_again(pawl: Path) -> None:
    with stack.running(pawl, buckets=BUCKETS) as gateway:
        assert traffic(gateway) == {200, 429}
        told = replay(pawl, gateway.audit(), "--json")
        assert (told.returncode, told.stderr) == (0, "")
        counted = json.loads(told.stdout)
        assert (counted["replayed"], counted["without_decision"]) == (24, 24)
        assert (counted["not_replayable"], counted["unreadable"]) == ({}, 0)
        assert (counted["difference"], counted["flaw"], counted["torn"]) == (None, None, False)
        text = replay(pawl, gateway.audit()).stdout
        assert "24 replayed, 24 without a decision, 0 not replayable\n" in text


def test_one_number_edited_is_found_and_named(pawl: Path, tmp_path: Path) -> None:
    with stack.running(pawl, buckets=BUCKETS) as gateway:
        traffic(gateway)
        lines = gateway.audit().read_text().splitlines(keepends=True)
    index = next(
        i for i, line in enumerate(lines) if '"allowed":false' in line and '"limit"' in line
    )
    policy = next(
        i for i, each in enumerate(json.loads(lines[index])["policies"]) if "before" in each
    )

    def remaining(record: dict) -> None:
        record["policies"][policy]["remaining"] += 1

    log = tmp_path / "a.jsonl"
    edited = edit(lines, index, remaining)
    for records in (edited, chained(edited)):
        log.write_text("".join(records))
        told = replay(pawl, log, "--json")
        assert told.returncode == 3
        found = json.loads(told.stdout)
        assert found["differing"] == 1
        difference = found["difference"]
        assert difference["seq"] == json.loads(lines[index])["seq"]
        was = difference["recorded"]["policies"][policy]["remaining"]
        assert difference["again"]["policies"][policy]["remaining"] == was - 1
        assert f"record {difference['seq']} (limit, GET /" in told.stderr
        assert '"remaining":' in told.stderr


@pytest.fixture(name="lines", scope="module")
def lines_of_a_log(pawl: Path) -> list[str]:
    with stack.running(pawl, buckets=BUCKETS) as gateway:
        traffic(gateway)
        return gateway.audit().read_text().splitlines(keepends=True)


def replay_lines(pawl: Path, folder: Path, lines: list[str]) -> tuple[int, dict, str]:
    log = folder / "a.jsonl"
    log.write_text("".join(lines))
    told = replay(pawl, log, "--json")
    return told.returncode, json.loads(told.stdout), told.stderr


def test_what_is_no_longer_a_sequence_is_found_and_named(
    pawl: Path, tmp_path: Path, lines: list[str]
) -> None:
    a, b = lines[4], lines[5]
    cases = (
        ([*lines[:4], *lines[5:]], "missing", 5, "record 6 stands in the place of record 5"),
        ([*lines[:4], b, a, *lines[6:]], "swapped", 5, "it comes later, in line 6"),
        ([*lines[:5], a, *lines[5:]], "repeated", 6, "record 5 stands here a second time"),
        (lines[1:], "missing", 1, "record 2 stands in the place of record 1"),
        ([*lines[:4], a.replace("GET", "PUT"), *lines[5:]], "changed", 5, "record 5 was changed"),
        ([*lines[:4], "\n", *lines[4:]], "changed", 5, "this is no audit record"),
        ([*lines, "not json\n"], "changed", len(lines) + 1, "this is no audit record"),
        (["not json\n", "{}\n", "[1]\n"], "changed", 1, "this is no audit record"),
    )
    for edited, fault, line, message in cases:
        code, found, told = replay_lines(pawl, tmp_path, edited)
        assert (code, found["flaw"]["fault"], found["flaw"]["line"]) == (3, fault, line), told
        assert message in told and f"a.jsonl: line {line}: " in told, told
        assert found["flaw"]["file"] == str(tmp_path / "a.jsonl")


def test_a_record_that_is_missing_between_two_parts_or_at_the_end_is_found(
    pawl: Path, tmp_path: Path, lines: list[str]
) -> None:
    part = tmp_path / "a.jsonl.000000000010"
    part.write_text("".join(lines[:10]))
    code, found, told = replay_lines(pawl, tmp_path, lines[11:])
    assert (code, found["flaw"]["fault"], found["flaw"]["line"]) == (3, "missing", 1), told
    part.write_text("".join(lines[:10])[:-1])
    code, found, told = replay_lines(pawl, tmp_path, lines[10:])
    assert (code, found["flaw"]["fault"], found["flaw"]["file"]) == (3, "cut", str(part)), told
    part.unlink()
    last = json.loads(lines[-1])
    anchor = json.dumps({"hash": last["hash"], "seq": last["seq"]}, separators=(",", ":"))
    (tmp_path / "a.jsonl.anchor").write_text(anchor + "\n")
    assert replay_lines(pawl, tmp_path, lines)[0] == 0
    for shorter in (lines[:-1], [*lines[:-1], lines[-1][:20]]):
        code, found, told = replay_lines(pawl, tmp_path, shorter)
        assert (code, found["flaw"]["fault"]) == (3, "missing"), told


def test_a_torn_last_line_is_counted_and_nothing_else(
    pawl: Path, tmp_path: Path, lines: list[str]
) -> None:
    for torn in (lines[-1][:-1], lines[-1][:20], "not json"):
        code, found, told = replay_lines(pawl, tmp_path, [*lines[:-1], torn])
        assert (code, told) == (0, "")
        assert (found["torn"], found["unreadable"], found["differing"]) == (True, 0, 0)
        assert found["replayed"] + found["without_decision"] == len(lines) - 1
    assert "the last line is torn" in replay(pawl, tmp_path / "a.jsonl").stdout


def test_a_record_without_its_decision_differs_whatever_its_hash(
    pawl: Path, tmp_path: Path, lines: list[str]
) -> None:
    index = next(i for i, line in enumerate(lines) if '"event_type":"limit"' in line)
    added = {"attempt_number": 1, "max_attempts": 3, "timestamp": "2026-01-01T00:00:00.000Z"}
    cases = (
        ("retry_attempt", "it has no decision: pawl writes one"),
        ("retry_exhausted", "it has no decision: pawl writes one"),
        ("retry_succeeded", "it has no decision: pawl writes one"),
        ("reconcile", "it has neither a decision nor what was found"),
        ("invented", "its event_type is none that pawl writes"),
    )
    for event_type, why in cases:
        record = {**added, "event_type": event_type, "seq": len(lines) + 1, "hash": "", "prev": ""}
        code, found, told = replay_lines(pawl, tmp_path, chained([*lines, json.dumps(record)]))
        assert (code, found["flaw"], found["differing"]) == (3, None, 1), told
        assert f"record {len(lines) + 1} ({event_type})" in told and why in told
        assert "its hash fits" in told
    for member in ("policies", "event_type"):
        edited = edit(lines, index, lambda record: record.pop(member))
        code, found, told = replay_lines(pawl, tmp_path, chained(edited))
        assert (code, found["flaw"], found["differing"]) == (3, None, 1), told


def test_of_two_that_are_wrong_the_first_is_told(
    pawl: Path, tmp_path: Path, lines: list[str]
) -> None:
    def refuse(record: dict) -> None:
        record["cost"] = -1

    limits = [i for i, line in enumerate(lines) if '"event_type":"limit"' in line]
    late, early = limits[-1], limits[1]
    code, _, told = replay_lines(
        pawl, tmp_path, [line for i, line in enumerate(edit(lines, late, refuse)) if i != early]
    )
    assert code == 3 and f"line {early + 1}: record" in told and "(missing)" in told
    code, _, told = replay_lines(
        pawl,
        tmp_path,
        [line for i, line in enumerate(chained(edit(lines, early, refuse))) if i != late],
    )
    assert code == 3 and f"record {early + 1} (limit" in told and "its hash fits" in told


def test_every_part_of_a_log_is_replayed_in_order(pawl: Path, tmp_path: Path) -> None:
    with stack.running(pawl, buckets=BUCKETS) as gateway:
        traffic(gateway)
        lines = gateway.audit().read_text().splitlines(keepends=True)
    (tmp_path / "a.jsonl.000000000010").write_text("".join(lines[:10]))
    (tmp_path / "a.jsonl").write_text("".join(lines[10:]))
    assert json.loads(replay(pawl, tmp_path / "a.jsonl", "--json").stdout)["replayed"] == 24


def test_a_store_in_a_file_and_leases_replay_too(pawl: Path) -> None:
    for stores in (
        "  store: sqlite:counts.db",
        "  store: sqlite:counts.db\n  batch: 4",
        "  calendar_store: sqlite:quota.db",
    ):
        with stack.running(pawl, buckets=BUCKETS, stores=stores) as gateway:
            assert traffic(gateway) == {200, 429}
            told = replay(pawl, gateway.audit(), "--json")
            assert told.returncode == 0, told.stderr
            counted = json.loads(told.stdout)
            assert counted["replayed"] + sum(counted["not_replayable"].values()) == 24


def test_leased_counts_are_not_replayable_and_say_why(pawl: Path) -> None:
    buckets = "\n    - { name: pace, algorithm: token_bucket, rate: 5/1m, burst: 3 }"
    stores = "  store: sqlite:counts.db\n  batch: 4"
    with stack.running(pawl, buckets=buckets, stores=stores) as gateway:
        assert traffic(gateway) == {200, 429}
        told = replay(pawl, gateway.audit())
        assert (told.returncode, told.stderr) == (0, "")
        assert "not replayable: " in told.stdout
        assert "put together from several decisions" in told.stdout


def test_a_log_that_is_not_there_is_not_found(pawl: Path, tmp_path: Path) -> None:
    assert replay(pawl, tmp_path / "none.jsonl").returncode == 5
    assert replay(pawl, tmp_path / "none.jsonl", "--no").returncode == 2
