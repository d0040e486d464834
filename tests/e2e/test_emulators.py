"""Goal: the emulated Saxo is a server that any client can be tested against: what goes wrong on the
wire goes wrong, orders outlive a kill, and the control port tells and steers.

Method: Python's own HTTP client and bare sockets against `pawl emulate saxo`. What the venue itself
answers is tested beside its code (src/emulator/core).
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulation import Emulator, emulator
from stack import wait_for

PLACE = "/trade/v2/orders"


@pytest.fixture
def saxo(pawl: Path, tmp_path: Path) -> Iterator[Emulator]:
    with emulator(pawl, "saxo", tmp_path) as market:
        market.faults({"settings": {"limits": False}})
        yield market


def order(reference: str, kind: str = "Market") -> str:
    body = {
        "AccountKey": "account",
        "Uic": 211,
        "AssetType": "Stock",
        "BuySell": "Buy",
        "Amount": 10,
        "OrderType": kind,
        "OrderDuration": {"DurationType": "DayOrder"},
        "ManualOrder": False,
        "ExternalReference": reference,
    }
    if kind != "Market":
        body["OrderPrice"] = 12.5
    return json.dumps(body)


def ask(
    market: Emulator, method: str, path: str, body: str | None = None, **fields: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    headers = {"Authorization": "Bearer secret-token", **fields}
    with contextlib.closing(market.connect()) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def place(market: Emulator, reference: str, kind: str = "Market") -> str:
    status, _, body = ask(market, "POST", PLACE, order(reference, kind))
    assert status == 200, body
    return json.loads(body)["OrderId"]


def fault(market: Emulator, kind: str, **more: object) -> None:
    market.faults({"script": [{"do": kind, "when": {"call": "place"}, **more}]})


def raw(market: Emulator, reference: str) -> bytes:
    """All bytes that come back for a placement, until the server closes."""
    host, _, port = market.address.partition(":")
    body = order(reference).encode()
    head = (
        f"POST {PLACE} HTTP/1.1\r\nHost: saxo\r\nAuthorization: Bearer t\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                data += piece
    return data


def test_a_client_places_reads_and_cancels(saxo: Emulator) -> None:
    order_id = place(saxo, "r1", "Limit")
    status, headers, body = ask(saxo, "GET", "/sim/openapi/port/v1/orders/me?$top=10&Status=All")
    assert status == 200 and json.loads(body)["Data"][0]["OrderId"] == order_id
    assert headers["Date"].endswith("GMT") and headers["X-Correlation"]
    status, _, body = ask(saxo, "DELETE", f"{PLACE}/{order_id}?AccountKey=account")
    assert status == 200 and "ErrorInfo" not in json.loads(body)["Orders"][0]
    assert [one["state"] for one in saxo.orders()] == ["cancelled"]


@pytest.mark.parametrize("kind", ["drop_before_accept", "drop_after_accept"])
def test_a_connection_is_cut_before_or_after_the_work(saxo: Emulator, kind: str) -> None:
    fault(saxo, kind)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        place(saxo, "r")
    assert saxo.accepted("r") == (1 if kind == "drop_after_accept" else 0)
    [row] = saxo.log()
    assert row["fault"] == kind and row["wire"] == "drop"
    assert row["accepted"] == (kind == "drop_after_accept")


def test_half_an_answer_and_a_wrong_length_are_noticed_by_a_strict_client(saxo: Emulator) -> None:
    for kind in ("half_answer", "wrong_length"):
        fault(saxo, kind)
        with pytest.raises(http.client.IncompleteRead):
            place(saxo, kind)
        assert saxo.accepted(kind) == 1


def test_an_answer_may_come_twice(saxo: Emulator) -> None:
    fault(saxo, "duplicate_answer")
    assert raw(saxo, "r").count(b"HTTP/1.1 200 OK\r\n") == 2
    assert saxo.accepted("r") == 1


def test_a_delayed_answer_finds_the_work_done(saxo: Emulator) -> None:
    fault(saxo, "delay_after_accept", delay="1s")
    begun = time.monotonic()
    place(saxo, "r")
    assert time.monotonic() - begun >= 1


def test_an_order_may_be_accepted_after_its_client_has_left(saxo: Emulator) -> None:
    fault(saxo, "delay_before_accept", delay="500ms")
    connection = saxo.connect()
    connection.request("POST", PLACE, order("r"), {"Authorization": "Bearer t"})
    connection.close()
    assert saxo.accepted("r") == 0
    wait_for(lambda: saxo.accepted("r") == 1, "the order to be accepted")


@pytest.mark.parametrize("status", [502, 503])
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_gateway_in_front_may_answer_with_a_page(saxo: Emulator, status: int, side: str) -> None:
    fault(saxo, f"html_{status}_{side}_accept")
    got, headers, body = ask(saxo, "POST", PLACE, order("r"))
    assert got == status and headers["Content-Type"] == "text/html" and b"<html>" in body
    assert saxo.accepted("r") == (1 if side == "after" else 0)


def test_a_401_may_be_empty_and_an_answer_compressed(saxo: Emulator) -> None:
    fault(saxo, "empty_401")
    status, _, body = ask(saxo, "POST", PLACE, order("a"))
    assert (status, body) == (401, b"") and saxo.accepted("a") == 0
    fault(saxo, "gzip")
    _, headers, body = ask(saxo, "POST", PLACE, order("b"))
    assert headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(body))["ExternalReference"] == "b"


def test_a_restart_cuts_every_connection_and_keeps_orders(saxo: Emulator) -> None:
    with contextlib.closing(saxo.connect()) as other:
        other.request("GET", "/port/v1/users/me", headers={"Authorization": "Bearer t"})
        other.getresponse().read()
        fault(saxo, "restart")
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            place(saxo, "r")
        assert other.sock
        other.sock.settimeout(10)
        assert other.sock.recv(1) == b""
    assert saxo.accepted("r") == 1
    place(saxo, "r")  # what counts as a repeat was only in memory


def test_orders_outlive_a_kill(saxo: Emulator) -> None:
    order_id = place(saxo, "kept", "Limit")
    place(saxo, "filled")
    before = saxo.orders()
    saxo.restart(signal.SIGKILL)
    assert saxo.orders() == before
    saxo.faults({"settings": {"limits": False}})
    saxo.act(order_id, "fill")
    assert place(saxo, "next") > order_id
    saxo.restart(signal.SIGTERM)
    assert [one["state"] for one in saxo.orders()] == ["filled"] * 3


def test_a_line_of_the_book_that_was_torn_is_cut_off(saxo: Emulator) -> None:
    place(saxo, "whole")
    saxo.stop(signal.SIGKILL)
    with saxo.book.open("a") as book:
        book.write('{"order":{"order_id":"5')
    saxo.start()
    assert [one["reference"] for one in saxo.orders()] == ["whole"]


def test_the_clock_is_moved_from_outside(saxo: Emulator) -> None:
    fault(saxo, "trade_not_completed", resolves="Working", after="3h")
    status, _, _ = ask(saxo, "POST", PLACE, order("r"))
    assert status == 202 and saxo.orders()[0]["state"] == "pending"
    saxo.advance("3h")
    assert saxo.orders()[0]["state"] == "working"
    saxo.skew(-86_400_000)
    _, headers, _ = ask(saxo, "GET", "/port/v1/users/me")
    told = time.mktime(time.strptime(headers["Date"], "%a, %d %b %Y %H:%M:%S %Z"))
    assert abs(told - (time.mktime(time.gmtime()) - 86_400)) < 60


def test_the_log_has_a_line_for_every_call_and_nothing_secret(saxo: Emulator) -> None:
    ask(saxo, "POST", PLACE, order("r"), **{"x-request-id": "id-1"})
    ask(saxo, "POST", "/token", "grant_type=refresh_token&refresh_token=very-secret")
    text = saxo.log_file.read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["operation"] for row in rows] == ["place", "token"]
    assert rows == saxo.log()
    assert rows[0]["request_id"] == "id-1" and rows[0]["reference"] == "r"
    assert rows[0]["accepted"] is True and rows[0]["order_id"] and rows[0]["status"] == 200
    assert "secret" not in text


def test_the_control_port_says_what_is_wrong(saxo: Emulator) -> None:
    for method, path, body, word in (
        ("POST", "/faults", {"script": [{"do": "explode"}]}, "explode"),
        ("POST", "/faults", {"settings": {"speed": 1}}, "speed"),
        ("POST", "/clock", {"advance": "soon"}, "soon"),
        ("POST", "/orders/1/fill", None, "no such order"),
        ("GET", "/nothing", None, "GET /orders"),
    ):
        with pytest.raises(AssertionError, match=word):
            saxo.control(method, path, body)
    saxo.control("POST", "/reset")
    assert saxo.orders() == [] and saxo.log() == []


def test_a_seed_gives_the_same_faults_again(pawl: Path, tmp_path: Path) -> None:
    met = []
    for run in ("one", "two"):
        folder = tmp_path / run
        folder.mkdir()
        rates = {"html_502_after_accept": 0.3, "empty_401": 0.2}
        script = {"seed": 11, "rates": rates, "settings": {"limits": False}}
        with emulator(pawl, "saxo", folder, script) as market:
            for number in range(40):
                ask(market, "POST", PLACE, order(f"r{number}"))
            met.append([row["fault"] for row in market.log()])
    assert met[0] == met[1] and len(set(met[0])) == 3


def test_a_script_that_is_wrong_does_not_start(pawl: Path, tmp_path: Path) -> None:
    script = tmp_path / "faults.json"
    for text, code in (('{"script": 7}', 1), (None, 5)):
        if text:
            script.write_text(text)
        else:
            script.unlink()
        words = [str(pawl), "emulate", "saxo", "--faults", str(script)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
        assert done.returncode == code and str(script) in done.stderr
