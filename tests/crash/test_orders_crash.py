"""Goal: kill -9 of the binary at any moment neither doubles an order nor loses one.

Method: `pawl order place` is killed at random moments, hundreds of times, several at once on one
database, against emulators that lose answers now and then. Others then find out what became of the
orders, and may be killed as well. In the end the emulator's own book is what counts: at most one
accepted order for each reference, none that pawl does not know or calls rejected, never more than
the weekly limit.
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


def killed(trader: Trader, *words: str) -> bool:
    """Runs pawl and kills it at a random moment; whether it was still there."""
    process = subprocess.Popen(
        [trader.pawl, "order", *words],
        cwd=trader.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(random.uniform(0, SECONDS_OF_A_RUN))
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
