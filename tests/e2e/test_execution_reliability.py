"""Goal: orders on Saxo are paced, retried and reconciled as their document says.

Method: the real binary against the emulated Saxo, with one fault at a time; the emulator's own log
says what was sent and accepted. The names of the tests are the criteria's (docs/seed-coverage.md).
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulation import emulator
from trading import WORDS, Said, Trader

GENEROUS = "{ weekly_max_orders: 1000 }"


@pytest.fixture
def trader(pawl: Path, tmp_path: Path) -> Iterator[Trader]:
    with emulator(pawl, "saxo", tmp_path) as market:
        one = Trader(pawl, tmp_path, "saxo", market)
        one.configure(GENEROUS)
        yield one


def placements(trader: Trader) -> list[dict]:
    return [line for line in trader.market.log() if line["operation"] == "place"]


def at(line: dict) -> float:
    return float(line["time_ms"]) / 1000


def fault(trader: Trader, kind: str, **more: object) -> None:
    trader.market.faults({"script": [{"do": kind, "when": {"call": "place"}, **more}]})


def assert_correlated(said: Said, reference: str) -> None:
    """Every line about the order names it and the wire attempt, those of the pacer too."""
    about = [line for line in said.log if line.get("operation") in ("place_order", "order")]
    assert about
    assert any("rate_limit" in line["event"] for line in about)
    for line in about:
        assert line["external_reference"] == reference, line
        assert str(line["request_id"]).startswith(f"{reference}_place_"), line


def test_max_1_order_placement_per_second_per_session(trader: Trader) -> None:
    processes = [
        subprocess.Popen(
            [trader.pawl, "order", "place", *WORDS["saxo"], "--ref", f"many{number}"],
            cwd=trader.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in range(4)
    ]
    assert [each.wait(60) for each in processes] == [0] * 4
    times = sorted(at(line) for line in placements(trader))
    assert len(times) == 4
    assert all(later - earlier >= 0.99 for earlier, later in zip(times, times[1:])), times
    assert all(line["status"] == 200 for line in placements(trader)), "the venue had to say no"


def test_rate_limiter_uses_headers_to_compute_next_allowed_time(trader: Trader) -> None:
    fault(trader, "rate_limited", reset=3)
    assert trader.place("later").code == 0
    first, second = placements(trader)
    assert first["status"] == 429 and second["status"] == 200
    assert at(second) - at(first) >= 3, "the venue's word was not waited for"


def test_on_429_backs_off_retries_up_to_n_times_and_logs_headers(trader: Trader) -> None:
    trader.configure(GENEROUS, "  retry: { max_retries: 2 }\n")
    fault(trader, "rate_limited", times=0)
    said = trader.place("never")
    assert said.code == 3 and said.json()["status"] == "rejected"
    assert [line["status"] for line in placements(trader)] == [429] * 3
    assert said.json()["attempts"] == 3
    assert said.has("warn", "SessionOrders")
    assert_correlated(said, "never")
    assert trader.order("quota").json()["used"] == 0


def test_on_409_conflict_does_not_retry_and_logs_the_duplicate_window(trader: Trader) -> None:
    fault(trader, "error_after", status=409, code="DuplicateOperation")
    said = trader.place("twice")
    assert len(placements(trader)) == 1
    assert said.code == 0 and said.json()["status"] == "confirmed", said.err
    [line] = [line for line in said.log if line["event"] == "conflict_no_retry"]
    assert line["level"] == "error"
    assert "x-request-id" in line["message"] and "15" in line["message"]


@pytest.mark.parametrize("resolves", ["FinalFill", "Working"])
def test_on_trade_not_completed_or_timeout_reconciles_instead_of_placing(
    trader: Trader, resolves: str
) -> None:
    fault(trader, "trade_not_completed", resolves=resolves, after="1s")
    said = trader.place("slow")
    assert said.code == 0 and said.json()["status"] == "confirmed", said.err
    assert len(placements(trader)) == 1 and trader.market.accepted("slow") == 1
    assert any(line["event"] == "trade_not_completed_no_retry" for line in said.log)


def test_all_retries_include_correlation_fields(trader: Trader) -> None:
    fault(trader, "rate_limited", reset=1)
    said = trader.place("traced")
    assert said.code == 0
    ids = [line["request_id"] for line in placements(trader)]
    assert len({*ids}) == 2, "a request id was used twice"
    assert [line["reference"] for line in placements(trader)] == ["traced"] * 2
    assert_correlated(said, "traced")


def test_retry_invariants_are_documented_and_enforced(trader: Trader) -> None:
    """A lost answer: the reference stays, nothing is sent before it was looked for."""
    fault(trader, "drop_before_accept")
    said = trader.place("kept")
    assert said.code == 0, said.err
    first, second = placements(trader)
    assert first["reference"] == second["reference"] == "kept"
    assert first["request_id"] != second["request_id"]
    between = [line for line in trader.market.log() if at(first) < at(line) < at(second)]
    read = {line["operation"] for line in between}
    assert {"open_orders", "activities"} <= read
    assert at(second) - at(first) > 15, "inside the duplicate window"
    states = (Path(__file__).parents[2] / "docs" / "state-machines.md").read_text()
    for invariant in (
        "the external reference never changes",
        "every attempt has a fresh request id",
        "the state is durable before the effect",
        "reconcile before a retry",
    ):
        assert f"| {invariant} |" in states, f"{invariant} is not documented"


def test_rate_limiter_queues_a_second_order_attempt_within_1_second(trader: Trader) -> None:
    assert trader.place("first").code == 0
    said = trader.place("second")
    assert said.code == 0 and said.has("info", "rate_limit")
    first, second = placements(trader)
    assert at(second) - at(first) >= 0.99


def test_429_response_triggers_backoff(trader: Trader) -> None:
    fault(trader, "rate_limited", reset=1)
    assert trader.place("wait").code == 0
    first, second = placements(trader)
    assert at(second) - at(first) >= 1


def test_409_conflict_is_treated_as_terminal_for_that_intent(trader: Trader) -> None:
    fault(trader, "error_after", status=409)
    assert trader.place("once").code == 0
    assert trader.place("once").code == 0
    assert len(placements(trader)) == 1


def test_timeout_triggers_reconciliation_path_not_a_second_placement(trader: Trader) -> None:
    trader.configure(GENEROUS, "  timeout: 1s\n")
    fault(trader, "delay_after_accept", delay="20s")
    began = time.monotonic()
    said = trader.place("late")
    assert said.code == 0 and said.json()["status"] == "confirmed", said.err
    assert time.monotonic() - began < 20
    assert len(placements(trader)) == 1 and trader.market.accepted("late") == 1


def test_a_venue_that_cannot_be_reached_costs_nothing_and_its_reference_may_be_used_again(
    trader: Trader,
) -> None:
    trader.configure(GENEROUS, "  retry: { max_retries: 1, base_delay: 100ms }\n")
    trader.market.stop()
    said = trader.place("later")
    assert said.code == 6, said.err
    assert "Nothing was sent: " in said.err and "may be placed again" in said.err
    assert "(external_reference=later, request_id=later_place_" in said.err
    stored = trader.order("status", "later", "--stored").json()
    assert stored["status"] == "rejected" and stored["message"].startswith("Nothing was sent: ")
    assert stored["quota"]["used"] == 0
    trader.market.start()
    said = trader.place("later")
    assert said.code == 0 and said.json()["status"] == "confirmed", said.err
    assert said.json()["quota"]["used"] == 1
    assert trader.market.accepted("later") == 1
    assert trader.place("later").json()["order_id"] == said.json()["order_id"]
    assert len(placements(trader)) == 1, "from then on it is known"
    replayed = trader.command("replay", "data/audit.jsonl")
    assert replayed.code == 0, replayed.out + replayed.err


def test_an_order_that_a_gate_turned_away_takes_another_turn_and_another_id(
    trader: Trader,
) -> None:
    trader.configure(GENEROUS, "  retry: { max_retries: 0, base_delay: 100ms }\n")
    fault(trader, "empty_401")
    assert trader.place("again").code == 0
    first, second = placements(trader)
    assert (first["status"], second["status"]) == (401, 200)
    assert at(second) - at(first) >= 0.99, "it did not wait for its turn"
    assert first["request_id"] != second["request_id"]
    renewals = [line for line in trader.market.log() if line["operation"] == "token"]
    assert len(renewals) == 1 and at(first) <= at(renewals[0]) <= at(second)


def test_an_order_that_reached_the_venue_is_not_called_unsent(trader: Trader) -> None:
    down = {"do": "html_503_before_accept", "when": {"call": "token"}, "times": 0}
    gate = {"do": "empty_401", "when": {"call": "place"}}
    trader.market.faults({"script": [gate, down]})
    said = trader.place("seen")
    assert said.code == 3 and said.json()["status"] == "rejected", said.err
    assert "Nothing was sent" not in said.out + said.err
    assert "HTTP 503" in said.json()["message"], "why there is no token is not told"
    assert len(placements(trader)) == 1, "a token that was refused was used again"


def test_an_order_waits_for_a_person_who_must_log_in(trader: Trader) -> None:
    # The gate finds the first token spent, and the refresh token is another's.
    others = {"access_token": "x", "refresh_token": "y"}
    trader.market.faults({"settings": {"auth": "issued", **others}})
    said = trader.place("login")
    assert said.code == 3 and "log in again" in said.out + said.err, said.err
    assert len(placements(trader)) == 1
    assert len([line for line in trader.market.log() if line["operation"] == "token"]) == 1


def test_a_precheck_takes_its_turn(trader: Trader) -> None:
    calls = ["place", "modify", "precheck", "cancel"]
    trader.market.faults({"settings": {"orders_calls": calls}})
    assert trader.place("first").code == 0
    assert trader.order("precheck", *WORDS["saxo"]).code == 0
    lines = [line for line in trader.market.log() if line["operation"] in calls]
    assert [(line["operation"], line["status"]) for line in lines] == [
        ("place", 200),
        ("precheck", 200),
    ]
    assert at(lines[1]) - at(lines[0]) >= 0.99
