"""Goal: what two programs might read in two ways is refused, and nothing of it gets through; what
is accepted, another program reads as it was meant; hostile bytes do no harm where they are told.

Method: a real pawl; behind it an upstream of the test's own that counts what it gets, or Node with
a parser of its own.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import stack

LAST_CHUNK = b"0\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: t\r\n"
GET = b"GET /a HTTP/1.1\r\nHost: t\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
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
    "length and comma": POST + b"Content-Length: 4,\r\n\r\nbody",
    "length of two words": POST + b"Content-Length: 4 4\r\n\r\nbody",
    "length with exponent": POST + b"Content-Length: 1e1\r\n\r\nbody",
    "length in wide digits": POST + b"Content-Length: \xef\xbc\x94\r\n\r\nbody",
    "length given up": POST + b"Connection: Content-Length\r\nContent-Length: 4\r\n\r\nbody",
    "chunked and length": POST
    + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
    + LAST_CHUNK,
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n" + LAST_CHUNK,
    "chunked, identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + LAST_CHUNK,
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n" + SMUGGLED,
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + LAST_CHUNK,
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + LAST_CHUNK,
    "chunked with tab": POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n" + LAST_CHUNK,
    "chunked, chunked": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + LAST_CHUNK,
    "chunked and comma": POST + b"Transfer-Encoding: chunked,\r\n\r\n" + LAST_CHUNK,
    "chunked with parameter": POST + b"Transfer-Encoding: chunked;q=1\r\n\r\n" + LAST_CHUNK,
    "chunked in quotes": POST + b'Transfer-Encoding: "chunked"\r\n\r\n' + LAST_CHUNK,
    "chunked given up": POST
    + b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n"
    + LAST_CHUNK,
    "encoding empty": POST + b"Transfer-Encoding:\r\n\r\n",
    "chunked in 1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST_CHUNK,
    "folded header": GET + b"A: b\r\n c\r\n\r\n",
    "folded chunked": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + LAST_CHUNK,
    "folded first line": b"GET / HTTP/1.1\r\n Host: t\r\nHost: t\r\n\r\n",
    "tab before colon": GET + b"A\t: b\r\n\r\n",
    "name with parenthesis": GET + b"A(b): c\r\n\r\n",
    "name above ASCII": GET + b"\xe4: c\r\n\r\n",
    "space before colon": POST + b"Content-Length : 4\r\n\r\nbody",
    "underscore": POST + b"Content_Length: 4\r\n\r\nbody",
    "no colon": GET + b"nonsense\r\n\r\n",
    "empty name": GET + b": x\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: t\n\n",
    "bare LF in the middle": GET + b"A: b\nX-Smuggled: 1\r\n\r\n",
    "bare CR": GET + b"A: b\rX: c\r\n\r\n",
    "NUL": GET + b"A: b\x00c\r\n\r\n",
    "ESC": GET + b"A: \x1b[2J\r\n\r\n",
    "DEL": GET + b"A: \x7f\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": GET + b"Host: other\r\n\r\n",
    "host with path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "host with user": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "host with two ports": b"GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n",
    "host with a word for a port": b"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
    "host list": b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "host given up": GET + b"Connection: Host\r\n\r\n",
    "absolute target": b"GET http://other/ HTTP/1.1\r\nHost: t\r\n\r\n",
    "authority target": b"CONNECT other:443 HTTP/1.1\r\nHost: t\r\n\r\n",
    "fragment": b"GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n",
    "blank in target": b"GET /a b HTTP/1.1\r\nHost: t\r\n\r\n",
    "CR in target": b"GET /a\rb HTTP/1.1\r\nHost: t\r\n\r\n",
    "NUL in target": b"GET /a\x00b HTTP/1.1\r\nHost: t\r\n\r\n",
    "target above ASCII": b"GET /\xe4 HTTP/1.1\r\nHost: t\r\n\r\n",
    "asterisk of GET": b"GET * HTTP/1.1\r\nHost: t\r\n\r\n",
    "tab in request line": b"GET\t/ HTTP/1.1\r\nHost: t\r\n\r\n",
    "two blanks": b"GET  / HTTP/1.1\r\nHost: t\r\n\r\n",
    "blank after version": b"GET / HTTP/1.1 \r\nHost: t\r\n\r\n",
    "version in small letters": b"GET / http/1.1\r\nHost: t\r\n\r\n",
    "version 01.1": b"GET / HTTP/01.1\r\nHost: t\r\n\r\n",
    "version 0.9": b"GET / HTTP/0.9\r\nHost: t\r\n\r\n",
    "version 1.2": b"GET / HTTP/1.2\r\nHost: t\r\n\r\n",
    "version 2.0": b"GET / HTTP/2.0\r\nHost: t\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "blank line first": b"\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",
    "key given up": POST
    + b"Connection: Idempotency-Key\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n",
    "other expectation": POST + b"Expect: nothing\r\n\r\n",
}

AMBIGUOUS_BODIES = {
    "chunk extension": b"4;x=y\r\nbody\r\n0\r\n\r\n",
    "chunk size signed": b"+4\r\nbody\r\n0\r\n\r\n",
    "chunk size with 0x": b"0x4\r\nbody\r\n0\r\n\r\n",
    "chunk size with blank": b"4 \r\nbody\r\n0\r\n\r\n",
    "chunk size out of range": b"FFFFFFFFFFFFFFFFF\r\nbody",
    "chunk size empty": b"\r\nbody\r\n0\r\n\r\n",
    "chunk size negative": b"-1\r\n",
    "chunk size with letter": b"4g\r\nbody\r\n0\r\n\r\n",
    "chunk size behind blank": b" 4\r\nbody\r\n0\r\n\r\n",
    "chunk size with many zeros": b"0000000000004\r\nbody\r\n0\r\n\r\n",
    "chunk extension behind blank": b"4 ;x\r\nbody\r\n0\r\n\r\n",
    "chunk with bare CR": b"4\rbody\r\n0\r\n\r\n",
    "chunk ended by LF": b"4\r\nbody\n0\r\n\r\n",
    "chunk with bare LF": b"4\nbody\n0\n\n",
    "chunk too long": b"3\r\nbody\r\n0\r\n\r\n",
    "trailer folded": b"0\r\n x: y\r\n\r\n",
    "trailer without colon": b"0\r\nnonsense\r\n\r\n",
    "trailer with NUL": b"0\r\na: \x00\r\n\r\n",
    "trailer with underscore": b"0\r\na_b: c\r\n\r\n",
    "trailer ended by LF": b"0\r\na: b\n\r\n",
    "length in trailers": b"4\r\nbody\r\n0\r\nContent-Length: 5\r\n\r\n",
    "encoding in trailers": b"4\r\nbody\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "host in trailers": b"4\r\nbody\r\n0\r\nHost: other\r\n\r\n",
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
    before = len(gateway.upstream.received)
    reply = refused(gateway, CHUNKED + AMBIGUOUS_BODIES[name])
    assert reply.status == 400
    assert json.loads(reply.body)["code"] == "ERR_BAD_REQUEST"
    assert len(gateway.upstream.received) == before, "something whole got through"


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_is_refused(gateway: stack.Gateway, name: str) -> None:
    before = len(gateway.upstream.received)
    reply = refused(gateway, TOO_LARGE[name])
    assert reply.status == 413
    assert json.loads(reply.body)["code"] == "ERR_TOO_LARGE"
    assert len(gateway.upstream.received) == before


def test_the_whole_list_behind_good_requests_leaves_no_byte_at_the_upstream(pawl: Path) -> None:
    """Every attack once more, behind a request that is answered; all is counted."""
    heard = bytearray()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while piece := connection.recv(65536):
                heard.extend(piece)
                if piece.endswith(b"\r\n\r\n"):  # a head that came whole, and nothing behind it
                    connection.sendall(stack.OK)

    heads = {**AMBIGUOUS, **TOO_LARGE}
    with stack.running(pawl) as gateway:
        gateway.upstream.serve = serve
        for name, attack in heads.items():
            with gateway.connect() as connection:
                connection.sendall(b"GET /good HTTP/1.1\r\nHost: t\r\n\r\n" + attack + SMUGGLED)
                data = b""
                with contextlib.suppress(ConnectionResetError):
                    while piece := connection.recv(65536):
                        data += piece
            statuses = re.findall(rb"HTTP/1\.1 (\d{3}) ", data)
            expected = b"413" if name in TOO_LARGE else b"400"
            assert statuses == [b"200", expected], name
        assert gateway.metric("pawl_requests_rejected_total") == len(heads)
        stack.wait_for(lambda: gateway.metric("pawl_connections") == 0, "all to be gone")
    requests = bytes(heard).split(b"\r\n\r\n")
    assert requests.pop() == b""
    assert len(requests) == len(heads)
    assert all(request.startswith(b"GET /good HTTP/1.1\r\n") for request in requests)
    print(f"{len(heads)} heads and {len(AMBIGUOUS_BODIES)} bodies refused, 0 got through")


# Another parser behind it.

NODE = """
const server = require("http").createServer((request, response) => {
  const body = [];
  request.on("data", (piece) => body.push(piece));
  request.on("end", () => {
    const { method, url, rawHeaders, rawTrailers } = request;
    const text = Buffer.concat(body).toString("latin1");
    console.log(JSON.stringify({ method, url, rawHeaders, rawTrailers, text }));
    response.end("ok");
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""


@contextlib.contextmanager
def node() -> Iterator[tuple[int, list[dict[str, object]]]]:
    """Its port, and what it has read so far."""
    binary = shutil.which("node")
    assert binary, "node is not there; `make setup` installs it"
    process = subprocess.Popen([binary, "-e", NODE], stdout=subprocess.PIPE, text=True)
    requests: list[dict[str, object]] = []

    def follow() -> None:
        assert process.stdout is not None
        requests.extend(json.loads(line) for line in process.stdout)

    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        threading.Thread(target=follow, daemon=True).start()
        yield port, requests
    finally:
        process.kill()
        process.wait()


ODD_BUT_CLEAR = [
    (b"GET /a?b=c&d=%2e%2E//x HTTP/1.1\r\nhOsT: t\r\n\r\n", b""),
    (POST + b"Content-Length: 0\r\n\r\n", b""),
    (POST + b"content-length:4\r\n\r\nbody", b"body"),
    (POST + b"Content-Length: \t 4 \t\r\n\r\nGET ", b"GET "),
    (POST + b"Transfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n000002\r\nbc\r\n0\r\n\r\n", b"abc"),
    (CHUNKED + b"A\r\n0\r\n\r\nGET /\r\n1\r\nx\r\n" + LAST_CHUNK, LAST_CHUNK + b"GET /x"),
    (CHUNKED + b"4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n", b"body"),
    (b"PATCH /%20 HTTP/1.1\r\nHost: [::1]:80\r\nA:\r\nContent-Length: 1\r\n\r\n\n", b"\n"),
    (b"DELETE / HTTP/1.1\r\nHost: t\r\n\r\n", b""),
]


def test_another_parser_reads_what_was_meant_and_nothing_more(pawl: Path) -> None:
    with node() as (port, requests):
        with stack.running(pawl, upstreams=f"http://127.0.0.1:{port}") as gateway:
            for attack in [*AMBIGUOUS.values(), *TOO_LARGE.values()]:
                refused(gateway, attack)
            for body in AMBIGUOUS_BODIES.values():
                refused(gateway, CHUNKED + body)
            with gateway.connect() as connection:
                for request, _ in ODD_BUT_CLEAR:
                    connection.sendall(request)
                    assert stack.read_reply(connection).status == 200, request
                connection.sendall(b"".join(request for request, _ in ODD_BUT_CLEAR))
                due = 2 * len(ODD_BUT_CLEAR)
                stack.wait_for(lambda: len(requests) == due, "all to be read")
    for (request, body), read in zip([*ODD_BUT_CLEAR, *ODD_BUT_CLEAR], requests, strict=True):
        line = f"{read['method']} {read['url']} HTTP/1.1\r\n".encode()
        assert request.startswith(line)
        assert str(read["text"]).encode("latin-1") == body


def test_a_request_does_not_choose_where_it_goes(gateway: stack.Gateway) -> None:
    before = len(gateway.upstream.received)

    def redirect(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(
            b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
        )

    gateway.upstream.behave = redirect
    try:
        for host in ("169.254.169.254", "localhost:1", "[::1]"):
            head = f"GET //{host}/ HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Host: {host}\r\n\r\n"
            reply = gateway.exchange(head.encode())
            assert (reply.status, reply.headers["location"]) == (302, "http://169.254.169.254/")
    finally:
        gateway.upstream.behave = stack.answer_ok
    assert len(gateway.upstream.received) - before == 3, "asked once each, and followed nowhere"


# Accepted, and dribbled.


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


def test_no_secret_is_told_anywhere(pawl: Path) -> None:
    """Each place that may hold a secret holds one that is easy to find again."""
    canary = "canary-7f3a9"
    fields = "".join(
        f"{name}: {canary}-{number}\r\n"
        for number, name in enumerate(("Cookie", "Proxy-Authorization", "X-Csrf-Token"))
    )
    settings = {
        "token": f"{canary}-admin",
        "stores": f'  store: "redis://u:{canary}@127.0.0.1:1/0"',
        "tenants": f"  api_keys: [{{ sha256: {'0' * 64}, tenant: acme }}]",
        "level": "trace",
    }
    told = []
    with stack.running(pawl, **settings) as gateway:
        for number, name in enumerate(("Accept:", "Authorization: Bearer", "X-Api-Key:")):
            extra = f"{fields}{name} {canary}-key\r\n"
            told.append(gateway.get(f"/?token={canary}", extra=extra))
            told.append(gateway.post(canary.encode(), key=f"k{number}", extra=extra))
        assert [reply.status for reply in told] == [200] * 4 + [401] * 2
        told.append(gateway.ask_admin("/metrics", f"Authorization: Bearer {canary}\r\n"))
        good = f"Authorization: Bearer {canary}-admin\r\n"
        for path in ("/metrics", "/healthz", "/v1/tenants", "/v1/audit", "/v1/idempotency/stats"):
            told.append(gateway.ask_admin(path, good))
        gateway.stop()
        assert gateway.events("request"), "the log told nothing at all"
        assert canary not in json.dumps(gateway.log)
        assert canary not in gateway.audit().read_text()
    for reply in told:
        assert canary not in reply.body.decode() + json.dumps(reply.headers)
