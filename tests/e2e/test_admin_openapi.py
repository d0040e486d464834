"""Goal: the OpenAPI document says what the running server does.

Method: every operation of the document is called, with good and with bad input; each answer must
have a status that the document names for it, with the content type and a body that fits. What is
not in the document must not be served.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import stack

sys.path.insert(0, str(Path(__file__).resolve().parent))

import json_schema  # noqa: E402

TOKEN = "correct-horse-battery"
SETTINGS = {
    "token": TOKEN,
    "buckets": "\n    - { name: orders, rate: 5/1m }",
    "plans": "{ free: { orders: 5/1m }, pro: { orders: 50/1m } }",
}
TASK = "00000000000000000000abcd"
METHODS = ("get", "post", "put", "patch", "delete", "head", "options")

# What each operation is called with so that it succeeds: values of its path, its query, its body.
GOOD: dict[str, tuple[dict[str, str], str, object]] = {
    "health": ({}, "", None),
    "readiness": ({}, "", None),
    "metrics": ({}, "", None),
    "openapi": ({}, "", None),
    "list_tenants": ({}, "limit=10", None),
    "tenant_usage": ({"tenant": "acme"}, "", None),
    "tenant_history": ({"tenant": "acme"}, "span=1h", None),
    "list_usage": ({}, "limit=10", None),
    "overview": ({}, "", None),
    "series": ({}, "span=1d", None),
    "policies": ({}, "", None),
    "session": ({}, "", None),
    "sign_in": ({}, "", None),
    "sign_out": ({}, "", None),
    "verify_audit_chain": ({}, "", None),
    "panel": ({"file": ""}, "", None),
    "set_tenant_plan": ({"tenant": "acme"}, "", {"plan": "pro"}),
    "reset_tenant": ({"tenant": "acme"}, "", {"bucket": "orders"}),
    "check": ({}, "", {"tenant": "acme", "bucket": "orders"}),
    "reserve": ({}, "", {"tenant": "acme", "bucket": "orders", "hold_ms": 1000}),
    "list_idempotency": ({}, "tenant=acme", None),
    "idempotency_stats": ({}, "", None),
    "forget_key": ({"tenant": "acme", "key": "k1"}, "force=true", None),
    "list_audit_events": ({}, "after=0&limit=5", None),
    "submit_task": ({}, "", {"task_type": "t", "id": TASK, "input": {"n": 1}}),
    "list_tasks": ({}, "limit=10&type=t", None),
    "get_task": ({"id": TASK}, "", None),
    "task_history": ({"id": TASK}, "", None),
    "why_task": ({"id": TASK}, "", None),
    "cancel_task": ({"id": TASK}, "", {"why": "seen"}),
    "replay_task": ({"id": TASK}, "", None),
    "queue_stats": ({}, "", None),
    "list_closings": ({}, "", None),
    "list_limits": ({}, "", None),
    "list_schedules": ({}, "", None),
    "close_scope": ({}, "", {"scope": "key", "name": "k", "for_seconds": 1}),
    "broker_look": ({}, "", "\x01\x06"),
}
# Those that only fail in this setup, and how.
FAILING: dict[str, tuple[dict[str, str], object, int]] = {
    "commit": ({}, {"reservation": "v1.00000000deadbeef.orders.61636d65", "actual": 1}, 404),
    "cancel": ({}, {"reservation": "v1.00000000deadbeef.orders.61636d65"}, 404),
    "renew": ({}, {"reservation": "v1.00000000deadbeef.orders.61636d65", "hold_ms": 1}, 404),
    "settle_key": ({"tenant": "acme", "key": "k"}, {"as": "done", "reason": "seen"}, 404),
}


class Server:
    """A running admin listener and its document."""

    def __init__(self, gateway: stack.Gateway) -> None:
        self.gateway = gateway
        self.document = json.loads(self.ask("GET", "/openapi.json")[2])

    def ask(
        self, method: str, target: str, body: object = None, **fields: str
    ) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.admin, timeout=20)
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {TOKEN}", "X-Pawl-Token": TOKEN}
            headers.update({name.replace("_", "-"): value for name, value in fields.items()})
            text = None if body is None else body if isinstance(body, str) else json.dumps(body)
            connection.request(method, target, text, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read()

    def operations(self) -> Iterator[tuple[str, str, dict]]:
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method, path, operation

    def check(self, operation: dict, method: str, answer: tuple[int, str, bytes]) -> None:
        status, content_type, body = answer
        name = operation["operationId"]
        documented = operation["responses"].get(str(status))
        assert documented, f"{name} answered {status}, which the document does not name: {body!r}"
        kind = content_type.partition(";")[0]
        assert kind in documented["content"], f"{name}: {kind} is not documented for {status}"
        schema = documented["content"][kind].get("schema")
        if schema is not None and method != "head":
            found = json_schema.flaws(schema, json.loads(body), self.document)
            assert not found, f"{name} answered {status} with a body that does not fit: {found}"


@pytest.fixture(scope="module")
def server(pawl: Path) -> Iterator[Server]:
    with stack.running(pawl, **SETTINGS) as gateway:
        assert gateway.post().status == 200  # leaves a record of key k1
        yield Server(gateway)


def fill(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    return path


def test_the_document_is_openapi(server: Server):
    document = server.document
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["title"] and document["info"]["version"]
    names = [operation["operationId"] for _, _, operation in server.operations()]
    assert len(names) == len(set(names)), "an operationId stands twice"
    for method, path, operation in server.operations():
        assert method in METHODS, method
        in_path = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
        placed = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        assert in_path == placed, f"{path}: the path has {placed}, the parameters {in_path}"
        answered = ("2", "3")
        assert any(status.startswith(answered) for status in operation["responses"]), path


def test_every_operation_answers_as_documented(server: Server):
    called = set()
    for method, path, operation in server.operations():
        name = operation["operationId"]
        if name in GOOD:
            values, query, body = GOOD[name]
            target = fill(path, values) + (f"?{query}" if query else "")
            answer = server.ask(method.upper(), target, body)
            assert answer[0] == 200, (name, answer)
        elif name in FAILING:
            values, body, status = FAILING[name]
            answer = server.ask(method.upper(), fill(path, values), body)
            assert answer[0] == status, (name, answer)
        else:
            continue
        called.add(name)
        server.check(operation, method, answer)
    assert called == {*GOOD, *FAILING}


def test_a_proxy_is_answered_as_documented(server: Server):
    for method, path, operation in server.operations():
        if not operation["operationId"].startswith("authorize"):
            continue
        target = fill(path, {"path": "orders/5?x=%zz"})
        answer = server.ask(method.upper(), target, X_Original_URI="/a", X_Tenant_Id="proxied")
        assert answer[0] in (200, 429), answer
        server.check(operation, method, answer)
        server.check(operation, method, server.ask(method.upper(), target, X_Pawl_Token="no"))
    document = server.document["paths"]["/v1/authorize"]["get"]
    server.check(document, "get", server.ask("GET", "/v1/authorize"))


def test_what_is_wrong_is_answered_as_documented(server: Server):
    for method, path, operation in server.operations():
        if operation["security"] != [{"token": []}]:
            continue
        verb, target = method.upper(), fill(path, {"tenant": "acme", "key": "none"})
        for answer, status in (
            (server.ask(verb, target, Authorization=""), 401),
            (server.ask(verb, target, Host="evil.example"), 403),
            (server.ask(verb, f"{target}?nonsense=1"), 400),
            (server.ask(verb, f"{target}?a=%zz"), 400),
        ):
            assert answer[0] == status, (path, answer)
            server.check(operation, method, answer)
        if "requestBody" in operation:
            for body in ("{", "[]", '{"nonsense":1}', "\xff"):
                answer = server.ask(verb, target, body)
                assert answer[0] == 400, (path, body, answer)
                server.check(operation, method, answer)
            answer = server.ask(verb, target, "x" * (1024 * 1024 + 1))
            assert answer[0] == 413, (path, answer)
            server.check(operation, method, answer)


def test_nothing_is_served_that_is_not_in_the_document(server: Server):
    paths = server.document["paths"]
    for path, methods in paths.items():
        if "options" in methods:
            continue  # it takes any
        target = fill(path, {"tenant": "acme", "key": "none"})
        for method in METHODS:
            if method in methods or (method == "head" and "get" in methods):
                continue
            status = server.ask(method.upper(), target)[0]
            assert status == 405, f"{method} {path} answered {status}"
        for other in (target + "/", target + "/more", target.upper(), "/" + target):
            if other.startswith(("/v1/authorize/", "/panel/")):
                continue  # both take whatever follows; the panel's own test knows its files
            status = server.ask("GET", other)[0]
            assert status in (404, 405), f"GET {other} answered {status}"
    for path in ("/", "/v1", "/v2/tenants", "/favicon.ico", "/panel/../metrics"):
        assert server.ask("GET", path)[0] == 404, path


def test_webhooks_are_answered_as_documented_where_there_are_none(server: Server):
    for method, path, body in (
        ("get", "/v1/webhooks/deliveries", None),
        ("post", "/v1/webhooks/events", {"id": "e1", "type": "a.b"}),
    ):
        answer = server.ask(method.upper(), path, body)
        assert answer[0] in (200, 404), answer
        server.check(server.document["paths"][path][method], method, answer)


def test_the_check_finds_what_does_not_fit():
    schema = {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
        "properties": {
            "a": {"type": "integer", "minimum": 1},
            "b": {"type": ["string", "null"], "enum": ["x"]},
            "c": {"type": "array", "items": {"type": "boolean"}},
            "d": {"$ref": "#/components/schemas/D"},
        },
    }
    root = {"components": {"schemas": {"D": {"type": "string", "maxLength": 2}}}}
    for good in ({"a": 1}, {"a": 2, "b": None, "c": [True], "d": "xy"}, {"a": 1, "b": "x"}):
        assert json_schema.flaws(schema, good, root) == []
    for bad in (
        *([], {}, {"a": 0}, {"a": True}, {"a": 1.5}, {"a": 1, "b": "y"}),
        *({"a": 1, "c": [1]}, {"a": 1, "d": "xyz"}, {"a": 1, "e": 1}),
    ):
        assert len(json_schema.flaws(schema, bad, root)) == 1, bad
