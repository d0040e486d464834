"""Goal: an operation that sleeps is lost by nobody's death, and made twice by none.

Method: processes that put an operation to sleep in a folder's queue, and processes that go on with
it, are killed at every step of their way; others then go on. The effect is a line in a ledger that
outlives them. Where nobody can find out what became of an attempt, only those deaths may leave it
unresolved that come between the claim of its key and the task that is to go on. They all write to
one audit log, which must be whole and replay in the end.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from arena import Answer, Arena

LEASE_MS = 400
AT_ONCE = 6
PATIENCE_SECONDS = 60.0

# Steps behind which nothing is under way, whatever a kill does: what follows must succeed.
BEFORE_CLAIM = {"begin", "claimed", "audit_operation_resumed", "audited_operation_resumed"}
# Between claim and task, or claim and record.
CLAIMED = {
    *("begun", "attempt_1", "attempt_2", "attempt_3", "effect_made"),
    *("audit_retry_attempt", "audited_retry_attempt"),
    *("audit_retry_succeeded", "audited_retry_succeeded"),
}
LAID_DOWN = {"given", "audit_operation_slept", "audited_operation_slept"}
# Some come twice: to let go of a key, to record a result; to lie down, to end a task.
EITHER = {
    *("begin_sent", "give", "give_sent", "complete", "complete_sent", "completed"),
    *("audit_idempotency", "audited_idempotency", "told", "acknowledged"),
}


class Sleeper:
    """One key, with a queue of its own."""

    def __init__(self, place: Arena, key: str, reconcile: bool) -> None:
        self.place, self.key, self.reconcile = place, key, reconcile
        self.words: dict[str, object] = {
            "store": f"sqlite:{place.folder}/records.db",
            "queue": f"dir:{place.folder}/queue-{key}",
            "key": key,
            "lease_ms": LEASE_MS,
        } | ({} if reconcile else {"reconcile": "no"})

    def call(self, die_at: int = 0):
        return self.place.run(**self.words, role="call", die_at=die_at)

    def work(self, die_at: int = 0):
        return self.place.run(**self.words, role="work", die_at=die_at)

    def end(self) -> Answer:
        """What others are told, once they have gone on for as long as it takes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.work()
            answer = self.call().answer()
            if answer.how in ("done", "replayed", "unresolved"):
                break
            assert answer.how in ("asleep", "in_flight"), (self.words, answer)
            assert time.monotonic() < deadline, (self.words, answer)
        ledger = self.place.ledger()[self.key]
        assert len(ledger) <= 1, f"an effect was made twice: {self.words}"
        acknowledged = self.place.acknowledged()[self.key]
        assert len({*acknowledged}) <= 1, (self.words, acknowledged)
        if answer.how == "unresolved":
            assert not self.reconcile and not acknowledged, (self.words, answer)
        else:
            assert ledger == [answer.result], (self.words, ledger, answer)
        return answer


def check(sleeper: Sleeper, died: str) -> int:
    answer = sleeper.end()
    if sleeper.reconcile or died in BEFORE_CLAIM | LAID_DOWN:
        assert answer.how != "unresolved", (died, sleeper.words)
    return 1


def caller_dies(sleeper: Sleeper, at: int) -> int:
    killed = sleeper.call(die_at=at)
    assert killed.code == -signal.SIGKILL, killed
    return check(sleeper, killed.died)


def worker_dies(sleeper: Sleeper, at: int) -> int:
    assert sleeper.call().answer().how == "asleep"
    killed = sleeper.work(die_at=at)
    # On a slow machine a worker may lose its key or its task on the way, and pass other steps.
    return check(sleeper, killed.died)


def cycles(place: Arena) -> Iterator[tuple]:
    names = (f"k{i}" for i in itertools.count())

    def sleeper(reconcile: bool = True) -> Sleeper:
        return Sleeper(place, next(names), reconcile)

    whole = sleeper()
    called = whole.call()
    assert called.answer().how == "asleep"
    worked = whole.work()
    assert [answer.how for answer in worked.answers[whole.key]][-1] == "done"
    known = BEFORE_CLAIM | CLAIMED | LAID_DOWN | EITHER
    assert {*called.steps, *worked.steps} <= known, {*called.steps, *worked.steps} - known
    for reconcile in (True, False):
        for at in range(1, len(called.steps) + 1):
            yield caller_dies, sleeper(reconcile), at
        for at in range(1, len(worked.steps) + 1):
            yield worker_dies, sleeper(reconcile), at


def test_between_every_pair_of_steps(pawl: Path, tmp_path: Path) -> None:
    place = Arena(tmp_path / "arena", "crashing_sleeper")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = [pool.submit(*cycle) for cycle in cycles(place)]
        kills = sum(each.result() for each in started)
    assert kills > 100
    log = place.log.read_text()
    assert '"event_type":"operation_slept"' in log and '"event_type":"operation_resumed"' in log
    place.check_log(pawl)
