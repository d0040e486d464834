"""Goal: a server of keys that dies while somebody has a key in its hands costs no result that was
acknowledged, and no effect is made twice.

Method: an executor stops between its claim and its record, at several steps; its server, which is
this test's own, is killed there and started again on its files: before the executor goes on, while
it tries to record, after it has given up, and while its record is under way. Others then go on with
the same key.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path

import arena
import pytest
from arena import Answer, Arena, Key, Process, Server

LEASE_MS = 1500  # longer than a server takes to come back, so that its owner can still record
BACK_SECONDS, GIVEN_UP_SECONDS = 0.15, 1.5
MODES = ({}, {"reconcile": "no"})
STEPS = ("attempt_1", "attempt_2", "effect_made", "complete")

Ending = Callable[[Server, Process], Answer]


def back_before_it_goes_on(server: Server, process: Process) -> Answer:
    server.kill()
    server.start()
    process.go()
    return process.end().answer()


def back_while_it_tries(server: Server, process: Process) -> Answer:
    server.kill()
    process.go()
    time.sleep(BACK_SECONDS)
    server.start()
    return process.end().answer()


def back_after_it_gave_up(server: Server, process: Process) -> Answer:
    server.kill()
    process.go()
    answer = process.end().answer()
    server.start()
    return answer


def killed_while_it_records(server: Server, process: Process) -> Answer:
    """The record may have come as far as the server's socket."""
    server.pause()
    process.go()
    time.sleep(BACK_SECONDS)
    server.kill()
    server.start()
    return process.end().answer()


ENDINGS: dict[Ending, set[str]] = {  # and how the executor may answer
    back_before_it_goes_on: {"done"},
    # It tries for a while, which a server may need to come back on a busy machine.
    back_while_it_tries: {"done", "not_recorded"},
    killed_while_it_records: {"done", "not_recorded"},
    back_after_it_gave_up: {"not_recorded"},
}


def answer_of(key: Key, server: Server, pause_at: int, ending: Ending) -> str:
    with key.place.started(**key.words, pause_at=pause_at) as process:
        assert process.hear(1)[0].startswith("paused ")
        answer = ending(server, process)
    what = (ending.__name__, key.words, answer)
    assert answer.how in ENDINGS[ending], what
    assert key.made() == [answer.result], what
    told = key.go_on()
    if answer.how == "done":
        assert told == "replayed", what
    elif not key.reconcile:
        assert told in ("replayed", "unresolved"), what
    return answer.how


@pytest.mark.parametrize("name", arena.SERVERS)
def test_killed_between_claim_and_record(pawl: Path, tmp_path: Path, name: str) -> None:
    place = Arena(tmp_path / "arena")
    seen: dict[Ending, set[str]] = {ending: set() for ending in ENDINGS}
    with arena.serving(name, tmp_path / "server") as server:
        words = {"store": server.url(), "lease_ms": LEASE_MS}
        steps = place.run(**words, key="whole").steps
        cases = itertools.product(STEPS, ENDINGS, (True, False))
        for number, (step, ending, reconcile) in enumerate(cases):
            key = Key(place, reconcile, **words, key=f"k{number}")
            seen[ending].add(answer_of(key, server, steps.index(step) + 1, ending))
    assert all("done" in seen[ending] for ending in ENDINGS if "done" in ENDINGS[ending]), seen
    place.check_log(pawl)


@pytest.mark.parametrize("name", arena.SERVERS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_killed_before_it_took_the_claim(tmp_path: Path, name: str, ending: Ending) -> None:
    place = Arena(tmp_path / "arena")
    with arena.serving(name, tmp_path / "server") as server:
        key = Key(place, False, store=server.url(), lease_ms=LEASE_MS, key="k")
        with place.started(**key.words, pause_at=1) as process:
            assert process.hear(1) == ["paused begin\n"]
            answer = ending(server, process)
        made = key.made()
        assert answer.how in ("done", "no_store") and made == [answer.result] * bool(answer.result)
        assert key.go_on() == ("replayed" if made else "done")


@pytest.mark.parametrize("name", arena.SERVERS)
def test_killed_while_many_are_at_work(pawl: Path, tmp_path: Path, name: str) -> None:
    place = Arena(tmp_path / "arena")
    seen = set()
    with arena.serving(name, tmp_path / "server") as server:
        many = {"store": server.url(), "keys": 60, "threads": 12, "lease_ms": 150}
        away = (0, BACK_SECONDS, GIVEN_UP_SECONDS)
        for number, (seconds, mode) in enumerate(itertools.product(away * 2, MODES)):
            words = {**many, **mode, "key": f"m{number}"}
            with place.started(**words) as process:
                process.hear(random.randrange(1, 30))
                server.kill()
                time.sleep(seconds)
                server.start()
                run = process.end()
            assert run.code == 0
            seen.update(answer.how for [answer] in run.answers.values())
            seen.update(place.go_on_with_all(**words))
    assert seen >= {"done", "no_store", "not_recorded", "replayed", "unresolved"}
    place.check_log(pawl)
