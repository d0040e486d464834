"""Goal: the emulated OKX is a server that any client can be tested against, its order channel over
WebSocket included.

Method: Python's own HTTP client, with signatures made here, and a WebSocket of a few lines against
`pawl emulate okx`. What the venue itself answers is tested beside its code (src/emulator/core).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from emulation import Emulator, emulator
from stack import wait_for
from trading import Trader
from web_socket import PING, PONG, WebSocket

KEY, SECRET, PASSPHRASE = (
    *("emulated-demo", "22582BD0CFF14C41EDBF1AB98506286D"),
    "emulated-passphrase",
)
ORDER = "/api/v5/trade/order"
CHANNEL = "/ws/v5/private"
SWAP = "BTC-USDT-SWAP"
ORDERS = {"channel": "orders", "instType": "ANY"}


@pytest.fixture
def okx(pawl: Path, tmp_path: Path) -> Iterator[Emulator]:
    with emulator(pawl, "okx", tmp_path) as venue:
        yield venue


def signature(text: str) -> str:
    return base64.b64encode(hmac.digest(SECRET.encode(), text.encode(), hashlib.sha256)).decode()


def ask(
    venue: Emulator, method: str, target: str, body: str = "", skew: float = 0, **fields: str
) -> tuple[int, dict[str, Any]]:
    now = datetime.now(UTC) + timedelta(seconds=skew)
    stamp = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    headers = {
        "OK-ACCESS-KEY": KEY,
        "OK-ACCESS-SIGN": signature(stamp + method + target + body),
        "OK-ACCESS-TIMESTAMP": stamp,
        "OK-ACCESS-PASSPHRASE": PASSPHRASE,
        "Content-Type": "application/json",
        "x-simulated-trading": "1",
        **fields,
    }
    with contextlib.closing(venue.connect()) as connection:
        connection.request(method, target, body or None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def order(client_id: str, kind: str = "limit") -> str:
    body = {"instId": SWAP, "tdMode": "cross", "side": "buy", "ordType": kind, "sz": "0.1"}
    if kind != "market":
        body["px"] = "40000"
    return json.dumps({**body, "clOrdId": client_id})


def place(venue: Emulator, client_id: str, kind: str = "limit", **fields: str) -> dict[str, Any]:
    status, told = ask(venue, "POST", ORDER, order(client_id, kind), **fields)
    assert status == 200
    return told["data"][0]


def find(venue: Emulator, client_id: str, skew: float = 0) -> dict[str, Any]:
    return ask(venue, "GET", f"{ORDER}?instId={SWAP}&clOrdId={client_id}", skew=skew)[1]


# Calls.


def test_an_order_is_placed_and_found(okx: Emulator) -> None:
    placed = place(okx, "one")
    assert placed["sCode"] == "0"
    assert find(okx, "one")["data"][0]["ordId"] == placed["ordId"]
    [row, _] = okx.log()
    assert (row["operation"], row["reference"], row["accepted"]) == ("place", "one", True)
    assert row["order_id"] == placed["ordId"]


def test_nothing_secret_is_in_the_log(okx: Emulator) -> None:
    place(okx, "one")
    text = okx.log_file.read_text()
    assert "one" in text and PASSPHRASE not in text and SECRET not in text and KEY not in text
    assert "ok-access" not in text.lower()


@pytest.mark.parametrize("fault", ["drop_after_accept", "half_answer", "restart"])
def test_an_answer_is_lost_and_the_order_is_there(okx: Emulator, fault: str) -> None:
    okx.faults({"script": [{"when": {"call": "place"}, "do": fault}]})
    with pytest.raises((ConnectionError, http.client.HTTPException, json.JSONDecodeError)):
        place(okx, "lost")
    assert okx.accepted("lost") == 1
    assert find(okx, "lost")["code"] == "0"
    assert place(okx, "lost")["sCode"] == "51016"


def test_a_call_that_waits_too_long_is_not_processed_behind_its_exp_time(okx: Emulator) -> None:
    okx.faults({"script": [{"do": "delay_before_accept", "delay": "400ms"}]})
    soon = str(int(time.time() * 1000) + 100)
    assert place(okx, "late", expTime=soon)["sCode"] == "50036"
    assert find(okx, "late")["code"] == "51603"
    assert okx.accepted("late") == 0


def test_orders_outlive_a_kill(okx: Emulator) -> None:
    placed = place(okx, "kept")
    place(okx, "filled", "market")
    okx.restart(signal.SIGKILL)
    assert find(okx, "kept")["data"][0]["ordId"] == placed["ordId"]
    positions = ask(okx, "GET", "/api/v5/account/positions")[1]["data"]
    assert [row["pos"] for row in positions] == ["0.1"]
    assert place(okx, "kept")["sCode"] == "51016"


def test_the_clock_can_be_moved(okx: Emulator) -> None:
    body = json.dumps({"instId": SWAP, "clOrdId": "gone"})
    place(okx, "gone")
    ask(okx, "POST", "/api/v5/trade/cancel-order", body)
    assert find(okx, "gone")["data"][0]["state"] == "canceled"
    okx.advance("2h")
    assert find(okx, "gone")["code"] == "50102", "the client's clock is two hours behind"
    assert find(okx, "gone", skew=7200)["code"] == "51603", "kept for two hours only"


# The order channel.


def log_in(channel: WebSocket, secret: str = SECRET) -> dict[str, Any]:
    stamp = str(int(time.time()))
    text = (stamp + "GET/users/self/verify").encode()
    sign = base64.b64encode(hmac.digest(secret.encode(), text, hashlib.sha256)).decode()
    args = {"apiKey": KEY, "passphrase": PASSPHRASE, "timestamp": stamp, "sign": sign}
    channel.say({"op": "login", "args": [args]})
    return channel.hear()


@contextlib.contextmanager
def listening(venue: Emulator) -> Iterator[WebSocket]:
    channel = WebSocket(venue.address, CHANNEL)
    with contextlib.closing(channel):
        assert channel.status == 101
        assert log_in(channel)["code"] == "0"
        channel.say({"op": "subscribe", "args": [ORDERS]})
        assert channel.hear()["event"] == "subscribe"
        yield channel


def states(channel: WebSocket, count: int) -> list[str]:
    return [channel.hear()["data"][0]["state"] for _ in range(count)]


def test_the_channel_tells_of_orders(okx: Emulator) -> None:
    with listening(okx) as channel:
        placed = place(okx, "one")
        told = channel.hear()
        assert told["arg"]["channel"] == "orders"
        assert told["data"][0]["ordId"] == placed["ordId"]
        okx.act(placed["ordId"], "fill")
        assert states(channel, 1) == ["filled"]
        place(okx, "two", "market")
        assert states(channel, 2) == ["live", "filled"]


def test_the_channel_answers_pings_of_both_kinds(okx: Emulator) -> None:
    with contextlib.closing(WebSocket(okx.address, CHANNEL)) as channel:
        channel.say("ping")
        assert channel.hear() == "pong"
        channel.send(PING, b"42")
        assert channel.receive() == (PONG, b"42")


def test_nobody_listens_without_a_login(okx: Emulator) -> None:
    with contextlib.closing(WebSocket(okx.address, CHANNEL)) as channel:
        channel.say({"op": "subscribe", "args": [ORDERS]})
        assert channel.hear()["code"] == "60011"
        assert log_in(channel, "wrong")["code"] == "60007"
        place(okx, "unheard")
        assert channel.is_quiet(0.3)


def test_the_channel_may_tell_before_the_answer_does(okx: Emulator) -> None:
    okx.faults({"script": [{"do": "push_before_reply"}]})
    with listening(okx) as channel:
        place(okx, "early")
        assert states(channel, 1) == ["live"]


def test_the_channel_may_be_silent(okx: Emulator) -> None:
    okx.faults({"script": [{"when": {"call": "place"}, "do": "push_silence"}]})
    with listening(okx) as channel:
        place(okx, "unheard")
        assert channel.is_quiet(0.3)
        place(okx, "heard")
        assert channel.hear()["data"][0]["clOrdId"] == "heard"


def test_the_channel_may_be_closed(okx: Emulator) -> None:
    okx.faults({"script": [{"when": {"call": "place"}, "do": "push_close"}]})
    with listening(okx) as channel:
        place(okx, "last")
        assert states(channel, 1) == ["live"]
        assert channel.close_code() == 1001


def test_the_channel_is_cut_by_a_restart_and_comes_back(okx: Emulator) -> None:
    with listening(okx) as channel:
        okx.faults({"script": [{"when": {"call": "place"}, "do": "restart"}]})
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            place(okx, "lost")
        with pytest.raises(ConnectionError):
            while True:
                channel.receive()
    with listening(okx) as channel:
        place(okx, "again")
        assert states(channel, 1) == ["live"]


def test_a_channel_on_which_nothing_is_said_is_closed(okx: Emulator) -> None:
    okx.faults({"settings": {"channel_idle": "200ms"}})
    with contextlib.closing(WebSocket(okx.address, CHANNEL)) as channel:
        assert channel.close_code() == 1001


def test_connections_that_come_too_fast_are_closed(okx: Emulator) -> None:
    channels = [WebSocket(okx.address, CHANNEL) for _ in range(4)]
    with contextlib.ExitStack() as ends:
        for channel in channels:
            ends.callback(channel.close)
        assert channels[3].close_code() == 1008
        channels[2].say("ping")
        assert channels[2].hear() == "pong"


@pytest.mark.parametrize(
    ("bytes_sent", "code"),
    [(b"\x81\x01a", 1002), (b"\xff\x80\0\0\0\0", 1002), (b"\x82\x80\0\0\0\0", 1003)],
    ids=["not masked", "reserved bits", "binary"],
)
def test_what_is_no_websocket_is_closed(okx: Emulator, bytes_sent: bytes, code: int) -> None:
    with contextlib.closing(WebSocket(okx.address, CHANNEL)) as channel:
        channel.socket.sendall(bytes_sent)
        assert channel.close_code() == code
    wait_for(lambda: place(okx, "alive")["ordId"] or True, "the emulator to go on")


def test_other_addresses_are_no_channel(okx: Emulator) -> None:
    with contextlib.closing(WebSocket(okx.address, "/ws/v5/public")) as channel:
        assert channel.status == 404


def test_a_reference_that_okx_does_not_take_is_not_sent_again_after_the_database_was_lost(
    pawl: Path, tmp_path: Path, okx: Emulator
) -> None:
    """OKX knows it by another name, and so does its history."""
    trader = Trader(pawl, tmp_path, "okx", okx)
    reference = "re-balance_2025-12-03.strategy_7"
    placed = trader.place(reference)
    assert placed.code == 0, placed.err
    [order] = okx.orders()
    assert order["reference"] != reference
    for file in tmp_path.glob("orders.db*"):
        file.unlink()
    assert trader.command("backfill-orders", "--days=7").code == 0
    assert trader.order("quota").json()["used"] == 1
    again = trader.place(reference)
    assert again.code == 3 and f"The reference '{reference}' is taken" in again.err
    assert placed.json()["order_id"] in again.err
    assert len(okx.orders()) == 1
    assert trader.order("quota").json()["used"] == 1
    assert trader.place("another-one").code == 0
