"""Goal: operators see the records of intents, settle what is unknown and clear what is wrong, on
every store there is, and each deed is in the audit log before it is done.

Method: a program leaves records in a SQLite file, a Redis, a Redis Cluster and a NATS; the verbs
are run beside it. Servers that give less durability than is asked for are of the test's own.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import own_servers
import owned
import pytest
import stack


sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402

STORES = ("sqlite", "PAWL_TEST_REDIS", "PAWL_TEST_REDIS_CLUSTER", "PAWL_TEST_NATS")
USAGE, INVALID, REFUSED, NOT_FOUND, UNAVAILABLE = 2, 1, 3, 5, 6


class Desk:
    """Where an operator sits: a folder with a configuration."""

    def __init__(self, pawl: Path, folder: Path, store: str, **settings: str) -> None:
        self.pawl, self.folder, self.store = pawl, folder, store
        sinks = settings.get("sinks", '["file:audit.jsonl"]')
        durability = settings.get("durability", "none")
        (folder / "pawl.yaml").write_text(
            f'server: {{ listen: "127.0.0.1:0", admin: {{ listen: "127.0.0.1:0" }} }}\n'
            f'idempotency: {{ store: "{store}", durability: {durability} }}\n'
            f"audit: {{ sinks: {sinks} }}\n"
        )

    def run(self, *words: str, code: int = 0) -> str:
        """What it printed; what it complained of when another code is expected."""
        done = subprocess.run(
            [self.pawl, *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=stack.WAIT_SECONDS,
            check=False,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def verb(self, *words: str, code: int = 0) -> str:
        return self.run("idempotency", *words, code=code)

    def keep(self, tenant: str, key: str, status: str) -> None:
        """As a program that used the key would have."""
        keeper = tree.build_folder() / "record_keeper"
        subprocess.run(
            [keeper, self.store, tenant, key, status],
            cwd=self.folder,
            check=True,
            timeout=stack.WAIT_SECONDS,
        )

    def show(self, tenant: str, key: str) -> dict:
        return json.loads(self.verb("show", tenant, key, "--json"))

    def audited(self) -> list[dict]:
        log = self.folder / "audit.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def finding(self, check: str) -> dict:
        done = subprocess.run(
            [self.pawl, "doctor", "--json"],
            cwd=self.folder,
            capture_output=True,
            timeout=stack.WAIT_SECONDS,
            check=False,
        )
        found = json.loads(done.stdout)["checks"]
        return next(each for each in found if each["check"] == check)


def fresh(word: str) -> str:
    """Runs on one server do not meet."""
    return word + uuid.uuid4().hex[:12]


@pytest.fixture(params=STORES)
def desk(
    request: pytest.FixtureRequest, pawl: Path, tmp_path: Path, services: dict[str, str]
) -> Desk:
    if request.param == "sqlite":
        return Desk(pawl, tmp_path, "sqlite:records.db")
    url = services[request.param]
    return Desk(pawl, tmp_path, url + "/" + fresh("b") if "NATS" in request.param else url)


def test_records_are_listed_by_tenant_the_newest_first(desk: Desk) -> None:
    tenant, other = fresh("t"), fresh("o")
    desk.keep(tenant, "first", "done")
    desk.keep(tenant, "second", "unknown")
    desk.keep(other, "third", "failed")
    listed = json.loads(desk.verb("list", "--tenant", tenant, "--json"))["records"]
    assert [(each["key"], each["status"]) for each in listed] == [
        ("second", "unknown"),
        ("first", "done"),
    ]
    assert all("result" not in each for each in listed)
    text = desk.verb("list", "--tenant", tenant, "--limit", "1")
    assert text.splitlines()[0].split()[:3] == ["key", "tenant", "status"]
    assert text.splitlines()[1].split()[:3] == ["second", tenant, "unknown"]
    assert len(text.splitlines()) == 2
    everybody = json.loads(desk.verb("list", "--limit", "1000", "--json"))["records"]
    assert {tenant, other} <= {each["tenant"] for each in everybody}


def test_one_record_is_shown_with_its_result(desk: Desk) -> None:
    tenant = fresh("t")
    desk.keep(tenant, "a key", "done")
    shown = desk.show(tenant, "a key")
    assert (shown["status"], shown["result"], shown["fingerprint"]) == (
        "done",
        "the result",
        "print",
    )
    assert 'key: "a key"\nstatus: done\n' in desk.verb("show", tenant, "a key")
    assert "no record of this key" in desk.verb("show", tenant, "another", code=NOT_FOUND)
    key = fresh("k")
    desk.keep("", key, "failed")
    assert desk.show("", key)["tenant"] == ""


def test_a_write_of_the_gateway_is_found_by_its_clients_key(desk: Desk) -> None:
    tenant = fresh("t")
    desk.keep(tenant, "POST /orders order-17", "done")
    desk.keep(tenant, "POST /orders order-18", "unknown")
    assert desk.show(tenant, "order-17")["key"] == "POST /orders order-17"
    desk.verb("settle", tenant, "order-18", "--as", "not_applied", "--reason", "absent there")
    assert desk.show(tenant, "POST /orders order-18")["status"] == "failed"
    desk.keep(tenant, "PUT /orders order-17", "done")
    told = desk.verb("show", tenant, "order-17", code=REFUSED)
    assert "'POST /orders order-17'" in told and "'PUT /orders order-17'" in told
    desk.verb("clear", tenant, "PUT /orders order-17")
    assert desk.show(tenant, "order-17")["status"] == "done"


def test_what_is_unknown_is_settled_once(desk: Desk) -> None:
    tenant = fresh("t")
    for key in ("gone", "found"):
        desk.keep(tenant, key, "unknown")
    desk.verb("settle", tenant, "gone", "--as", "not_applied", "--reason", "absent there")
    shown = desk.show(tenant, "gone")
    assert shown["status"] == "failed"
    assert json.loads(shown["metadata"]) == {"reason": "absent there"}
    words = ("settle", tenant, "found", "--as", "applied", "--reason", "seen", "--result", "4711")
    assert desk.verb(*words) == f"settled found of tenant {tenant} as applied\n"
    shown = desk.show(tenant, "found")
    assert (shown["status"], shown["result"]) == ("done", "4711")

    first, second = desk.audited()
    assert first["event_type"] == "idempotency" and first["operation"] == "idempotency settle"
    assert (first["action"], first["idempotency_key"], first["tenant_id"]) == (
        "settle",
        "gone",
        tenant,
    )
    assert (first["outcome"], first["reason"]) == ("not_applied", "absent there")
    assert "retry_category" not in first and second["outcome"] == "applied"

    said = desk.verb(*words, code=REFUSED)
    assert "only one whose outcome is unknown can be settled" in said
    assert "no record" in desk.verb("settle", tenant, "x", *words[3:], code=NOT_FOUND)
    assert len(desk.audited()) == 2, "what is refused leaves nothing in the log"
    desk.run("audit", "verify")


def test_a_key_is_cleared_and_one_in_flight_only_by_force(desk: Desk) -> None:
    tenant = fresh("t")
    desk.keep(tenant, "k", "done")
    assert desk.verb("clear", tenant, "k") == f"cleared k of tenant {tenant}\n"
    desk.verb("show", tenant, "k", code=NOT_FOUND)
    desk.keep(tenant, "k", "in_flight")
    assert "clear it by force" in desk.verb("clear", tenant, "k", code=REFUSED)
    assert desk.show(tenant, "k")["lease_until"] is not None
    desk.verb("clear", tenant, "k", "--force")
    assert "no record" in desk.verb("clear", tenant, "k", "--force", code=NOT_FOUND)
    assert [(each["action"], each.get("force")) for each in desk.audited()] == [
        ("clear", None),
        ("clear", True),
    ]


def test_nothing_is_done_that_the_audit_log_does_not_take(pawl: Path, tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    desk = Desk(pawl, tmp_path, "sqlite:records.db")
    desk.keep("acme", "k", "unknown")
    words = ("--as", "applied", "--reason", "seen")
    assert "audit" in desk.verb("settle", "acme", "k", *words, code=UNAVAILABLE)
    assert "audit" in desk.verb("clear", "acme", "k", code=UNAVAILABLE)
    assert desk.show("acme", "k")["status"] == "unknown"


def test_the_audit_log_may_be_a_stream_and_a_file(
    pawl: Path, tmp_path: Path, services: dict[str, str]
) -> None:
    stream = services["PAWL_TEST_NATS"] + "/" + fresh("s")
    sinks = f'["{stream}", "file:audit.jsonl"]'
    desk = Desk(pawl, tmp_path, "sqlite:records.db", sinks=sinks)
    desk.keep("acme", "k", "done")
    desk.verb("clear", "acme", "k")
    assert len(desk.audited()) == 1
    assert "1 record verified" in desk.run("audit", "verify"), "the first file is read"
    assert desk.finding("audit stream")["status"] == "ok"
    away = f'["nats://127.0.0.1:{owned.free_port()}/s"]'
    desk = Desk(pawl, tmp_path, "sqlite:records.db", sinks=away)
    desk.keep("acme", "k", "done")
    desk.verb("clear", "acme", "k", code=UNAVAILABLE)
    assert desk.show("acme", "k")["status"] == "done"
    assert desk.finding("audit stream")["status"] == "fail"
    assert "names no file" in desk.run("audit", "verify", code=USAGE)


def test_wrong_calls_are_explained(pawl: Path, tmp_path: Path) -> None:
    desk = Desk(pawl, tmp_path, "sqlite:records.db")
    assert "there is no 'records.db' yet" in desk.verb("list", code=NOT_FOUND)
    assert not (tmp_path / "records.db").exists(), "looking makes nothing"
    desk.keep("acme", "k", "unknown")
    assert "--limit is '0'" in desk.verb("list", "--limit", "0", code=USAGE)
    assert "--as is missing" in desk.verb("settle", "acme", "k", "--reason", "x", code=USAGE)
    settle = ("settle", "acme", "k", "--as")
    assert "--reason is missing" in desk.verb(*settle, "applied", code=USAGE)
    assert "allowed: applied, not_applied" in desk.verb(*settle, "done", code=USAGE)
    words = ("not_applied", "--reason", "x", "--result", "y")
    assert "--result goes with --as applied" in desk.verb(*settle, *words, code=USAGE)
    assert "KEY is missing" in desk.verb("clear", "acme", code=USAGE)
    away = Desk(pawl, tmp_path, f"redis://127.0.0.1:{owned.free_port()}")
    away.verb("list", code=UNAVAILABLE)
    memory = Desk(pawl, tmp_path, "memory")
    assert "nobody else can see them" in memory.verb("list", code=REFUSED)


@contextlib.contextmanager
def redis_that_syncs(folder: Path, how: str) -> Iterator[str]:
    with own_servers.redis(folder) as redis:
        subprocess.run(
            ["redis-cli", "-p", str(redis.port), "config", "set", "appendfsync", how],
            check=True,
            capture_output=True,
        )
        yield redis.url


def test_more_durability_than_a_store_gives_is_refused(
    pawl: Path, tmp_path: Path, services: dict[str, str]
) -> None:
    def refused(store: str, asked: str = "fsync") -> str:
        desk = Desk(pawl, tmp_path, store, durability=asked)
        said = desk.verb("list", code=INVALID)
        finding = desk.finding("idempotency.store")
        assert finding["status"] == "fail" and finding["found"] in said
        return said

    said = refused("memory")
    assert "asked for durability 'fsync' and gives 'none': memory ends with its process" in said
    refused("memory", "process")
    said = refused(services["PAWL_TEST_NATS"] + "/" + fresh("b"))
    assert "gives 'process': a NATS server does not wait for its disk" in said
    with redis_that_syncs(tmp_path, "everysec") as url:
        said = refused(url)
        assert "gives 'process': the Redis has appendonly yes" in said
        assert "'appendfsync always'" in said and "or ask for 'process'" in said
        Desk(pawl, tmp_path, url, durability="process").verb("list")
    with redis_that_syncs(tmp_path, "always") as url:
        desk = Desk(pawl, tmp_path, url, durability="fsync")
        desk.verb("list")
        assert desk.finding("idempotency.store")["found"].endswith("survive a power cut")


def test_doctor_tells_what_becomes_of_records(pawl: Path, tmp_path: Path) -> None:
    desk = Desk(pawl, tmp_path, "sqlite:records.db", durability="process")
    assert "not there yet" in desk.finding("idempotency.store")["found"]
    desk.keep("acme", "k", "done")
    assert desk.finding("idempotency.store")["found"].startswith("it opens; records survive")
    (tmp_path / "records.db").write_text("this is no database, whatever it may be called\n" * 50)
    assert desk.finding("idempotency.store")["status"] == "fail"
    assert Desk(pawl, tmp_path, "memory").finding("idempotency.store")["status"] == "ok"
