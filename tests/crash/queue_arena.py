"""A queue whose processes may be killed at any moment, and what outside witnesses saw of it.

A place is where the queue is: a folder, an S3, or brokers before a folder. Whoever works on it
leaves a file for each execution, named by task and fence, when it begins and when it is done; what
`pawl submit` has acknowledged goes to files too, since a pipe could lose what a killed one said.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "services"))

import emulation  # noqa: E402
import owned  # noqa: E402
import stack  # noqa: E402

TIME_LIMIT_SECONDS = 120.0
TOKEN = "correct-horse-battery"
BATCH = 3

# Leaves its witnesses, and completes with its fence. One that worked by a fence already is told on.
HANDLER = (
    'at="$PAWL_TASK_ID.$PAWL_FENCE"; set -C;'
    ' true > "begun/$at" || { echo "$at" >> twice; exit 65; };'
    ' sleep 0.0$((PAWL_FENCE % 5)); true > "done/$at"; echo "$PAWL_FENCE"'
)


class Place:
    """Where the queue is, and what else stands there that may be killed."""

    def __init__(self, url: str, env: dict[str, str] | None = None, store: str = "") -> None:
        self.url, self.env = url, env or {}
        self.store = store or url  # without a broker

    def ready(self) -> None:
        """The queue was made: from now on there may be trouble."""

    def strike(self, dice: random.Random) -> int:
        """Kills something that is not a worker, or nothing; how many brokers that were."""
        return 0

    def at_peace(self) -> None:
        """No more trouble."""

    def worker_is_there(self) -> None:
        """The last worker has begun."""


class FaultyS3(Place):
    """An emulated S3 that loses answers, throttles and breaks off, and is killed itself."""

    RATES = {
        "drop_before_accept": 0.02,
        "drop_after_accept": 0.02,
        "half_answer": 0.01,
        "html_503_after_accept": 0.02,
        "error_before": {"rate": 0.02, "code": "SlowDown"},
        "error_after": {"rate": 0.02, "code": "InternalError"},
    }

    def __init__(self, s3: emulation.Emulator) -> None:
        keys = {"AWS_ACCESS_KEY_ID": "emulated-key", "AWS_SECRET_ACCESS_KEY": "emulated-secret"}
        super().__init__(f"s3://pawl/queue?endpoint={s3.url}&region=us-east-1", keys)
        self.s3 = s3

    def ready(self) -> None:
        self.s3.faults({"seed": 5, "rates": self.RATES, "calls": ["*"]})

    def strike(self, dice: random.Random) -> int:
        if dice.random() < 0.9:
            return 0
        self.s3.restart(signal.SIGKILL)
        self.ready()
        return 0

    def at_peace(self) -> None:
        self.s3.faults({})


class Broker:
    """`pawl serve` before a folder, at a port of its own."""

    def __init__(self, pawl: Path, folder: Path, queue: Path) -> None:
        folder.mkdir()
        self.pawl, self.folder, self.port = pawl, folder, owned.free_port()
        self.config = stack.write_config(
            folder,
            owned.free_port(),  # nobody asks the upstream
            admin_listen=f"127.0.0.1:{self.port}",
            token=TOKEN,
            more=f'queue: {{ url: "dir:{queue}" }}',
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.pawl, "serve", "--config", self.config],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PAWL_ADMIN_TOKEN": ""},
            )

    def answers(self) -> bool:
        assert self.process and self.process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self) -> int:
        """How many were killed: one, unless it was dead already."""
        if self.process is None:
            return 0
        self.process.kill()
        self.process.wait()
        self.process = None
        return 1


class Brokers(Place):
    """Two of them; now and then one is away, and now and then both are."""

    def __init__(self, pawl: Path, folder: Path) -> None:
        queue = folder / "queue"
        self.brokers = [Broker(pawl, folder / name, queue) for name in ("one", "two")]
        hosts = ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers)
        store = f"dir:{queue}"
        super().__init__(f"http://{hosts}?store={store}", {"PAWL_ADMIN_TOKEN": TOKEN}, store)

    def strike(self, dice: random.Random) -> int:
        broker = dice.choice(self.brokers)
        if broker.process is None:
            broker.start()
            return 0
        return broker.kill() if dice.random() < 0.3 else 0

    def at_peace(self) -> None:
        for broker in self.brokers:
            if broker.process is None:
                broker.start()
            stack.wait_for(broker.answers, "a broker")

    def worker_is_there(self) -> None:
        """And has to get on without any."""
        for broker in self.brokers:
            broker.kill()


def bucket(services: dict[str, str], folder: Path) -> Place:
    """Of the real S3."""
    keys = {name: services[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    where = f"{services['PAWL_TEST_S3_BUCKET']}/crash/{folder.name}-{time.time_ns()}"
    return Place(f"s3://{where}?endpoint={services['PAWL_TEST_S3']}&region=us-east-1", keys)


@contextlib.contextmanager
def faulty_s3(pawl: Path, folder: Path) -> Iterator[FaultyS3]:
    with emulation.emulator(pawl, "s3", folder) as s3:
        yield FaultyS3(s3)


@contextlib.contextmanager
def brokers(pawl: Path, folder: Path) -> Iterator[Brokers]:
    place = Brokers(pawl, folder)
    try:
        yield place
    finally:
        for broker in place.brokers:
            broker.kill()


class Arena:
    """A folder with a queue's configuration, the processes on it, and their witnesses."""

    def __init__(self, pawl: Path, folder: Path, place: Place) -> None:
        folder.mkdir(exist_ok=True)
        self.pawl, self.folder, self.place = pawl, folder, place
        self.env = {**os.environ, **place.env}
        for name, url in (("pawl", place.url), ("store", place.store)):
            (folder / f"{name}.yaml").write_text(f'queue:\n  url: "{url}"\n')
        (folder / "many").write_text("\n".join(str(i) for i in range(BATCH)))
        for name in ("begun", "done"):
            (folder / name).mkdir()
        self.said: list[Path] = []

    def start(self, *words: str, out: object = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        with (self.folder / "errors").open("ab") as errors:
            return subprocess.Popen(
                [self.pawl, *words],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,  # type: ignore[arg-type]
                stderr=errors,
            )

    def work(self, lease: str = "700ms") -> subprocess.Popen[bytes]:
        words = ("work", "-t", "t", "--exec", HANDLER, "--concurrency", "2", "--lease", lease)
        return self.start(*words)

    def submit(self) -> subprocess.Popen[bytes]:
        self.said.append(self.folder / f"said.{len(self.said)}")
        # Killed workers cost retries that are not the task's fault.
        words = ("submit", "-t", "t", "--many", "many", "--max-retries", "100000")
        delays = ("--base-delay", "1ms", "--max-delay", "5ms")
        with self.said[-1].open("wb") as out:
            return self.start(*words, *delays, out=out)

    def run(self, *words: str) -> str:
        """By way of the store."""
        done = subprocess.run(
            [self.pawl, *words, "--config", "store.yaml"],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
        )
        assert done.returncode == 0, (words, done)
        return done.stdout

    def acknowledged(self) -> set[str]:
        """A line that a kill has cut is no acknowledgement."""
        lines: set[str] = set()
        for file in self.said:
            text = file.read_text(encoding="ascii")
            lines.update(text[: text.rfind("\n") + 1].splitlines())
        return lines

    def tasks(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        after: list[str] = []
        while True:
            page = json.loads(self.run("list", "--json", "--limit", "1000", *after))["tasks"]
            found.update((task["id"], task) for task in page)
            if len(page) < 1000:
                return found
            after = ["--after", page[-1]["id"]]

    def witnessed(self, folder: str) -> dict[str, set[int]]:
        """The fences by which each task was begun, or done."""
        found: dict[str, set[int]] = {}
        for file in (self.folder / folder).iterdir():
            id_, _, fence = file.name.partition(".")
            found.setdefault(id_, set()).add(int(fence))
        return found

    def wait_for_an_execution(self) -> None:
        """A new one; not for long, since there may be nothing to do."""
        seen, deadline = len(list((self.folder / "begun").iterdir())), time.monotonic() + 0.2
        while len(list((self.folder / "begun").iterdir())) == seen:
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)

    def left(self) -> bool:
        """Whether a task is not over: by one look, as between two of them one that runs may be
        pending again."""
        depths = json.loads(self.run("stats", "--json"))["types"]
        return any(depth["pending"] + depth["running"] > 0 for depth in depths)

    def finish(self) -> None:
        """One worker, left in peace (at_peace() was called), until every task is over."""
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        with self.work() as worker:
            while not self.worked_on_since(worker):
                assert time.monotonic() < deadline, "the last worker got nothing"
                time.sleep(0.05)
            self.place.worker_is_there()
            while self.left():
                assert worker.poll() is None, (self.folder / "errors").read_text()
                assert time.monotonic() < deadline, self.run("stats")
                time.sleep(0.1)
            worker.terminate()
            worker.wait(TIME_LIMIT_SECONDS)

    def worked_on_since(self, worker: subprocess.Popen[bytes]) -> bool:
        """Whether the worker has completed something, or there is nothing left to be done."""
        assert worker.poll() is None, (self.folder / "errors").read_text()
        if not self.left():
            return True
        me = f"-{worker.pid}"
        return any(str(task["worker_id"] or "").endswith(me) for task in self.tasks().values())

    def check(self) -> int:
        """Everything acknowledged is there, and every task was completed once, by a fence whose
        work was seen to be done, and which was the last one. How many were claimed again."""
        tasks = self.tasks()
        lost = self.acknowledged() - tasks.keys()
        assert not lost, f"{len(lost)} tasks were acknowledged and are lost"
        twice = self.folder / "twice"
        assert not twice.exists(), f"two worked by one fence: {twice.read_text()}"
        begun, done = self.witnessed("begun"), self.witnessed("done")
        again = 0
        for id_, task in tasks.items():
            assert task["status"] == "completed", task
            fence = int(str(task["output"]))
            assert fence in done[id_], f"completed by a fence that nobody worked by: {task}"
            assert fence == max(begun[id_]), f"worked on after its end: {task}, {begun[id_]}"
            assert len(begun[id_]) <= int(str(task["attempt"])), (task, begun[id_])
            if task["attempt"] != 1:  # the others cannot have ended twice
                again += 1
                lines = self.run("history", id_).splitlines()
                ends = [line for line in lines if "completed" in line]
                assert ends == [lines[-1]], lines
        return again
