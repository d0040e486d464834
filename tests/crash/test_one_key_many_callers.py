"""Goal: a thousand callers with one key make its effect once, on every store.

Method: threads of one process, and of four, make the same operation at once, whose effect takes a
while; the ledger is what counts.
"""

from __future__ import annotations

import collections
import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import arena
import pytest
from arena import Answer, Arena

CALLERS, PROCESSES = 1000, 4
EFFECT_MS = 200
# Memory is each process's own.
CASES = (("memory", 1), *itertools.product(("sqlite", "redis", "nats"), (1, PROCESSES)))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with arena.stores(tmp_path_factory.mktemp("stores")) as urls:
        yield {**urls, "memory": "memory"}


def call(place: Arena, processes: int, **words: object) -> list[Answer]:
    """What all callers were told, when all call at once."""
    each = CALLERS // processes
    words = {**words, "times": each, "threads": each, "effect_ms": EFFECT_MS}
    under_way = [
        subprocess.Popen(place.command(**words), stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    try:
        told = []
        for process in under_way:
            text, _ = process.communicate(timeout=arena.RUN_SECONDS)
            assert process.returncode == 0, text[-1000:]
            for answers in arena.said_of(0, text).answers.values():
                told += answers
    finally:
        for process in under_way:
            process.kill()
            process.wait()
    assert len(told) == CALLERS
    return told


def counted(told: list[Answer]) -> dict[str, int]:
    return dict(collections.Counter(answer.how for answer in told))


@pytest.mark.parametrize("name, processes", CASES)
def test_who_waits_gets_the_result(
    stores: dict[str, str], tmp_path: Path, name: str, processes: int
) -> None:
    place = Arena(tmp_path)
    told = call(place, processes, store=stores[name], key=f"wait-{processes}")
    assert counted(told) == {"done": 1, "replayed": CALLERS - 1}
    [made] = place.ledger().values()
    assert len(made) == 1
    assert {answer.result for answer in told} == {*made}


@pytest.mark.parametrize("name, processes", CASES)
def test_who_does_not_wait_is_told_that_it_is_in_flight(
    stores: dict[str, str], tmp_path: Path, name: str, processes: int
) -> None:
    place = Arena(tmp_path)
    key = f"conflict-{processes}"
    told = call(place, processes, store=stores[name], key=key, in_flight="conflict")
    seen = counted(told)
    assert {*seen} <= {"done", "replayed", "in_flight"} and seen["done"] == 1
    assert seen["in_flight"] > 0
    [made] = place.ledger().values()
    assert len(made) == 1
    assert {answer.result for answer in told if answer.how != "in_flight"} == {*made}
