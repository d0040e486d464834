"""Start, reload, drain and crash of the real process."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import stack


def test_a_drain_finishes_what_is_in_flight_and_takes_nothing_new(pawl: Path) -> None:
    release = threading.Event()

    def slow(connection: socket.socket, head: bytes) -> None:
        release.wait(timeout=stack.WAIT_SECONDS)
        stack.answer_ok(connection, head)

    with stack.running(pawl) as gateway, gateway.connect() as busy, gateway.connect() as idle:
        gateway.upstream.behave = slow
        busy.sendall(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
        stack.wait_for(lambda: gateway.upstream.received, "the request to arrive")
        gateway.process.send_signal(signal.SIGTERM)
        assert idle.recv(10) == b"", "an idle connection is closed at once"
        stack.wait_for(lambda: not can_connect(gateway.guarded), "the listener to close")
        assert gateway.process.poll() is None, "it waits for the request in flight"
        release.set()
        reply = stack.read_reply(busy)
        assert (reply.status, reply.body) == (200, b"ok")
        assert reply.headers["connection"] == "close"
        assert gateway.process.wait(timeout=stack.WAIT_SECONDS) == 0


def test_a_drain_under_load_cuts_nothing_that_reached_the_upstream(pawl: Path) -> None:
    """As many whole answers as the upstream gave, whenever the signal comes."""

    def late(connection: socket.socket, head: bytes) -> None:
        time.sleep(0.01)
        stack.answer_ok(connection, head)

    answered = [0] * 16

    def ask_until_closed(number: int) -> None:
        with contextlib.suppress(ConnectionError), gateway.connect() as connection:
            while True:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nx")
                assert stack.read_reply(connection).status == 200
                answered[number] += 1

    with stack.running(pawl) as gateway, ThreadPoolExecutor(len(answered)) as pool:
        gateway.upstream.behave = late
        clients = [pool.submit(ask_until_closed, number) for number in range(len(answered))]
        stack.wait_for(lambda: min(answered) >= 3, "all to be at it")
        gateway.process.send_signal(signal.SIGTERM)
        for client in clients:
            client.result(timeout=stack.WAIT_SECONDS)
        assert gateway.process.wait(timeout=stack.WAIT_SECONDS) == 0
        assert sum(answered) == len(gateway.upstream.received)


LARGE = 6_000_000


def answer_large(connection: socket.socket, _head: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE + b"x" * LARGE)


def read_late(connection: socket.socket) -> bytes:
    """As a client on a slow line would: nothing for three seconds, then everything."""
    time.sleep(3)
    data = b""
    while piece := connection.recv(1 << 20):
        data += piece
    return data


def test_a_slow_client_that_asked_to_close_gets_its_whole_answer(pawl: Path) -> None:
    with stack.running(pawl) as gateway, gateway.connect() as slow:
        gateway.upstream.behave = answer_large
        slow.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        assert len(read_late(slow).partition(b"\r\n\r\n")[2]) == LARGE


def test_a_drain_waits_for_a_slow_client_to_take_its_answer(pawl: Path) -> None:
    with stack.running(pawl) as gateway, gateway.connect() as slow:
        gateway.upstream.behave = answer_large
        slow.sendall(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
        stack.wait_for(lambda: gateway.upstream.received, "the request to arrive")
        gateway.process.send_signal(signal.SIGTERM)
        stack.wait_for(lambda: gateway.ask_admin("/readyz").status == 503, "it to say so")
        assert len(read_late(slow).partition(b"\r\n\r\n")[2]) == LARGE
        assert gateway.process.wait(timeout=stack.WAIT_SECONDS) == 0


def test_what_a_drain_cuts_at_its_deadline_is_recorded_as_unknown(pawl: Path) -> None:
    """A read, and a write with a key, whose answers never end: the drain waits 30 seconds."""

    def trickle(connection: socket.socket, head: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(400):
                connection.sendall(b"x")
                time.sleep(0.1)

    timeouts = "  timeouts: { answer: 2s }"
    with (
        stack.running(pawl, server=timeouts) as gateway,
        gateway.connect() as reader,
        gateway.connect() as writer,
    ):
        gateway.upstream.behave = trickle
        reader.sendall(b"GET /cut HTTP/1.1\r\nHost: t\r\n\r\n")
        writer.sendall(
            b"POST /cut HTTP/1.1\r\nHost: t\r\nIdempotency-Key: k\r\nContent-Length: 1\r\n\r\na"
        )
        stack.wait_for(lambda: len(gateway.upstream.received) == 2, "both to arrive")
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(timeout=60) == 0
        ends = {str(end["operation"]): end["outcome"] for end in gateway.audited("request")}
        assert ends == {"GET /cut": "unknown", "POST /cut": "unknown"}
        assert [note["action"] for note in gateway.audited("idempotency")] == ["unknown"]


def test_an_answer_that_comes_before_the_upload_ends_arrives(pawl: Path) -> None:
    def refuse_early(connection: socket.socket) -> None:
        # It says that it closes: on a connection it promised to keep, the next POST could not be
        # told from one that was lost.
        connection.recv(1000)
        connection.sendall(
            b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"
        )
        connection.close()

    with stack.running(pawl) as gateway:
        gateway.upstream.serve = refuse_early
        for _ in range(10):
            with gateway.connect() as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2000000\r\n\r\n")
                with contextlib.suppress(OSError):
                    connection.sendall(b"x" * 2_000_000)
                assert stack.read_reply(connection).status == 413


def can_connect(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def test_a_reload_changes_the_limit_and_keeps_what_was_used(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="1") as gateway:
        assert [gateway.get().status for _ in range(3)] == [200, 200, 429]
        gateway.reload(rate="1/1h", burst="3")
        assert [gateway.get().status for _ in range(3)] == [200, 200, 429], "two of four were used"
        assert gateway.stop() == 0
        audit = [json.loads(line) for line in gateway.audit().read_text().splitlines()]
        assert any(e["event_type"] == "config" and "limits" in e["changed"] for e in audit)


def test_a_broken_reload_changes_nothing_and_says_every_problem(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="0") as gateway:
        assert gateway.get().status == 200
        gateway.reload("config_reload_refused", rate="lots", level="loud")
        stack.wait_for(lambda: len(gateway.events("config_reload_refused")) == 2, "both problems")
        problems = " ".join(str(e["problem"]) for e in gateway.events("config_reload_refused"))
        assert "limits.buckets[0].rate" in problems and "log.level" in problems
        assert gateway.get().status == 429, "the limit in force is the old one"
        assert gateway.metric('pawl_config_reloads_total{result="refused"}') == 1


def test_a_reload_that_moves_a_listener_is_refused_whole(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="0") as gateway:
        gateway.reload("config_reload_refused", threads="1", rate="1000/1s", burst="1000")
        assert "server.threads" in str(gateway.events("config_reload_refused")[0]["problem"])
        assert [gateway.get().status for _ in range(2)] == [200, 429], "nothing was taken over"


def test_a_reload_takes_over_everything_but_the_listeners(pawl: Path) -> None:
    second = stack.Upstream()
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    with contextlib.closing(second), stack.running(pawl) as gateway:
        assert gateway.get().status == 200
        assert gateway.exchange(upgrade).status == 501
        assert [gateway.post(body).status for body in (b"a", b"b")] == [200, 422]
        with gateway.connect() as waiting:
            gateway.reload(server="  connections_per_address: 1\n  timeouts: { idle: 1s }")
            with gateway.connect() as another:
                assert stack.is_closed(another), "one is connected already"
            assert stack.is_closed(waiting), "one that was there has the new deadline too"
        gateway.reload(
            upstreams=f"http://127.0.0.1:{second.port}",
            server="  websocket: true",
            headers="[legacy]",
            missing="reject",
            idempotency="{ store: memory, durability: none, on_mismatch: conflict }",
        )
        before = len(gateway.upstream.received)
        reply = gateway.get()
        assert reply.status == 200 and "ratelimit" not in reply.headers
        assert gateway.exchange(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n").status == 401
        assert gateway.post(b"b").status == 409, "the record of before is still there"
        named = upgrade.replace(b"Host", b"X-Tenant-Id: acme\r\nHost")
        assert gateway.exchange(named).status == 200, "passed on, and not wanted there"
        assert len(gateway.upstream.received) == before and len(second.received) == 2


def test_a_reload_that_cannot_read_a_file_changes_nothing(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="0") as gateway:
        gateway.reload(
            "config_reload_refused",
            rate="1000/1s",
            burst="1000",
            upstreams="https://127.0.0.1:1",
            server=f"  upstream_ca: {gateway.folder}/absent.pem",
        )
        assert [gateway.get().status for _ in range(2)] == [200, 429]


def test_a_reload_under_load_loses_no_request(pawl: Path) -> None:
    stop = threading.Event()

    def ask(_number: int) -> list[int]:
        found = []
        with gateway.connect() as connection:
            while not stop.is_set():
                connection.sendall(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nx")
                found.append(stack.read_reply(connection).status)
        return found

    with stack.running(pawl) as gateway, ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(ask, number) for number in range(8)]
        try:
            for number in range(10):
                gateway.reload(rate=f"{100_000 + number}/1s")
        finally:
            stop.set()
        found = [status for client in clients for status in client.result()]
        assert set(found) == {200}
        assert len(found) == len(gateway.upstream.received)


def test_after_kill_9_the_audit_log_verifies_and_goes_on(pawl: Path) -> None:
    with stack.running(pawl) as gateway:
        stop = threading.Event()

        def load() -> None:
            with gateway.connect() as connection:
                while not stop.is_set():
                    try:
                        connection.sendall(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
                        stack.read_reply(connection)
                    except OSError:
                        return

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        gateway.process.kill()
        gateway.process.wait()
        stop.set()
        for thread in threads:
            thread.join()
        size = gateway.audit().stat().st_size
        assert size > 0
        config = stack.write_config(gateway.folder, gateway.upstream.port)
        again = subprocess.Popen(
            [pawl, "serve", "--config", config], stderr=subprocess.PIPE, cwd=gateway.folder
        )
        try:
            assert again.stderr is not None
            assert any(b'"serving"' in line for line in again.stderr)
        finally:
            again.terminate()
            again.wait(timeout=stack.WAIT_SECONDS)
        verify = subprocess.run([pawl, "audit", "verify", gateway.audit()], capture_output=True)
        assert verify.returncode == 0, verify.stdout + verify.stderr


def test_a_plan_that_was_given_survives_kill_9(pawl: Path) -> None:
    settings = {
        "buckets": "[{ name: hourly, rate: 1/1h }]",
        "plans": "{ free: { hourly: 1/1h }, pro: { hourly: 3/1h } }",
    }
    with contextlib.closing(stack.Upstream()) as upstream, tempfile.TemporaryDirectory() as name:
        with stack.serving(pawl, Path(name), upstream, **settings) as gateway:
            ask = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=stack.WAIT_SECONDS)
            ask.request("PUT", "/v1/tenants/acme/plan", json.dumps({"plan": "pro"}))
            assert ask.getresponse().status == 200
            gateway.process.kill()
            gateway.process.wait()
        with stack.serving(pawl, Path(name), upstream, **settings) as gateway:
            assert [gateway.get().status for _ in range(4)] == [200, 200, 200, 429]
            assert [gateway.get(tenant="other").status for _ in range(2)] == [200, 429]


def test_a_taken_port_is_said_plainly(pawl: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = stack.write_config(tmp_path, 1, listen=f"127.0.0.1:{port}")
        result = subprocess.run(
            [pawl, "serve", "--config", config],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=stack.WAIT_SECONDS,
        )
    assert result.returncode == 6
    assert f"127.0.0.1:{port}" in result.stderr
    assert "another program" in result.stderr
