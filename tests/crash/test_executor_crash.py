"""Goal: whoever dies, and whenever, no result gets lost that was acknowledged, and no effect is
made twice.

Method: processes that make operations under keys are killed at every step of the way, and at random
moments while several of their threads are at work; others then go on with the same keys. The effect
is a line in a ledger that outlives them. More than 500 are killed, over every store that outlives a
process, with and without a way to find out what became of an attempt. They all write to one audit
log, which must be whole and replay in the end.
"""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arena
import pytest
from arena import Arena, Key

KILLS_MIN = 500
RANDOM_CYCLES, RANDOM_KILLS_MIN = 72, 60
MANY = 24  # operations of a process that is killed at random
ROUNDS = 3  # of every step, store and mode
LEASE_MS, CLOCK_MARGIN_MS = 150, 20
AT_ONCE = 6  # most of the time of a cycle goes into waiting for a lease

# Where an operation is when it passes a step. Some come while another thread is on its way, so the
# operation may be further than that.
BEFORE_CLAIM = {"begin"}
CLAIMED = {
    *("begun", "attempt_1", "audit_retry_attempt", "audited_retry_attempt", "attempt_1_ended"),
    *("attempt_2", "effect_made", "audit_retry_succeeded", "audited_retry_succeeded", "complete"),
}
RECORDED = {
    *("completed", "audit_idempotency", "audited_idempotency", "told"),
    *("acknowledge", "acknowledged"),
}
ON_THE_WAY = {"begin_sent", "complete_sent", "attempt_2_ended"}
ALL_STEPS = BEFORE_CLAIM | CLAIMED | RECORDED | ON_THE_WAY


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with arena.stores(tmp_path_factory.mktemp("stores")) as urls:
        yield urls


def die_once(key: Key, at: int) -> int:
    """A process dies at a step. Says how many have died."""
    killed = key.place.run(**key.words, die_at=at)
    assert killed.code == -signal.SIGKILL and killed.died in ALL_STEPS, killed
    told = key.go_on()
    what = (killed.died, key.words)
    if not key.reconcile and killed.died in CLAIMED:
        assert told == "unresolved", what
    elif killed.died in BEFORE_CLAIM:
        assert told == "done", what
    elif killed.died in RECORDED:
        assert told == "replayed", what
    return 1


def die_with_it(key: Key, at: int) -> None:
    """A process dies with the key in its hands, and its lease is over when this returns."""
    assert key.place.run(**key.words, die_at=at).code == -signal.SIGKILL
    time.sleep((LEASE_MS + CLOCK_MARGIN_MS) / 1000)


def die_twice(key: Key, first: int, second: int) -> int:
    """So does the next, while it takes the key over."""
    die_with_it(key, first)
    killed = key.place.run(**key.words, die_at=second)
    key.go_on()
    return 2 if killed.code == -signal.SIGKILL else 1


def whole_run(key: Key, die_first_at: int = 0) -> list[str]:
    """The steps of a run that nobody kills; of one that takes over from a dead one, if given."""
    if die_first_at:
        die_with_it(key, die_first_at)
    run = key.place.run(**key.words)
    assert run.answer().how == "done"
    return run.steps


def cycles(place: Arena, urls: dict[str, str]) -> Iterator[tuple]:
    names = (f"k{i}" for i in itertools.count())
    for url in urls.values():

        def key(reconcile: bool = True) -> Key:
            return Key(place, reconcile, store=url, key=next(names), lease_ms=LEASE_MS)

        steps = whole_run(key())
        assert {*steps} == ALL_STEPS, "a step is missing from the lists above, or from the run"
        for _ in range(ROUNDS):
            for at, reconcile in itertools.product(range(1, len(steps) + 1), (True, False)):
                yield die_once, key(reconcile), at
        for last in ("attempt_2", "effect_made"):
            first = steps.index(last) + 1
            taking_over = whole_run(key(), first)
            assert "audited_reconcile" in taking_over
            for second in range(1, len(taking_over) + 1):
                yield die_twice, key(), first, second


def test_between_every_pair_of_steps(pawl: Path, stores: dict[str, str], tmp_path: Path) -> None:
    place = Arena(tmp_path / "arena")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = [pool.submit(*cycle) for cycle in cycles(place, stores)]
        kills = sum(each.result() for each in started)
    assert kills >= KILLS_MIN
    place.check_log(pawl)


def die_at_random(place: Arena, words: dict[str, object]) -> bool:
    """Kills one from outside, in the midst of its work; whether it was still there."""
    with place.started(**words) as process:
        process.hear(random.randrange(MANY // 2))
        time.sleep(random.uniform(0, 0.004))  # it waits as long before its second attempts
        process.kill()
        return process.end().code == -signal.SIGKILL


def test_at_random_moments(pawl: Path, stores: dict[str, str], tmp_path: Path) -> None:
    place = Arena(tmp_path / "arena")
    modes = list(itertools.product(stores.values(), ({}, {"reconcile": "no"})))

    def cycle(number: int) -> tuple[bool, list[str]]:
        url, mode = modes[number % len(modes)]
        words = {"store": url, "key": f"r{number}", "lease_ms": LEASE_MS, **mode}
        words |= {"keys": MANY, "threads": MANY // 4}
        return die_at_random(place, words), place.go_on_with_all(**words)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        killed, told = zip(*pool.map(cycle, range(RANDOM_CYCLES)))
    assert sum(killed) >= RANDOM_KILLS_MIN
    # Some keys were not begun when their process died, some were at work, some had ended.
    assert {*itertools.chain(*told)} == {"done", "unresolved", "replayed"}
    place.check_log(pawl)
