"""Where counts live: in a Redis that is shared, in a file; and what a lost store leads to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import uuid
from pathlib import Path

import own_servers
import owned
import stack


def fresh_tenant() -> str:
    """Runs on one server do not meet."""
    return "t" + uuid.uuid4().hex


def allowed(gateway: stack.Gateway, count: int, tenant: str) -> int:
    found = [gateway.get(tenant=tenant).status for _ in range(count)]
    assert set(found) <= {200, 429}, found
    return found.count(200)


def test_two_gateways_share_a_limit_that_outlives_them(
    pawl: Path, services: dict[str, str]
) -> None:
    buckets = """
    - { name: hourly, rate: 10/1h }
    - { name: logged, algorithm: sliding_log, rate: 12/1h }"""
    for variable in ("PAWL_TEST_REDIS", "PAWL_TEST_REDIS_CLUSTER"):
        tenant = fresh_tenant()
        settings = {"buckets": buckets, "stores": f'  store: "{services[variable]}"'}
        with stack.running(pawl, **settings) as one, stack.running(pawl, **settings) as other:
            assert allowed(one, 4, tenant) + allowed(other, 4, tenant) == 8
            assert allowed(one, 4, tenant) == 2
        with stack.running(pawl, **settings) as again:
            assert allowed(again, 3, tenant) == 0, "a restart hands nothing out anew"


def test_a_lost_store_is_seen_survived_and_found_again(pawl: Path, tmp_path: Path) -> None:
    with own_servers.redis(tmp_path) as redis:
        settings = {
            "buckets": "[{ name: hourly, rate: 3/1h }]",
            "stores": f'  store: "{redis.url}"\n  on_store_failure: local',
        }
        with stack.running(pawl, **settings) as gateway:
            assert allowed(gateway, 2, "acme") == 2
            redis.kill()
            assert allowed(gateway, 5, "acme") == 3, "this process counts from nothing"
            health = json.loads(gateway.ask_admin("/healthz").body)
            assert health["status"] == "degraded"
            assert "this process's own counts" in health["detail"]
            assert gateway.ask_admin("/readyz").status == 200, "it serves"
            stack.wait_for(lambda: gateway.metric("pawl_limit_store_lost") == 1, "the metric")
            assert gateway.metric("pawl_limit_store_decided_without_total") >= 5
            assert gateway.events("limit_store_lost")
            why = gateway.get(tenant="acme").body.decode()
            assert "this process alone" in why

            redis.start()
            stack.wait_for(
                lambda: gateway.get(tenant="x") and gateway.events("limit_store_found"),
                "the store to be found again",
            )
            assert allowed(gateway, 3, "acme") == 1, "two were used before it was lost"
            assert json.loads(gateway.ask_admin("/healthz").body) == {"status": "ok"}


def test_a_stop_waits_for_what_the_stores_still_have_to_answer(pawl: Path, tmp_path: Path) -> None:
    release = threading.Event()

    def slow(connection: socket.socket, head: bytes) -> None:
        release.wait(timeout=stack.WAIT_SECONDS)
        stack.answer_ok(connection, head)

    with own_servers.redis(tmp_path) as redis:
        settings = {
            "buckets": """
    - { name: slots, algorithm: concurrency, slots: 50, lease: 1m }
    - { name: month, algorithm: calendar, limit: 1000, every: month }""",
            "stores": f'  store: "{redis.url}"\n  store_deadline: 2s\n'
            f"  calendar_store: sqlite:{tmp_path}/limits.db",
        }
        with stack.running(pawl, **settings) as gateway, contextlib.ExitStack() as clients:
            gateway.upstream.behave = slow
            busy = [clients.enter_context(gateway.connect()) for _ in range(8)]
            for connection in busy:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\n\r\n")
            stack.wait_for(lambda: len(gateway.upstream.received) == len(busy), "the requests")
            redis.signal(signal.SIGSTOP)
            gateway.process.send_signal(signal.SIGTERM)
            release.set()
            assert [stack.read_reply(connection).status for connection in busy] == [200] * 8
            assert gateway.process.wait(timeout=stack.WAIT_SECONDS) == 0, gateway.log


def test_a_stop_gives_back_what_was_leased_and_not_used(pawl: Path, tmp_path: Path) -> None:
    limit, used = 500, 40
    tenants = [fresh_tenant() for _ in range(5)]
    buckets = f"[{{ name: hourly, rate: {limit}/1h }}]"
    with own_servers.redis(tmp_path) as redis:
        store = f'  store: "{redis.url}"\n  store_deadline: 2s\n'
        with stack.running(pawl, buckets=buckets, stores=store + "  batch: 100") as gateway:
            for _ in range(used):
                assert [allowed(gateway, 1, tenant) for tenant in tenants] == [1] * len(tenants)
        with stack.running(pawl, buckets=buckets, stores=store) as gateway:
            left = [gateway.get(tenant=t).headers["x-ratelimit-remaining"] for t in tenants]
        assert left == [str(limit - used - 1)] * len(tenants)


def test_a_slow_store_is_waited_for_as_long_as_set_and_not_lost(
    pawl: Path, tmp_path: Path
) -> None:
    with own_servers.redis(tmp_path) as redis:
        settings = {
            "buckets": "[{ name: hourly, rate: 10/1h }]",
            "stores": f'  store: "{redis.url}"\n  store_deadline: 4s',
        }
        with stack.running(pawl, **settings) as gateway:
            assert allowed(gateway, 1, "acme") == 1
            redis.signal(signal.SIGSTOP)
            with gateway.connect() as waiting:
                waiting.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\n\r\n")
                waiting.settimeout(0.3)  # six times the usual deadline
                with contextlib.suppress(TimeoutError):
                    raise AssertionError(f"decided without the store: {waiting.recv(100)!r}")
                redis.signal(signal.SIGCONT)
                waiting.settimeout(stack.WAIT_SECONDS)
                assert stack.read_reply(waiting).headers["x-ratelimit-remaining"] == "8"
            assert not gateway.events("limit_store_lost")


def test_a_lost_store_refuses_or_lets_through_by_setting(pawl: Path, tmp_path: Path) -> None:
    with own_servers.redis(tmp_path) as redis:
        redis.kill()
        buckets = "[{ name: hourly, rate: 1/1h }]"
        store = f'  store: "{redis.url}"\n  on_store_failure: '
        with stack.running(pawl, buckets=buckets, stores=store + "deny") as gateway:
            refused = gateway.get()
            assert refused.status == 503
            assert json.loads(refused.body)["code"] == "ERR_STORE_UNAVAILABLE"
            assert gateway.ask_admin("/readyz").status == 503
            assert not gateway.upstream.received
        with stack.running(pawl, buckets=buckets, stores=store + "allow") as gateway:
            assert allowed(gateway, 5, "acme") == 5
            assert "ratelimit" not in gateway.get().headers, "nobody counts, so nothing is told"


def test_a_months_quota_survives_a_kill(pawl: Path, tmp_path: Path) -> None:
    buckets = """
    - { name: second, algorithm: token_bucket, rate: 1000/1s, burst: 1000 }
    - { name: month, algorithm: calendar, limit: 5, every: month, zone: Europe/Zurich }"""
    stores = f"  calendar_store: sqlite:{tmp_path}/limits.db"
    with stack.running(pawl, buckets=buckets, stores=stores) as gateway:
        assert allowed(gateway, 3, "acme") == 3
        os.kill(gateway.process.pid, signal.SIGKILL)
        gateway.process.wait()
    with stack.running(pawl, buckets=buckets, stores=stores) as gateway:
        assert allowed(gateway, 5, "acme") == 2
        refused = gateway.get(tenant="acme")
        assert json.loads(refused.body)["violated-policies"] == ["month"]


def test_a_leased_limit_stays_within_its_bound(pawl: Path, services: dict[str, str]) -> None:
    limit, batch = 60, 20
    settings = {
        "buckets": f"[{{ name: leased, rate: {limit}/1h }}]",
        "stores": f'  store: "{services["PAWL_TEST_REDIS"]}"\n  batch: {batch}',
    }
    tenant = fresh_tenant()
    with stack.running(pawl, **settings) as one, stack.running(pawl, **settings) as other:
        total = sum(allowed(gateway, 10, tenant) for _ in range(8) for gateway in (one, other))
    assert limit - 2 * batch <= total <= limit + 2 * batch, total


def test_doctor_looks_at_the_stores(pawl: Path, tmp_path: Path, services: dict[str, str]) -> None:
    def doctor(store: str) -> tuple[int, dict[str, str]]:
        config = tmp_path / "pawl.yaml"
        config.write_text(
            'server: { listen: "127.0.0.1:0", admin: { listen: "127.0.0.1:0" } }\n'
            f'limits: {{ store: "{store}" }}\n'
        )
        run = subprocess.run(
            [pawl, "doctor", "--json", "--config", config],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=stack.WAIT_SECONDS,
        )
        findings = json.loads(run.stdout)["checks"]
        return run.returncode, next(f for f in findings if f["check"] == "limits.store")

    _, finding = doctor(services["PAWL_TEST_REDIS"])
    assert (finding["status"], finding["found"][:17]) == ("ok", "the Redis answers")
    code, finding = doctor(f"redis://:hunter2@127.0.0.1:{owned.free_port()}")
    assert code != 0 and finding["status"] == "fail"
    assert "hunter2" not in json.dumps(finding)
    _, finding = doctor(f"sqlite:{tmp_path}/limits.db")
    assert finding["status"] == "ok" and not (tmp_path / "limits.db").exists()
    (tmp_path / "limits.db").write_text("this is no database, whatever it may be called\n" * 50)
    code, finding = doctor(f"sqlite:{tmp_path}/limits.db")
    assert code != 0 and finding["status"] == "fail"
