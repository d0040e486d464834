"""The programs that are measured: pawl_bench, and peers from npm. bench/*_table.py say which."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import npm

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("PAWL_BUILD", "build/release")
PEERS = ROOT / "bench" / "peers"
INSTALLED = ROOT / "build" / "bench"
COMMAND_SECONDS = 600.0

# What a round consists of, in its order. Each gives one figure of its name, and perhaps more.
Steps = dict[str, Callable[[], dict[str, float]]]


class BenchError(Exception):
    """What could not be measured, and why."""


@dataclasses.dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # each program, each round
    keys: int  # of rate-limiter-flexible in memory; pawl's own benchmark has a million
    redis_asks: int


FULL = Effort(rounds=3, seconds=2.0, keys=1_000_000, redis_asks=300_000)
QUICK = Effort(rounds=1, seconds=0.01, keys=1_000, redis_asks=2_000)


def run(command: Sequence[object], variables: Mapping[str, str] | None = None) -> str:
    """Its output; BenchError with all it said when it fails."""
    words = [*map(str, command)]
    try:
        ran = subprocess.run(
            words, env={**os.environ, **(variables or {})}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=COMMAND_SECONDS,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise BenchError(f"{words[0]} is not there: run `make setup build`") from error
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{words[0]} did not end in {COMMAND_SECONDS:.0f} s") from error
    if ran.returncode != 0:
        said = f"{ran.stdout}{ran.stderr}"
        raise BenchError(f"{' '.join(words)} ended with {ran.returncode}:\n{said}")
    return ran.stdout


class Programs:
    """Asked for so long each."""

    def __init__(self, effort: Effort, variables: Mapping[str, str] | None = None) -> None:
        self.effort = effort
        self._variables = {**(variables or {}), "NODE_PATH": str(INSTALLED / "node_modules")}

    def times(self, *names: str) -> Steps:
        """Benchmarks of pawl's, in nanoseconds."""
        return {name: lambda name=name: self.time_of(name) for name in names}

    def rates(self, *names: str) -> Steps:
        """Benchmarks of pawl's that count what they do, a second."""
        return {name: lambda name=name: {name: self._rate_of(name)} for name in names}

    def time_of(self, name: str) -> dict[str, float]:
        """Nanoseconds, and the bytes of a key where it tells."""
        found = self.asked(name)
        assert found["time_unit"] == "ns"
        figures = {name: float(found["real_time"])}
        if "bytes_a_key" in found:
            figures[f"{name} bytes"] = float(found["bytes_a_key"])
        return figures

    def node(self, script: str, case: str, *numbers: int) -> dict[str, float]:
        words = ("node", "--expose-gc", PEERS / script, case, self.effort.seconds, *numbers)
        return {key: float(value) for key, value in json.loads(run(words, self._variables)).items()}

    def _rate_of(self, name: str) -> float:
        assert "/real_time" in name  # the others count by the processor's time
        return float(self.asked(name)["items_per_second"])

    def asked(self, name: str) -> dict[str, Any]:
        """What Google Benchmark tells of one of pawl's."""
        seconds = f"--benchmark_min_time={self.effort.seconds}"
        command = (BUILD / "pawl_bench", f"--benchmark_filter=^{name}$", seconds)
        output = run((*command, "--benchmark_format=json"), self._variables)
        found = json.loads(output)["benchmarks"] if output.startswith("{") else []
        if len(found) != 1:
            raise BenchError(f"pawl_bench has {len(found)} benchmarks named {name}")
        if found[0].get("error_occurred"):
            raise BenchError(f"{name}: {found[0]['error_message']}")
        return found[0]


def install_peers(say: Callable[[str], None]) -> Path:
    """Into the build folder, and again when another version is wanted; gives NODE_PATH."""
    try:
        return npm.install(PEERS, INSTALLED, say)
    except npm.NpmError as error:
        raise BenchError(str(error)) from error


def versions(*packages: str) -> tuple[str, ...]:
    """Of Node and of these."""
    pinned = json.loads((PEERS / "package.json").read_text())["dependencies"]
    node = run(("node", "--version")).strip().removeprefix("v")
    return (f"Node {node}", *(f"{name} {pinned[name]}" for name in packages))
