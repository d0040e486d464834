"""The queues that tools/compare measures, and the processes that load them: pawl's
(bench/queue_load_main.cc) and its peers' (bench/peers/queue_load.js).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from programs import BUILD, INSTALLED, PEERS, BenchError, run

START_SECONDS = 60.0
LOAD_SECONDS = 180.0
STOP_SECONDS = 120.0

PEER = PEERS / "queue_load.js"
PACKAGES = {"NODE_PATH": str(INSTALLED / "node_modules")}

Figures = dict[str, float]


@dataclasses.dataclass(frozen=True)
class Load:
    """Empty tasks; the same for everybody. All processes together have so many of each."""

    name: str
    tasks: int
    submitters: int
    batch: int
    concurrency: int
    processes: int = 1  # 1: submits and works; else half of them submit, and half work

    def roles(self) -> Iterator[tuple[str, Load]]:
        """What each process does."""
        if self.processes == 1:
            yield "both", self
            return
        half = self.processes // 2
        part = dataclasses.replace(
            self, tasks=self.tasks // half, submitters=self.submitters // half,
            concurrency=self.concurrency // half,
        )  # fmt: skip
        yield from [("submit", part)] * half
        yield from [("work", part)] * half


class Loader:
    """A process that says `ready`, begins when it is told to, ends so, and tells what it did."""

    def __init__(self, command: Sequence[object], variables: Mapping[str, str]) -> None:
        self.words = [*map(str, command)]
        try:
            self._process = subprocess.Popen(
                self.words, env={**os.environ, **variables}, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise BenchError(f"{self.words[0]} is not there: run `make setup build`") from error
        self.completed = 0
        self.is_done = False
        self._ready = threading.Event()
        self._told = ""
        self._errors = ""
        self._threads = [
            threading.Thread(target=self._hear, daemon=True),
            threading.Thread(target=self._hear_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "completed":
                self.completed = int(rest)
            elif word == "ready":
                self._ready.set()
            elif word == "done":
                self.is_done = True
            else:
                self._told = line
        self._ready.set()

    def _hear_errors(self) -> None:
        assert self._process.stderr is not None
        self._errors = self._process.stderr.read()

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which shows elsewhere
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def wait_until_ready(self) -> None:
        if not self._ready.wait(START_SECONDS):
            raise BenchError(f"{' '.join(self.words)} did not begin in {START_SECONDS:.0f} s")

    def is_over(self) -> bool:
        return self._process.poll() is not None

    def told(self) -> Figures:
        """Once it was told to stop, or is through by itself."""
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{' '.join(self.words)} did not end") from error
        for thread in self._threads:
            thread.join()
        if code != 0 or not self._told:
            raise BenchError(f"{' '.join(self.words)} ended with {code}:\n{self._errors}")
        return {name: float(value) for name, value in json.loads(self._told).items()}

    def failure(self) -> str:
        """What it said before it ended by itself."""
        if not self.is_over():
            return ""
        for thread in self._threads:
            thread.join()
        return f"{' '.join(self.words)}: {self._errors}\n"

    def kill(self) -> None:
        if not self.is_over():
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()


@contextlib.contextmanager
def loaders(
    commands: Sequence[Sequence[object]], variables: Mapping[str, str] | None = None
) -> Iterator[list[Loader]]:
    """They have begun, all at the same time."""
    started: list[Loader] = []
    try:
        for command in commands:
            started.append(Loader(command, variables or {}))
        for loader in started:
            loader.wait_until_ready()
        for loader in started:
            loader.say("go")
        yield started
    finally:
        for loader in started:
            loader.kill()


def through(
    commands: Sequence[Sequence[object]], variables: Mapping[str, str], tasks: int
) -> list[Figures]:
    """What each told once all tasks were completed."""
    with loaders(commands, variables) as started:
        end = time.monotonic() + LOAD_SECONDS
        while not any(one.is_done for one in started):
            if sum(one.completed for one in started) >= tasks:
                break
            if any(one.is_over() for one in started) or time.monotonic() > end:
                done = sum(one.completed for one in started)
                failed = "".join(one.failure() for one in started)
                raise BenchError(f"{done:,} of {tasks:,} tasks were completed. {failed}")
            time.sleep(0.01)
        for loader in started:
            loader.say("stop")
        return [loader.told() for loader in started]


def alone(command: Sequence[object], keys: Mapping[str, str] | None = None) -> Figures:
    """What a process told that is through by itself."""
    with loaders([command], keys) as (loader,):
        return loader.told()


def rate(told: Sequence[Figures]) -> float:
    """Tasks a second, from the first submission to the last completion on record."""
    began = min(one["began"] for one in told)
    ended = max(one.get("ended", 0.0) for one in told)
    return sum(one["completed"] for one in told) / (ended - began)


def pawl(role: str, url: str, **numbers: int) -> list[object]:
    words = (f"{name}={value}" for name, value in numbers.items())
    return [BUILD / "queue_load", role, url, *words]


def pawl_load(url: str, load: Load) -> list[Figures]:
    commands = [
        pawl(role, url, tasks=part.tasks, expect=load.tasks, submitters=part.submitters,
             batch=part.batch, concurrency=part.concurrency)
        for role, part in load.roles()
    ]  # fmt: skip
    return through(commands, {}, load.tasks)


def peer_load(kind: str, url: str, load: Load) -> list[Figures]:
    commands = [
        ["node", PEER, kind, role, url, part.tasks, part.submitters, part.batch, part.concurrency]
        for role, part in load.roles()
    ]
    return through(commands, PACKAGES, load.tasks)


class Redis:
    """Empty, with every write synced or with none."""

    def __init__(self, url: str) -> None:
        self.url = url
        address = urlsplit(url)
        self._cli = ("redis-cli", "-h", address.hostname, "-p", address.port)

    def emptied(self, synced: bool) -> None:
        run((*self._cli, "FLUSHALL"))
        run((*self._cli, "CONFIG", "SET", "appendonly", "yes" if synced else "no"))
        end = time.monotonic() + STOP_SECONDS
        while not self._is_settled(synced):
            if time.monotonic() > end:
                raise BenchError("Redis does not begin its append-only file")
            time.sleep(0.05)

    def _is_settled(self, synced: bool) -> bool:
        told = run((*self._cli, "INFO", "persistence")).split()
        policy = run((*self._cli, "CONFIG", "GET", "appendfsync")).split()[-1]
        if synced and policy != "always":
            raise BenchError(f"Redis syncs '{policy}', not always")
        return f"aof_enabled:{int(synced)}" in told and "aof_rewrite_in_progress:0" in told


def new_pg_boss(url: str) -> None:
    """Its tables, empty."""
    if run(("psql", "-qAt", url, "-c", "SHOW fsync")).strip() != "on":
        raise BenchError("PostgreSQL does not sync")
    run(("psql", "-q", url, "-c", "DROP SCHEMA IF EXISTS pgboss CASCADE"))
    run(("node", PEER, "pg-boss", "make", url), PACKAGES)
