"""Hostile requests: what two programs might read in two ways is refused, and none gets through."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest
import stack

LAST_CHUNK = b"0\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: t\r\n"
GET = b"GET /a HTTP/1.1\r\nHost: t\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: t\r\n\r\n"

AMBIGUOUS = {
    "length and chunked": POST
    + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    + LAST_CHUNK,
    "two lengths": POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
    "length twice": POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
    "length list": POST + b"Content-Length: 4, 4\r\n\r\nbody",
    "length with zeros": POST + b"Content-Length: 00004\r\n\r\nbody",
    "length signed": POST + b"Content-Length: +4\r\n\r\nbody",
    "length negative": POST + b"Content-Length: -1\r\n\r\n",
    "length hexadecimal": POST + b"Content-Length: 0x4\r\n\r\nbody",
    "length empty": POST + b"Content-Length:\r\n\r\n",
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n" + LAST_CHUNK,
    "chunked, identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + LAST_CHUNK,
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n" + SMUGGLED,
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + LAST_CHUNK,
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + LAST_CHUNK,
    "chunked with tab": POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n" + LAST_CHUNK,
    "chunked in 1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST_CHUNK,
    "folded header": GET + b"A: b\r\n c\r\n\r\n",
    "folded chunked": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + LAST_CHUNK,
    "space before colon": POST + b"Content-Length : 4\r\n\r\nbody",
    "underscore": POST + b"Content_Length: 4\r\n\r\nbody",
    "no colon": GET + b"nonsense\r\n\r\n",
    "empty name": GET + b": x\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: t\n\n",
    "bare LF in the middle": GET + b"A: b\nX-Smuggled: 1\r\n\r\n",
    "bare CR": GET + b"A: b\rX: c\r\n\r\n",
    "NUL": GET + b"A: b\x00c\r\n\r\n",
    "ESC": GET + b"A: \x1b[2J\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": GET + b"Host: other\r\n\r\n",
    "host with path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "absolute target": b"GET http://other/ HTTP/1.1\r\nHost: t\r\n\r\n",
    "authority target": b"CONNECT other:443 HTTP/1.1\r\nHost: t\r\n\r\n",
    "fragment": b"GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n",
    "blank in target": b"GET /a b HTTP/1.1\r\nHost: t\r\n\r\n",
    "version 1.2": b"GET / HTTP/1.2\r\nHost: t\r\n\r\n",
    "version 2.0": b"GET / HTTP/2.0\r\nHost: t\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "blank line first": b"\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",
    "other expectation": POST + b"Expect: nothing\r\n\r\n",
}

AMBIGUOUS_BODIES = {
    "chunk extension": b"4;x=y\r\nbody\r\n0\r\n\r\n",
    "chunk size signed": b"+4\r\nbody\r\n0\r\n\r\n",
    "chunk size with 0x": b"0x4\r\nbody\r\n0\r\n\r\n",
    "chunk size with blank": b"4 \r\nbody\r\n0\r\n\r\n",
    "chunk size out of range": b"FFFFFFFFFFFFFFFFF\r\nbody",
    "chunk with bare LF": b"4\nbody\n0\n\n",
    "chunk too long": b"3\r\nbody\r\n0\r\n\r\n",
    "trailer folded": b"0\r\n x: y\r\n\r\n",
}

TOO_LARGE = {
    "long target": b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: t\r\n\r\n",
    "long header": GET + b"A: " + b"a" * 9000 + b"\r\n\r\n",
    "many headers": GET + b"A: b\r\n" * 64 + b"\r\n",
    "large head": GET + (b"A: " + b"a" * 4000 + b"\r\n") * 5 + b"\r\n",
    "length out of range": POST + b"Content-Length: 99999999999999999999\r\n\r\n",
}


@pytest.fixture(scope="module")
def gateway(pawl: Path):
    with stack.running(pawl) as running:
        yield running


def refused(gateway: stack.Gateway, request: bytes) -> stack.Reply:
    """The answer, after which the connection must be closed and say nothing more."""
    with gateway.connect() as connection:
        connection.sendall(request + SMUGGLED)
        reply = stack.read_reply(connection)
        assert reply.rest == b""
        with pytest.raises(ConnectionError):
            reply = stack.read_reply(connection)
        return reply


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_head_is_refused_and_the_connection_closed(
    gateway: stack.Gateway, name: str
) -> None:
    before = len(gateway.upstream.received)
    reply = refused(gateway, AMBIGUOUS[name])
    assert reply.status == 400
    assert json.loads(reply.body)["code"] == "ERR_BAD_REQUEST"
    assert reply.headers["connection"] == "close"
    assert len(gateway.upstream.received) == before, "something got through"


@pytest.mark.parametrize("name", AMBIGUOUS_BODIES)
def test_an_ambiguous_body_is_refused_and_what_follows_never_smuggled(
    gateway: stack.Gateway, name: str
) -> None:
    reply = refused(gateway, POST + b"Transfer-Encoding: chunked\r\n\r\n" + AMBIGUOUS_BODIES[name])
    assert reply.status == 400
    assert not any(b"/smuggled" in request for request in gateway.upstream.received)


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_is_refused(gateway: stack.Gateway, name: str) -> None:
    before = len(gateway.upstream.received)
    reply = refused(gateway, TOO_LARGE[name])
    assert reply.status == 413
    assert json.loads(reply.body)["code"] == "ERR_TOO_LARGE"
    assert len(gateway.upstream.received) == before


def test_an_accepted_request_leaves_no_byte_behind(gateway: stack.Gateway) -> None:
    before = len(gateway.upstream.received)
    with gateway.connect() as connection:
        chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
        connection.sendall(chunked + b"GET /next HTTP/1.1\r\nHost: t\r\n\r\n")
        first = stack.read_reply(connection)
        data = first.rest
        while not data.endswith(b"ok"):
            data += connection.recv(65536)
    targets = [r.split(b" ")[1] for r in gateway.upstream.received[before:]]
    assert targets == [b"/a", b"/next"]


def test_a_head_that_dribbles_is_cut_after_its_deadline(gateway: stack.Gateway) -> None:
    with gateway.connect() as connection:
        begun = time.monotonic()
        connection.settimeout(0.5)
        connection.sendall(b"GET / HT")
        answer = b""
        while time.monotonic() - begun < 15 and not answer:
            try:
                answer = connection.recv(65536)
            except socket.timeout:
                connection.sendall(b"T")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"in time" in answer
        assert time.monotonic() - begun >= 5, "the deadline is five seconds in all"


def test_hostile_bytes_stay_one_log_line_and_out_of_the_metrics(gateway: stack.Gateway) -> None:
    hostile = 'evil"{}\\n%0d%0aX:1'
    assert gateway.get("/" + hostile.replace(" ", ""), tenant=hostile).status == 200
    assert gateway.get("/", tenant="\xff\xfe\x85".encode("latin-1").decode("latin-1")).status == 200
    metrics = gateway.ask_admin("/metrics").body.decode()
    assert "evil" not in metrics
    stack.wait_for(
        lambda: any(line.get("tenant_id") == hostile for line in gateway.events("request")),
        "the log line of the hostile tenant",
    )
    assert gateway.events("not_json") == []


def test_many_idle_connections_cost_little_and_are_bounded(gateway: stack.Gateway) -> None:
    status = Path(f"/proc/{gateway.process.pid}/status")

    def resident_kib() -> int:
        return int(status.read_text().partition("VmRSS:")[2].split()[0])

    before = resident_kib()
    idle = [gateway.connect() for _ in range(1000)]
    try:
        stack.wait_for(lambda: gateway.metric("pawl_connections") >= 1000, "1000 connections")
        each = (resident_kib() - before) / 1000
        print(f"{each:.1f} KiB a connection")
        assert each < 64, "an idle connection must not hold buffers"
        assert gateway.get().status == 200
    finally:
        for connection in idle:
            connection.close()
