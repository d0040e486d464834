"""Goal: what the gateway promises of writes with a key holds on every store: executed once, given
again, told apart, and never run a second time after a crash.

Method: a real pawl before an upstream that counts what it executes; memory, SQLite, Redis and NATS;
kill -9 and killed servers.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import own_servers
import pytest
import stack

STORES = ("memory", "sqlite", "redis", "nats")


def idempotency(kind: str, services: dict[str, str] | None = None, **more: str) -> str:
    """The section for a store of that kind, with a name space of its own where it is shared."""
    stores = {
        "memory": ("memory", "none"),
        "sqlite": ("sqlite:data/pawl.db", "fsync"),
        "redis": ((services or {}).get("PAWL_TEST_REDIS", ""), "none"),
        "nats": (
            f"{(services or {}).get('PAWL_TEST_NATS', '')}/w{uuid.uuid4().hex[:12]}",
            "none",
        ),
    }
    store, durability = stores[kind]
    lines = {"store": store, "durability": durability, "store_deadline": "2s", **more}
    return "{ " + ", ".join(f"{name}: {value}" for name, value in lines.items()) + " }"


def limits(kind: str, services: dict[str, str]) -> str:
    """Counts beside the records, where there is a store that keeps them."""
    stores = {"sqlite": "sqlite:data/limits.db", "redis": services["PAWL_TEST_REDIS"]}
    return f"  store: {stores.get(kind, 'memory')}\n  store_deadline: 2s"


@pytest.fixture(params=STORES)
def gateway(
    request: pytest.FixtureRequest, pawl: Path, services: dict[str, str]
) -> Iterator[stack.Gateway]:
    settings = {
        "idempotency": idempotency(request.param, services),
        "stores": limits(request.param, services),
        "rate": "5/1h",
        "burst": "4",
    }
    with stack.running(pawl, **settings) as running:
        running.upstream.behave = answer_created
        yield running


def answer_created(connection: socket.socket, _head: bytes) -> None:
    connection.sendall(
        b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nLocation: /orders/1\r\n"
        b"Set-Cookie: session=1\r\nContent-Length: 8\r\n\r\n" + b'{"id":1}'
    )


def new_key() -> str:
    return str(uuid.uuid4())


# The seed's five.


def test_rate_within_window(gateway: stack.Gateway) -> None:
    tenant = new_key()
    replies = [gateway.post(key=new_key(), tenant=tenant) for _ in range(5)]
    assert [reply.status for reply in replies] == [201] * 5
    assert replies[0].headers["x-ratelimit-remaining"] == "4"
    assert int(replies[0].headers["x-ratelimit-reset"]) > time.time()


def test_exceed_limit(gateway: stack.Gateway) -> None:
    tenant = new_key()
    for _ in range(5):
        gateway.post(key=new_key(), tenant=tenant)
    refused = gateway.post(key=new_key(), tenant=tenant)
    assert refused.status == 429
    assert json.loads(refused.body)["code"] == "ERR_RATE_LIMIT"
    assert int(refused.headers["retry-after"]) > 0
    assert len(gateway.upstream.received) == 5


def test_idempotent_first_call(gateway: stack.Gateway) -> None:
    key = new_key()
    reply = gateway.post(b'{"size":1}', key, tenant=new_key())
    assert reply.status == 201 and reply.body == b'{"id":1}'
    assert "idempotent-replay" not in reply.headers
    assert len(gateway.upstream.received) == 1
    assert f"\r\nIdempotency-Key: {key}\r\n".encode() in gateway.upstream.received[0]


def test_idempotent_replay(gateway: stack.Gateway) -> None:
    key, tenant = new_key(), new_key()
    first = gateway.post(b'{"size":1}', key, tenant=tenant)
    replays = [gateway.post(b'{"size":1}', f'"{key}"', tenant=tenant) for _ in range(20)]
    assert {(reply.status, reply.body) for reply in replays} == {(first.status, first.body)}
    for reply in replays:
        assert reply.headers["idempotent-replay"] == "true"
        assert reply.headers["idempotent-replayed"] == "true"
        assert reply.headers["location"] == "/orders/1"
        assert "set-cookie" not in reply.headers
    assert len(gateway.upstream.received) == 1, "a replay sends nothing"
    assert [gateway.post(key=new_key(), tenant=tenant).status for _ in range(5)] == [
        *[201] * 4,
        429,
    ], "twenty replays cost nothing"


def test_different_body_same_key(gateway: stack.Gateway) -> None:
    key, tenant = new_key(), new_key()
    gateway.post(b'{"size":1}', key, tenant=tenant)
    mismatch = gateway.post(b'{"size":2}', key, tenant=tenant)
    assert mismatch.status == 422
    told = json.loads(mismatch.body)
    assert told["code"] == told["error"]["code"] == "ERR_IDEMPOTENCY_MISMATCH"
    assert len(gateway.upstream.received) == 1


# What a key is bound to.


def test_a_key_is_bound_to_tenant_method_and_path(gateway: stack.Gateway) -> None:
    key, one, other = new_key(), new_key(), new_key()
    for where in (
        {"tenant": one},
        {"tenant": other},
        {"tenant": one, "path": "/other"},
        {"tenant": one, "method": "PUT"},
    ):
        reply = gateway.post(key=key, **where)
        assert "idempotent-replay" not in reply.headers, where
    assert len(gateway.upstream.received) == 4


def test_a_hot_key_is_executed_once(gateway: stack.Gateway) -> None:
    key, tenant = new_key(), new_key()
    release = threading.Event()

    def slow(connection: socket.socket, head: bytes) -> None:
        release.wait(stack.WAIT_SECONDS)
        answer_created(connection, head)

    gateway.upstream.behave = slow
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(gateway.post, b"a", key, tenant=tenant) for _ in range(20)]
        stack.wait_for(lambda: sum(a.done() for a in asked) == 19, "all but one to be told")
        refused = gateway.post(b"a", key, tenant=tenant)
        release.set()
    statuses = [a.result().status for a in asked]
    # Who comes before the first has its claim pays first, gets it back, or may find nothing left.
    assert statuses.count(201) == 1 and set(statuses) <= {201, 409, 429}
    assert refused.status == 409
    assert json.loads(refused.body)["code"] == "ERR_IDEMPOTENCY_IN_FLIGHT"
    assert int(refused.headers["retry-after"]) >= 1
    assert gateway.post(b"a", key, tenant=tenant).headers["idempotent-replay"] == "true"
    assert len(gateway.upstream.received) == 1


# Settings.


def test_whoever_waits_gets_the_first_ones_answer(pawl: Path) -> None:
    section = idempotency("memory", on_in_flight="wait")
    with stack.running(pawl, idempotency=section) as gateway:

        def slow(connection: socket.socket, head: bytes) -> None:
            time.sleep(0.3)
            answer_created(connection, head)

        gateway.upstream.behave = slow
        with ThreadPoolExecutor(10) as pool:
            replies = list(pool.map(lambda _: gateway.post(b"a", "k"), range(10)))
        assert {(reply.status, reply.body) for reply in replies} == {(201, b'{"id":1}')}
        assert sum("idempotent-replay" in reply.headers for reply in replies) == 9
        assert len(gateway.upstream.received) == 1


def test_another_body_may_conflict_or_be_an_intent_of_its_own(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory", on_mismatch="conflict")) as gateway:
        gateway.post(b"a")
        assert gateway.post(b"b").status == 409
    with stack.running(pawl, idempotency=idempotency("memory", on_mismatch="separate")) as gateway:
        assert [gateway.post(body).status for body in (b"a", b"b", b"a", b"b")] == [200] * 4
        assert len(gateway.upstream.received) == 2


def test_canonical_json_is_one_body_however_it_is_written(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory", fingerprint="json")) as gateway:
        extra = "Content-Type: application/json\r\n"
        gateway.post(b'{"a":1,"b":2}', extra=extra)
        assert "idempotent-replay" in gateway.post(b'{ "b":2, "a":1 }', extra=extra).headers
        assert gateway.post(b'{"a":1,"b":3}', extra=extra).status == 422


def test_a_key_is_asked_for_where_it_is_required(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory", require='["/pay/**"]')) as gateway:
        bare = "POST {} HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n"
        refused = gateway.exchange(bare.format("/pay/1").encode())
        assert refused.status == 400
        assert json.loads(refused.body)["code"] == "ERR_IDEMPOTENCY_KEY_MISSING"
        assert gateway.exchange(bare.format("/other").encode()).status == 200
        invalid = gateway.post(key="k" * 256)
        assert json.loads(invalid.body)["code"] == "ERR_IDEMPOTENCY_KEY_INVALID"


def test_statuses_that_are_never_stored_free_the_key_or_leave_it_unknown(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory")) as gateway:
        for status in (408, 409, 425, 429):
            answer = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()
            gateway.upstream.behave = lambda c, _, answer=answer: c.sendall(answer)
            assert gateway.post(key=f"k{status}").status == status
            gateway.upstream.behave = stack.answer_ok
            again = gateway.post(key=f"k{status}")
            assert again.status == 200 and "idempotent-replay" not in again.headers
        gateway.upstream.behave = lambda c, _: c.sendall(
            b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"
        )
        assert gateway.post(key="k500").status == 500
        gateway.upstream.behave = stack.answer_ok
        unknown = gateway.post(key="k500")
        assert unknown.status == 409
        assert json.loads(unknown.body)["code"] == "ERR_OUTCOME_UNKNOWN"


def test_a_large_answer_is_protected_and_not_replayed(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory", body_limit="1KiB")) as gateway:
        large = b"x" * 100_000
        gateway.upstream.behave = lambda c, _: c.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + large
        )
        assert gateway.post().body == large
        again = gateway.post()
        assert again.status == 409
        assert json.loads(again.body)["code"] == "ERR_IDEMPOTENCY_NOT_REPLAYABLE"
        assert gateway.post(b"x" * 2000, key="other").status == 413
        assert len(gateway.upstream.received) == 1


# Crashes.


@pytest.mark.parametrize("kind", ["sqlite", "redis", "nats"])
def test_kill_9_with_writes_in_flight_runs_none_a_second_time(
    pawl: Path, services: dict[str, str], kind: str
) -> None:
    """Each key is done, absent or unknown afterwards."""
    upstream = stack.Upstream()
    hold = threading.Event()
    executed: list[str] = []

    def behave(connection: socket.socket, head: bytes) -> None:
        executed.append(stack.field_of(head, "Idempotency-Key"))
        if executed[-1].startswith("slow") and not hold.is_set():
            hold.wait(stack.WAIT_SECONDS)
            return
        stack.answer_ok(connection, head)

    upstream.behave = behave
    section = idempotency(kind, services, lease="1s")
    tenant = new_key()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with stack.serving(pawl, folder, upstream, idempotency=section) as gateway:
            done = [f"done{i}" for i in range(20)]
            assert [gateway.post(key=key, tenant=tenant).status for key in done] == [200] * 20
            slow = [f"slow{i}" for i in range(10)]
            for key in slow:
                post = functools.partial(swallow(gateway.post), b"a", key, tenant=tenant)
                threading.Thread(target=post, daemon=True).start()
            stack.wait_for(lambda: len(executed) == 30, "the slow ones to arrive")
            gateway.process.send_signal(signal.SIGKILL)
            gateway.process.wait()
        hold.set()
        with stack.serving(pawl, folder, upstream, idempotency=section) as gateway:

            def is_unknown(key: str) -> bool:
                reply = gateway.post(key=key, tenant=tenant)
                assert reply.status == 409
                return json.loads(reply.body)["code"] == "ERR_OUTCOME_UNKNOWN"

            for key in done:
                reply = gateway.post(key=key, tenant=tenant)
                assert reply.headers["idempotent-replay"] == "true"
            for key in slow:
                stack.wait_for(lambda: is_unknown(key), "the lease of the dead to end")
            assert gateway.post(key="fresh", tenant=tenant).status == 200
            assert sorted(executed) == sorted([*done, *slow, "fresh"]), "none ran twice"
            settle(pawl, folder, tenant, "slow0")
            reply = gateway.post(key="slow0", tenant=tenant)
            assert reply.status == 200, "an operator has looked: it never ran"
    upstream.close()


def test_kill_9_again_and_again_under_load_runs_no_key_twice(pawl: Path) -> None:
    """Clients that repeat a key until they hear how it ended, before a gateway that keeps dying."""
    upstream = stack.Upstream()
    executed: collections.Counter[str] = collections.Counter()

    def behave(connection: socket.socket, head: bytes) -> None:
        executed[stack.field_of(head, "Idempotency-Key")] += 1
        time.sleep(0.005)
        stack.answer_ok(connection, head)

    upstream.behave = behave
    section = idempotency("sqlite", lease="1s")
    live: list[stack.Gateway] = []
    stop = threading.Event()

    def ask_until_told(key: str) -> str:
        """What the client believes in the end; empty: nobody has told it."""
        while not stop.is_set():
            with contextlib.suppress(OSError, IndexError):
                reply = live[-1].post(key=key)
                if reply.status == 200:
                    return "done"
                if json.loads(reply.body)["code"] == "ERR_OUTCOME_UNKNOWN":
                    return "unknown"
            time.sleep(0.02)
        return ""

    def ask(number: int) -> dict[str, str]:
        told = {}
        while not stop.is_set():
            key = f"{number}-{len(told)}"
            told[key] = ask_until_told(key)
        return told

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(8) as clients:
        asked = [clients.submit(ask, number) for number in range(8)]
        try:
            for _ in range(4):
                with stack.serving(pawl, Path(name), upstream, idempotency=section) as gateway:
                    live.append(gateway)
                    before = len(executed)
                    stack.wait_for(lambda: len(executed) >= before + 50, "writes to be in flight")
                    gateway.process.send_signal(signal.SIGKILL)
                    gateway.process.wait()
        finally:
            stop.set()
        told = {key: how for future in asked for key, how in future.result().items()}
    upstream.close()
    assert set(executed.values()) == {1}, "a key ran twice"
    assert all(key in executed for key, how in told.items() if how == "done")
    print(collections.Counter(told.values()))


def settle(pawl: Path, folder: Path, tenant: str, key: str) -> None:
    """An operator says that it never ran, while the gateway runs."""
    told = subprocess.run(
        [pawl, "idempotency", "settle", tenant, key, "--as", "not_applied", "--reason", "looked"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=stack.WAIT_SECONDS,
    )
    assert told.returncode == 0, told.stderr


def swallow(call: Callable[..., object]) -> Callable[..., None]:
    def quiet(*arguments: object, **named: object) -> None:
        with contextlib.suppress(OSError):
            call(*arguments, **named)

    return quiet


def test_a_client_that_leaves_finds_the_answer_when_it_comes_back(pawl: Path) -> None:
    with stack.running(pawl, idempotency=idempotency("memory")) as gateway:
        hold = threading.Event()

        def slow(connection: socket.socket, head: bytes) -> None:
            hold.wait(stack.WAIT_SECONDS)
            answer_created(connection, head)

        gateway.upstream.behave = slow
        with gateway.connect() as client:
            client.sendall(
                b"POST /orders HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\nIdempotency-Key: k\r\n"
                b"Content-Length: 1\r\n\r\na"
            )
            stack.wait_for(lambda: gateway.upstream.received, "it to arrive")
        hold.set()
        stack.wait_for(
            lambda: gateway.metric('pawl_idempotency_total{result="executed"}') == 1, "its record"
        )
        again = gateway.post(key="k")
        assert again.status == 201 and again.headers["idempotent-replay"] == "true"
        assert len(gateway.upstream.received) == 1


def test_a_drain_finishes_a_write_whose_client_has_left(pawl: Path) -> None:
    upstream = stack.Upstream()
    hold = threading.Event()

    def slow(connection: socket.socket, head: bytes) -> None:
        hold.wait(stack.WAIT_SECONDS)
        answer_created(connection, head)

    upstream.behave = slow
    with tempfile.TemporaryDirectory() as name:
        section = idempotency("sqlite")
        with stack.serving(pawl, Path(name), upstream, idempotency=section) as gateway:
            with gateway.connect() as client:
                client.sendall(
                    b"POST /orders HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: acme\r\n"
                    b"Idempotency-Key: k\r\nContent-Length: 1\r\n\r\na"
                )
                stack.wait_for(lambda: upstream.received, "it to arrive")
            gateway.process.send_signal(signal.SIGTERM)
            stack.wait_for(lambda: gateway.events("draining"), "the drain")
            hold.set()
            assert gateway.process.wait(stack.WAIT_SECONDS) == 0
        upstream.behave = answer_created
        with stack.serving(pawl, Path(name), upstream, idempotency=section) as gateway:
            assert gateway.post(key="k").headers["idempotent-replay"] == "true"
        assert len(upstream.received) == 1
    upstream.close()


# A store that is gone.


@pytest.mark.parametrize("kind", ["redis", "nats"])
@pytest.mark.parametrize("setting", ["execute", "reject"])
def test_a_store_that_is_gone_is_passed_over_or_refuses_within_50_ms(
    pawl: Path, tmp_path: Path, kind: str, setting: str
) -> None:
    start = own_servers.redis if kind == "redis" else own_servers.nats
    with start(tmp_path) as server:
        section = (
            f"{{ store: {server.url}, durability: none, store_deadline: 50ms,"
            f" on_store_failure: {setting} }}"
        )
        with stack.running(pawl, idempotency=section) as gateway:
            assert gateway.post(key="before").status == 200
            server.signal(signal.SIGSTOP)
            took = []
            for i in range(10):
                begun = time.monotonic()
                reply = gateway.post(key=f"during{i}")
                took.append(time.monotonic() - begun)
                if setting == "execute":
                    assert reply.status == 200 and "idempotent-replay" not in reply.headers
                else:
                    assert reply.status == 503
                    assert json.loads(reply.body)["code"] == "ERR_STORE_UNAVAILABLE"
            # A look and a claim, each 50 ms, and what this machine takes.
            assert sorted(took)[5] < 0.15, took
            assert gateway.events("idempotency"), "nobody was warned"
            stack.wait_for(lambda: health(gateway)["status"] == "degraded", "health to tell")
            assert "idempotency" in str(health(gateway)["detail"])
            server.signal(signal.SIGCONT)

            def works_again() -> bool:
                key = new_key()
                gateway.post(key=key)
                return "idempotent-replay" in gateway.post(key=key).headers

            stack.wait_for(works_again, "the store to be used again")
            stack.wait_for(lambda: health(gateway) == {"status": "ok"}, "health to tell")


def health(gateway: stack.Gateway) -> dict[str, object]:
    told = json.loads(gateway.ask_admin("/healthz").body)
    assert isinstance(told, dict)
    return told


def test_two_gateways_on_one_redis_share_limits_and_keys(
    pawl: Path, services: dict[str, str]
) -> None:
    url = services["PAWL_TEST_REDIS"]
    section = idempotency("redis", services)
    settings = {"idempotency": section, "stores": f"  store: {url}", "rate": "5/1h", "burst": "4"}
    tenant = new_key()
    with stack.running(pawl, **settings) as one, stack.running(pawl, **settings) as two:
        key = new_key()
        assert one.post(key=key, tenant=tenant).status == 200
        assert two.post(key=key, tenant=tenant).headers["idempotent-replay"] == "true"
        assert two.upstream.received == []
        both = [(one if i % 2 else two).post(key=new_key(), tenant=tenant) for i in range(6)]
        assert [reply.status for reply in both] == [200] * 4 + [429] * 2
