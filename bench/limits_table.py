"""The limiter beside its peers: a mutex around a map, RocksDB's, rate-limiter-flexible, and
redis-benchmark. How it is measured stands in docs/performance.md.
"""

from __future__ import annotations

import ast
import contextlib
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from programs import BenchError, Effort, Programs, Steps, run, versions
from services import running
from tables import BYTES, NS, RATE, TIMES, Row

IN_FLIGHT = (16, 64, 256)
REDIS_KEYS = 100_000  # as in bench/redis_bench.cc

MAP, ROCKSDB = "mutex + unordered_map", "RocksDB, one bucket"
FLEXIBLE, FLEXIBLE_REDIS = "rate-limiter-flexible", "rate-limiter-flexible, Redis"
FLEXIBLE_SCRIPT = "rate_limiter_flexible.js"
HOT, MILLION, THREE = "BM_HotKey<SystemClock>", "BM_MillionKeys", "BM_SetOfThree"
BY_ID = "BM_MillionKeysById"
STRICT, STRICT_TENANTS, LEASED = "BM_RedisStrict", "BM_RedisStrictTenants", "BM_RedisLeasedTenants"

ROWS = (
    Row("hot key", NS, HOT, MAP, "BM_MutexMapHotKey", 25),
    Row("hot key", NS, HOT, ROCKSDB, "BM_RocksDbHotKey"),
    Row("hot key", NS, HOT, FLEXIBLE, "flexible hot_key"),
    Row("a million keys", NS, MILLION, MAP, "BM_MutexMapMillionKeys", 60),
    Row("a million keys", NS, MILLION, FLEXIBLE, "flexible keys"),
    Row("a million keys, hashed before", NS, BY_ID),
    Row("a set of three", NS, THREE, MAP, "BM_MutexMapSetOfThree", 90),
    Row("memory a key", BYTES, f"{BY_ID} bytes", MAP, "BM_MutexMapMillionKeys bytes", 64),
    Row("memory a key", BYTES, f"{BY_ID} bytes", FLEXIBLE, "flexible keys bytes"),
    Row("two threads, own keys", TIMES, "BM_Distinct", MAP, "BM_MutexMapDistinct", 1.8),
    Row("two threads, same key", TIMES, "BM_Same", MAP, "BM_MutexMapSame", 0.7),
    *(
        row
        for depth in IN_FLIGHT
        for row in (
            Row(f"Redis, {depth} in flight", RATE, f"{STRICT}/{depth}", "redis-benchmark",
                f"redis-benchmark {depth}", 0.9, target_is_ratio=True),
            Row(f"Redis, {depth} in flight", RATE, f"{STRICT}/{depth}", FLEXIBLE_REDIS,
                f"flexible redis {depth}"),
        )
    ),
    Row("Redis, leased", RATE, f"{LEASED}/64", "pawl, strict", f"{STRICT_TENANTS}/64", 20,
        target_is_ratio=True),
)  # fmt: skip


class Limits(Programs):
    """The programs to ask, and a Redis of their own."""

    def __init__(self, effort: Effort, variables: Mapping[str, str]) -> None:
        super().__init__(effort, variables)
        address = urlsplit(variables["PAWL_TEST_REDIS"])
        self._server = ("-h", address.hostname or "", "-p", address.port or 0)
        # Counts only: the disk is the same for everybody, and not what is compared.
        self._redis("CONFIG", "SET", "appendonly", "no")
        self._command = self._command_on_the_wire()
        self._redis_benchmark(64)  # the keys are there before anybody is measured

    def steps(self) -> Steps:
        return {
            **self.times(HOT, "BM_MutexMapHotKey", "BM_RocksDbHotKey"),
            "flexible hot_key": lambda: self._flexible("hot_key"),
            **self.times(MILLION, BY_ID, "BM_MutexMapMillionKeys"),
            "flexible keys": lambda: self._flexible("keys", self.effort.keys),
            **self.times(THREE, "BM_MutexMapSetOfThree"),
            **{
                f"{name}{keys}": lambda name=name, keys=keys: self._threads(name, keys)
                for keys in ("Distinct", "Same")
                for name in ("BM_", "BM_MutexMap")
            },
            **{
                name: step
                for depth in IN_FLIGHT
                for name, step in (
                    (f"{STRICT}/{depth}", lambda depth=depth: self._store(STRICT, depth)),
                    (f"redis-benchmark {depth}", lambda depth=depth: self._redis_benchmark(depth)),
                    (f"flexible redis {depth}", lambda depth=depth: self._flexible_redis(depth)),
                )
            },
            f"{STRICT_TENANTS}/64": lambda: self._store(STRICT_TENANTS, 64),
            f"{LEASED}/64": lambda: self._store(LEASED, 64),
        }

    def _threads(self, name: str, keys: str) -> dict[str, float]:
        """How much two threads do together, where one does 1."""
        plural = "s" if keys == "Distinct" else ""
        alone, both = (
            self._nanoseconds(f"{name}{keys}Key{plural}/real_time/threads:{threads}")
            for threads in (1, 2)
        )
        return {f"{name}{keys}": alone / both}

    def _store(self, name: str, depth: int) -> dict[str, float]:
        return {f"{name}/{depth}": 1e9 / self._nanoseconds(f"{name}/{depth}/real_time")}

    def _nanoseconds(self, name: str) -> float:
        return self.time_of(name)[name]

    def _redis_benchmark(self, depth: int) -> dict[str, float]:
        load = ("-c", 1, "-P", depth, "-r", REDIS_KEYS, "-n", self.effort.redis_asks, "-q")
        output = run(("redis-benchmark", *self._server, *load, *self._command))
        rates = re.findall(r"([\d.]+) requests per second", output)
        if not rates or "Error from server" in output:
            raise BenchError(f"redis-benchmark did not run the script:\n{output}")
        return {f"redis-benchmark {depth}": float(rates[-1])}

    def _flexible(self, case: str, *numbers: int) -> dict[str, float]:
        name = f"flexible {case}"
        found = self.node(FLEXIBLE_SCRIPT, case, *numbers)
        figures = {name: 1e9 / found["per_second"]}
        if "bytes_a_key" in found:
            figures[f"{name} bytes"] = found["bytes_a_key"]
        return figures

    def _flexible_redis(self, depth: int) -> dict[str, float]:
        found = self.node(FLEXIBLE_SCRIPT, "redis", REDIS_KEYS, depth)
        return {f"flexible redis {depth}": found["per_second"]}

    def _redis(self, *words: str) -> str:
        return run(("redis-cli", *self._server, *words)).strip()

    def _command_on_the_wire(self) -> tuple[str, ...]:
        """What the store sends for one ask, listened to, with any key in place of its own."""
        monitor = subprocess.Popen(
            ["redis-cli", *map(str, self._server), "MONITOR"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert monitor.stdout is not None
            if monitor.stdout.readline().strip() != "OK":
                raise BenchError("Redis does not let its commands be listened to")
            with ThreadPoolExecutor(1) as pool:
                asking = pool.submit(self.time_of, f"{STRICT}/16/real_time")
                asking.add_done_callback(lambda _: monitor.kill())  # nothing more will be heard
                heard = next((line for line in monitor.stdout if '"evalsha"' in line.lower()), "")
                monitor.kill()
                asking.result()
        finally:
            monitor.kill()
            monitor.wait()
        if not heard:
            raise BenchError("the store sent no EVALSHA")
        return any_key(words_of(heard))


def words_of(heard: str) -> tuple[str, ...]:
    """The words of a line of MONITOR."""
    quoted = re.findall(r'"(?:[^"\\]|\\.)*"', heard)
    return tuple(str(ast.literal_eval(word)) for word in quoted)


def any_key(command: Sequence[str]) -> tuple[str, ...]:
    """redis-benchmark puts twelve random digits where that word stands."""
    name, sha, count, key, *rest = command
    key, found = re.subn(r"(?<!\d)\d{12}(?!\d)", "__rand_int__", key)
    if name.lower() != "evalsha" or count != "1" or found != 1:
        raise BenchError(f"the store sent what redis-benchmark cannot imitate: {command}")
    return name, sha, count, key, *rest


@contextlib.contextmanager
def steps(effort: Effort) -> Iterator[Steps]:
    with running(("redis",)) as variables:
        yield Limits(effort, variables).steps()


def made_with() -> tuple[str, ...]:
    redis = re.search(r"v=(\S+)", run(("redis-server", "--version")))
    rocksdb = run(("dpkg-query", "-W", "-f=${Version}", "librocksdb-dev"))
    return (
        f"Redis {redis[1] if redis else ''}",
        *versions("ioredis", "rate-limiter-flexible"),
        f"RocksDB {rocksdb}",
    )
