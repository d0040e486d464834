"""Goal: the emulated S3 is a server that any client can be tested against, and pawl's own store
keeps its promises on it as on a real one; so do real workers above it, whatever it answers.

Method: curl, which signs by itself, and the store's own suite (adapter_s3_server_tests, which runs
on radosgw as well) against `pawl emulate s3`. What it answers is tested beside its code
(src/emulator/core). Then `pawl submit` and `pawl work`, while each answer that a put or a get can
have is met.
"""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulation import TIME_LIMIT_SECONDS, Emulator, emulator

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "crash"))

import tree  # noqa: E402
from queue_arena import Arena, FaultyS3  # noqa: E402
from queueing import Queue  # noqa: E402
from stack import SANITIZED, wait_for  # noqa: E402

KEY, SECRET, BUCKET = "emulated-key", "emulated-secret", "pawl"
LOST = 52, 56  # curl's exit codes for an answer that never came, or broke off


@pytest.fixture
def s3(pawl: Path, tmp_path: Path) -> Iterator[Emulator]:
    with emulator(pawl, "s3", tmp_path) as store:
        yield store


def curl(
    store: Emulator, method: str, target: str, *more: str, login: str = f"{KEY}:{SECRET}"
) -> subprocess.CompletedProcess[str]:
    """Prints the body, and behind it the status."""
    words = [
        *("curl", "-sS", "--user", login, "--aws-sigv4", "aws:amz:us-east-1:s3"),
        *("-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "-X", method),
        *("-w", "\n%{http_code}", *more, f"{store.url}/{target}"),
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT_SECONDS)


def ask(store: Emulator, method: str, target: str, *more: str) -> tuple[int, str]:
    ran = curl(store, method, target, *more)
    assert ran.returncode == 0, ran.stderr
    body, _, status = ran.stdout.rpartition("\n")
    return int(status), body


def put(store: Emulator, key: str, body: str, *more: str) -> int:
    return ask(store, "PUT", f"{BUCKET}/{key}", "--data-binary", body, *more)[0]


def get(store: Emulator, key: str) -> tuple[int, str]:
    return ask(store, "GET", f"{BUCKET}/{key}")


# Another client.


def test_curl_puts_and_gets_on_conditions(s3: Emulator) -> None:
    assert put(s3, "a/b", "one", "-H", "If-None-Match: *") == 200
    assert put(s3, "a/b", "two", "-H", "If-None-Match: *") == 412
    assert get(s3, "a/b") == (200, "one")
    tag = hashlib.md5(b"one").hexdigest()
    assert put(s3, "a/b", "two", "-H", f'If-Match: "{tag}"') == 200
    assert put(s3, "a/b", "three", "-H", f'If-Match: "{tag}"') == 412
    assert get(s3, "a/b") == (200, "two")
    assert get(s3, "none")[0] == 404


def test_curl_lists_reads_parts_and_deletes(s3: Emulator) -> None:
    for key in ("log/1", "log/2", "other"):
        assert put(s3, key, "0123456789") == 200
    # This curl does not sort a query: it is written in order.
    status, page = ask(s3, "GET", f"{BUCKET}?list-type=2&max-keys=1&prefix=log%2F")
    assert status == 200 and "<Key>log/1</Key>" in page and "<Key>log/2</Key>" not in page
    assert ask(s3, "GET", f"{BUCKET}/log/1", "-H", "Range: bytes=3-5") == (206, "345")
    wish = "<Delete><Object><Key>log/1</Key></Object><Object><Key>log/2</Key></Object></Delete>"
    md5 = base64.b64encode(hashlib.md5(wish.encode()).digest()).decode()
    status, told = ask(
        s3, "POST", f"{BUCKET}?delete=", "--data-binary", wish, "-H", f"Content-MD5: {md5}"
    )
    assert status == 200 and told.count("<Deleted>") == 2
    assert [row["key"] for row in s3.control("GET", "/objects")["objects"]] == ["other"]
    assert ask(s3, "DELETE", f"{BUCKET}/other")[0] == 204


def test_a_wrong_signature_is_refused_and_the_log_says_what_was_signed(s3: Emulator) -> None:
    ran = curl(s3, "GET", f"{BUCKET}/a", login=f"{KEY}:wrong")
    assert "SignatureDoesNotMatch" in ran.stdout and ran.stdout.endswith("403")
    [row] = s3.log()
    assert row["note"].startswith(f"signed here: GET\n/{BUCKET}/a\n\nhost:")
    assert SECRET not in s3.log_file.read_text()
    anonymous = subprocess.run(
        ["curl", "-s", f"{s3.url}/{BUCKET}/a"], capture_output=True, text=True
    )
    assert "AccessDenied" in anonymous.stdout


def test_a_clock_that_is_wrong_is_told(s3: Emulator) -> None:
    s3.skew(-20 * 60 * 1000)
    status, told = get(s3, "a")
    assert status == 403 and "RequestTimeTooSkewed" in told


def test_a_lost_answer_leaves_the_object(s3: Emulator) -> None:
    s3.faults({"script": [{"when": {"call": "put"}, "do": "drop_after_accept"}]})
    assert curl(s3, "PUT", f"{BUCKET}/a", "--data-binary", "one").returncode in LOST
    assert get(s3, "a") == (200, "one")
    s3.faults({"script": [{"when": {"call": "put"}, "do": "drop_before_accept"}]})
    assert curl(s3, "PUT", f"{BUCKET}/b", "--data-binary", "one").returncode in LOST
    assert get(s3, "b")[0] == 404


def test_requests_are_counted_by_kind(s3: Emulator) -> None:
    put(s3, "a", "one")
    get(s3, "a")
    get(s3, "b")
    assert s3.stats()["requests"] == {"puts": 1, "gets": 2, "lists": 0, "deletes": 0}
    assert [row["operation"] for row in s3.log()] == ["put", "get", "get"]
    assert [row["body_bytes"] for row in s3.log()] == [3, 0, 0]


def test_objects_outlive_a_kill(s3: Emulator) -> None:
    put(s3, "a", "one")
    put(s3, "b", "two")
    ask(s3, "DELETE", f"{BUCKET}/b")
    s3.restart(signal.SIGKILL)
    assert get(s3, "a") == (200, "one")
    assert get(s3, "b")[0] == 404


# pawl's own store.


def suite(store: Emulator, **more: str) -> subprocess.CompletedProcess[str]:
    program = tree.build_folder() / "adapter_s3_server_tests"
    if not program.exists():
        pytest.fail(f"{program} is not there; build it with `make build-release`")
    variables = {
        **os.environ,
        "PAWL_TEST_S3": store.url,
        "PAWL_TEST_S3_BUCKET": BUCKET,
        "PAWL_TEST_S3_OPTIONS": "",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        **more,
    }
    return subprocess.run(
        [str(program), "--gtest_brief=1"], env=variables, capture_output=True, text=True,
        timeout=10 * TIME_LIMIT_SECONDS,
    )  # fmt: skip


def test_the_store_conforms_on_the_emulated_s3(s3: Emulator) -> None:
    ran = suite(s3)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert s3.stats()["requests"]["puts"] > 100


def test_the_store_conforms_where_tags_are_bare(s3: Emulator) -> None:
    s3.faults({"settings": {"tags": "bare"}})
    ran = suite(s3, PAWL_TEST_S3_OPTIONS="&etag=bare")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_store_that_ignores_conditions_does_not_conform(s3: Emulator) -> None:
    s3.faults({"settings": {"conditions": "ignored"}})
    ran = suite(s3)
    assert ran.returncode == 1 and "FAILED" in ran.stdout


def test_reads_survive_trouble_that_passes(s3: Emulator) -> None:
    rates = {"error_before": 0.02, "drop_after_accept": 0.02, "half_answer": 0.02}
    s3.faults({"seed": 11, "rates": rates, "calls": ["get", "list", "delete_many"]})
    ran = suite(s3)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert any(row["fault"] for row in s3.log())


# Real workers, and every answer that they can meet.

LOSES = (
    *("drop_before_accept", "drop_after_accept", "half_answer", "wrong_length", "restart"),
    *("html_502_before_accept", "html_502_after_accept"),
    *("html_503_before_accept", "html_503_after_accept", "rate_limited", "duplicate_answer"),
)
PUT_ANSWERS: tuple[dict[str, object], ...] = (
    *({"do": name} for name in LOSES),
    {"do": "delay_before_accept", "delay": "300ms"},
    {"do": "delay_after_accept", "delay": "300ms"},
    # 412 and 304: what is there is our own, of a send whose answer was another.
    {"do": "error_after", "code": "PreconditionFailed"},
    {"do": "error_after", "code": "PreconditionFailed", "status": 304},
    # 412 and nothing is there: whoever was there is gone, or there never was.
    {"do": "error_before", "code": "PreconditionFailed"},
    # 409: another write of that name is under way; ours may have been done all the same.
    {"do": "error_before", "code": "ConditionalRequestConflict"},
    {"do": "error_after", "code": "ConditionalRequestConflict"},
    *(
        {"do": do, "code": code}
        for do in ("error_before", "error_after")
        for code in ("SlowDown", "InternalError", "ServiceUnavailable", "TooManyRequests")
    ),
    {"do": "error_before", "code": "RequestTimeout"},
)
GET_ANSWERS: tuple[dict[str, object], ...] = (
    *({"do": name} for name in LOSES),
    {"do": "delay_after_accept", "delay": "300ms"},
    {"do": "error_before", "code": "InternalError"},
    {"do": "error_before", "code": "TooManyRequests"},
)


def each_once(calls: dict[str, tuple[dict[str, object], ...]]) -> dict[str, object]:
    """A script by which each of these answers is met, some good ones between them."""
    rows = [
        {**answer, "when": {"call": call, "nth": 2 + 3 * place}}
        for call, answers in calls.items()
        for place, answer in enumerate(answers)
    ]
    return {"script": rows}


def test_every_answer_of_the_table_is_met_and_all_tasks_end_once(
    s3: Emulator, pawl: Path, tmp_path: Path
) -> None:
    arena = Arena(pawl, tmp_path / "arena", FaultyS3(s3))
    with arena.submit() as first:
        assert first.wait() == 0, (arena.folder / "errors").read_text()
    s3.faults(each_once({"put": PUT_ANSWERS, "get": GET_ANSWERS}))
    wanted = len(PUT_ANSWERS) + len(GET_ANSWERS)
    deadline = time.monotonic() + (10 if SANITIZED else 4) * TIME_LIMIT_SECONDS
    workers = [arena.work(lease="5s") for _ in range(2)]
    try:
        while sum(bool(row["fault"]) for row in s3.log()) < wanted:
            assert time.monotonic() < deadline, [row["fault"] for row in s3.log() if row["fault"]]
            with arena.submit() as submitter:
                submitter.wait()
    finally:
        for worker in workers:
            assert worker.poll() is None, (arena.folder / "errors").read_text()
            worker.terminate()
            worker.wait()
    s3.faults({})
    arena.finish()
    arena.check()
    assert len(arena.acknowledged()) > 3


def test_a_store_that_passes_over_conditions_gets_no_queue(
    s3: Emulator, pawl: Path, tmp_path: Path
) -> None:
    s3.faults({"settings": {"conditions": "ignored"}})
    arena = Arena(pawl, tmp_path / "arena", FaultyS3(s3))
    with arena.submit() as first:
        assert first.wait() == 1
    assert "a second put-if-absent of one name" in (arena.folder / "errors").read_text()
    assert not any("log/" in row["key"] for row in s3.control("GET", "/objects")["objects"])


def test_nobody_changes_a_queue_that_was_copied_to_a_store_that_passes_over_conditions(
    s3: Emulator, pawl: Path, tmp_path: Path
) -> None:
    arena = Arena(pawl, tmp_path / "arena", FaultyS3(s3))
    with arena.submit() as first:
        assert first.wait() == 0, (arena.folder / "errors").read_text()
    s3.faults({"settings": {"conditions": "ignored"}})
    before = sorted(row["key"] for row in s3.control("GET", "/objects")["objects"])
    worker = arena.work(lease="5s")
    assert worker.wait(TIME_LIMIT_SECONDS) == 1
    with arena.submit() as submitter:
        assert submitter.wait() == 1
    said = (arena.folder / "errors").read_text()
    assert said.count("ignores the condition of a put") == 2
    assert sorted(row["key"] for row in s3.control("GET", "/objects")["objects"]) == before
    assert arena.run("list", "--ids"), "who only looks does no harm"


# Its silence, and its clock.

FIVE_MINUTES = 300_000  # milliseconds


@pytest.fixture
def queue(s3: Emulator, pawl: Path, tmp_path: Path) -> Queue:
    url = f"s3://{BUCKET}/queue?endpoint={s3.url}&region=us-east-1"
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    return Queue(pawl, tmp_path, url, env=keys)


@pytest.mark.parametrize(("call", "nth"), [("put", 2), ("get", 1)])
def test_a_call_that_is_never_answered_is_made_again_before_anybody_gives_up(
    s3: Emulator, queue: Queue, call: str, nth: int
) -> None:
    def calls() -> int:
        return s3.stats()["requests"][f"{call}s"]

    queue.submit()
    before = calls()
    queue.submit()
    usual = calls() - before
    silent = {"when": {"call": call, "nth": nth}, "do": "delay_before_accept", "delay": "10m"}
    s3.faults({"script": [silent]})
    queue.submit()
    assert calls() - before > 2 * usual, "nobody met the silence"
    s3.faults({})


def test_what_is_closed_for_a_while_is_so_by_the_stores_clock(s3: Emulator, queue: Queue) -> None:
    s3.skew(FIVE_MINUTES)
    held = queue.submit("--key", "k")
    queue.run("close", "k", "--for", "1m")
    assert queue.run("why", held).out.startswith("key k is closed until ")
    queue.run("work", "-t", "t", "--exec", "true", "--once")
    assert queue.task(held)["status"] == "pending"


def test_what_is_closed_opens_by_the_clock_of_a_store_that_is_behind(
    s3: Emulator, queue: Queue
) -> None:
    s3.skew(-FIVE_MINUTES)
    held = queue.submit("--key", "k")
    queue.run("close", "k", "--for", "1s")
    wait_for(lambda: "may be claimed" in queue.run("why", held).out, "the key to open")


def test_tail_begins_by_the_clock_of_a_store_that_is_behind(s3: Emulator, queue: Queue) -> None:
    s3.skew(-FIVE_MINUTES)
    queue.submit()
    told = queue.folder / "told"

    def is_told() -> bool:
        queue.submit()
        return "created" in told.read_text()

    with (
        told.open("w") as out,
        subprocess.Popen([queue.pawl, "tail"], cwd=queue.folder, env=queue.env, stdout=out) as tail,
    ):
        try:
            wait_for(is_told, "a task that is told of")
        finally:
            tail.kill()


def test_a_verb_says_that_its_store_is_silent(pawl: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"s3://{BUCKET}/q?endpoint=http://127.0.0.1:{silent.getsockname()[1]}&region=x"
        (tmp_path / "pawl.yaml").write_text(f'queue: {{ url: "{place}" }}\n')
        keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        verb = subprocess.Popen(
            [pawl, "stats"],
            cwd=tmp_path,
            env={**os.environ, **keys},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert verb.stderr is not None
            said = verb.stderr.readline()
            waits = "has not answered yet; it is asked again"
            assert said == f"pawl: the queue at s3://{BUCKET}/q {waits}\n"
        finally:
            verb.kill()
            verb.communicate()
