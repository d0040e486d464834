"""Several limits at once, from the configuration to the answer and the audit log."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import stack


def statuses(gateway: stack.Gateway, count: int, tenant: str = "acme") -> list[int]:
    return [gateway.get(tenant=tenant).status for _ in range(count)]


def policies(gateway: stack.Gateway) -> list[dict[str, object]]:
    """What each bucket said to the last request."""
    found = gateway.audited("limit")[-1]["policies"]
    assert isinstance(found, list)
    return found


def test_all_buckets_let_a_request_through_or_none_is_charged(pawl: Path) -> None:
    buckets = """
    - { name: hourly, rate: 100/1h }
    - { name: few, algorithm: sliding_log, rate: 2/1h }"""
    with stack.running(pawl, buckets=buckets) as gateway:
        first = gateway.get()
        assert first.headers["ratelimit-policy"] == '"hourly";q=100;w=3600, "few";q=2;w=3600'
        assert first.headers["ratelimit"].startswith('"hourly";r=99;t=')
        assert '"few";r=1;t=' in first.headers["ratelimit"]
        assert first.headers["x-ratelimit-limit"] == "2", "of the tightest"
        assert statuses(gateway, 3) == [200, 429, 429]
        refused = gateway.get()
        assert json.loads(refused.body)["violated-policies"] == ["few"]
        assert refused.headers["ratelimit"].startswith('"hourly";r=98;t='), "refused, not charged"


def test_a_bucket_in_shadow_is_seen_in_the_audit_log_alone(pawl: Path) -> None:
    buckets = """
    - { name: open, rate: 100/1h }
    - { name: watched, rate: 1/1h, shadow: true }"""
    with stack.running(pawl, buckets=buckets) as gateway:
        assert statuses(gateway, 3) == [200, 200, 200]
        assert "watched" not in gateway.get().headers["ratelimit"]
        assert gateway.metric("pawl_limit_shadow_refusals_total") == 3
        assert gateway.stop() == 0
        last = gateway.audited("limit")[-1]
        assert last["allowed"] is True
        watched = policies(gateway)[1]
        assert (watched["name"], watched["shadow"], watched["allowed"]) == ("watched", True, False)
        assert int(str(watched["retry_after_ms"])) > 0
        assert "Shadow 'watched'" in str(last["why"])


def test_a_slot_comes_back_when_its_request_ends(pawl: Path) -> None:
    release = threading.Event()

    def slow(connection: socket.socket, head: bytes) -> None:
        release.wait(timeout=stack.WAIT_SECONDS)
        stack.answer_ok(connection, head)

    buckets = "[{ name: at_once, algorithm: concurrency, slots: 1, lease: 1h }]"
    with stack.running(pawl, buckets=buckets) as gateway, gateway.connect() as busy:
        gateway.upstream.behave = slow
        busy.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\n\r\n")
        stack.wait_for(lambda: gateway.upstream.received, "the request to arrive")
        refused = gateway.get()
        assert refused.status == 429
        assert json.loads(refused.body)["violated-policies"] == ["at_once"]
        release.set()
        assert stack.read_reply(busy).status == 200
        assert statuses(gateway, 3) == [200, 200, 200], "one after the other is never two at once"
        with gateway.connect() as leaver:
            release.clear()
            before = len(gateway.upstream.received)
            leaver.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\n\r\n")
            stack.wait_for(lambda: len(gateway.upstream.received) > before, "its request")
        release.set()
        stack.wait_for(lambda: gateway.get().status == 200, "the slot of a client that left")


def test_a_scope_says_who_shares_a_count(pawl: Path) -> None:
    buckets = "[{ name: all, scope: everyone, rate: 3/1h }]"
    with stack.running(pawl, buckets=buckets) as gateway:
        assert [statuses(gateway, 1, tenant)[0] for tenant in "abcd"] == [200, 200, 200, 429]
    buckets = "[{ name: here, scope: address, rate: 2/1h }]"
    with stack.running(pawl, buckets=buckets) as gateway:
        assert [statuses(gateway, 1, tenant)[0] for tenant in "abc"] == [200, 200, 429]
        assert gateway.stop() == 0
        assert policies(gateway)[0]["key"] == "address:127.0.0.1"


def test_a_plan_and_a_tenant_override_the_rate(pawl: Path) -> None:
    with stack.running(
        pawl,
        buckets="[{ name: global, rate: 1/1h }]",
        plans="{ pro: { global: 3/1h } }",
        tenants="  plans: { acme: pro }\n  overrides: { vip: { global: 2/1h } }",
    ) as gateway:
        assert statuses(gateway, 2, "other") == [200, 429]
        assert statuses(gateway, 4, "acme") == [200, 200, 200, 429]
        assert statuses(gateway, 3, "vip") == [200, 200, 429]


def test_older_headers_are_spoken_where_they_are_asked_for(pawl: Path) -> None:
    buckets = "[{ name: global, rate: 100/1h }]"
    with stack.running(pawl, buckets=buckets, headers="[draft7]") as gateway:
        headers = gateway.get().headers
        assert headers["ratelimit"].startswith("limit=100, remaining=99, reset=")
        assert "x-ratelimit-limit" not in headers
    with stack.running(pawl, buckets=buckets, headers="[draft6, legacy]") as gateway:
        headers = gateway.get().headers
        assert headers["ratelimit-limit"] == "100"
        assert headers["ratelimit-remaining"] == "99"
        assert headers["x-ratelimit-remaining"] == "99"


def test_a_reload_keeps_what_was_used_under_another_rate(pawl: Path) -> None:
    with stack.running(pawl, buckets="[{ name: global, rate: 4/1h }]") as gateway:
        assert statuses(gateway, 2) == [200, 200]
        gateway.reload(buckets="[{ name: global, rate: 3/1h }]")
        assert statuses(gateway, 2) == [200, 429], "two of three were used"
        gateway.reload(buckets="[{ name: global, algorithm: sliding_log, rate: 5/1h }]")
        assert statuses(gateway, 3) == [200, 200, 429], "three of five were used"
        fresh = "[{ name: global, algorithm: sliding_log, rate: 1/1h, on_change: reset }]"
        gateway.reload(buckets=fresh)
        assert statuses(gateway, 2) == [200, 429], "nothing of one was used"


def test_a_calendar_limit_ends_with_its_window(pawl: Path) -> None:
    buckets = "[{ name: daily, algorithm: calendar, limit: 2, every: day, zone: Europe/Zurich }]"
    with stack.running(pawl, buckets=buckets) as gateway:
        if time.gmtime().tm_hour in (21, 22, 23) and time.gmtime().tm_min >= 58:
            time.sleep(125)  # not across midnight in Zurich
        assert statuses(gateway, 3) == [200, 200, 429]
        wait = int(gateway.get().headers["retry-after"])
        assert 0 < wait <= 25 * 3600 + 60
        assert gateway.stop() == 0
        assert policies(gateway)[0]["rule"] == "2 a day in Europe/Zurich"
