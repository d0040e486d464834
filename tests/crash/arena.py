"""What the crash tests share: servers that may be killed, and processes that make operations.

An arena is a folder in which processes (crashing_executor_main.cc) meet: the ledger, which stands
for the other side and outlives whoever dies; the acknowledgements, lines of results that were told;
and one audit log.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "services"))

import owned  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402

RUN_SECONDS = 60.0  # generous: the machine may be compiling at the same time
START_SECONDS = 30.0


class Server:
    """One that a test may kill and start again on its files."""

    def __init__(self, program: str, folder: Path) -> None:
        self.folder, self.port = folder, owned.free_port()
        self._program = servers.find_program(program)
        assert self._program is not None, f"{program} is not installed: run `make setup`"
        self._process: subprocess.Popen[bytes] | None = None

    def arguments(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, *self.arguments()], stdout=log, stderr=log, cwd=self.folder
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            log_text = (self.folder / "server.log").read_text(errors="replace")
            assert self._process.poll() is None and time.monotonic() < deadline, log_text
            time.sleep(0.01)

    def _answers(self) -> bool:
        """Whether it serves: it says so in its own way to a line of its own tongue."""
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", self.port), 1.0) as connection:
                connection.settimeout(1.0)
                connection.sendall(b"PING\r\n")
                return connection.recv(4096).startswith((b"+PONG", b"INFO"))
        return False

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)  # its threads go on until each has heard of it

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Redis(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__("redis-server", folder)

    def arguments(self) -> list[str]:
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        return [*where, "--save", "", "--appendonly", "yes", "--appendfsync", "always"]

    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


class Nats(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__("nats-server", folder)

    def arguments(self) -> list[str]:
        return ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder / "data")]

    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}/records"


SERVERS = {"redis": Redis, "nats": Nats}


@contextlib.contextmanager
def serving(name: str, folder: Path) -> Iterator[Server]:
    folder.mkdir()
    server = SERVERS[name](folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def stores(folder: Path) -> Iterator[dict[str, str]]:
    """URLs of all stores that outlive a process."""
    with serving("redis", folder / "redis") as redis, serving("nats", folder / "nats") as nats:
        yield {
            "sqlite": f"sqlite:{folder}/records.db",
            "redis": redis.url(),
            "nats": nats.url(),
        }


@dataclasses.dataclass(frozen=True)
class Answer:
    how: str
    result: str


@dataclasses.dataclass
class Run:
    """What a process has said."""

    code: int
    answers: dict[str, list[Answer]]  # by key
    steps: list[str]
    died: str  # the step at which it did; empty if it did not

    def answer(self) -> Answer:
        """That of the one operation it made."""
        assert self.code == 0, self
        [[answer]] = self.answers.values()
        return answer


def said_of(code: int, text: str) -> Run:
    run = Run(code, collections.defaultdict(list), [], "")
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "step":
            run.steps.append(rest)
        elif word == "died":
            run.died = rest
        elif word != "paused":
            how, _, result = rest.partition(" ")
            run.answers[word].append(Answer(how, result))
    return run


class Process:
    """One under way."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        assert popen.stdin is not None and popen.stdout is not None
        self._popen, self._in, self._out = popen, popen.stdin, popen.stdout
        self._said: list[str] = []

    def hear(self, lines: int) -> list[str]:
        """The next lines that it says."""
        heard = [self._out.readline() for _ in range(lines)]
        self._said += heard
        return heard

    def go(self) -> None:
        """Where it has paused."""
        self._in.write("go\n")
        self._in.flush()

    def kill(self) -> None:
        self._popen.kill()

    def end(self) -> Run:
        """All that it has said, when it has ended."""
        text = "".join(self._said) + self._out.read()
        return said_of(self._popen.wait(), text)


class Arena:
    def __init__(self, folder: Path, program: str = "crashing_executor") -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self._program = folder, program
        self.log = folder / "audit.jsonl"

    def command(self, **words: object) -> list[str]:
        given = [f"{name}={value}" for name, value in words.items()]
        return [str(tree.build_folder() / self._program), f"folder={self.folder}", *given]

    def run(self, **words: object) -> Run:
        """Runs one to its end. Whatever it was told to do, nothing but SIGKILL ends it badly."""
        done = subprocess.run(
            self.command(**words), capture_output=True, text=True, timeout=RUN_SECONDS
        )
        assert done.returncode in (0, -signal.SIGKILL), (words, done)
        assert done.stderr == "", (words, done)
        return said_of(done.returncode, done.stdout)

    @contextlib.contextmanager
    def started(self, **words: object) -> Iterator[Process]:
        """One under way; killed if it still is at the end, or after a long time."""
        with subprocess.Popen(
            self.command(**words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as popen:
            watchdog = threading.Timer(RUN_SECONDS, popen.kill)
            watchdog.start()
            try:
                yield Process(popen)
            finally:
                watchdog.cancel()
                popen.kill()

    def lines(self, name: str) -> dict[str, list[str]]:
        """Results by key, in order; a line that a kill has cut does not end with a full stop."""
        found = collections.defaultdict(list)
        with contextlib.suppress(FileNotFoundError):
            for line in (self.folder / name).read_text().splitlines():
                key, _, rest = line.partition(" ")
                result, _, end = rest.rpartition(" ")
                if end == ".":
                    found[key].append(result)
        return found

    def ledger(self) -> dict[str, list[str]]:
        return self.lines("ledger")

    def acknowledged(self) -> dict[str, list[str]]:
        return self.lines("acknowledged")

    def check_log(self, pawl: Path) -> None:
        """The log of it all is whole, and every decision in it comes out again; and replay would
        have noticed had it been another."""
        verified = pawl_says(pawl, "audit", "verify", self.log)
        assert verified.returncode == 0, verified
        replayed = pawl_says(pawl, "replay", self.log, "--json")
        assert replayed.returncode == 0, replayed
        counted = json.loads(replayed.stdout)
        assert counted["replayed"] > 0, counted
        assert (counted["difference"], counted["unreadable"]) == (None, 0), counted
        assert counted["not_replayable"] == {}, counted
        for place in ("delay_seconds", "delay_ns"):
            edited = self.folder / "edited.jsonl"
            edited.write_text(with_one_edited(self.log.read_text(), place))
            assert pawl_says(pawl, "replay", edited).returncode == 3, place

    def go_on_with_all(self, **words: object) -> list[str]:
        """Others make the same operations to the end, as `words` say. How each key was answered,
        and that this keeps to all that was told before."""
        acknowledged, before = self.acknowledged(), self.ledger()
        first, second = (self.run(**words) for _ in range(2))
        ledger = self.ledger()
        told = []
        for key in first.answers:
            [answer], [again] = first.answers[key], second.answers[key]
            where = f"{key} of {words}: {answer}, then {again}"
            assert len(ledger[key]) <= 1, f"an effect was made twice: {where}"
            if acknowledged[key]:
                lasting = Answer("replayed", acknowledged[key][0])
                assert answer == lasting, f"a result got lost: {where}, not {lasting}"
            if answer.how == "unresolved":
                assert words.get("reconcile") == "no" and again == answer, where
                assert ledger[key] == before[key], f"sent again, though nobody knew: {where}"
            else:
                assert answer.how in ("done", "replayed"), where
                assert ledger[key] == [answer.result], f"a result that nobody made: {where}"
                assert again == Answer("replayed", answer.result), where
            told.append(answer.how)
        return told


class Key:
    """One key, at which processes or servers die; then others go on with it."""

    def __init__(self, place: Arena, reconcile: bool, **words: object) -> None:
        self.place, self.reconcile = place, reconcile
        self.words = words if reconcile else {**words, "reconcile": "no"}

    def made(self) -> list[str]:
        return self.place.ledger()[str(self.words["key"])]

    def go_on(self) -> str:
        """How the next one is answered."""
        [how] = self.place.go_on_with_all(**self.words)
        return how


def pawl_says(pawl: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [pawl, *map(str, words)], capture_output=True, text=True, timeout=RUN_SECONDS
    )


def with_one_edited(log: str, place: str) -> str:
    """The same log, but for one delay of a retry."""
    retry = log.index('"event_type":"retry_attempt"')
    line = log.rindex("\n", 0, retry) + 1 if "\n" in log[:retry] else 0
    digit = re.compile(rf'"{place}":"?[0-9.]*([1-9])').search(log, line)
    assert digit is not None
    return log[: digit.start(1)] + str(int(digit[1]) % 9 + 1) + log[digit.end(1) :]
