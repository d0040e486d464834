"""Goal: who is asking is found as the settings say, believed only where it may be, and counted by
what the settings name: path, method, header, key, plan, address.

Method: a real pawl; what it lets through, what it tells the upstream, and what its admin API says
of usage.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import stack

ONE_AN_HOUR = "[{ name: hourly, algorithm: sliding_log, rate: 1/1h }]"


def sha256(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def ask(gateway: stack.Gateway, *lines: str, target: str = "/", method: str = "GET") -> int:
    """The status of a request with these header lines and no others."""
    head = f"{method} {target} HTTP/1.1\r\nHost: t\r\n" + "".join(f"{line}\r\n" for line in lines)
    return gateway.exchange(head.encode() + b"\r\n").status


def tenants_told(gateway: stack.Gateway) -> list[str]:
    """Whom the upstream was told to serve, in turn; empty: nobody by name."""
    heads = [request.partition(b"\r\n\r\n")[0] for request in gateway.upstream.received]
    return [stack.field_of(head, "X-Tenant-Id") for head in heads]


def usage(gateway: stack.Gateway, tenant: str) -> dict[str, object]:
    told = json.loads(gateway.ask_admin(f"/v1/tenants/{tenant}/usage").body)
    assert isinstance(told, dict)
    return told


# Who asks.


def test_a_key_names_its_tenant_and_plan_and_is_kept_as_a_hash_alone(pawl: Path) -> None:
    keys = ", ".join(
        f"{{ sha256: {sha256(key)}, tenant: {tenant}, plan: {plan} }}"
        for key, tenant, plan in (("k-acme", "acme", "free"), ("k-globex", "globex", "pro"))
    )
    settings = {
        "tenants": f"  api_keys: [{keys}]",
        "missing": "reject",
        "plans": "{ free: { hourly: 1/1h }, pro: { hourly: 2/1h } }",
        "buckets": ONE_AN_HOUR,
    }
    with stack.running(pawl, **settings) as gateway:
        acme, globex = "X-Api-Key: k-acme", "Authorization: Bearer k-globex"
        assert [ask(gateway, acme) for _ in range(2)] == [200, 429]
        assert [ask(gateway, globex) for _ in range(3)] == [200, 200, 429]
        assert ask(gateway, "X-Api-Key: guess") == 401
        assert ask(gateway) == 401
        assert ask(gateway, acme, acme) == 401, "named twice is named by nobody"
        assert ask(gateway, acme, "X-Tenant-Id: globex") == 429, "the key says who it is"
        assert tenants_told(gateway) == ["acme", "globex", "globex"]


def test_a_tenant_is_believed_from_trusted_proxies_alone(pawl: Path) -> None:
    trusted = {"tenants": "  trusted_proxies: [127.0.0.1]", "buckets": ONE_AN_HOUR}
    with stack.running(pawl, **trusted) as gateway:
        assert [ask(gateway, f"X-Tenant-Id: {name}") for name in "aab"] == [200, 429, 200]
        assert tenants_told(gateway) == ["a", "b"]
    strangers = {"tenants": "  trusted_proxies: [192.0.2.0/24]", "buckets": ONE_AN_HOUR}
    with stack.running(pawl, **strangers) as gateway:
        assert [ask(gateway, f"X-Tenant-Id: {name}") for name in "ab"] == [200, 429]
        assert tenants_told(gateway) == [""], "nor is the upstream told what was not believed"


def test_without_a_name_clients_are_told_apart_by_their_address(pawl: Path) -> None:
    with stack.running(pawl, buckets=ONE_AN_HOUR) as gateway:
        statuses = []
        for source in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
            with gateway.connect(source) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
                statuses.append(stack.read_reply(client).status)
        assert statuses == [200, 200, 429]


def test_behind_a_trusted_proxy_the_client_is_who_it_names_last(pawl: Path) -> None:
    settings = {"tenants": "  trusted_proxies: [127.0.0.0/8]", "buckets": ONE_AN_HOUR}

    def from_(address: str) -> str:
        return f"X-Forwarded-For: {address}"

    with stack.running(pawl, **settings) as gateway:
        assert ask(gateway, from_("198.51.100.1")) == 200
        assert ask(gateway, from_("198.51.100.2")) == 200
        assert ask(gateway, from_("203.0.113.9, 198.51.100.1")) == 429, "what it says is no use"
        assert ask(gateway, from_("198.51.100.1, 127.0.0.7")) == 429, "a proxy behind the proxy"
        assert ask(gateway, from_("2001:db8:1:2::1")) == 200
        assert ask(gateway, from_("2001:db8:1:2:ffff::9")) == 429, "one network is one client"
        assert ask(gateway, from_("2001:db8:1:3::1")) == 200


# What is counted.


def test_a_bucket_counts_what_it_matches(pawl: Path) -> None:
    buckets = """
    - { name: login, match: { path: "/login/**", method: POST }, rate: 1/1h, scope: tenant,
        algorithm: sliding_log }
    - { name: bulk, match: { header: "X-Kind: bulk" }, rate: 2/1h, algorithm: sliding_log }"""
    with stack.running(pawl, buckets=buckets) as gateway:
        login = {"target": "/login/now?x=1", "method": "POST"}
        assert [ask(gateway, **login) for _ in range(2)] == [200, 429]
        assert ask(gateway, target="/login", method="POST") == 429
        assert ask(gateway, target="/%6Cogin/x", method="POST") == 429, "however it is spelled"
        assert [ask(gateway, target="/login/now") for _ in range(3)] == [200] * 3
        assert [ask(gateway, target="/loginx", method="POST") for _ in range(3)] == [200] * 3
        assert [ask(gateway, "x-kind: bulk") for _ in range(3)] == [200, 200, 429]
        assert [ask(gateway, "X-Kind: other") for _ in range(3)] == [200] * 3


def test_keys_of_one_tenant_may_have_counts_of_their_own(pawl: Path) -> None:
    keys = ", ".join(f"{{ sha256: {sha256(key)}, tenant: acme }}" for key in ("k1", "k2"))
    buckets = """
    - { name: each, scope: api_key, algorithm: sliding_log, rate: 2/1h }
    - { name: both, scope: tenant, algorithm: sliding_log, rate: 3/1h }"""
    with stack.running(pawl, tenants=f"  api_keys: [{keys}]", buckets=buckets) as gateway:
        assert [ask(gateway, "X-Api-Key: k1") for _ in range(3)] == [200, 200, 429]
        assert [ask(gateway, "X-Api-Key: k2") for _ in range(2)] == [200, 429]


# What is told of it.


def test_who_comes_near_a_limit_is_told_once_a_window_and_what_to_do(pawl: Path) -> None:
    settings = {
        "buckets": "[{ name: hourly, algorithm: sliding_log, rate: 10/1h }]",
        "plans": "{ free: { hourly: 10/1h }, pro: { hourly: 100/1h } }",
        "tenants": "  upgrades: { free: pro }",
    }
    with stack.running(pawl, **settings) as gateway:
        assert [gateway.get().status for _ in range(7)] == [200] * 7
        assert gateway.events("limit_near") == []
        assert [gateway.get().status for _ in range(5)] == [200, 200, 200, 429, 429]
        stack.wait_for(lambda: gateway.events("limit_near"), "the log line")
        near = gateway.events("limit_near")
        assert [(line["tenant"], line["bucket"], line["used"]) for line in near] == [
            ("acme", "hourly", 8)
        ]
        told = usage(gateway, "acme")
        assert (told["plan"], told["next_plan"]) == ("free", "pro")
        (bucket,) = told["buckets"]
        assert (bucket["used"], bucket["limit"], bucket["near"]) == (10, 10, True)
        lines = gateway.ask_admin("/metrics").body.decode().splitlines()
        counted = [line for line in lines if line.startswith("pawl_limit_near_total")]
        assert [line.rpartition(" ")[2] for line in counted] == ["1"]
