"""Goal: an operator sees what was decided, as it is decided, counts it, and finds out when the log
was tampered with, however that was done.

Method: logs of a running pawl; and logs written here, from the format's description alone, in one
file and in several.
"""

from __future__ import annotations

import hashlib
import json
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stack

WAIT_SECONDS = 30.0
FIRST = "0" * 64

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(pawl: Path, tmp_path: Path) -> Run:
    def run_pawl(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [pawl, "audit", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=WAIT_SECONDS,
        )

    return run_pawl


def record_lines(events: list[dict[str, object]]) -> list[str]:
    """The records of a log, each with its line feed."""
    lines, prev = [], FIRST
    for seq, event in enumerate(events, 1):
        members = {"timestamp": "2026-01-25T21:15:00.000Z", **event, "prev": prev, "seq": seq}
        text = json.dumps(members, sort_keys=True, separators=(",", ":"))
        prev = hashlib.sha256(text.encode()).hexdigest()
        members["hash"] = prev
        lines.append(json.dumps(members, sort_keys=True, separators=(",", ":")) + "\n")
    return lines


def request_lines(count: int) -> list[str]:
    return record_lines(
        [{"event_type": "request", "operation": f"GET /{i}"} for i in range(1, count + 1)]
    )


def anchor_of(line: str) -> str:
    record = json.loads(line)
    return f'{{"hash":"{record["hash"]}","seq":{record["seq"]}}}\n'


def flaw_of(run: Run, *words: str) -> dict[str, object]:
    verified = run("verify", *words, "--json")
    assert verified.returncode == 3, verified
    return json.loads(verified.stdout)["flaw"]


# ---- verify


def test_a_log_in_several_files_is_one(run: Run, tmp_path: Path):
    lines = request_lines(6)
    (tmp_path / "a.jsonl.000000000002").write_text("".join(lines[:2]))
    (tmp_path / "a.jsonl.000000000005").write_text("".join(lines[2:5]))
    (tmp_path / "a.jsonl").write_text(lines[5])
    good = run("verify", "a.jsonl")
    assert good.returncode == 0
    assert "6 records verified, last seq 6" in good.stdout and "in 3 files" in good.stdout
    assert "no anchor" in good.stdout

    part = run("verify", "a.jsonl.000000000005")
    assert part.returncode == 0 and "3 records verified, last seq 5" in part.stdout
    (tmp_path / "a.jsonl.000000000005").write_text("".join(lines[2:4]))
    assert flaw_of(run, "a.jsonl.000000000005")["fault"] == "missing"
    flaw = flaw_of(run, "a.jsonl")
    assert (flaw["fault"], flaw["file"], flaw["line"]) == ("missing", "a.jsonl", 1)
    (tmp_path / "a.jsonl.000000000005").unlink()
    assert flaw_of(run, "a.jsonl")["fault"] == "missing"


def test_every_cut_of_the_end_shows_by_the_anchor(run: Run, tmp_path: Path):
    lines = request_lines(4)
    log, anchor = tmp_path / "a.jsonl", tmp_path / "a.jsonl.anchor"
    anchor.write_text(anchor_of(lines[3]))
    log.write_text("".join(lines))
    assert run("verify", "a.jsonl").stdout.endswith("anchor: record 4 is there\n")
    for kept in range(4):
        log.write_text("".join(lines[:kept]))
        flaw = flaw_of(run, "a.jsonl")
        assert (flaw["fault"], flaw["line"]) == ("missing", kept + 1)
        assert f"record {kept + 1} is missing" in str(flaw["message"])
    anchor.write_text(anchor_of(lines[1]))
    log.write_text("".join(lines))
    assert run("verify", "a.jsonl").returncode == 0, "an anchor may lag"
    anchor.write_text("nonsense")
    assert "is damaged" in str(flaw_of(run, "a.jsonl")["message"])


def test_an_anchor_kept_elsewhere_shows_a_log_written_anew(run: Run, tmp_path: Path):
    true_lines = request_lines(4)
    forged = record_lines([{"event_type": "request", "operation": f"GET /x{i}"} for i in range(4)])
    (tmp_path / "kept").write_text(anchor_of(true_lines[2]))
    (tmp_path / "a.jsonl").write_text("".join(forged))
    (tmp_path / "a.jsonl.anchor").write_text(anchor_of(forged[3]))
    assert run("verify", "a.jsonl").returncode == 0, "whoever can write both can forge both"
    flaw = flaw_of(run, "a.jsonl", "--anchor", "kept")
    assert (flaw["fault"], flaw["line"]) == ("changed", 3)
    assert run("verify", "a.jsonl", "--anchor", "none").returncode == 2


def test_a_pawl_does_not_go_on_with_a_log_whose_end_is_gone(pawl: Path, tmp_path: Path):
    with stack.running(pawl) as gateway:
        for _ in range(3):
            assert gateway.get().status == 200
        stack.wait_for(lambda: len(gateway.audited("request")) == 3, "the records")
        assert gateway.stop() == 0
        log = gateway.audit()
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(lines[:-1]))
        config = tmp_path / "pawl.yaml"
        config.write_text(
            "server:\n  listen: 127.0.0.1:0\n  admin:\n    listen: 127.0.0.1:0\n"
            f"audit: {{sinks: ['file:{log}']}}\n"
        )
        refused = subprocess.run(
            [pawl, "serve", "--config", config], capture_output=True, text=True, timeout=30
        )
        assert refused.returncode == 6
        assert "the end of the log was cut off or replaced" in refused.stderr
        assert log.read_text() == "".join(lines[:-1]), "evidence stays as it is"


# ---- tail


def test_tail_prints_the_last_records(run: Run, tmp_path: Path):
    lines = request_lines(12)
    (tmp_path / "a.jsonl.000000000010").write_text("".join(lines[:10]))
    (tmp_path / "a.jsonl").write_text("".join(lines[10:]))
    told = run("tail", "a.jsonl")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        f'2026-01-25T21:15:00.000Z request "GET /{i}" seq={i}' for i in range(3, 13)
    ]
    assert run("tail", "a.jsonl", "--lines", "2", "--json").stdout == "".join(lines[10:])
    assert run("tail", "a.jsonl", "--lines", "0").stdout == ""
    assert run("tail", "a.jsonl", "--lines", "many").returncode == 2
    assert run("tail", "none.jsonl").returncode == 5


@pytest.fixture
def follower(pawl: Path, tmp_path: Path) -> Iterator[Callable[[], str]]:
    (tmp_path / "a.jsonl").write_text("".join(request_lines(2)))
    process = subprocess.Popen(
        [pawl, "audit", "tail", "a.jsonl", "--follow", "--lines", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdout is not None
    output = process.stdout

    def line() -> str:
        ready, _, _ = select.select([output], [], [], WAIT_SECONDS)
        assert ready, "nothing came"
        return output.readline()

    try:
        yield line
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=WAIT_SECONDS) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()
        output.close()


def test_tail_follows_the_log_from_file_to_file(follower: Callable[[], str], tmp_path: Path):
    lines = request_lines(5)
    log = tmp_path / "a.jsonl"
    assert "GET /2" in follower()
    with log.open("a") as stream:
        stream.write(lines[2][:30])
        stream.flush()
        stream.write(lines[2][30:])
    assert "GET /3" in follower()
    log.rename(tmp_path / "a.jsonl.000000000003")
    log.write_text(lines[3])
    assert "GET /4" in follower()
    with log.open("a") as stream:
        stream.write(lines[4])
    assert "GET /5" in follower()


# ---- stats


def test_stats_count_what_became_of_each_category(run: Run, tmp_path: Path):
    def of(kind: str, **fields: object) -> dict[str, object]:
        return {"event_type": kind, "retry_category": "RETRY_KV_GET", **fields}

    lines = record_lines(
        [
            of("retry_attempt", attempt_number=1),
            of("retry_succeeded", total_attempts=2),
            of("retry_exhausted", total_attempts=1),
            of("idempotency", action="hit"),
            {"event_type": "request"},
        ]
    )
    (tmp_path / "a.jsonl").write_text("".join(lines))
    counted = run("stats", "a.jsonl", "--json")
    assert (counted.returncode, counted.stderr) == (0, "")
    assert json.loads(counted.stdout) == {
        "file": "a.jsonl",
        "records": 5,
        "unreadable": 0,
        "categories": {
            "RETRY_KV_GET": {
                **{"attempts": 3, "retries": 1, "succeeded": 1, "exhausted": 1},
                **{"replayed": 1, "success_rate": 0.5, "average_attempts": 1.5},
            }
        },
        "retry_rate": {
            **{"last_minute": 0, "highest_minute": 1, "alert_above": 60, "alert": False},
            "highest_at": "2026-01-25T21:15:00.000Z",
        },
    }
    told = run("stats", "a.jsonl").stdout
    assert "RETRY_KV_GET" in told and "50.0%" in told and "alert above 60: no" in told
    assert run("stats", "none.jsonl").returncode == 5
