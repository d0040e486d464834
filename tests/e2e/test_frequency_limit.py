"""Goal: the weekly order limit does what its document says, scenario by scenario.

Method: the real binary places orders on an emulated OKX; what it logs, keeps in its database and
sends is looked at from outside. The names of the tests are the scenarios' (docs/seed-coverage.md).
"""

from __future__ import annotations

import datetime
import json
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulation import emulator
from trading import WORDS, Trader

CONTROL = "{ enabled: true, weekly_max_orders: 5, exclude_reduce_only: true }"
NO_FUNDS = {"do": "error_before", "when": {"call": "place"}, "code": "51008"}
FREE_PACE = "  rate: 100/1s\n"
COLUMNS = {
    "id": ("INTEGER", 0),
    "order_id": ("TEXT", 1),
    "inst_id": ("TEXT", 1),
    "side": ("TEXT", 1),
    "ord_type": ("TEXT", 1),
    "size": ("TEXT", 1),
    "price": ("TEXT", 0),
    "reduce_only": ("BOOLEAN", 1),
    "placed_at": ("DATETIME", 1),
    "week_start": ("DATE", 1),
    "status": ("TEXT", 1),
    "created_at": ("DATETIME", 1),
}


@pytest.fixture
def trader(pawl: Path, tmp_path: Path) -> Iterator[Trader]:
    with emulator(pawl, "okx", tmp_path) as market:
        one = Trader(pawl, tmp_path, "okx", market)
        one.configure(CONTROL, FREE_PACE)
        yield one


def this_monday() -> str:
    today = datetime.datetime.now(datetime.UTC).date()
    return (today - datetime.timedelta(days=today.weekday())).isoformat()


def use_up(trader: Trader, count: int) -> None:
    """So many orders were placed this week."""
    for number in range(count):
        assert trader.place(f"used{number}").code == 0


def hold_and_use_up(trader: Trader) -> None:
    """The week is used up, and one of its orders was filled: there is something to reduce."""
    trader.market.act(trader.place("held").json()["order_id"], "fill")
    use_up(trader, 4)


def test_valid_frequency_configuration(trader: Trader) -> None:
    said = trader.order("quota")
    assert said.code == 0
    text = "Order frequency limit configuration loaded: weekly_max=5, exclude_reduce_only=true"
    assert said.has("info", text)


def test_missing_frequency_configuration(trader: Trader) -> None:
    trader.configure()
    said = trader.order("quota")
    assert said.has("info", "Using default order frequency limit configuration")
    assert said.json()["limit"] == 5


@pytest.mark.parametrize("number", ["0", "-1"])
def test_invalid_weekly_max_orders(trader: Trader, number: str) -> None:
    trader.configure(f"{{ weekly_max_orders: {number} }}")
    said = trader.place("never")
    assert said.code == 1
    assert "Invalid weekly_max_orders, must be positive integer" in said.err
    assert not trader.market.log()


def test_frequency_limit_disabled(trader: Trader) -> None:
    trader.configure("{ enabled: false, weekly_max_orders: 1 }", FREE_PACE)
    said = trader.place("one")
    assert said.has("info", "Order frequency limit disabled in configuration")
    assert said.code == 0 and trader.place("two").code == 0


def test_record_successful_order_placement(trader: Trader) -> None:
    said = trader.place("kept")
    assert said.code == 0 and said.json()["status"] == "confirmed"
    [row] = trader.rows()
    assert row["order_id"] == said.json()["order_id"]
    assert (row["inst_id"], row["side"], row["ord_type"]) == ("BTC-USDT-SWAP", "buy", "limit")
    assert (row["size"], row["price"], row["reduce_only"]) == ("0.1", "40000", 0)
    assert row["status"] == "placed" and row["week_start"] == this_monday()
    placed = datetime.datetime.fromisoformat(row["placed_at"].replace("Z", "+00:00"))
    assert abs(placed.replace(tzinfo=datetime.UTC).timestamp() - time.time()) < 60
    assert said.has("debug", row["order_id"])


def test_order_placement_failure(trader: Trader) -> None:
    trader.market.faults({"script": [NO_FUNDS]})
    said = trader.place("poor")
    assert said.code == 3 and said.json()["status"] == "rejected"
    assert trader.rows() == []
    assert said.has("error", "51008")


def test_failed_order_not_counted(trader: Trader) -> None:
    trader.market.faults({"script": [NO_FUNDS]})
    said = trader.place("poor")
    assert said.code == 3
    [line] = said.lines("error", "Order placement failed: ")
    assert any("not recorded in history" in str(value) for value in line.values())
    assert trader.order("quota").json()["used"] == 0 and trader.rows() == []


def test_order_within_weekly_limit(trader: Trader) -> None:
    use_up(trader, 4)
    said = trader.place("fifth")
    assert said.code == 0
    assert said.has("info", "Order frequency check passed: 4/5 orders this week")
    assert said.json()["quota"] == {"used": 5, "limit": 5, "week_start": this_monday()}


def test_order_exceeding_weekly_limit(trader: Trader) -> None:
    use_up(trader, 5)
    sent = len(trader.market.log())
    said = trader.place("sixth")
    assert said.code == 3 and said.json()["status"] == "denied"
    assert said.has("warn", "Order rejected: weekly limit exceeded (5/5 orders")
    assert "Weekly order limit exceeded: 5/5 orders placed this week" in said.out + said.err
    assert len(trader.market.log()) == sent, "something was sent"
    assert trader.order("status", "sixth").code == 5, "a denied order is kept"


def test_reduce_only_orders_excluded_from_limit(trader: Trader) -> None:
    hold_and_use_up(trader)
    said = trader.reduce("exit")
    assert said.code == 0, said.err
    assert said.has("info", "allowed despite limit")
    assert trader.order("quota").json()["used"] == 5


def test_database_write_failure_during_tracking(trader: Trader) -> None:
    use_up(trader, 1)
    with sqlite3.connect(trader.folder / "orders.db") as database:
        database.execute(
            "CREATE TRIGGER no_history BEFORE INSERT ON order_history"
            " BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END"
        )
    began = time.monotonic()
    said = trader.place("live")
    assert time.monotonic() - began >= 7, "1 s, 2 s and 4 s were not waited"
    assert said.code == 4 and said.json()["status"] == "unresolved"
    assert len(said.lines("warn", "disk is on fire")) == 3
    assert said.has("error", "disk is on fire")
    assert trader.market.accepted("live") == 1, "the order is not on the venue"
    trader.change("DROP TRIGGER no_history")
    again = trader.order("reconcile", "live")
    assert again.code == 0 and len(trader.rows()) == 2
    assert trader.market.accepted("live") == 1


def test_database_query_failure_during_validation(trader: Trader) -> None:
    use_up(trader, 1)
    trader.change("ALTER TABLE order_history RENAME TO elsewhere")
    sent = len(trader.market.log())
    began = time.monotonic()
    said = trader.place("unseen")
    assert time.monotonic() - began >= 7, "1 s, 2 s and 4 s were not waited"
    assert said.code == 6
    assert len(said.lines("warn", "order_history")) >= 3
    assert said.has("error", "Order rejected: unable to verify frequency limit (database error)")
    assert len(trader.market.log()) == sent, "something was sent"


def test_a_database_that_is_locked_at_the_start_is_waited_for(trader: Trader) -> None:
    """The same scenario where the database cannot even be opened: the lock of another program."""
    use_up(trader, 1)
    sent = len(trader.market.log())
    with sqlite3.connect(trader.folder / "orders.db", isolation_level=None) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        said = trader.place("unseen")
    assert said.code == 6, said.err
    assert [line["delay_seconds"] for line in said.lines("warn", "locked")] == [1, 2, 4]
    assert said.has("error", "Order rejected: unable to verify frequency limit (database error)")
    text = "pawl: Order rejected: unable to verify frequency limit (database error): "
    assert text in said.err
    assert len(trader.market.log()) == sent, "something was sent"
    database.close()
    assert trader.place("seen").code == 0


def test_database_initialization_with_order_history_table(trader: Trader) -> None:
    said = trader.order("quota")
    assert said.has("info", "Order history table initialized successfully")
    columns = {
        row["name"]: (row["type"], row["notnull"])
        for row in trader.rows("PRAGMA table_info(order_history)")
    }
    assert {name: columns[name] for name in COLUMNS} == COLUMNS
    indexes = {
        row["name"]: trader.rows(f"PRAGMA index_info({row['name']})")[0]["name"]
        for row in trader.rows("PRAGMA index_list(order_history)")
    }
    assert indexes["idx_order_history_week"] == "week_start"
    assert indexes["idx_order_history_placed_at"] == "placed_at"
    assert indexes["idx_order_history_order_id"] == "order_id"
    assert not trader.order("quota").has("info", "Order history table initialized")


def test_log_successful_frequency_check(trader: Trader) -> None:
    use_up(trader, 4)
    text = (
        f"Order frequency check passed: 4/5 orders this week (week starting {this_monday()}),"
        " placing order BTC-USDT-SWAP buy 0.1"
    )
    assert trader.place("fifth").has("info", text)


def test_log_frequency_limit_rejection(trader: Trader) -> None:
    use_up(trader, 5)
    text = (
        f"Order rejected: weekly limit exceeded (5/5 orders, week starting {this_monday()}),"
        " order BTC-USDT-SWAP buy 0.1 not placed"
    )
    assert trader.place("sixth").has("warn", text)


def test_log_reduce_only_exclusion(trader: Trader) -> None:
    hold_and_use_up(trader)
    text = (
        "Reduce-only order BTC-USDT-SWAP sell 0.1 allowed despite limit"
        " (5/5 orders this week, excluded from count)"
    )
    assert trader.reduce("exit").has("info", text)


def test_count_orders_in_current_week(trader: Trader) -> None:
    use_up(trader, 2)
    trader.change("UPDATE order_history SET week_start = '2025-12-01' WHERE id = 1")
    assert trader.order("quota").json()["used"] == 1


@pytest.mark.parametrize("became", ["filled", "canceled"])
def test_whatever_becomes_of_an_order_it_counts(trader: Trader, became: str) -> None:
    use_up(trader, 1)
    trader.change("UPDATE order_history SET status = ?", became)
    assert trader.order("quota").json()["used"] == 1


def test_update_order_status_to_filled(trader: Trader) -> None:
    order_id = trader.place("full").json()["order_id"]
    trader.market.act(order_id, "fill")
    said = trader.order("status", "full")
    assert said.has("info", f"Order status updated: order_id={order_id}, status=filled")
    assert [row["status"] for row in trader.rows()] == ["filled"]
    assert not trader.order("status", "full").has("info", "Order status updated")


def test_update_order_status_to_canceled(trader: Trader) -> None:
    order_id = trader.place("gone").json()["order_id"]
    said = trader.order("cancel", "gone")
    assert said.code == 0
    assert said.has("info", f"Order status updated: order_id={order_id}, status=canceled")
    assert [row["status"] for row in trader.rows()] == ["canceled"]
    assert trader.order("quota").json()["used"] == 1


def test_bypass_frequency_limit_via_config(trader: Trader) -> None:
    use_up(trader, 1)
    trader.configure("{ enabled: false, weekly_max_orders: 1 }", FREE_PACE)
    said = trader.place("urgent")
    assert said.code == 0
    assert said.has("info", "Frequency limit bypassed (disabled in config)")
    assert not said.has("info", "Order frequency check passed")
    assert len(trader.rows()) == 2


def test_emergency_override_flag(trader: Trader) -> None:
    """There is none at run time: the file is changed, and holds from the next start."""
    use_up(trader, 5)
    denied = trader.order("place", *WORDS["okx"], "--force")
    assert denied.code == 2, "an override that nobody documented"
    trader.configure("{ enabled: false }", FREE_PACE)
    assert trader.place("sixth").code == 0


def test_detect_missing_order_history(trader: Trader) -> None:
    said = trader.place("first")
    text = "Order history table is empty, consider backfilling from OKX"
    assert said.code == 0 and said.has("warn", text)
    assert not trader.place("second").has("warn", text)


def test_manual_backfill_trigger(trader: Trader) -> None:
    use_up(trader, 3)
    kept = sorted((row["order_id"], row["week_start"]) for row in trader.rows())
    for name in ("orders.db", "orders.db-wal", "orders.db-shm"):
        (trader.folder / name).unlink(missing_ok=True)
    said = trader.command("backfill-orders", "--days=7")
    assert said.code == 0, said.err
    assert said.has("info", "Backfilled 3 orders from OKX history")
    assert sorted((row["order_id"], row["week_start"]) for row in trader.rows()) == kept
    again = trader.command("backfill-orders", "--days=7")
    assert again.has("info", "Backfilled 0 orders from OKX history")
    assert len(trader.rows()) == 3
    assert trader.order("quota").json()["used"] == 3


def test_a_damaged_database_is_rebuilt_as_its_error_advises(trader: Trader) -> None:
    use_up(trader, 3)
    path = trader.folder / "orders.db"
    trader.change("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it stands in this file now
    with path.open("r+b") as file:
        size = path.stat().st_size
        file.seek(size // 4)
        file.write(b"\xa5" * (size // 2))
    sent = len(trader.market.log())
    said = trader.place("unseen")
    assert said.code == 6, (said.code, said.err)
    assert "move it away with all that begins with its name" in said.err
    [advised] = set(re.findall(r"run `pawl (.+?)`", said.err))
    assert len(trader.market.log()) == sent, "something was sent"
    (trader.folder / "away").mkdir()
    for each in list(trader.folder.glob("orders.db*")):
        each.rename(trader.folder / "away" / each.name)
    filled = trader.command(*advised.split())
    assert filled.code == 0, filled.err
    assert filled.has("info", "Backfilled 3 orders from OKX history")
    assert trader.order("quota").json()["used"] == 3
    assert trader.place("fourth").code == 0 and trader.place("fifth").code == 0
    assert trader.place("sixth").code == 3


def test_a_backfill_is_on_record(trader: Trader) -> None:
    use_up(trader, 2)
    for each in list(trader.folder.glob("orders.db*")):
        each.unlink()
    assert trader.command("backfill-orders").code == 0
    audit = trader.command("audit", "tail", "--json")
    assert audit.code == 0, audit.err
    records = [json.loads(line) for line in audit.out.splitlines()]
    told = [each for each in records if each["operation"] == "backfill_orders"]
    assert [(each["venue"], each["inserted"]) for each in told] == [("okx", 2)]


def test_two_hundred_placements_of_two_processes_place_five(trader: Trader) -> None:
    """Two shells start a hundred command lines each, ten at a time."""
    trader.configure("{ weekly_max_orders: 5 }", "  rate: 1000/1s\n")
    script = (
        'i=0; while [ $i -lt 100 ]; do i=$((i+1)); "$0" order place "$@" --ref "$NAME-$i" --json'
        " >/dev/null 2>&1 & if [ $((i % 10)) = 0 ]; then wait; fi; done; wait"
    )
    sides = [
        subprocess.Popen(
            ["bash", "-c", script, trader.pawl, *WORDS["okx"]],
            cwd=trader.folder,
            env={"NAME": name, "PATH": "/usr/bin:/bin"},
        )
        for name in ("left", "right")
    ]
    assert [side.wait(300) for side in sides] == [0, 0]
    assert sum(1 for line in trader.market.log() if line["accepted"]) == 5
    assert len(trader.rows()) == 5
    assert trader.order("quota").json()["used"] == 5
