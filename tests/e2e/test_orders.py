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
MEMBERS = {"external_reference", "venue", "status", "order_id", "attempts", "evidence", "quota"}
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


def test_tables_are_painted_on_a_terminal_alone(trader: Trader) -> None:
    trader.place("one")
    piped = trader.command("order", "list")
    assert "\033" not in piped.out and "one" in piped.out
    assert "\033[32mconfirmed\033[0m" in on_a_terminal(trader, "order", "list")


def test_a_backfill_shows_how_far_it_is_on_a_terminal(trader: Trader) -> None:
    trader.place("one")
    assert "100%" in on_a_terminal(trader, "backfill-orders", "--days", "7")
    piped = trader.command("backfill-orders", "--days", "7")
    assert piped.code == 0 and "\r" not in piped.err + piped.out
    assert "2h" in piped.out, "what OKX does not keep is not told"
    assert trader.command("backfill-orders", "--days", "0").code == 2


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
    (trader.folder / "pawl.yaml").write_text("orders: { database: orders.db }\n")
    said = trader.place("one")
    assert said.code in (1, 5) and "orders.venues" in said.err


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
