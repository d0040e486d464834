"""Goal: whatever clients and upstreams do to each other, the gateway lives, gives back everything
it lent for a request, and no write with a key runs twice.

Method: clients and an upstream that misbehave by a seed: they leave, fall silent, talk nonsense,
close early or late, within heads, bodies and between them. Afterwards every place is counted.
"""

from __future__ import annotations

import collections
import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import stack
import tls

CLIENTS = 8
EXCHANGES = 50 if stack.SANITIZED else 100  # of each client
REQUESTS_MAX = 16
BODY = b"x" * 30_000

# What an upstream may answer; some of it breaks off, some is no HTTP at all.
ANSWERS = [
    stack.OK,
    stack.OK,
    stack.OK,
    b"HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n" + BODY,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7530\r\n" + BODY + b"\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nbusy",
    b"HTTP/1.1 100 Continue\r\n\r\n" + stack.OK,
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + stack.OK,
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 200 OK\r\nA: " + b"a" * 20_000 + b"\r\n\r\n",
    b"HTTP/1.1 OK\r\n\r\n",
    b"\x00\x01\x02 nonsense\r\n\r\n",
    b"",
    stack.OK + b"and more than was asked for",
]


def reset(connection: socket.socket) -> None:
    """Closes it the hard way."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class WildUpstream:
    """Reads a request, or a part of it, and answers by chance."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self.executed: collections.Counter[str] = collections.Counter()

    def _choose(self) -> tuple[bytes, float, str]:
        with self._lock:
            answer = self._random.choice(ANSWERS)
            cut = self._random.random()
            end = self._random.choice(["stay"] * 6 + ["close", "reset", "silent"])
            return answer, cut, end

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ConnectionError), connection:
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    data += stack.receive_some(connection)
                head, _, data = data.partition(b"\r\n\r\n")
                if key := stack.field_of(head, "Idempotency-Key"):
                    self.executed[head[:4].decode() + key] += 1
                answer, cut, end = self._choose()
                if cut <= 0.2:  # in a hurry: it does not hear the body out
                    end = "close" if end == "stay" else end
                else:
                    length = int(stack.field_of(head, "Content-Length") or 0)
                    while len(data) < length:
                        data += stack.receive_some(connection)
                    data = data[length:]
                    if "chunked" in stack.field_of(head, "Transfer-Encoding"):
                        while not data.endswith(b"\r\n\r\n"):  # trailers may stand before it
                            data += stack.receive_some(connection)
                        data = b""
                if cut > 0.9:
                    answer = answer[: int(len(answer) * (cut - 0.9) * 10)]
                connection.sendall(answer)
                if end == "reset":
                    reset(connection)
                if end == "silent":
                    time.sleep(0.5)
                if end != "stay" or cut > 0.9:
                    return


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
KEYED = b" / HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: a\r\nIdempotency-Key: KEY\r\n"
LARGE = b"Content-Length: 30000\r\n\r\n" + BODY
GET = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"
REQUESTS = [
    GET,
    GET * 5,
    b"HEAD / HTTP/1.1\r\nHost: t\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: t\r\n" + LARGE,
    b"POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
    b"POST / HTTP/1.1\r\nHost: t\r\n"
    + CHUNKED
    + (b"100\r\n" + b"y" * 256 + b"\r\n") * 50
    + b"0\r\nX-Sum: 1\r\n\r\n",
    b"POST" + KEYED + LARGE,
    b"POST" + KEYED + LARGE,
    b"PUT" + KEYED + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n",
    b"PUT" + KEYED + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n",
]


Connect = Callable[[str], socket.socket]  # from that address


def misbehave(connect: Connect, seed: int) -> None:
    dice = random.Random(seed)
    for number in range(EXCHANGES):
        connection = connect(f"127.0.0.{dice.randint(2, 9)}")
        key = f"{seed}-{number // 5}"  # most come several times
        request = dice.choice(REQUESTS).replace(b"KEY", key.encode())
        if dice.random() < 0.2:
            request = request[: dice.randint(1, len(request))]
        with contextlib.suppress(OSError):
            connection.settimeout(dice.choice([0.005, 0.05, 0.3]))
            connection.sendall(request)
            if dice.random() < 0.1:
                connection.shutdown(socket.SHUT_WR)
            for _ in range(dice.randint(0, 5)):
                if not connection.recv(dice.choice([1, 100, 65536])):
                    break
        if dice.random() < 0.3:
            reset(connection)
        connection.close()


SETTINGS = (
    f"  requests: {REQUESTS_MAX}\n  websocket: true\n  health: {{ interval: 1h }}\n"
    "  timeouts: { head: 1s, idle: 1s, connect: 1s, answer: 1s }\n"
)


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_done_twice(pawl: Path, seed: int) -> None:
    with stack.running(pawl, server=SETTINGS) as gateway:
        wild = WildUpstream(seed)
        check(gateway, wild, wild.serve, gateway.connect)


@pytest.mark.parametrize("seed", [3, 4])
def test_nor_with_tls_on_both_sides(pawl: Path, tmp_path: Path, seed: int) -> None:
    certificate = tls.make_certificate(tmp_path, "IP:127.0.0.1")
    server = f"{SETTINGS}{tls.settings(certificate)}\n  upstream_ca: {certificate[0]}"
    with contextlib.closing(tls.upstream(certificate)) as upstream:
        settings = {"upstreams": f"https://127.0.0.1:{upstream.port}", "server": server}
        with stack.serving(pawl, tmp_path, upstream, **settings) as gateway:
            wild = WildUpstream(seed)

            def connect(source: str = "") -> socket.socket:
                return tls.connect(gateway, certificate, source)

            check(gateway, wild, tls.spoken(certificate, wild.serve), connect)


def check(gateway: stack.Gateway, wild: WildUpstream, serve: tls.Serve, connect: Connect) -> None:
    assert is_calm(connect)
    calm = gateway.upstream.serve
    stack.wait_for(lambda: gateway.metric("pawl_connections") == 0, "the first to leave")
    files = open_files(gateway)
    gateway.upstream.serve = serve
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda number: misbehave(connect, 1000 * wild.seed + number), range(CLIENTS)))
    assert gateway.process.poll() is None, gateway.log[-5:]
    gateway.upstream.serve = calm
    stack.wait_for(lambda: gateway.metric("pawl_connections") == 0, "all clients to be gone")
    stack.wait_for(lambda: is_calm(connect), "the connections of the wild to be used up")
    assert all_places_are_free(gateway, connect)
    # What is kept alive to the upstream may stay.
    stack.wait_for(lambda: open_files(gateway) <= files + 2 * CLIENTS, "files to be closed")
    print(f"{sum(wild.executed.values())} writes with a key, {len(wild.executed)} keys")
    twice = {key: count for key, count in wild.executed.items() if count > 1}
    assert not twice, "keys that ran more than once"


def open_files(gateway: stack.Gateway) -> int:
    return len(list(Path(f"/proc/{gateway.process.pid}/fd").iterdir()))


def is_calm(connect: Connect) -> bool:
    """Whether twenty in a row are answered well."""
    with contextlib.suppress(ConnectionError):  # a connection of the wild may still be in use
        for _ in range(20):
            with connect("") as connection:
                connection.sendall(GET)
                if stack.read_reply(connection).status != 200:
                    return False
        return True
    return False


def all_places_are_free(gateway: stack.Gateway, connect: Connect) -> bool:
    """As many requests at once as there may be; none is turned away."""
    release = threading.Event()

    def wait(connection: socket.socket, head: bytes) -> None:
        release.wait(stack.WAIT_SECONDS)
        stack.answer_ok(connection, head)

    gateway.upstream.behave = wait
    with contextlib.ExitStack() as clients:
        asking = [clients.enter_context(connect("")) for _ in range(REQUESTS_MAX)]
        for connection in asking:
            connection.sendall(GET)
        time.sleep(0.2)  # for all to be under way at once
        release.set()
        return [stack.read_reply(connection).status for connection in asking] == [200] * len(asking)
