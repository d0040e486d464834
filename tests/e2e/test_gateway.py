"""The walking skeleton, from outside: a request goes through every room and comes back."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path

import stack


def test_a_request_is_decided_proxied_counted_logged_and_audited(pawl: Path) -> None:
    with stack.running(pawl, rate="100/1m", burst="20") as gateway:
        reply = gateway.get("/orders?secret=1", extra="X-Request-Id: r-1\r\n")
        assert reply.status == 200
        assert reply.body == b"ok"
        assert reply.headers["ratelimit-policy"] == '"global";q=100;w=60'
        assert reply.headers["ratelimit"] == '"global";r=20;t=1'
        assert reply.headers["x-ratelimit-limit"] == "100"
        assert reply.headers["x-ratelimit-remaining"] == "20"
        assert 0 <= int(reply.headers["x-ratelimit-reset"]) - time.time() <= 2
        assert reply.headers["x-request-id"] == "r-1"

        sent = gateway.upstream.received[0].decode()
        assert sent.startswith("GET /orders?secret=1 HTTP/1.1\r\n")
        assert "\r\nX-Forwarded-For: 127.0.0.1\r\n" in sent

        assert gateway.metric('pawl_limit_decisions_total{decision="allowed"}') == 1
        assert gateway.metric('pawl_requests_total{outcome="applied"}') == 1
        stack.wait_for(lambda: gateway.events("request"), "the log line of the request")
        line = gateway.events("request")[0]
        assert (line["tenant_id"], line["request_id"], line["status"]) == ("acme", "r-1", 200)
        assert "secret" not in json.dumps(gateway.log), "a query may hold a secret"
        assert gateway.stop() == 0

        events = [json.loads(line) for line in gateway.audit().read_text().splitlines()]
        assert [e["event_type"] for e in events] == ["limit", "request"]
        assert events[0]["allowed"] is True and events[0]["tenant_id"] == "acme"
        assert events[0]["policies"][0]["key"] == "tenant:acme"
        assert events[1]["outcome"] == "applied" and events[1]["status"] == 200
        verify = subprocess.run([pawl, "audit", "verify", gateway.audit()], capture_output=True)
        assert verify.returncode == 0, verify.stderr


def test_over_the_limit_is_429_with_an_exact_wait(pawl: Path) -> None:
    with stack.running(pawl, rate="1/2s", burst="2") as gateway:
        replies = [gateway.get() for _ in range(4)]
        assert [r.status for r in replies] == [200, 200, 200, 429]
        refused = replies[-1]
        assert refused.headers["content-type"] == "application/problem+json"
        problem = json.loads(refused.body)
        assert problem["code"] == "ERR_RATE_LIMIT"
        assert problem["error"]["code"] == "ERR_RATE_LIMIT"
        assert problem["violated-policies"] == ["global"]
        assert problem["detail"].startswith("Refused by 'global' (1/2s burst 2)")
        wait = int(refused.headers["retry-after"])
        assert wait in (1, 2, 3), "at most two seconds, spread by an eighth, and rounded up"
        assert gateway.get(tenant="other").status == 200, "tenants do not share a bucket"
        assert len(gateway.upstream.received) == 4, "what was refused never reached the upstream"
        time.sleep(wait)
        assert gateway.get().status == 200, "who waits as told is served"


def test_a_body_of_any_framing_arrives_unchanged(pawl: Path) -> None:
    with stack.running(pawl) as gateway:
        body = bytes(range(256)) * 4000
        head = f"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        assert gateway.exchange(head + body).status == 200
        assert gateway.upstream.received[-1].endswith(body)
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (b"abc", body[:70000], b"z"))
        head = b"POST /p HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert gateway.exchange(head + chunks + b"0\r\n\r\n").status == 200
        assert gateway.upstream.received[-1].endswith(b"\r\nz\r\n0\r\n\r\n")
        waiting = (
            b"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        with gateway.connect() as connection:
            connection.sendall(waiting)
            assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n")
            connection.sendall(b"hi")
            assert stack.read_reply(connection).status == 200
        assert gateway.upstream.received[-1].endswith(b"\r\n\r\nhi")


def test_a_connection_serves_many_requests_also_sent_ahead(pawl: Path) -> None:
    with stack.running(pawl) as gateway, gateway.connect() as connection:
        request = b"GET /%d HTTP/1.1\r\nHost: t\r\n\r\n"
        connection.sendall(b"".join(request % i for i in range(50)))
        data = b""
        while data.count(b"HTTP/1.1 200 OK") < 50 or not data.endswith(b"ok"):
            piece = connection.recv(65536)
            assert piece, "closed before the fiftieth answer"
            data += piece
        paths = [r.split(b" ")[1] for r in gateway.upstream.received]
        assert paths == [b"/%d" % i for i in range(50)], "answered in order"


def test_a_head_request_has_no_body_and_http10_closes(pawl: Path) -> None:
    def answer_head(connection: socket.socket, head: bytes) -> None:
        body = b"" if head.startswith(b"HEAD") else b"body"
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + body)

    with stack.running(pawl) as gateway:
        gateway.upstream.behave = answer_head
        with gateway.connect() as connection:
            connection.sendall(b"HEAD / HTTP/1.1\r\nHost: t\r\n\r\n")
            reply = stack.read_reply(connection, to_head=True)
            assert (reply.status, reply.headers["content-length"], reply.rest) == (200, "4", b"")
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert stack.read_reply(connection).body == b"body"
            assert connection.recv(10) == b"", "HTTP/1.0 without keep-alive ends the connection"


def test_a_dead_upstream_is_502_and_says_whether_to_retry(pawl: Path) -> None:
    with stack.running(pawl) as gateway:
        gateway.upstream.close()
        reply = gateway.exchange(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nx")
        assert reply.status == 502
        problem = json.loads(reply.body)
        assert problem["code"] == "ERR_UPSTREAM_UNREACHABLE"
        assert "safe to send this again" in problem["detail"]
        assert gateway.metric('pawl_requests_total{outcome="not_applied"}') == 1


def test_a_write_whose_answer_is_lost_is_unknown_and_sent_once(pawl: Path) -> None:
    with stack.running(pawl) as gateway:
        gateway.upstream.behave = lambda connection, _: connection.shutdown(socket.SHUT_RDWR)
        reply = gateway.exchange(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nx")
        assert reply.status == 502
        assert "may have been applied" in json.loads(reply.body)["detail"]
        assert len(gateway.upstream.received) == 1
        assert gateway.metric('pawl_requests_total{outcome="unknown"}') == 1


def test_the_admin_listener_serves_probes_and_guards_the_rest(pawl: Path) -> None:
    with stack.running(pawl, token="t0ken") as gateway:
        assert gateway.ask_admin("/healthz").status == 200
        assert gateway.ask_admin("/readyz").status == 200
        assert gateway.ask_admin("/metrics").status == 401
        reply = gateway.ask_admin("/metrics", "Authorization: Bearer t0ken\r\n")
        assert reply.status == 200
        assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "t0ken" not in reply.body.decode() + json.dumps(gateway.log)
