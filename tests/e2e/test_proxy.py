"""Goal: whatever HTTP/1.1 has, the gateway carries it: bodies as they come, trailers, expectations,
WebSocket, TLS on both sides, several upstreams.

Method: a real pawl between a raw-socket client and an upstream of the test's own.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import stack
import tls

BLOCK = bytes(range(256)) * 4096
OK = stack.OK


def read_until(connection: socket.socket, data: bytes, end: bytes) -> bytes:
    while not data.endswith(end):
        data += stack.receive_some(connection)
    return data


# Bodies.


def test_chunks_and_trailers_go_both_ways(pawl: Path) -> None:
    got: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            head, rest = stack.read_head(connection)
            got.append(head)
            got.append(read_until(connection, rest, b"\r\n\r\n"))
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                b"5\r\nhello\r\n3\r\n..."
            )
            time.sleep(0.05)  # a chunk may be cut anywhere
            connection.sendall(b"\r\n0\r\nX-Sum: 2\r\n\r\n")
            connection.recv(1)

    with stack.running(pawl) as gateway:
        gateway.upstream.serve = serve
        with gateway.connect() as client:
            client.sendall(
                b"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n"
                b"TE: trailers\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\nX-Tenant-Id: evil\r\n\r\n"
            )
            head, rest = stack.read_head(client)
            body = read_until(client, rest, b"\r\n\r\n")
        assert b"\r\nTrailer: X-Sum\r\n" in got[0]
        assert got[1] == b"4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n"
        assert b"\r\nTrailer: X-Sum\r\n" in head
        assert body.endswith(b"0\r\nX-Sum: 2\r\n\r\n"), body
        content = b"".join(body.split(b"\r\n")[1:-4:2])
        assert content == b"hello...", body


def test_what_has_come_is_passed_on_before_the_rest_is_there(pawl: Path) -> None:
    """Upload and download take turns, piece by piece: neither side waits for a whole body."""
    pieces = [b"piece %d" % number for number in range(10)]

    def serve(connection: socket.socket) -> None:
        with connection:
            head, data = stack.read_head(connection)
            assert b"\r\nTransfer-Encoding: chunked" in head
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in pieces:
                chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
                assert read_until(connection, data, chunk) == chunk
                connection.sendall(chunk)
                data = b""
            read_until(connection, data, b"0\r\n\r\n")
            connection.sendall(b"0\r\n\r\n")

    with stack.running(pawl) as gateway, gateway.connect() as client:
        gateway.upstream.serve = serve
        client.sendall(b"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")
        head, data = stack.read_head(client)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        for piece in pieces:
            chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
            client.sendall(chunk)
            assert read_until(client, data, chunk) == chunk
            data = b""
        client.sendall(b"0\r\n\r\n")
        assert read_until(client, b"", b"0\r\n\r\n") == b"0\r\n\r\n"


# The shape of an exchange.


def test_connections_are_used_again_on_both_sides(pawl: Path) -> None:
    threads = 2
    lines = "  health: { interval: 1d }"
    with stack.running(pawl, server=lines, threads=str(threads)) as gateway:
        for _ in range(10):
            with gateway.connect() as client:
                for number in range(20):
                    client.sendall(b"GET /%d HTTP/1.1\r\nHost: t\r\n\r\n" % number)
                    assert stack.read_reply(client).status == 200
        assert len(gateway.upstream.received) == 200
        assert gateway.upstream.accepted <= threads + 1, "one a loop, and that of the check"


def test_a_body_that_waits_is_asked_for_by_the_upstream(pawl: Path) -> None:
    got: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            head, rest = stack.read_head(connection)
            got.append(head)
            if b"/no" in head:
                connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
                connection.recv(1)
                return
            assert rest == b"", "the body did not wait"
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            got.append(stack.receive_some(connection))
            # It says that it closes: the next POST on it could not be told from one that was lost.
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    head = b"POST %s HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    with stack.running(pawl) as gateway:
        gateway.upstream.serve = serve
        with gateway.connect() as client:
            client.sendall(head % b"/yes")
            interim, rest = stack.read_head(client)
            assert (interim, rest) == (b"HTTP/1.1 100 Continue", b"")
            client.sendall(b"hello")
            assert stack.read_reply(client).status == 200
        assert b"\r\nExpect: 100-continue" in got[0]
        assert got[1] == b"hello"
        refused = gateway.exchange(head % b"/no")
        assert refused.status == 413


def test_an_upstream_that_knows_no_expectation_gets_the_body_all_the_same(pawl: Path) -> None:
    with stack.running(pawl) as gateway:
        with gateway.connect() as client:
            begun = time.monotonic()
            client.sendall(
                b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            )
            assert stack.read_head(client)[0] == b"HTTP/1.1 100 Continue"
            assert 0.7 < time.monotonic() - begun < 5
            client.sendall(b"hello")
            assert stack.read_reply(client).status == 200
        assert gateway.upstream.received[0].endswith(b"\r\n\r\nhello")


def test_a_head_has_a_length_and_no_body(pawl: Path) -> None:
    def answer(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")

    with stack.running(pawl) as gateway:
        gateway.upstream.behave = answer
        with gateway.connect() as client:
            for _ in range(2):  # the connection stands
                client.sendall(b"HEAD / HTTP/1.1\r\nHost: t\r\n\r\n")
                reply = stack.read_reply(client, to_head=True)
                assert (reply.status, reply.rest) == (200, b"")
                assert reply.headers["content-length"] == "5000"


def test_requests_sent_ahead_are_answered_in_their_order(pawl: Path) -> None:
    def answer(connection: socket.socket, head: bytes) -> None:
        path = head.split(b" ")[1]
        if path == b"/0":
            time.sleep(0.1)  # the first is the slowest
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + path
        )

    with stack.running(pawl) as gateway, gateway.connect() as client:
        gateway.upstream.behave = answer
        count = 50
        client.sendall(
            b"".join(b"GET /%d HTTP/1.1\r\nHost: t\r\n\r\n" % i for i in range(count))
        )
        data = b""
        while data.count(b"HTTP/1.1 200 OK") < count or not data.endswith(b"/%d" % (count - 1)):
            data += stack.receive_some(client)
        bodies = [part.partition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 200 OK")[1:]]
        assert bodies == [b"/%d" % i for i in range(count)]


# WebSocket.

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept_key(key: str) -> str:
    return base64.b64encode(hashlib.sha1(key.encode() + MAGIC).digest()).decode()


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += stack.receive_some(connection)
        assert len(data) <= size, "more than one frame at once"
    return data


def echo_server(connection: socket.socket) -> None:
    """Agrees to a WebSocket and sends every frame's text back, unmasked."""
    with connection, contextlib.suppress(OSError):
        head, _ = stack.read_head(connection)
        accept = accept_key(stack.field_of(head, "Sec-WebSocket-Key"))
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept.encode()
        )
        while True:
            frame = receive_exactly(connection, 16)
            mask, text = frame[2:6], frame[6:]
            plain = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text))
            connection.sendall(bytes([0x81, len(plain)]) + plain)


def test_a_websocket_is_passed_through(pawl: Path) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    with stack.running(pawl, server="  websocket: true") as gateway:
        gateway.upstream.serve = echo_server
        with gateway.connect() as client:
            client.sendall(
                b"GET /chat HTTP/1.1\r\nHost: t\r\nConnection: keep-alive, Upgrade\r\n"
                b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Key: %s\r\n\r\n" % key.encode()
            )
            head, rest = stack.read_head(client)
            assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
            assert stack.field_of(head, "Sec-WebSocket-Accept") == accept_key(key)
            assert rest == b""
            for i in range(100):
                text, mask = b"message%03d" % i, os.urandom(4)
                masked = bytes(byte ^ mask[j % 4] for j, byte in enumerate(text))
                client.sendall(bytes([0x81, 0x80 | len(text)]) + mask + masked)
                assert receive_exactly(client, 12) == bytes([0x81, len(text)]) + text
        stack.wait_for(lambda: gateway.metric("pawl_connections") == 0, "the tunnel to end")


UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: %s\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


def test_a_websocket_that_the_upstream_does_not_want_is_an_answer_like_any_other(
    pawl: Path,
) -> None:
    def answer_no(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")

    with stack.running(pawl, server="  websocket: true") as gateway:
        gateway.upstream.behave = answer_no
        with gateway.connect() as client:
            for _ in range(2):
                client.sendall(UPGRADE % b"websocket")
                reply = stack.read_reply(client)
                assert (reply.status, reply.body) == (403, b"no")
            client.sendall(UPGRADE % b"h2c")
            assert stack.read_reply(client).status == 501
        assert len(gateway.upstream.received) == 2


def test_a_websocket_ends_when_its_upstream_does(pawl: Path) -> None:
    def serve(connection: socket.socket) -> None:
        with connection:
            stack.read_head(connection)
            connection.sendall(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                b"Connection: Upgrade\r\n\r\n\x81\x03bye"  # a frame right behind the head
            )

    with stack.running(pawl, server="  websocket: true") as gateway, gateway.connect() as client:
        gateway.upstream.serve = serve
        client.sendall(UPGRADE % b"websocket")
        _, rest = stack.read_head(client)
        assert read_until(client, rest, b"\x81\x03bye") == b"\x81\x03bye"
        assert stack.is_closed(client)


def test_an_upgrade_is_refused_where_it_is_not_wanted(pawl: Path) -> None:
    with stack.running(pawl) as gateway, gateway.connect() as client:
        for protocol in (b"websocket", b"h2c"):
            client.sendall(UPGRADE % protocol)
            reply = stack.read_reply(client)
            assert reply.status == 501
            assert b"ERR_UPGRADE_REFUSED" in reply.body
        assert gateway.upstream.received == []


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tls.Certificate:
    return tls.make_certificate(tmp_path_factory.mktemp("tls"), "IP:127.0.0.1")


def test_tls_comes_in(pawl: Path, certificate: tls.Certificate) -> None:
    with stack.running(pawl, server=tls.settings(certificate)) as gateway:
        with tls.connect(gateway, certificate) as client:
            assert client.selected_alpn_protocol() == "http/1.1"
            body = BLOCK[:300_000]
            for _ in range(3):
                client.sendall(
                    b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                )
                assert stack.read_reply(client).status == 200
        assert gateway.upstream.received[2].endswith(body)
        assert b"\r\nX-Forwarded-Proto: https\r\n" in gateway.upstream.received[0]
        with gateway.connect() as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert b"HTTP" not in plain.recv(100), "a listener with TLS speaks nothing else"


def test_a_reload_takes_a_new_certificate_and_cuts_nobody(pawl: Path, tmp_path: Path) -> None:
    old = tls.make_certificate(tmp_path, "IP:127.0.0.1")
    get = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"
    with stack.running(pawl, server=tls.settings(old)) as gateway:
        with tls.connect(gateway, old) as client:
            tls.make_certificate(tmp_path, "IP:127.0.0.1")  # in the same files
            with pytest.raises(ssl.SSLCertVerificationError):
                tls.connect(gateway, old)
            gateway.reload(server=tls.settings(old))
            with tls.connect(gateway, old) as another:
                another.sendall(get)
                assert stack.read_reply(another).status == 200
            client.sendall(get)
            assert stack.read_reply(client).status == 200
            old[0].write_text("nonsense")
            gateway.reload("config_reload_refused", server=tls.settings(old))
            client.sendall(get)
            assert stack.read_reply(client).status == 200


def test_requests_sent_ahead_over_tls_keep_their_bodies(
    pawl: Path, certificate: tls.Certificate
) -> None:
    """Several records that have come when the gateway goes on reading, and one that is cut."""

    def answer(connection: socket.socket, head: bytes) -> None:
        if b"/0 " in head:
            time.sleep(0.2)  # the rest is there by then
        connection.sendall(OK)

    count = 20
    with stack.running(pawl, server=tls.settings(certificate)) as gateway:
        gateway.upstream.behave = answer
        with tls.connect(gateway, certificate) as client:
            bodies = [BLOCK[: 10 + 999 * number] for number in range(count)]
            for number, body in enumerate(bodies):
                client.sendall(
                    b"POST /%d HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n"
                    % (number, len(body))
                )
                client.sendall(body)
            data = b""
            while data.count(b"HTTP/1.1 200 OK\r\n") < count or not data.endswith(b"ok"):
                data += stack.receive_some(client)
        assert [r.partition(b"\r\n\r\n")[2] for r in gateway.upstream.received] == bodies


def test_tls_goes_out_and_believes_only_its_authorities(
    pawl: Path, certificate: tls.Certificate, tmp_path: Path
) -> None:
    trusting = f"  upstream_ca: {certificate[0]}"
    with contextlib.closing(tls.upstream(certificate)) as upstream:
        settings = {"upstreams": f"https://127.0.0.1:{upstream.port}"}
        with stack.serving(pawl, tmp_path, upstream, **settings, server=trusting) as gateway:
            assert [gateway.get().status for _ in range(3)] == [200] * 3
            body = BLOCK * 4
            head = b"PUT / HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body)
            assert gateway.exchange(head + body).status == 200
            assert upstream.received[-1].endswith(b"\r\n\r\n" + body)
        with stack.serving(pawl, tmp_path, upstream, **settings) as gateway:
            reply = gateway.get()
            assert reply.status == 502
            assert b"it is safe to send this again" in reply.body


def test_a_reload_of_authorities_drops_connections_that_others_vouched_for(
    pawl: Path, certificate: tls.Certificate, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = tls.make_certificate(tmp_path / "other", "IP:127.0.0.1")
    with contextlib.closing(tls.upstream(certificate)) as upstream:
        settings = {"upstreams": f"https://127.0.0.1:{upstream.port}", "threads": "1"}
        trusting, doubting = (f"  upstream_ca: {known[0]}" for known in (certificate, other))
        with stack.serving(pawl, tmp_path, upstream, **settings, server=trusting) as gateway:
            assert [gateway.get().status for _ in range(4)] == [200] * 4
            assert upstream.accepted < 4, "connections rest, and are used again"
            gateway.reload(**settings, server=doubting)
            assert gateway.get().status == 502
            gateway.reload(**settings, server=trusting)
            assert gateway.get().status == 200


def test_a_reload_to_tls_while_a_connect_hangs_harms_nobody(
    pawl: Path, certificate: tls.Certificate, tmp_path: Path
) -> None:
    """The one that hangs was begun without TLS, to an address that is spoken to with it now."""
    trusting = f"  upstream_ca: {certificate[0]}"
    with contextlib.closing(socket.socket()) as deaf, contextlib.ExitStack() as fillers:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        for _ in range(4):  # until its queue is full, and a connect hangs
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        settings = {"threads": "1", "server": trusting + "\n  timeouts: { connect: 3s }"}
        upstream = stack.Upstream()
        with (
            contextlib.closing(upstream),
            stack.serving(
                pawl, tmp_path, upstream, upstreams=f"http://127.0.0.1:{port}", **settings
            ) as gateway,
            ThreadPoolExecutor(1) as others,
        ):
            hanging = others.submit(gateway.get)
            stack.wait_for(lambda: is_connecting(gateway, port), "a connect that hangs")
            gateway.reload(upstreams=f"https://127.0.0.1:{port}", **settings)
            assert hanging.result().status in (502, 503, 504)
            gateway.reload(upstreams=f"http://127.0.0.1:{upstream.port}", **settings)
            assert gateway.get().status == 200


def is_connecting(gateway: stack.Gateway, port: int) -> bool:
    """Whether the gateway waits for the other side's first word (SYN_SENT)."""
    table = Path(f"/proc/{gateway.process.pid}/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in table]
    return any(row[2].endswith(f":{port:04X}") and row[3] == "02" for row in rows)


def test_tls_goes_out_only_to_who_has_the_name(pawl: Path, tmp_path: Path) -> None:
    other = tls.make_certificate(tmp_path, "DNS:other.example")
    with contextlib.closing(tls.upstream(other)) as upstream:
        address = f"https://127.0.0.1:{upstream.port}"
        lines = f"  upstream_ca: {other[0]}"
        with stack.serving(pawl, tmp_path, upstream, upstreams=address, server=lines) as gateway:
            assert gateway.get().status == 502
        assert upstream.received == []


# Several upstreams.


@contextlib.contextmanager
def two_upstreams(
    pawl: Path, folder: Path, **settings: str
) -> Iterator[tuple[stack.Gateway, stack.Upstream]]:
    """A gateway, and the second of its upstreams; the first is the gateway's own."""
    first, second = stack.Upstream(), stack.Upstream()
    addresses = f"[http://127.0.0.1:{first.port}, http://127.0.0.1:{second.port}]"
    with contextlib.closing(first), contextlib.closing(second):
        with stack.serving(pawl, folder, first, upstreams=addresses, **settings) as gateway:
            yield gateway, second


def test_an_upstream_that_dies_costs_no_request(pawl: Path, tmp_path: Path) -> None:
    health = "  health: { interval: 50ms, timeout: 1s, unhealthy_after: 2, healthy_after: 1 }"
    with two_upstreams(pawl, tmp_path, server=health) as (gateway, second):
        connections: list[socket.socket] = []
        speak = second.serve

        def serve(connection: socket.socket) -> None:
            connections.append(connection)
            speak(connection)

        second.serve = serve
        for _ in range(20):
            assert gateway.get().status == 200
        assert gateway.upstream.received and second.received, "both get their share"
        second.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        before = len(gateway.upstream.received)
        assert [gateway.get().status for _ in range(20)] == [200] * 20
        assert len(gateway.upstream.received) - before == 20
        stack.wait_for(
            lambda: any(not line["healthy"] for line in gateway.events("upstream_health")),
            "the dead one to be noticed",
        )
        assert gateway.get().status == 200


def test_an_upstream_that_says_it_is_unwell_gets_nothing_until_it_is_well(
    pawl: Path, tmp_path: Path
) -> None:
    lines = (
        "  health: { path: /up, interval: 20ms, timeout: 1s, unhealthy_after: 2, healthy_after: 2 }"
    )
    well = threading.Event()

    def served(upstream: stack.Upstream) -> int:
        return sum(b"GET /up " not in request for request in upstream.received)

    def unwell(connection: socket.socket, head: bytes) -> None:
        if head.startswith(b"GET /up ") and not well.is_set():
            connection.sendall(b"HTTP/1.1 503 Unwell\r\nContent-Length: 0\r\n\r\n")
        else:
            connection.sendall(OK)

    def told(gateway: stack.Gateway, healthy: bool) -> bool:
        return any(line["healthy"] is healthy for line in gateway.events("upstream_health"))

    with two_upstreams(pawl, tmp_path, server=lines) as (gateway, second):
        second.behave = unwell
        stack.wait_for(lambda: told(gateway, False), "it to be noticed")
        before = served(second)
        assert [gateway.get().status for _ in range(20)] == [200] * 20
        assert served(second) == before
        well.set()
        stack.wait_for(lambda: told(gateway, True), "its recovery to be noticed")
        assert [gateway.get().status for _ in range(20)] == [200] * 20
        assert served(second) - before >= 5, "it has its share again"


def test_the_upstream_with_the_least_to_do_gets_the_next_request(
    pawl: Path, tmp_path: Path
) -> None:
    release_first, release_second = threading.Event(), threading.Event()

    def answer_after(release: threading.Event) -> Callable[[socket.socket, bytes], None]:
        def answer(connection: socket.socket, _head: bytes) -> None:
            release.wait(stack.WAIT_SECONDS)
            connection.sendall(OK)

        return answer

    with two_upstreams(pawl, tmp_path) as (gateway, second), ThreadPoolExecutor(2) as others:
        first = gateway.upstream
        first.behave, second.behave = answer_after(release_first), answer_after(release_second)
        slow = []
        for held in (1, 2):  # one after the other: two that come at once may choose alike
            slow.append(others.submit(gateway.get, f"/slow{held}"))
            stack.wait_for(
                lambda held=held: len(first.received) + len(second.received) == held, "it to arrive"
            )
        assert len(second.received) == 1
        release_first.set()
        stack.wait_for(lambda: any(future.done() for future in slow), "the first to have none")
        assert [gateway.get(f"/fast{i}").status for i in range(20)] == [200] * 20
        assert len(second.received) == 1
        release_second.set()
        assert [future.result().status for future in slow] == [200, 200]


# What the upstream is told.


def test_the_upstream_sees_who_asked(pawl: Path) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    lies = "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\n"
    with stack.running(pawl) as gateway:
        gateway.get("/a", extra=lies + f"Traceparent: {trace}\r\n")
        gateway.get("/b")
        first, second = (request.partition(b"\r\n\r\n")[0] for request in gateway.upstream.received)
        assert stack.field_of(first, "X-Forwarded-For") == "127.0.0.1"
        assert stack.field_of(first, "X-Forwarded-Proto") == "http"
        assert stack.field_of(first, "X-Forwarded-Host") == "test"
        assert stack.field_of(first, "Forwarded") == 'for=127.0.0.1;proto=http;host="test"'
        assert stack.field_of(first, "Via") == "1.1 pawl"
        assert stack.field_of(first, "Traceparent") == trace
        made = stack.field_of(second, "Traceparent").split("-")
        assert [len(part) for part in made] == [2, 32, 16, 2]
        stack.wait_for(lambda: len(gateway.events("request")) == 2, "the log lines")
        assert [line["trace_id"] for line in gateway.events("request")] == [
            trace.split("-")[1],
            made[1],
        ]
    with stack.running(pawl, tenants="  trusted_proxies: [127.0.0.0/8]") as gateway:
        gateway.get("/a", extra=lies)
        head = gateway.upstream.received[0]
        assert stack.field_of(head, "X-Forwarded-For") == "203.0.113.9, 127.0.0.1"
        assert stack.field_of(head, "Forwarded").startswith("for=203.0.113.9, for=127.0.0.1;")


def test_what_belongs_to_one_connection_is_not_passed_on(pawl: Path) -> None:
    fields = (
        "Connection: X-Of-The-Connection\r\nX-Of-The-Connection: 1\r\nKeep-Alive: timeout=5\r\n"
        "Proxy-Connection: keep-alive\r\nVia: 1.0 before\r\n"
        "Traceparent: nonsense\r\nTracestate: a=1\r\nX-Of-The-Request: 1\r\n"
    )

    def answer(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
            b"Keep-Alive: timeout=5\r\nX-End: 1\r\nContent-Length: 0\r\n\r\n"
        )

    with stack.running(pawl) as gateway:
        gateway.upstream.behave = answer
        reply = gateway.get(extra=fields)
        head = gateway.upstream.received[0].partition(b"\r\n\r\n")[0]
    for name in ("X-Of-The-Connection", "Keep-Alive", "Proxy-Connection"):
        assert stack.field_of(head, name) == "", name
    assert stack.field_of(head, "X-Of-The-Request") == "1"
    assert b"\r\nVia: 1.0 before\r\n" in head and b"\r\nVia: 1.1 pawl\r\n" in head
    assert stack.field_of(head, "Traceparent") != "nonsense"
    assert (reply.headers["x-end"], reply.headers.get("x-hop")) == ("1", None)
    assert "keep-alive" not in reply.headers


# Loops.


def listeners(port: int) -> int:
    """How many sockets take connections there."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def test_each_loop_has_a_listener_and_all_share_the_counts(pawl: Path) -> None:
    threads, limit, clients = 4, 50, 20
    settings = {"threads": str(threads), "buckets": f"[{{ name: hourly, rate: {limit}/1h }}]"}
    with stack.running(pawl, **settings) as gateway, ThreadPoolExecutor(clients) as pool:
        assert listeners(gateway.guarded) == threads

        def ask_ten_times(_number: int) -> list[int]:
            return [gateway.get().status for _ in range(10)]

        found = sum(pool.map(ask_ten_times, range(clients)), [])
        assert (found.count(200), found.count(429)) == (limit, 10 * clients - limit)
        assert len(gateway.upstream.received) == limit
