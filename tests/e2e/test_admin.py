"""Goal: the admin listener of a running pawl keeps strangers out, streams what happens, and decides
for a proxy that stands before the service already.

Method: pawl serve, asked over sockets; a real nginx with the settings that docs/admin-api.md shows.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import stack

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "correct-horse-battery"
ORDERS = "\n    - { name: orders, rate: 3/1m }"


def ask(
    gateway: stack.Gateway, method: str, target: str, body: object = None, **fields: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=20)
    with contextlib.closing(connection):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, target, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_guesser_is_shut_out(pawl: Path):
    with stack.running(pawl, token=TOKEN) as gateway:
        assert ask(gateway, "GET", "/v1/tenants", **bearer(TOKEN))[0] == 200
        for _ in range(10):
            assert ask(gateway, "GET", "/v1/tenants", **bearer("guess"))[0] == 401
        status, headers, body = ask(gateway, "GET", "/v1/tenants", **bearer(TOKEN))
        assert status == 429
        assert 1 <= int(headers["retry-after"]) <= 60
        assert json.loads(body)["code"] == "ERR_LOCKED_OUT"
        assert ask(gateway, "GET", "/healthz")[0] == 200


def test_other_hosts_and_sites_are_refused(pawl: Path):
    with stack.running(pawl) as gateway:
        assert ask(gateway, "GET", "/v1/tenants", Host="localhost:1")[0] == 200
        assert ask(gateway, "GET", "/v1/tenants", Host="evil.example")[0] == 403
        plan = {"plan": "free"}
        target = "/v1/tenants/acme/plan"
        own = f"http://127.0.0.1:{gateway.admin}"
        assert ask(gateway, "PUT", target, plan, Origin="http://evil.example")[0] == 403
        assert ask(gateway, "PUT", target, plan, Sec_Fetch_Site="cross-site")[0] == 403
        status, headers, _ = ask(gateway, "PUT", target, plan, Origin=own)
        assert status == 200
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        preflight = ask(gateway, "OPTIONS", target, Origin="http://evil.example")
        assert preflight[0] == 403
        assert not [name for name in preflight[1] if name.startswith("access-control")]


def test_changes_are_in_the_audit_log_with_who_made_them(pawl: Path):
    settings = {"buckets": ORDERS, "plans": "{ free: { orders: 3/1m }, pro: { orders: 30/1m } }"}
    with stack.running(pawl, **settings) as gateway:
        assert gateway.get("/").status == 200
        assert ask(gateway, "PUT", "/v1/tenants/acme/plan", {"plan": "pro"})[0] == 200
        assert ask(gateway, "POST", "/v1/tenants/acme/reset", {"bucket": "orders"})[0] == 200
        usage = json.loads(ask(gateway, "GET", "/v1/tenants/acme/usage")[2])
        assert (usage["plan"], usage["buckets"][0]["limit"]) == ("pro", 30)
        assert usage["buckets"][0]["used"] == 0
        gateway.stop()
        made = [
            (event["operation"], event["tenant_id"], event["peer"])
            for event in gateway.audited("config")
        ]
    assert made == [("tenant plan", "acme", "127.0.0.1"), ("tenant reset", "acme", "127.0.0.1")]


def test_a_key_is_listed_and_forgotten(pawl: Path):
    with stack.running(pawl) as gateway:
        assert gateway.post(key="k/1").status == 200
        assert gateway.post(key="k/1").headers["idempotent-replayed"] == "true"
        told = json.loads(ask(gateway, "GET", "/v1/idempotency?tenant=acme")[2])
        (record,) = told["records"]
        assert (record["key"], record["method"], record["path"]) == ("k/1", "POST", "/orders")
        assert record["status"] == "done"
        assert [hit["what"] for hit in told["hits"]] == ["replayed"]
        assert ask(gateway, "DELETE", "/v1/idempotency/acme/k%2F1")[0] == 200
        assert "idempotent-replayed" not in gateway.post(key="k/1").headers
        counts = json.loads(ask(gateway, "GET", "/v1/idempotency/stats")[2])["counts"]
        assert (counts["executed"], counts["replayed"]) == (2, 1)


@contextlib.contextmanager
def listening(
    gateway: stack.Gateway, target: str, **fields: str
) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=20)
    with contextlib.closing(connection):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request("GET", target, None, headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        assert answer.headers["Content-Type"] == "text/event-stream"
        yield answer


def next_event(stream: http.client.HTTPResponse) -> dict[str, str]:
    """The fields of the next event; comments are passed over."""
    fields: dict[str, str] = {}
    while True:
        line = stream.readline().decode()
        assert line, "the stream has ended"
        line = line.rstrip("\n")
        name, _, value = line.partition(": ")
        if not line and "data" in fields:
            return fields
        if name in ("id", "event", "data"):
            fields[name] = value


def test_events_come_as_they_happen_and_go_on_where_a_listener_left_off(pawl: Path):
    with stack.running(pawl, threads="1") as gateway:  # two would record in either order
        with listening(gateway, "/v1/events?type=request") as stream:
            gateway.get("/first")
            first = next_event(stream)
            assert json.loads(first["data"])["operation"] == "GET /first"
            assert json.loads(first["data"])["seq"] == int(first["id"])
        gateway.get("/second")
        gateway.get("/third")
        with listening(gateway, "/v1/events?type=request", Last_Event_ID=first["id"]) as stream:
            told = [json.loads(next_event(stream)["data"])["operation"] for _ in range(2)]
        assert told == ["GET /second", "GET /third"]


def test_events_are_found_page_by_page(pawl: Path):
    with stack.running(pawl, threads="1") as gateway:  # two would record in either order
        for number in range(30):
            gateway.get(f"/{number}", extra=f"X-Correlation-Id: c{number % 3}\r\n")
        stack.wait_for(
            lambda: json.loads(ask(gateway, "GET", "/v1/audit?limit=1")[2])["next"] >= 60,
            "the log to have every event",
        )
        found, after = [], 0
        while True:
            target = f"/v1/audit?after={after}&type=request&correlation_id=c1&limit=4"
            page = json.loads(ask(gateway, "GET", target)[2])
            assert len(page["events"]) <= 4
            found += [event["operation"] for event in page["events"]]
            after = page["next"]
            if not page["more"]:
                break
        assert found == [f"GET /{number}" for number in range(1, 30, 3)]


def test_a_listener_that_takes_nothing_holds_nobody_up(pawl: Path):
    with stack.running(pawl) as gateway:
        for number in range(200):
            gateway.get(f"/{number}" + "x" * 4000)
        with socket.create_connection(("127.0.0.1", gateway.admin), timeout=20) as slow:
            slow.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with listening(gateway, "/v1/events?after=0&type=request") as stream:
                gateway.get("/quick")
                told = [json.loads(next_event(stream)["data"])["operation"] for _ in range(201)]
                assert "GET /quick" in told


def test_only_so_many_may_listen(pawl: Path):
    with stack.running(pawl) as gateway, contextlib.ExitStack() as all_of_them:
        for _ in range(16):
            all_of_them.enter_context(listening(gateway, "/v1/events"))
        status, headers, _ = ask(gateway, "GET", "/v1/events")
        assert (status, headers["retry-after"]) == (503, "5")
        all_of_them.close()
        stack.wait_for(
            lambda: ask(gateway, "HEAD", "/v1/events")[0] == 200, "the places to be free again"
        )


NGINX = """
daemon off; master_process off; worker_processes 1; error_log stderr; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    {locations}
  }}
}}
"""


def nginx_example() -> str:
    text = (ROOT / "docs" / "admin-api.md").read_text(encoding="utf-8")
    found = re.search(r"```nginx\n(.*?)```", text, flags=re.S)
    assert found, "docs/admin-api.md shows no ```nginx block"
    return found[1]


def get(port: int, path: str, tenant: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path, None, {"X-Tenant-Id": tenant})
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_nginx_asks_pawl_about_every_request(
    pawl: Path, free_port: Callable[[], int], tmp_path: Path
):
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with stack.running(pawl, token=TOKEN, buckets=ORDERS) as gateway:
        locations = nginx_example().replace("127.0.0.1:9000", f"127.0.0.1:{gateway.upstream.port}")
        locations = locations.replace("127.0.0.1:8081", f"127.0.0.1:{gateway.admin}")
        port = free_port()
        settings = tmp_path / "nginx.conf"
        settings.write_text(NGINX.format(folder=tmp_path, port=port, locations=locations))
        process = subprocess.Popen([nginx, "-p", tmp_path, "-c", settings])
        try:
            stack.wait_for(lambda: listens(port), "nginx to listen")
            assert [get(port, "/orders", "acme") for _ in range(3)] == [(200, b"ok")] * 3
            assert get(port, "/orders", "acme")[0] == 403
            assert get(port, "/orders", "globex") == (200, b"ok")
            assert len(gateway.upstream.received) == 4
        finally:
            process.terminate()
            process.wait(timeout=20)
        gateway.stop()
        asked = [(e["operation"], e["tenant_id"]) for e in gateway.audited("limit")]
    assert asked == [("GET /orders", "acme")] * 4 + [("GET /orders", "globex")]


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def chain_of(gateway: stack.Gateway) -> dict[str, object]:
    """The verdict of the panel's check, asked piece by piece."""
    found = json.loads(ask(gateway, "GET", "/v1/audit/chain")[2])
    while found["more"]:
        found = json.loads(ask(gateway, "GET", f"/v1/audit/chain?check={found['check']}")[2])
    return found


def test_the_chain_is_judged_as_by_the_verb(pawl: Path):
    with stack.running(pawl) as gateway:
        for _ in range(10):
            gateway.get("/")
        stack.wait_for(lambda: len(gateway.audited("request")) == 10, "all to be on record")
        lines = gateway.audit().read_bytes().splitlines(keepends=True)
        for name, text in (
            ("whole", lines),
            ("without its beginning", lines[5:]),
            ("without its end", lines[:-5]),
            ("without its middle", lines[:5] + lines[6:]),
            ("with a line that is no record", [*lines[:5], b"{}\n", *lines[5:]]),
        ):
            gateway.audit().write_bytes(b"".join(text))
            verified = subprocess.run([pawl, "audit", "verify", gateway.audit(), "--json"],
                                      capture_output=True, text=True)
            said = json.loads(verified.stdout)
            found = chain_of(gateway)
            holds = name == "whole"
            assert (found["broken"] is None) == (verified.returncode == 0) == holds, name
            assert found["records"] == said["verified"], name
            if found["broken"]:
                assert found["broken"]["reason"] == said["flaw"]["message"], name
        gateway.audit().write_bytes(b"".join(lines))


def test_durability_is_told_as_it_was_probed(pawl: Path):
    with stack.running(pawl) as gateway:
        def stores() -> dict[str, dict[str, object]]:
            told = json.loads(ask(gateway, "GET", "/v1/overview")[2])
            return {store["name"]: store for store in told["stores"]}

        stack.wait_for(lambda: stores()["Limits"]["probed_at"], "the first probe")
        assert stores()["Limits"]["durability"] == "none"
        assert stores()["Limits"]["seen"] == "the memory of this process"
        assert stores()["Audit log"]["probed_at"]


def test_dots_are_no_names(pawl: Path):
    with stack.running(pawl, buckets=ORDERS) as gateway:
        for name in (".", ".."):
            gateway.get("/", tenant=name)
            check = {"tenant": name, "bucket": "orders"}
            assert ask(gateway, "POST", "/v1/check", check)[0] == 400, name
        tenants = json.loads(ask(gateway, "GET", "/v1/tenants")[2])["tenants"]
        assert not [each for each in tenants if each["tenant"] in (".", "..")]


def test_a_task_is_found_by_the_operation_it_is_a_part_of(pawl: Path, tmp_path: Path):
    with stack.running(pawl, more=f"queue: {{ url: dir:{tmp_path}/queue }}") as gateway:
        gateway.get("/", extra="X-Correlation-Id: checkout-7\r\n")
        task = {"task_type": "mail"}
        answer = ask(gateway, "POST", "/v1/tasks", task, X_Correlation_Id="checkout-7")
        task_id = json.loads(answer[2])["id"]
        changed = ask(gateway, "POST", f"/v1/tasks/{task_id}/cancel", {"why": "enough"})
        assert changed[0] == 200

        def followed(thread: str) -> list[str]:
            target = "/v1/audit?after=0&thread=" + thread.replace(" ", "%20")
            events = json.loads(ask(gateway, "GET", target)[2])["events"]
            return [each["operation"] for each in events]

        stack.wait_for(lambda: "task cancel" in followed(task_id), "the end of the log")
        assert followed("checkout-7") == ["GET /", "GET /", "task submit"]
        assert followed(f"checkout-7 {task_id}")[-2:] == ["task submit", "task cancel"]
