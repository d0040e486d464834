"""Start, reload, drain and crash of the real process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import stack


def reload(gateway: stack.Gateway, event: str, **settings: str) -> None:
    before = len(gateway.events(event))
    stack.write_config(gateway.folder, gateway.upstream.port, **settings)
    os.kill(gateway.process.pid, signal.SIGHUP)
    stack.wait_for(lambda: len(gateway.events(event)) > before, event)


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


def test_an_answer_that_comes_before_the_upload_ends_arrives(pawl: Path) -> None:
    def refuse_early(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
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
        reload(gateway, "config_reloaded", rate="1/1h", burst="3")
        assert [gateway.get().status for _ in range(3)] == [200, 200, 429], "two of four were used"
        audit = [json.loads(line) for line in gateway.audit().read_text().splitlines()]
        assert any(e["event_type"] == "config" and "limits" in e["changed"] for e in audit)


def test_a_broken_reload_changes_nothing_and_says_every_problem(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="0") as gateway:
        assert gateway.get().status == 200
        reload(gateway, "config_reload_refused", rate="lots", level="loud")
        problems = " ".join(str(e["problem"]) for e in gateway.events("config_reload_refused"))
        assert "limits.buckets[0].rate" in problems and "log.level" in problems
        assert gateway.get().status == 429, "the limit in force is the old one"
        assert gateway.metric('pawl_config_reloads_total{result="refused"}') == 1


def test_a_reload_that_moves_a_listener_is_refused_whole(pawl: Path) -> None:
    with stack.running(pawl, rate="1/1h", burst="0") as gateway:
        reload(gateway, "config_reload_refused", threads="1", rate="1000/1s", burst="1000")
        assert "server.threads" in str(gateway.events("config_reload_refused")[0]["problem"])
        assert [gateway.get().status for _ in range(2)] == [200, 429], "nothing was taken over"


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
