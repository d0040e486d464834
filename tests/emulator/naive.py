"""A bot as many are: it sends an order, and when it dislikes the answer, sends it again.

Each attempt has ids of its own, as clients that make them per request do, and nothing is looked up.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import time
from datetime import datetime, timezone

ATTEMPTS = 3
PAUSE_SECONDS = 1.1
TIMEOUT_SECONDS = 0.5


class Naive:
    def __init__(self, venue: str, address: str) -> None:
        self.venue, self.address = venue, address

    def place(self, reference: str) -> str:
        """What it believes: placed or failed."""
        for attempt in range(1, ATTEMPTS + 1):
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                status, body = self._send(reference, attempt)
                if self._is_good(status, json.loads(body)):
                    return "placed"
            time.sleep(PAUSE_SECONDS)
        return "failed"

    def _is_good(self, status: int, body: dict) -> bool:
        if self.venue == "saxo":
            return status in (200, 201)
        return status == 200 and body.get("code") == "0"

    def _send(self, reference: str, attempt: int) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_SECONDS)
        path, body, headers = (self._saxo if self.venue == "saxo" else self._okx)(
            reference, attempt
        )
        with contextlib.closing(connection):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    @staticmethod
    def _saxo(reference: str, attempt: int) -> tuple[str, str, dict[str, str]]:
        body = {
            "AccountKey": "account",
            "Uic": 211,
            "AssetType": "Stock",
            "BuySell": "Buy",
            "Amount": 10,
            "OrderType": "Market",
            "OrderDuration": {"DurationType": "DayOrder"},
            "ManualOrder": False,
            "ExternalReference": reference,
        }
        headers = {"Authorization": "Bearer t", "x-request-id": f"{reference}-{attempt}"}
        return "/trade/v2/orders", json.dumps(body), headers

    @staticmethod
    def _okx(reference: str, attempt: int) -> tuple[str, str, dict[str, str]]:
        path = "/api/v5/trade/order"
        body = json.dumps(
            {
                "instId": "BTC-USDT-SWAP",
                "tdMode": "cross",
                "side": "buy",
                "ordType": "limit",
                "sz": "0.1",
                "px": "50000",
                "clOrdId": f"{reference}a{attempt}",
            }
        )
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        stamp = now.replace("+00:00", "Z")
        signed = hmac.new(b"secret", f"{stamp}POST{path}{body}".encode(), hashlib.sha256).digest()
        headers = {
            "Content-Type": "application/json",
            "OK-ACCESS-KEY": "key",
            "OK-ACCESS-SIGN": base64.b64encode(signed).decode(),
            "OK-ACCESS-TIMESTAMP": stamp,
            "OK-ACCESS-PASSPHRASE": "phrase",
            "x-simulated-trading": "1",
        }
        return path, body, headers
