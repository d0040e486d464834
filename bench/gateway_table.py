"""The gateway beside others: nginx limit_req and HAProxy stick-tables as proxies, NestJS and
express as services that limit by themselves; and its writes with keys. How it is measured stands in
docs/performance.md.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from programs import BenchError, Steps, run, versions
from proxies import (
    AUDIT_BYTES,
    MEMORY_FOLDER,
    TENANT,
    Load,
    Server,
    Setup,
    bytes_a_tenant,
    confine,
    load,
    serving,
    upstream,
)
from services import running
from tables import BYTES, MS, RATE, US, Row, Unit, aligned

PROXIES = ("nginx", "HAProxy")
SERVICES = ("NestJS", "express")
CONNECTIONS = (64, 1, 256)
STORES = ("memory", "SQLite", "Redis")
WRITES_WANTED = {"SQLite": 5_000, "Redis": 20_000}
TIMES_A_SERVICE = 15
BYTES_A_TENANT = 128

# pawl with its audit log on the disk, as it comes, and in memory, which is the cheapest sink.
PAWLS = {"disk": "pawl", "memory": "pawl, audit in memory"}


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: int  # of a load with 64 connections
    less: int  # of any other
    warm: int  # before the first, not counted
    tenants: int  # of a load of which every request is another tenant's


FULL = Effort(rounds=3, seconds=3, less=2, warm=1, tenants=25)
QUICK = Effort(rounds=1, seconds=1, less=1, warm=0, tenants=1)


class Gateway:
    """The steps of a round: one start of one server each."""

    def __init__(self, effort: Effort, upstream_port: int, redis: str) -> None:
        self._effort, self._upstream, self._redis = effort, upstream_port, redis

    def steps(self, pawls: Sequence[str]) -> Steps:
        proxies = [*PROXIES, *pawls]
        return {
            **{name: lambda name=name: self._passed(name) for name in proxies},
            **{f"{name} refused": lambda name=name: self._refused(name) for name in proxies},
            **{name: lambda name=name: self._service(name) for name in SERVICES},
            f"{pawls[0]} tenants": lambda: self._tenants(pawls[0]),
            **{
                f"{own} writes to {store}": lambda own=own, store=store: self._writes(own, store)
                for store in STORES
                for own in pawls
            },
        }

    def _setup(self, name: str) -> Setup:
        kind = "pawl" if name in PAWLS.values() else name
        return Setup(kind, upstream=self._upstream, audit_in_memory=name == PAWLS["memory"])

    def _passed(self, name: str) -> dict[str, float]:
        with serving(self._setup(name)) as server:
            return self._loads(name, server, [self._load(number) for number in CONNECTIONS])

    def _refused(self, name: str) -> dict[str, float]:
        with serving(replace(self._setup(name), refuses=True)) as server:
            return self._loads(f"{name} refused", server, [replace(self._load(64), refused=True)])

    def _service(self, name: str) -> dict[str, float]:
        with serving(self._setup(name)) as server:
            figures = self._loads(name, server, [self._load(64)])
            if name == "express":
                figures |= self._loads("express writes to memory", server, [self._write_load()])
            return figures

    def _tenants(self, name: str) -> dict[str, float]:
        with serving(self._setup(name)) as server:
            return {f"{name} tenants": bytes_a_tenant(server, self._effort.tenants)}

    def _writes(self, name: str, store: str) -> dict[str, float]:
        with serving(replace(self._setup(name), idempotency=self._idempotency(store))) as server:
            if not replays(server):
                raise BenchError(f"{name} gives no answer again from {store}")
            return self._loads(f"{name} writes to {store}", server, [self._write_load()])

    def _idempotency(self, store: str) -> str:
        """A store that fails would be seen: its writes are refused. What is kept in memory has a
        bound that a run would reach, so it is kept for a second.
        """
        where = {
            "memory": "store: memory, durability: none, ttl: 1s",
            "SQLite": "store: sqlite:data/pawl.db, durability: fsync",
            "Redis": f"store: {self._redis}, durability: none, store_deadline: 2s",
        }[store]
        return f"{{ {where}, on_store_failure: reject }}"

    def _load(self, connections: int) -> Load:
        seconds = self._effort.seconds if connections == 64 else self._effort.less
        return Load(connections, seconds)

    def _write_load(self) -> Load:
        return replace(self._load(64), writes=True)

    def _loads(self, name: str, server: Server, loads: Sequence[Load]) -> dict[str, float]:
        if self._effort.warm:
            load(server, replace(loads[0], seconds=self._effort.warm))
        figures: dict[str, float] = {}
        for one in loads:
            figures |= load(server, one).figures(f"{name} {one.connections}")
        return {name: figures[f"{name} 64 rate"], **figures}


def replays(server: Server) -> bool:
    key = uuid.uuid4().hex
    return [exchange(server, "POST", key) for _ in range(2)] == [(200, False), (200, True)]


def exchange(server: Server, method: str, key: str) -> tuple[int, bool]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    headers = {"X-Tenant-Id": TENANT, **({"Idempotency-Key": key} if key else {})}
    try:
        connection.request(method, "/", b"hello" if method == "POST" else None, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("Idempotent-Replayed") == "true"
    finally:
        connection.close()


def rows(pawls: Sequence[str]) -> tuple[Row, ...]:
    """Each figure of pawl's beside a peer's; targets as ratios: 1/0.85, 1/0.5, 1/0.9."""
    judged = []
    for own in pawls:
        for peer in PROXIES:
            for what, unit, part, target in (
                ("CPU", US, "cpu", 1 / 0.85),
                ("user CPU", US, "user", 2.0),
                ("requests", RATE, "rate", 1.0),
                ("p99", MS, "p99", 1.0),
            ):
                figures = (f"{own} 64 {part}", peer, f"{peer} 64 {part}")
                judged.append(row(f"{own}: {what}", unit, figures, target))
            figures = (f"{own} refused 64 cpu", peer, f"{peer} refused 64 cpu")
            judged.append(row(f"{own}: CPU of a refusal", US, figures, 1 / 0.9))
        for peer in SERVICES:
            figures = (f"{own} 64 rate", peer, f"{peer} 64 rate")
            judged.append(row(f"{own}: requests", RATE, figures, TIMES_A_SERVICE))
        figures = (f"{own} writes to memory 64 rate", "express", "express writes to memory 64 rate")
        judged.append(row(f"{own}: writes, memory", RATE, figures, TIMES_A_SERVICE))
        for store, wanted in WRITES_WANTED.items():
            figure = f"{own} writes to {store} 64 rate"
            judged.append(Row(f"{own}: writes, {store}", RATE, figure, target=wanted))
    memory = f"{pawls[0]} tenants"
    judged.append(Row("memory a tenant", BYTES, memory, target=BYTES_A_TENANT))
    return tuple(judged)


def row(what: str, unit: Unit, figures: tuple[str, str, str], target: float) -> Row:
    return Row(what, unit, *figures, round(target, 2), target_is_ratio=True)


def readings(figures: Mapping[str, float], pawls: Sequence[str]) -> str:
    """Everything that was read, a line a load."""
    head = ("server", "load", "CPU µs", "user", "system", "requests/s", "p50 ms", "p99 ms")
    proxies = (*PROXIES, *pawls)
    names = [
        *((name, f"{name} {c}", f"passed, {c}") for c in CONNECTIONS for name in proxies),
        *((name, f"{name} refused 64", "refused, 64") for name in proxies),
        *((name, f"{name} 64", "service, 64") for name in SERVICES),
        ("express", "express writes to memory 64", "writes, memory, 64"),
        *(
            (name, f"{name} writes to {store} 64", f"writes, {store}, 64")
            for store in STORES
            for name in pawls
        ),
    ]
    lines = [
        (
            server,
            what,
            *(f"{figures[f'{figure} {part}']:.1f}" for part in ("cpu", "user", "system")),
            f"{figures[f'{figure} rate']:,.0f}",
            *(f"{figures[f'{figure} {part}']:.2f}" for part in ("p50", "p99")),
        )
        for server, figure, what in names
    ]
    return aligned([head, *lines], right=range(2, len(head)))


@contextlib.contextmanager
def steps(effort: Effort, pawls: Sequence[str]) -> Iterator[Steps]:
    if PAWLS["memory"] in pawls and shutil.disk_usage(MEMORY_FOLDER).free < AUDIT_BYTES:
        raise BenchError(f"{MEMORY_FOLDER} has no room for a log: choose --audit disk")
    confine()
    with running(("redis",)) as variables, upstream() as port:
        redis = variables["PAWL_TEST_REDIS"]
        address = urlsplit(redis)
        # As a cache is run: what the disk takes is the same for everybody.
        run(("redis-cli", "-h", address.hostname, "-p", address.port, "CONFIG", "SET", "appendonly",
             "no"))  # fmt: skip
        yield Gateway(effort, port, redis).steps(pawls)


def made_with() -> tuple[str, ...]:
    def debian(package: str) -> str:
        return run(("dpkg-query", "-W", "-f=${Version}", package))

    redis = re.search(r"v=(\S+)", run(("redis-server", "--version")))
    return (
        f"nginx {debian('nginx-light')}",
        f"HAProxy {debian('haproxy')}",
        f"wrk {debian('wrk')}",
        f"Redis {redis[1] if redis else ''}",
        *versions("@nestjs/core", "@nestjs/throttler", "express", "express-rate-limit",
                  "express-idempotency"),
    )  # fmt: skip
