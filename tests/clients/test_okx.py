"""Goal: a real SDK trades against the emulated OKX as it would against the venue: its signatures
are good, its answers are understood, and its order channel tells what happened.

Method: the `okx-api` package of npm, pointed at `pawl emulate okx`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from emulation import Emulator, emulator

Node = Callable[[str, object], Any]

KEY = {
    "key": "emulated-demo",
    "secret": "22582BD0CFF14C41EDBF1AB98506286D",
    "passphrase": "emulated-passphrase",
}
SWAP = "BTC-USDT-SWAP"


@pytest.fixture
def okx(pawl: Path, tmp_path: Path) -> Iterator[Emulator]:
    with emulator(pawl, "okx", tmp_path) as venue:
        yield venue


def call(method: str, *arguments: object) -> dict[str, object]:
    return {"method": method, "arguments": arguments}


def plan_of(okx: Emulator, *calls: dict[str, object], **more: object) -> dict[str, object]:
    return {"url": okx.url, **KEY, "calls": calls, **more}


def limit(client_id: str, **more: str) -> dict[str, str]:
    return {
        **{"instId": SWAP, "tdMode": "cross", "side": "buy", "ordType": "limit"},
        **{"px": "40000", "sz": "0.1", "clOrdId": client_id},
        **more,
    }


def test_the_sdk_places_reads_amends_and_cancels(okx: Emulator, node: Node) -> None:
    ref = {"instId": SWAP, "clOrdId": "sdk1"}
    told = node(
        "okx_calls.js",
        plan_of(
            okx,
            call("submitOrder", limit("sdk1")),
            call("getOrderDetails", ref),
            call("amendOrder", {**ref, "newSz": "0.2"}),
            call("getOrderList"),
            call("cancelOrder", ref),
            call("getOrderHistory", {"instType": "SWAP"}),
            call("submitOrder", limit("sdk2", ordType="market")),
            call("getPositions"),
            call("getFills"),
            call("getAccountConfiguration"),
        ),
    )["results"]
    assert [result["error"] for result in told] == [None] * len(told)
    placed, details, amended, pending, cancelled, history, _, positions, fills, config = (
        result["value"] for result in told
    )
    assert placed[0]["sCode"] == "0" and details[0]["ordId"] == placed[0]["ordId"]
    assert amended[0]["ordId"] == cancelled[0]["ordId"] == placed[0]["ordId"]
    assert [order["sz"] for order in pending] == ["0.2"]
    assert [order["state"] for order in history] == ["canceled"]
    assert positions[0]["pos"] == "0.1" and fills[0]["fillSz"] == "0.1"
    assert config[0]["posMode"] == "net_mode"
    assert okx.accepted("sdk1") == okx.accepted("sdk2") == 1


def test_the_sdk_hears_why_an_order_was_refused(okx: Emulator, node: Node) -> None:
    told = node(
        "okx_calls.js",
        plan_of(
            okx,
            call("submitOrder", limit("same")),
            call("submitOrder", limit("same")),
            call("submitOrder", limit("other", reduceOnly="true", side="sell")),
            call("submitMultipleOrders", [limit("one"), limit("not-good")]),
        ),
    )["results"]
    good, same, reduce, batch = told
    assert good["error"] is None
    assert same["error"]["data"][0]["sCode"] == "51016"
    assert reduce["error"]["data"][0]["sCode"] == "51169"
    assert batch["error"]["code"] == "2"
    assert [item["sCode"] for item in batch["error"]["data"]] == ["0", "51000"]


def test_a_wrong_secret_is_refused_as_such(okx: Emulator, node: Node) -> None:
    told = node("okx_calls.js", plan_of(okx, call("getOrderList"), secret="another"))
    assert told["results"][0]["error"]["code"] == "50113"


def test_the_sdk_hears_of_orders_on_its_channel(okx: Emulator, node: Node) -> None:
    told = node(
        "okx_calls.js",
        plan_of(okx, call("submitOrder", limit("pushed", ordType="market")), pushes=2),
    )
    assert told["results"][0]["error"] is None
    assert [order["state"] for order in told["pushed"]] == ["live", "filled"]
    assert {order["clOrdId"] for order in told["pushed"]} == {"pushed"}


def test_an_order_whose_answer_was_lost_is_found_by_its_client_id(
    okx: Emulator, node: Node
) -> None:
    """What a careful program does after a timeout, and what a loop that tries again would do."""
    okx.faults(
        {
            "settings": {"dedup": "while_live"},
            "script": [{"when": {"call": "place"}, "do": "drop_after_accept"}],
        }
    )
    lost, found, again = node(
        "okx_calls.js",
        plan_of(
            okx,
            call("submitOrder", limit("lost", ordType="market")),
            call("getOrderDetails", {"instId": SWAP, "clOrdId": "lost"}),
            call("submitOrder", limit("lost", ordType="market")),
        ),
    )["results"]
    assert lost["error"] and found["value"][0]["state"] == "filled"
    assert again["error"] is None and okx.accepted("lost") == 2, "sent blindly, it is bought twice"
