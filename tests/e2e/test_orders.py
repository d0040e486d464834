"""Goal: orders are placed and followed by hand and over HTTP; nobody overlooks an unresolved one.

Method: the real binary against an emulated OKX: on a terminal and piped, as a command and as a
server.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import pwd
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import stack
from emulation import emulator
from trading import WORDS as ALL_WORDS
from trading import Said, Trader

# Below the market, so that it stands there.
WORDS = {"okx": tuple("40000" if word == "50000" else word for word in ALL_WORDS["okx"])}
QUICK = "  rate: 100/1s\n  settle: 200ms\n  patience: 1s\n  timeout: 500ms\n"
MEMBERS = {"external_reference", "venue", "status", "order_id", "attempts", "evidence", "quota"} | {
    "life",
    "message",
}
READINGS = ("order", "pending", "history", "archive")


class Below(Trader):
    """Places below the market."""

    def place(self, reference: str = "", *more: str) -> Said:
        named = ("--ref", reference) if reference else ()
        return self.order("place", *WORDS["okx"], *named, *more)


@pytest.fixture
def trader(pawl: Path, tmp_path: Path) -> Iterator[Trader]:
    with emulator(pawl, "okx", tmp_path) as market:
        one = Below(pawl, tmp_path, "okx", market)
        one.configure(orders=QUICK)
        yield one


def lose(trader: Trader) -> None:
    """The next answer gets lost, and nothing can be read afterwards."""
    unreadable = [
        {"when": {"call": call}, "do": "html_502_before_accept", "times": 0} for call in READINGS
    ]
    lost = {"when": {"call": "place"}, "do": "drop_after_accept"}
    trader.market.faults({"script": [lost, *unreadable]})


def on_a_terminal(trader: Trader, *words: str) -> str:
    """What stands on a terminal when it is run there."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
    process = subprocess.Popen(
        [trader.pawl, *words], cwd=trader.folder, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError), open(master, "rb", buffering=0) as screen:
        while piece := screen.read(4096):
            seen += piece
    process.wait(30)
    return seen.decode()


def test_json_has_the_members_of_the_contract(trader: Trader) -> None:
    placed = trader.place("one")
    assert placed.code == 0 and set(placed.json()) == MEMBERS
    assert set(placed.json()["quota"]) == {"used", "limit", "week_start"}
    status = trader.order("status", "one")
    assert set(status.json()) == MEMBERS
    assert placed.json()["evidence"]


def test_the_same_reference_sends_nothing_and_another_order_under_it_is_refused(
    trader: Trader,
) -> None:
    first = trader.place("one").json()
    calls = [line for line in trader.market.log() if line["operation"] == "place"]
    assert trader.place("one").json()["order_id"] == first["order_id"]
    other = [word if word != "40000" else "40001" for word in WORDS["okx"]]
    refused = trader.order("place", *other, "--ref", "one")
    assert refused.code == 3 and "price" in refused.err
    assert [line for line in trader.market.log() if line["operation"] == "place"] == calls


def test_a_dry_run_keeps_and_sends_nothing(trader: Trader) -> None:
    said = trader.place("one", "--dry-run")
    assert said.code == 0 and said.json()["would_send"] is True
    assert not [line for line in trader.market.log() if line["operation"] == "place"]
    assert trader.order("status", "one").code == 5


def test_modify_cancel_list_and_precheck(trader: Trader) -> None:
    order_id = trader.place("one").json()["order_id"]
    assert trader.order("precheck", *WORDS["okx"]).code == 0
    assert trader.order("modify", "one", "--price", "40100").code == 0
    assert trader.order("modify", "one").code == 2
    assert trader.order("cancel", "one").code == 0
    assert trader.order("cancel", "nobody").code == 5
    [listed] = trader.order("list").json()["orders"]
    assert (listed["external_reference"], listed["order_id"]) == ("one", order_id)
    assert listed["life"] == "canceled"


def test_a_batch_has_an_intent_for_each(trader: Trader) -> None:
    order = {"venue": "okx", "inst": "BTC-USDT-SWAP", "side": "buy", "type": "limit"}
    lines = [
        json.dumps({**order, "size": "0.1", "price": "40000", "external_reference": name})
        for name in ("a", "b", "c")
    ]
    (trader.folder / "orders.jsonl").write_text("\n".join(lines) + "\n")
    said = trader.order("batch", "orders.jsonl")
    assert said.code == 0, said.err
    assert [each["status"] for each in said.json()["orders"]] == ["confirmed"] * 3
    assert [trader.market.accepted(name) for name in "abc"] == [1, 1, 1]


def test_an_unresolved_order_cannot_be_overlooked(trader: Trader) -> None:
    lose(trader)
    said = trader.place("lost")
    assert said.code == 4 and said.json()["status"] == "unresolved", said.err
    for words in (("quota",), ("list",), ("status", "lost", "--stored")):
        again = trader.order(*words)
        assert "1 ORDER IS UNRESOLVED" in again.err and "lost" in again.err, words
        assert again.has("error", "1 order is unresolved")
    assert trader.order("list", "--unresolved").code == 4
    assert trader.order("status", "lost", "--stored").code == 4
    assert trader.order("reconcile").code == 4, "nothing could be read"
    trader.market.faults({"script": []})
    found = trader.order("reconcile", "lost")
    assert found.code == 0 and found.json()["orders"][0]["status"] == "confirmed"
    assert trader.market.accepted("lost") == 1
    assert "UNRESOLVED" not in trader.order("quota").err


def begin_to_lose(trader: Trader, reference: str) -> subprocess.Popen[str]:
    """A placement that the venue has accepted, and whose outcome cannot be found out."""
    trader.configure(orders=QUICK.replace("patience: 1s", "patience: 1m"))
    lose(trader)
    words = ("--ref", reference, "--json")
    process = trader.start("order", "place", *WORDS["okx"], *words)
    stack.wait_for(lambda: trader.market.accepted(reference) == 1, "the order")
    return process


def test_an_order_that_a_killed_process_left_open_cannot_be_overlooked(trader: Trader) -> None:
    process = begin_to_lose(trader, "left")
    assert "LEFT OPEN" not in trader.order("quota").err, "somebody works on it"
    process.kill()
    process.communicate()
    for words in (("quota",), ("list",), ("cancel", "nobody"), ("precheck", *WORDS["okx"])):
        again = trader.order(*words)
        assert "!! 1 ORDER WAS LEFT OPEN" in again.err and "left" in again.err, words
        assert "pawl order reconcile" in again.err
        assert again.has("error", "1 order was left open")
    status = trader.order("status", "left", "--stored")
    assert status.code == 4 and "`pawl order reconcile left` finds out" in status.json()["message"]
    checks = json.loads(trader.command("doctor", "--json").out)["checks"]
    [database] = [each for each in checks if each["check"] == "orders.database"]
    assert database["status"] == "warn"
    assert "1 order was left open by a process that ended" in database["found"]
    assert trader.order("list", "--unresolved").code == 4
    trader.market.faults({"script": []})
    assert trader.order("reconcile").code == 0
    assert "LEFT OPEN" not in trader.order("quota").err
    assert trader.market.accepted("left") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_placement_with_a_word_on_what_became_of_it(
    trader: Trader, number: int
) -> None:
    process = begin_to_lose(trader, "cut")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 4, err
    assert "pawl: interrupted" in err
    told = json.loads(out)
    assert told["status"] == "unresolved"
    assert "it is kept as " in told["message"] and "nobody works on it any more" in told["message"]
    assert "`pawl order reconcile cut` finds out" in err
    trader.market.faults({"script": []})
    assert trader.order("reconcile", "cut").json()["orders"][0]["status"] == "confirmed"


def test_a_second_signal_ends_it_at_once(trader: Trader) -> None:
    trader.configure(orders=QUICK.replace("timeout: 500ms", "timeout: 1m"))
    late = {"when": {"call": "place"}, "do": "delay_after_accept", "delay": "50s"}
    trader.market.faults({"script": [late]})
    process = trader.start("order", "place", *WORDS["okx"], "--ref", "cut")
    stack.wait_for(lambda: trader.market.accepted("cut") == 1, "the order")
    assert process.stderr
    process.send_signal(signal.SIGINT)
    assert any("pawl: interrupted" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 4 and "pawl: ended at once" in err
    assert "!! 1 ORDER WAS LEFT OPEN" in trader.order("quota").err


def test_a_wait_that_runs_out_says_that_nobody_works_on_it(trader: Trader) -> None:
    lose(trader)
    trader.configure(orders=QUICK.replace("patience: 1s", "patience: 1m"))
    said = trader.place("late", "--wait", "800ms")
    assert said.code == 4 and said.json()["status"] == "unresolved"
    assert "nobody works on it any more" in said.json()["message"]
    assert "goes on" not in said.out + said.err
    assert "!! 1 ORDER WAS LEFT OPEN" in trader.order("quota").err


def test_a_wait_that_runs_out_on_an_order_that_was_left_open_says_that_nobody_knows(
    trader: Trader,
) -> None:
    process = begin_to_lose(trader, "cut")
    process.kill()
    process.communicate(timeout=30)
    assert trader.market.accepted("cut") == 1
    said = trader.place("cut", "--wait", "500ms")
    assert said.code == 4 and said.json()["status"] == "unresolved", said.err
    # Of another one nothing was sent or kept.
    other = trader.place("other", "--wait", "500ms")
    assert other.code == 6 and "Nothing was kept." in other.err
    assert trader.order("status", "other").code == 5
    trader.market.faults({"script": []})
    assert trader.order("reconcile", "cut").json()["orders"][0]["status"] == "confirmed"


def test_an_order_that_has_not_left_is_not_called_rejected_though_it_is_kept_late(
    trader: Trader,
) -> None:
    patient = "  retry: { base_delay: 1m, max_delay: 2m }\n"
    trader.configure(orders=QUICK + patient)
    assert trader.order("quota").code == 0
    trader.market.stop()
    process = trader.start("order", "place", *WORDS["okx"], "--ref", "never", "--wait", "3s")
    assert process.stderr
    assert any("operation_failed" in line for line in process.stderr)
    trader.change(
        "CREATE TRIGGER no_save BEFORE UPDATE ON intents"
        " BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END"
    )
    assert any("disk is on fire" in line for line in process.stderr)
    trader.change("DROP TRIGGER no_save")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 6, err
    assert "Nothing was sent: " in err and "may be placed again" in err
    trader.market.start()
    assert trader.place("never").code == 0


def test_a_wait_tells_the_answer_that_came_while_it_ended(trader: Trader) -> None:
    trader.configure(orders=QUICK.replace("timeout: 500ms", "timeout: 30s"))
    slow = {"when": {"call": "place"}, "do": "delay_after_accept", "delay": "2s"}
    trader.market.faults({"script": [slow]})
    said = trader.place("slow", "--wait", "1s")
    assert said.code == 0 and said.json()["status"] == "confirmed", said.err
    assert trader.place("never", "--wait", "0s").code == 2


@pytest.mark.parametrize(("verdict", "used"), [("placed", 1), ("absent", 0)])
def test_a_person_settles_what_nothing_else_can(trader: Trader, verdict: str, used: int) -> None:
    lose(trader)
    assert trader.place("lost").code == 4
    words = ("resolve", "lost", "--as", verdict, "--reason", "support said so")
    named = ("--order-id", "77") if verdict == "placed" else ()
    assert trader.order("resolve", "lost", "--as", verdict).code == 2
    assert trader.order(*words, *named).code == 0
    assert trader.order("quota").json()["used"] == used
    assert trader.order(*words, *named).code == 3, "it was settled already"
    audit = (trader.folder / "data" / "audit.jsonl").read_text()
    assert "support said so" in audit
    assert pwd.getpwuid(os.getuid()).pw_name in audit and "somebody" not in audit


def test_tables_are_painted_on_a_terminal_alone(trader: Trader) -> None:
    trader.place("one")
    piped = trader.command("order", "list")
    assert "\033" not in piped.out and "one" in piped.out
    assert "\033[32mconfirmed\033[0m" in on_a_terminal(trader, "order", "list")


def test_a_backfill_shows_how_far_it_is_on_a_terminal(trader: Trader) -> None:
    trader.place("one")
    shown = on_a_terminal(trader, "backfill-orders", "--days", "7")
    steps = [int(each) for each in re.findall(r"(\d+)%", shown)]
    assert steps == sorted(steps) and len(set(steps)) > 3 and steps[-1] == 100, shown
    assert re.search(r"100%  1 order, 0 new, back to [0-9-]+\r?\n", shown), shown
    piped = trader.command("backfill-orders", "--days", "7")
    assert "(1 order)" in piped.out, "an order of two lists is counted twice"
    assert piped.code == 0 and "\r" not in piped.err + piped.out
    assert "2h" in piped.out, "what OKX does not keep is not told"
    assert trader.command("backfill-orders", "--days", "0").code == 2


def test_a_signal_ends_a_backfill_between_two_pages(trader: Trader) -> None:
    assert trader.place("kept").code == 0
    for each in list(trader.folder.glob("orders.db*")):
        each.unlink()
    slow = [
        {"when": {"call": call}, "do": "delay_after_accept", "delay": "3s", "times": 0}
        for call in ("pending", "history", "archive")
    ]
    trader.market.faults({"script": slow})
    calls = len(trader.market.log())
    process = trader.start("backfill-orders")
    stack.wait_for(lambda: len(trader.market.log()) > calls, "the first page")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 6, err
    assert "pawl: interrupted" in err and "Backfill from okx stopped" in err
    trader.market.faults({"script": []})
    assert trader.command("backfill-orders").code == 0
    assert trader.order("quota").json()["used"] == 1


def test_no_secret_is_told(trader: Trader) -> None:
    trader.configure(orders=QUICK)
    text = (trader.folder / "pawl.yaml").read_text()
    text = text.replace("secret_key: secret", "secret_key: hush-hush-1")
    text = text.replace("passphrase: phrase", "passphrase: hush-hush-2")
    (trader.folder / "pawl.yaml").write_text(text)
    lose(trader)
    said = trader.place("one")
    shown = trader.command("config", "show")
    audit = (trader.folder / "data" / "audit.jsonl").read_text()
    assert "hush-hush" not in said.out + said.err + shown.out + shown.err + audit


def test_doctor_looks_at_database_venue_and_clock(trader: Trader) -> None:
    trader.place("one")
    said = trader.command("doctor", "--json")
    checks = {each["check"]: each for each in json.loads(said.out)["checks"]}
    assert checks["orders.database"]["status"] == "ok"
    assert checks["orders.venues.okx"]["status"] == "ok"
    assert checks["orders.venues.okx clock"]["status"] == "ok"
    trader.market.skew(60_000)
    said = trader.command("doctor", "--json")
    checks = {each["check"]: each for each in json.loads(said.out)["checks"]}
    assert checks["orders.venues.okx clock"]["status"] == "warn"


def test_no_venue_is_told(trader: Trader) -> None:
    saxo = ("--venue", "saxo", "--uic", "211", "--asset-type", "Stock", "--side", "buy")
    assert trader.order("place", *saxo, "--type", "market", "--size", "1").code == 5
    assert trader.command("backfill-orders", "--venue", "saxo").code == 5
    assert trader.command("order", "reopen", "saxo").code == 5
    (trader.folder / "pawl.yaml").write_text("orders: { database: orders.db }\n")
    for said in (trader.place("one"), trader.command("backfill-orders")):
        assert said.code == 5 and "orders.venues" in said.err
        assert not said.out


def test_what_makes_no_sense_is_called_wrongly(trader: Trader) -> None:
    trader.place("one")
    calls = len(trader.market.log())
    assert trader.order("modify", "one", "--size", "0").code == 2
    saxo = ("--venue", "saxo", "--inst", "BTC-USDT-SWAP", "--side", "buy", "--type", "market")
    said = trader.order("place", *saxo, "--size", "1")
    assert said.code == 2 and "--uic" in said.err
    said = trader.order("place", *WORDS["okx"], "--ref", "x", "--validity", "day")
    assert said.code == 2 and "OKX does not take this order" in said.err
    assert len(trader.market.log()) == calls, "something was sent"


def ask(gateway: stack.Gateway, method: str, path: str, body: object = None) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def venue_of(trader: Trader, poll: str = "100ms", channel: str = "") -> str:
    return (
        f"orders:\n  database: orders.db\n  poll: {poll}\n"
        f"{QUICK}  venues:\n    okx: {{ base_url: {trader.market.url}, api_key: key,"
        f' secret_key: secret, passphrase: phrase, ws_url: "{channel}" }}\n'
    )


ORDER = {
    **{"venue": "okx", "inst": "BTC-USDT-SWAP", "side": "buy", "type": "limit"},
    **{"size": "0.1", "price": "40000"},
}


def test_a_server_places_polls_and_tells(pawl: Path, trader: Trader) -> None:
    upstream = stack.Upstream()
    more = venue_of(trader)
    with stack.serving(pawl, trader.folder, upstream, more=more) as gateway:
        status, placed = ask(gateway, "POST", "/v1/orders", {**ORDER, "external_reference": "s1"})
        assert status == 200 and placed["status"] == "confirmed"
        trader.market.act(placed["order_id"], "fill")
        stack.wait_for(lambda: gateway.events("order_status_updated"), "the fill")
        assert ask(gateway, "GET", "/v1/orders/quota")[1]["used"] == 1
        stack.wait_for(
            lambda: gateway.metric('pawl_orders_total{status="confirmed"}') == 1, "the metric"
        )
    upstream.close()
    assert [row["status"] for row in trader.rows()] == ["filled"]


def test_a_server_hears_of_orders_on_their_channel(pawl: Path, trader: Trader) -> None:
    upstream = stack.Upstream()
    channel = f"ws://{trader.market.address}/ws/v5/private"
    more = venue_of(trader, poll="1h", channel=channel)
    with stack.serving(pawl, trader.folder, upstream, more=more) as gateway:
        order = {**ORDER, "external_reference": "s1"}
        status, placed = ask(gateway, "POST", "/v1/orders", order)
        assert status == 200
        trader.market.act(placed["order_id"], "fill")
        stack.wait_for(lambda: gateway.events("order_status_updated"), "the fill")
    upstream.close()
    assert [row["status"] for row in trader.rows()] == ["filled"]


def test_a_server_is_degraded_while_an_order_is_unresolved(pawl: Path, trader: Trader) -> None:
    upstream = stack.Upstream()
    lose(trader)
    assert trader.place("lost").code == 4
    with stack.serving(pawl, trader.folder, upstream, more=venue_of(trader)) as gateway:

        def health() -> dict:
            return ask(gateway, "GET", "/healthz")[1]

        stack.wait_for(lambda: "unresolved" in health().get("detail", ""), "a degraded health")
        assert health()["status"] == "degraded"
        stack.wait_for(lambda: gateway.metric("pawl_orders_unresolved") == 1, "the metric")
        assert gateway.events("orders_unresolved")
        trader.market.faults({"script": []})
        status, found = ask(gateway, "POST", "/v1/orders/lost/reconcile")
        assert status == 200 and found["orders"][0]["status"] == "confirmed"
        stack.wait_for(lambda: gateway.metric("pawl_orders_unresolved") == 0, "the metric")
    upstream.close()
    assert trader.market.accepted("lost") == 1


def test_a_server_is_degraded_while_an_order_of_another_process_is_left_open(
    pawl: Path, trader: Trader
) -> None:
    upstream = stack.Upstream()
    with stack.serving(pawl, trader.folder, upstream, more=venue_of(trader)) as gateway:
        process = begin_to_lose(trader, "left")
        process.kill()
        process.communicate()
        what = "1 order was left open"
        stack.wait_for(
            lambda: what in ask(gateway, "GET", "/healthz")[1].get("detail", ""), "a bad health"
        )
        stack.wait_for(lambda: gateway.metric("pawl_orders_left_open") == 1, "the metric")
        trader.market.faults({"script": []})
        assert ask(gateway, "POST", "/v1/order-reconciliations")[0] == 200
        stack.wait_for(lambda: gateway.metric("pawl_orders_left_open") == 0, "the metric")
    upstream.close()
