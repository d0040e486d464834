"""Goal: kill -9 of the binary at any moment neither doubles an order nor loses one.

Method: `pawl order place` is killed at random moments, hundreds of times, several at once on one
database, against emulators that lose answers now and then. Others then find out what became of the
orders, and may be killed as well. In the end the emulator's own book is what counts: at most one
accepted order for each reference, none that pawl does not know or calls rejected, never more than
the weekly limit. Most of it is made as fast as it goes; a smaller part keeps the pace and the
limits that real venues ask for, and then the emulator's log must show no second with two orders.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from emulation import emulator  # noqa: E402
from trading import WORDS, Trader  # noqa: E402

KILLS_A_VENUE = 260
LIMIT = 10_000
AT_ONCE = 6
SECONDS_OF_A_RUN = 0.15  # about how long one that is not killed takes
FAST = "  rate: 1000/1s\n  settle: 300ms\n  timeout: 500ms\n"
PACED_KILLS = 30
PACED_AT_ONCE = 2
SECONDS_OF_A_PACED_RUN = 2.0
PACED = "  rate: 1/1s\n  settle: 300ms\n  timeout: 500ms\n"
# The pace is exact at the store; between there and the venue lie the processes' ways to the wire.
WAY_SECONDS = 0.1
SETTLE_TRIES = 5  # the venue's limits on readings may take some of them
RATES = {"drop_after_accept": 0.05, "drop_before_accept": 0.05, "html_502_after_accept": 0.03}


@pytest.fixture(params=["okx", "saxo"])
def trader(pawl: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Trader]:
    with emulator(pawl, request.param, tmp_path) as market:
        # The limits of the venue would make this a test of patience.
        unlimited = {"settings": {"limits": False}}
        market.faults({**unlimited, "seed": 7, "rates": RATES, "calls": ["place"]})
        one = Trader(pawl, tmp_path, request.param, market)
        one.configure(f"{{ weekly_max_orders: {LIMIT} }}", FAST)
        yield one


@pytest.fixture(params=["okx", "saxo"])
def paced_trader(pawl: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Trader]:
    with emulator(pawl, request.param, tmp_path) as market:
        market.faults({"seed": 7, "rates": RATES, "calls": ["place"]})
        one = Trader(pawl, tmp_path, request.param, market)
        one.configure(f"{{ weekly_max_orders: {LIMIT} }}", PACED)
        yield one


def killed(trader: Trader, *words: str, within: float = SECONDS_OF_A_RUN) -> bool:
    """Runs pawl and kills it at a random moment; whether it was still there."""
    process = subprocess.Popen(
        [trader.pawl, "order", *words],
        cwd=trader.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(random.uniform(0, within))
    process.kill()
    return process.wait() == -signal.SIGKILL


def settle_all(trader: Trader) -> None:
    said = trader.order("reconcile")
    assert said.code == 0, (said.out, said.err)


def test_kill_9_at_random_moments(trader: Trader) -> None:
    references = [f"k{number}" for number in range(KILLS_A_VENUE)]

    def cycle(reference: str) -> int:
        kills = killed(trader, "place", *WORDS[trader.venue], "--ref", reference)
        if random.random() < 0.1:
            kills += killed(trader, "reconcile")
        return int(kills)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        kills = sum(pool.map(cycle, references))
    while kills < KILLS_A_VENUE:
        references.append(f"k{len(references)}")
        kills += cycle(references[-1])
    settle_all(trader)
    check(trader, references)
    # The callers come back: every order is placed once in the end.
    trader.market.faults({"settings": {"limits": False}})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        said = list(pool.map(trader.place, references))
    assert {each.code for each in said} <= {0, 3}, [each.err for each in said if each.code > 3]
    check(trader, references)
    accepted = [trader.market.accepted(reference) for reference in references]
    confirmed = [each.code == 0 for each in said]
    assert [bool(count) for count in accepted] == confirmed
    assert trader.order("quota").json()["used"] == sum(accepted)


def test_kill_9_at_the_pace_of_the_venue(paced_trader: Trader) -> None:
    trader = paced_trader
    references: list[str] = []

    def cycle(reference: str) -> int:
        words = ("place", *WORDS[trader.venue], "--ref", reference)
        return int(killed(trader, *words, within=SECONDS_OF_A_PACED_RUN))

    kills = 0
    while kills < PACED_KILLS:
        more = [f"p{len(references) + number}" for number in range(PACED_AT_ONCE)]
        references += more
        with ThreadPoolExecutor(PACED_AT_ONCE) as pool:
            kills += sum(pool.map(cycle, more))
    for _ in range(SETTLE_TRIES):
        said = trader.order("reconcile")
        if said.code == 0:
            break
    assert said.code == 0, (said.out, said.err)
    check(trader, references)
    check_pace(trader)
    # The callers come back, with no faults any more.
    trader.market.faults({})
    with ThreadPoolExecutor(PACED_AT_ONCE) as pool:
        answers = list(pool.map(trader.place, references))
    assert {each.code for each in answers} <= {0, 3}, [each.err for each in answers]
    check(trader, references)
    check_pace(trader)
    accepted = sum(trader.market.accepted(reference) for reference in references)
    assert accepted == [each.code for each in answers].count(0)
    assert trader.order("quota").json()["used"] == accepted


def check_pace(trader: Trader) -> None:
    placed = (line for line in trader.market.log() if line["accepted"])
    times = sorted(float(line["time_ms"]) / 1000 for line in placed)
    assert len(times) > 1
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert min(gaps) >= 1 - WAY_SECONDS, sorted(gaps)[:5]


def check(trader: Trader, references: list[str]) -> None:
    listed = json.loads(trader.order("list", "--limit", "10000").out)["orders"]
    status = {each["external_reference"]: each["status"] for each in listed}
    for reference in references:
        accepted = trader.market.accepted(reference)
        assert accepted <= 1, f"{reference} was placed {accepted} times"
        if accepted:
            assert status.get(reference) == "confirmed", f"{reference} lives and is lost: {status}"
        else:
            assert status.get(reference) in (None, "rejected"), f"{reference}: {status}"
