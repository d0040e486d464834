"""Goal: nobody is waited for without an end, in any phase of a request: its head, its body, the
connection to the upstream, the answer, and the client that takes it.

Method: a real pawl with deadlines of a second or less, and clients and upstreams that fall silent
or dribble. What is asserted is what each of them is told, and that it ends; never how soon beyond
what the deadline itself says.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stack

GET = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"
UPLOAD = b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n"


def gone(gateway: stack.Gateway) -> bool:
    return gateway.metric("pawl_connections") == 0


def dribble(connection: socket.socket, byte: bytes) -> bytes:
    """What is heard in the end, of a byte sent every tenth of a second: less than is tolerated."""
    end = time.monotonic() + stack.WAIT_SECONDS
    heard = b""
    connection.settimeout(0.1)
    while time.monotonic() < end:
        try:
            piece = connection.recv(65536)
            heard += piece
            if not piece:
                return heard
        except TimeoutError:
            with contextlib.suppress(OSError):
                connection.sendall(byte)
        except ConnectionResetError:
            return heard
    raise AssertionError("it listens to dribbling for ever")


# The client.


def test_a_head_has_one_deadline_in_all(pawl: Path) -> None:
    with stack.running(pawl, server="  timeouts: { head: 1s, idle: 1h }") as gateway:
        with gateway.connect() as client:
            begun = time.monotonic()
            client.sendall(b"GET / HTTP/1.1\r\nA: ")
            answer = dribble(client, b"a")
            assert time.monotonic() - begun > 0.9
        assert answer.startswith(b"HTTP/1.1 400 ") and b"in time" in answer
        assert gateway.upstream.received == []


def test_an_idle_connection_is_closed_after_its_time(pawl: Path) -> None:
    with stack.running(pawl, server="  timeouts: { idle: 1s }") as gateway:
        with gateway.connect() as fresh, gateway.connect() as used:
            used.sendall(GET)
            assert stack.read_reply(used).status == 200
            begun = time.monotonic()
            assert stack.is_closed(fresh) and stack.is_closed(used)
            assert time.monotonic() - begun > 0.5


@pytest.mark.parametrize("byte", [b"", b"x"], ids=["silent", "dribbling"])
@pytest.mark.parametrize("key", [b"", b"Idempotency-Key: k\r\n"], ids=["plain", "with key"])
def test_a_body_that_does_not_come_is_given_up(pawl: Path, byte: bytes, key: bytes) -> None:
    with stack.running(pawl, server="  timeouts: { idle: 1s, answer: 1h }") as gateway:
        with gateway.connect() as client:
            client.sendall(UPLOAD.replace(b"Host", key + b"Host"))
            assert b"200" not in dribble(client, byte)
        stack.wait_for(lambda: gone(gateway), "its place to be free")
        assert gateway.upstream.received == [], "a part of a request is none"
        assert gateway.get().status == 200


def test_a_client_that_takes_nothing_of_its_answer_is_given_up(pawl: Path) -> None:
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            stack.read_head(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            try:
                connection.sendall(b"x" * 100_000_000)
            except OSError:
                ended.set()

    with stack.running(pawl, server="  timeouts: { idle: 1s, answer: 1h }") as gateway:
        gateway.upstream.serve = serve
        with gateway.connect() as client:
            client.sendall(GET)
            stack.wait_for(lambda: gone(gateway), "its place to be free")
            assert ended.wait(stack.WAIT_SECONDS), "the upstream sends on to nobody"


# The upstream.


def problem(reply: stack.Reply) -> tuple[int, str]:
    return reply.status, json.loads(reply.body)["code"]


@contextlib.contextmanager
def deaf_listener() -> Iterator[int]:
    """A port where connections are neither taken nor refused: its queue is full."""
    with socket.socket() as listener, contextlib.ExitStack() as fillers:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def test_an_upstream_that_takes_no_connection_is_told_as_such(pawl: Path) -> None:
    lines = "  timeouts: { connect: 300ms, answer: 1h }"
    with deaf_listener() as port:
        address = f"http://127.0.0.1:{port}"
        with stack.running(pawl, upstreams=address, server=lines) as gateway:
            reply = gateway.post()
            assert reply.status in (502, 504)
            assert b"it is safe to send this again" in reply.body
            reply = gateway.post()
            assert reply.status in (502, 504), "and the key was not burnt"


def test_an_upstream_that_takes_no_connection_costs_no_request_beside_another(pawl: Path) -> None:
    upstream = stack.Upstream()
    lines = "  timeouts: { connect: 200ms }\n  health: { interval: 1h }"
    with deaf_listener() as port, contextlib.closing(upstream):
        both = f"[http://127.0.0.1:{port}, http://127.0.0.1:{upstream.port}]"
        with stack.running(pawl, upstreams=both, server=lines) as gateway:
            for number in range(4):
                assert gateway.post(key=f"k{number}").status == 200
        assert len(upstream.received) == 4


def test_an_upstream_that_greets_nobody_in_tls_is_told_as_such(pawl: Path) -> None:
    def say_nothing(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while connection.recv(65536):
                pass

    upstream = stack.Upstream()
    upstream.serve = say_nothing
    with contextlib.closing(upstream):
        address = f"https://127.0.0.1:{upstream.port}"
        lines = "  timeouts: { connect: 300ms, answer: 1h }"
        with stack.running(pawl, upstreams=address, server=lines) as gateway:
            reply = gateway.post()
            assert reply.status in (502, 504)
            assert b"it is safe to send this again" in reply.body


def test_an_upstream_that_does_not_answer_is_504(pawl: Path) -> None:
    hold = threading.Event()

    def say_nothing(_connection: socket.socket, _head: bytes) -> None:
        hold.wait(stack.WAIT_SECONDS)

    with stack.running(pawl, server="  timeouts: { answer: 500ms }") as gateway:
        gateway.upstream.behave = say_nothing
        assert problem(gateway.get()) == (504, "ERR_UPSTREAM_TIMEOUT")
        assert problem(gateway.post(key="k")) == (504, "ERR_UPSTREAM_TIMEOUT")
        hold.set()
        gateway.upstream.behave = stack.answer_ok
        assert problem(gateway.post(key="k")) == (409, "ERR_OUTCOME_UNKNOWN")
        assert gateway.get().status == 200


def test_an_answer_that_rests_is_cut_and_not_taken_for_whole(pawl: Path) -> None:
    hold = threading.Event()
    heads = (b"Content-Length: 10", b"Transfer-Encoding: chunked")

    def answer(head: bytes) -> Callable[[socket.socket, bytes], None]:
        def say_half(connection: socket.socket, _head: bytes) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n5\r\nhe")
            hold.wait(stack.WAIT_SECONDS)

        return say_half

    with stack.running(pawl, server="  timeouts: { answer: 500ms }") as gateway:
        for head in heads:
            gateway.upstream.behave = answer(head)
            with gateway.connect() as client:
                client.sendall(GET)
                heard, _ = stack.read_head(client)
                assert heard.startswith(b"HTTP/1.1 200 OK\r\n")
                rest = b""
                with contextlib.suppress(ConnectionResetError):
                    while piece := client.recv(65536):
                        rest += piece
                assert not rest.endswith(b"0\r\n\r\n"), "it must not look whole"
        hold.set()


def test_an_upstream_that_keeps_talking_is_not_cut(pawl: Path) -> None:
    """The deadline is of its silence, not of its answer."""
    pieces = 12

    def talk(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % pieces)
        for _ in range(pieces):
            connection.sendall(b"x")
            time.sleep(0.3)

    with stack.running(pawl, server="  timeouts: { answer: 3s }") as gateway:
        gateway.upstream.behave = talk
        assert gateway.get().body == b"x" * pieces
