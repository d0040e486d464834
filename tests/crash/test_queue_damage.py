"""Goal: what is wrong with the log is named and never passed over, a newer pawl's log is refused
clearly, and a disk that has no room loses nothing that was acknowledged.

Method: files of a queue's folder, changed by hand; `pawl` from outside. The disk is full by a limit
of the operating system on the size of files.
"""

from __future__ import annotations

import json
import resource
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402
from queueing import Queue  # noqa: E402
from stack import wait_for  # noqa: E402

SEGMENT_VERSION_AT = 8  # behind eight letters
HEAD_BYTES = 20  # letters, version, length
NONCE_BYTES = 16
WORK = ("work", "-t", "t", "--exec", "true", "--once")
VERBS = (("stats",), ("list",), ("submit", "-t", "t"), WORK, ("export", "-"))


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def segments(queue: Queue) -> list[Path]:
    return sorted((queue.folder / "queue" / "log" / "00").iterdir())


def rewrite(file: Path, change: Callable[[bytes], bytes]) -> bytes:
    """What it was."""
    before = file.read_bytes()
    file.chmod(0o600)
    file.write_bytes(change(before))
    return before


def summed(content: bytes | bytearray) -> bytes:
    return bytes(content) + struct.pack("<I", crc32c(bytes(content)))


def of_a_newer_pawl(segment: bytes) -> bytes:
    """Whole, with the next version."""
    content = bytearray(segment[:-4])
    (version,) = struct.unpack_from("<I", content, SEGMENT_VERSION_AT)
    struct.pack_into("<I", content, SEGMENT_VERSION_AT, version + 1)
    return summed(content)


def ten_years_ahead(segment: bytes) -> bytes:
    """Whole, as a clock that was wrong would have stamped it; of one with few letters of a name."""
    content = bytearray(segment[:-4])
    name_at = HEAD_BYTES + 2  # behind the shard, and a sequence of one byte
    time_at = name_at + 1 + content[name_at] + 2 * NONCE_BYTES
    (stamp,) = struct.unpack_from("<q", content, time_at)
    struct.pack_into("<q", content, time_at, stamp + 10 * 365 * 86_400 * 10**9)
    return summed(content)


@pytest.fixture
def queue(pawl: Path, tmp_path: Path) -> Queue:
    queue = Queue(pawl, tmp_path)
    for _ in range(3):
        queue.submit()
    assert len(segments(queue)) == 3
    return queue


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:20] + bytes([data[20] ^ 0x40]) + data[21:],
    ],
    ids=["last byte", "half", "empty", "one bit"],
)
def test_a_damaged_segment_is_named_and_never_skipped(
    queue: Queue, place: int, change: Callable[[bytes], bytes]
) -> None:
    whole = rewrite(segments(queue)[place], change)
    for words in VERBS:
        said = queue.try_run(*words)
        assert said.code == 1, (words, said.out, said.err)
        assert f"segment {place + 1} of shard 0 is damaged" in said.err, said.err
    assert len(segments(queue)) == 3, "somebody wrote behind it"
    rewrite(segments(queue)[place], lambda _: whole)
    assert queue.run("stats", "--json").json()["types"][0]["pending"] == 3


def test_a_segment_at_anothers_name_is_named(queue: Queue) -> None:
    first, second, _ = segments(queue)
    rewrite(second, lambda _: first.read_bytes())
    said = queue.try_run("stats")
    assert said.code == 1 and "segment 2 of shard 0" in said.err, said.err


def test_a_newer_pawls_segment_is_refused(queue: Queue) -> None:
    rewrite(segments(queue)[1], of_a_newer_pawl)
    for words in VERBS:
        said = queue.try_run(*words)
        assert said.code == 1 and "damaged" not in said.err, (words, said.err)
        assert "newer pawl" in said.err, said.err
    assert len(segments(queue)) == 3, "somebody wrote behind it"


def test_a_newer_pawls_queue_is_refused(queue: Queue) -> None:
    file = queue.folder / "queue" / "queue.json"
    settings = json.loads(file.read_text())
    settings["format"] += 1
    rewrite(file, lambda _: json.dumps(settings).encode())
    for words in VERBS:
        said = queue.try_run(*words)
        assert said.code == 1 and "newer" in said.err, (words, said.err)


def test_a_time_that_is_ten_years_ahead_goes_on(pawl: Path, tmp_path: Path) -> None:
    queue = Queue(pawl, tmp_path)
    id_ = queue.submit()
    rewrite(segments(queue)[0], ten_years_ahead)
    said = queue.try_run("doctor")
    assert said.code == 6 and "is ahead of the clock by 36" in said.out, said.out
    # A failure, and a wait until it is tried again.
    with queue.started("work", "-t", "t", "--exec", "test -e once || { touch once; exit 1; }"):
        wait_for(lambda: queue.task(id_)["status"] == "completed", "what waited for its retry")
    assert queue.task(id_)["retry_count"] == 1


# A disk without room.

ROOM = 6_000  # bytes that a file may have


def with_little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def appender(queue: Queue, *words: str) -> list[object]:
    program = tree.build_folder() / "queue_appender"
    return [program, words[0], f"dir:{queue.folder}/queue", *words[1:]]


def said_of(text: str) -> dict[str, set[str]]:
    """What it said of which task; a line that a kill has cut is not said."""
    found: dict[str, set[str]] = {}
    for line in text[: text.rfind("\n") + 1].splitlines():
        word, *rest = line.split()
        assert rest[-1] not in found.setdefault(word, set()), f"said twice: {line}"
        found[word].add(rest[-1])
    return found


def run(queue: Queue, *words: str) -> dict[str, set[str]]:
    done = subprocess.run(appender(queue, *words), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return said_of(done.stdout)


def test_a_disk_without_room_loses_nothing_that_was_acknowledged(
    pawl: Path, tmp_path: Path
) -> None:
    # One input fits into a segment, four do not: so some commits fail for want of room, again and
    # again until their callers are told, and others succeed.
    queue = Queue(pawl, tmp_path)
    lines: list[str] = []  # through a pipe: a file of them would meet the same limit
    with subprocess.Popen(
        appender(queue, "append", "few", "60", "4", "1", "2000"),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=with_little_room,
    ) as process:
        assert process.stdout is not None
        try:
            while not {line.split()[0] for line in lines} >= {"stored", "refused"}:
                lines.append(process.stdout.readline())
                assert lines[-1], f"it ended by itself: {process.wait()}, after {lines}"
        finally:
            process.kill()
        lines += process.stdout
    told, read = said_of("".join(lines)), run(queue, "read")
    assert told["stored"] <= read["held"] and read["held"] == read["logged"]
    assert not told["refused"] & read["held"], "something refused is there"
    # With room it goes on.
    more = run(queue, "append", "more", "0", "4", "30", "2000")
    assert told["stored"] | more["stored"] <= run(queue, "read")["held"]
    assert queue.run("stats").code == 0
