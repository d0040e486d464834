"""The queue beside BullMQ and pg-boss, and what it costs on S3 and in memory. How it is measured
stands in docs/performance.md.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import plots
import queue_loads
import rounds
from programs import ROOT, BenchError, Steps, run, versions
from queue_loads import Figures, Load, Redis, loaders, pawl
from services import running
from tables import BYTES, MS, RATE, Row, Unit

SYNCED, UNSYNCED, PG_BOSS = "BullMQ, synced", "BullMQ, not synced", "pg-boss"
TIMES_A_PEER = {SYNCED: 3.0, PG_BOSS: 5.0, UNSYNCED: 1.0}
PLOT = ROOT / "docs" / "queue-requests.svg"
RATES = (10, 100, 1_000)  # tasks a second on S3
S3_WORKERS = 2  # processes that work there; one more submits
S3_CONCURRENCY = 64  # of each
S3_SUBMITTERS = 256  # so many wait for answers at the most
FILL_COMMITS = 2_500

PUTS = Unit("PUT", 3, False)
GETS = Unit("GET", 3, False)
LISTS = Unit("LIST", 4, False)
IDLE_GETS = Unit("GET", 0, False)
COMMITS = Unit("commits", 2, False)
SECONDS = Unit("s", 2, False)
MANY = Unit("× requests", 1, False)


@dataclass(frozen=True)
class Effort:
    rounds: int
    tasks: int  # of a load
    paced_seconds: int  # of a load with a rate
    latency_tasks: int
    pending: int  # of the full queue
    idle_seconds: int  # at the least
    settle_seconds: int  # before them


FULL = Effort(rounds=3, tasks=20_000, paced_seconds=15, latency_tasks=100, pending=1_000_000,
              idle_seconds=120, settle_seconds=10)  # fmt: skip
QUICK = Effort(rounds=1, tasks=500, paced_seconds=1, latency_tasks=5, pending=2_000,
               idle_seconds=1, settle_seconds=0)  # fmt: skip


def loads(effort: Effort) -> tuple[Load, ...]:
    alone = Load("one by one", effort.tasks, submitters=64, batch=1, concurrency=64)
    batches = Load("in batches", effort.tasks, submitters=4, batch=250, concurrency=64)
    return (
        alone,
        batches,
        replace(alone, name="one by one, 4 processes", processes=4),
        replace(batches, name="in batches, 4 processes", processes=4),
    )


class OnDisk:
    """Loads of pawl in a folder and of its peers; and a queue that is full."""

    def __init__(self, effort: Effort, variables: Mapping[str, str], folder: Path) -> None:
        self._effort, self._folder = effort, folder
        self._redis = Redis(variables["PAWL_TEST_REDIS"])
        self._postgres = variables["PAWL_TEST_POSTGRES"]
        self._full = f"dir:{folder / 'full'}"

    def steps(self) -> Steps:
        steps: Steps = {}
        for load in loads(self._effort):
            for who in ("pawl", *TIMES_A_PEER):
                name = f"{who}, {load.name}"
                steps[name] = lambda name=name, who=who, load=load: {name: self._rate(who, load)}
        return {**steps, "start, disk": self._start, "open": self._open}

    def fill(self) -> Figures:
        """Once: in commits so small that there are snapshots, and some commits behind the last."""
        batch = max(1, self._effort.pending // FILL_COMMITS)
        told = queue_loads.alone(pawl("fill", self._full, tasks=self._effort.pending, batch=batch))
        return {"slowest": told["slowest"] * 1e3, "usual": told["usual"] * 1e3}

    def _rate(self, who: str, load: Load) -> float:
        if who == "pawl":
            with self._new_folder() as url:
                return queue_loads.rate(queue_loads.pawl_load(url, load))
        if who == PG_BOSS:
            queue_loads.new_pg_boss(self._postgres)
            return queue_loads.rate(queue_loads.peer_load("pg-boss", self._postgres, load))
        self._redis.emptied(synced=who == SYNCED)
        return queue_loads.rate(queue_loads.peer_load("bullmq", self._redis.url, load))

    def _start(self) -> Figures:
        with self._new_folder() as url:
            return {"start, disk": start_of(url, self._effort)}

    def _open(self) -> Figures:
        told = queue_loads.alone(pawl("open", self._full))
        if told["pending"] != self._effort.pending:
            raise BenchError(f"the full queue has {told['pending']:,.0f} tasks")
        return {"open": told["seconds"], "bytes a task": told["bytes_a_task"]}

    @contextlib.contextmanager
    def _new_folder(self) -> Iterator[str]:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            yield f"dir:{folder}/queue"


class OnS3:
    """What pawl asks of the store: at several rates, and when there is nothing to do."""

    def __init__(self, effort: Effort, variables: Mapping[str, str]) -> None:
        self._effort = effort
        where = f"{variables['PAWL_TEST_S3_BUCKET']}/{{}}"
        self._url = f"s3://{where}?endpoint={variables['PAWL_TEST_S3']}&region=us-east-1"
        self._keys = {name: variables[name] for name in variables if name.startswith("AWS_")}

    def steps(self) -> Steps:
        steps: Steps = {"start, S3": self._start}
        for rate in RATES:
            steps[f"requests at {rate}"] = lambda rate=rate: self._requests(rate)
        return steps

    @contextlib.contextmanager
    def idle(self, figures: Figures) -> Iterator[None]:
        """A worker with nothing to do for the length of the block; requests an hour."""
        settle = self._effort.settle_seconds
        idle = pawl("idle", self._new_url(), settle=settle)
        with loaders([idle], self._keys) as (loader,):
            began = time.monotonic()
            yield
            left = self._effort.idle_seconds + settle - (time.monotonic() - began)
            time.sleep(max(0.0, left))
            loader.say("stop")
            told = loader.told()
        requests = told["gets"] + told["puts"] + told["lists"]
        figures["idle"] = requests / told["seconds"] * 3600

    def _start(self) -> Figures:
        return {"start, S3": start_of(self._new_url(), self._effort, self._keys)}

    def _requests(self, rate: int) -> Figures:
        """One process submits at that rate, and others work."""
        tasks, url = rate * self._effort.paced_seconds, self._new_url()
        submits = pawl("submit", url, tasks=tasks, rate=rate, submitters=S3_SUBMITTERS)
        works = pawl("work", url, tasks=0, expect=tasks, concurrency=S3_CONCURRENCY)
        told = queue_loads.through([submits, *[works] * S3_WORKERS], self._keys, tasks)
        submitter, *workers = told
        name, puts = f"requests at {rate}", sum(one["puts"] for one in told)
        return {
            name: puts + sum(one["gets"] + one["lists"] for one in told),
            f"{name} puts": puts / tasks,
            f"{name} gets": sum(one["gets"] for one in workers) / tasks / len(workers),
            f"{name} lists": sum(one["lists"] for one in told) / tasks,
            f"{name} rate": tasks / (submitter["submitted"] - submitter["began"]),
        }

    def _new_url(self) -> str:
        return self._url.format(uuid.uuid4().hex)


def start_of(url: str, effort: Effort, keys: Mapping[str, str] | None = None) -> float:
    """From a task that may be claimed to its handler's start, in commits."""
    told = queue_loads.alone(pawl("latency", url, tasks=effort.latency_tasks), keys=keys)
    return told["start"] / told["commit"]


def rows(effort: Effort) -> tuple[Row, ...]:
    judged = [
        Row(load.name, RATE, f"pawl, {load.name}", peer, f"{peer}, {load.name}", times,
            target_is_ratio=True)
        for load in loads(effort)
        for peer, times in TIMES_A_PEER.items()
    ]  # fmt: skip
    most = f"requests at {RATES[-1]}"
    return (
        *judged,
        Row("S3, 1,000 tasks/s: PUT a task", PUTS, f"{most} puts", target=0.05),
        Row("S3, 1,000 tasks/s: GET a task a worker", GETS, f"{most} gets", target=0.2),
        Row("S3, 1,000 tasks/s: LIST a task", LISTS, f"{most} lists", target=0),
        Row("S3, 10 times the tasks", MANY, "10 times", target=10),
        Row("S3, 100 times the tasks", MANY, "100 times", target=100),
        Row("S3, idle worker, an hour", IDLE_GETS, "idle", target=1_000),
        Row("claim to start, S3", COMMITS, "start, S3", target=2),
        Row("claim to start, disk", COMMITS, "start, disk", target=2),
        Row("a million pending: open", SECONDS, "open", target=2),
        Row("a million pending: memory a task", BYTES, "bytes a task", target=400),
        Row("a million pending: slowest commit on the way", MS, "slowest"),
    )


def plot(figures: Mapping[str, float], effort: Effort) -> str:
    tasks = [rate * effort.paced_seconds for rate in RATES]
    measured = [figures[f"requests at {rate}"] for rate in RATES]
    straight = [measured[0] * count / tasks[0] for count in tasks]
    return plots.log_log(
        f"Requests to S3 for so many tasks, each in {effort.paced_seconds} s",
        ("tasks", "requests"),
        {"pawl": [*zip(tasks, measured)], "as many times as tasks": [*zip(tasks, straight)]},
    )


def measure(effort: Effort, say: Callable[[str], None]) -> Figures:
    """What needs a server that others would be disturbed by has it to itself."""
    figures: Figures = {"load": os.getloadavg()[0]}
    with (
        running(("redis", "postgres")) as variables,
        tempfile.TemporaryDirectory(prefix="pawl-queue-") as folder,
    ):
        on_disk = OnDisk(effort, variables, Path(folder))
        figures |= on_disk.fill()
        figures |= rounds.measure(on_disk.steps(), effort.rounds, say)
    with running(("s3",)) as variables:
        on_s3 = OnS3(effort, variables)
        with on_s3.idle(figures):
            figures |= rounds.measure(on_s3.steps(), effort.rounds, say)
    least = figures[f"requests at {RATES[0]}"]
    for rate in RATES[1:]:
        figures[f"{rate // RATES[0]} times"] = figures[f"requests at {rate}"] / least
    return figures


def origin(figures: Mapping[str, float]) -> str:
    return f"Load average when the run began: {figures['load']:.1f}."


def made_with() -> tuple[str, ...]:
    redis = re.search(r"v=(\S+)", run(("redis-server", "--version")))
    postgres = run(("psql", "--version")).split()[2]
    ceph = run(("radosgw", "--version")).split()[2]
    return (
        f"Redis {redis[1] if redis else ''}",
        f"PostgreSQL {postgres}",
        f"Ceph radosgw {ceph}",
        *versions("bullmq", "pg-boss", "ioredis"),
    )
