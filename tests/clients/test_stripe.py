"""Goal: a real SDK that retries by itself is safe behind the gateway, and takes the gateway's own
errors for what they are.

Method: the `stripe` package of npm, pointed at a real pawl whose upstream answers like Stripe's API
and counts what it executes, and now and then breaks off, is slow or fails. The SDK sends a key with
every POST, and tries again after a lost connection, a timeout, a 409 and a 5xx.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stack

Node = Callable[[str, object], Any]
Answer = Callable[[socket.socket, int], None]

SECRET = "sk_test_acme"
MEMORY = {"store": "memory", "durability": "none"}
CREATE = "customers.create"
CREATE_V2 = "v2.core.eventDestinations.create"


def section(**more: str) -> str:
    return "{ " + ", ".join(f"{name}: {value}" for name, value in {**MEMORY, **more}.items()) + " }"


def send(connection: socket.socket, status: str, content: object) -> None:
    body = json.dumps(content).encode()
    connection.sendall(
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nRequest-Id: req_1\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


def created(connection: socket.socket, number: int) -> None:
    send(connection, "200 OK", {"id": f"cus_{number}", "object": "customer"})


def failing(status: str, kind: str = "api_error", code: str = "upstream_says") -> Answer:
    error = {"type": kind, "code": code, "message": "from the upstream"}
    return lambda connection, _number: send(connection, status, {"error": error})


def breaks_off(connection: socket.socket, _number: int) -> None:
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionError("as planned")


class Api:
    """Stripe's side: each request is executed, that is counted, before anything is answered."""

    def __init__(self, gateway: stack.Gateway, *answers: Answer) -> None:
        """These answers first, then all is well."""
        self.keys: list[str] = []
        self._answers = list(answers)
        self._lock = threading.Lock()
        gateway.upstream.behave = self._execute

    def _execute(self, connection: socket.socket, head: bytes) -> None:
        with self._lock:
            self.keys.append(field_of(head, "idempotency-key"))
            number = len(self.keys)
            answer = self._answers.pop(0) if self._answers else created
        answer(connection, number)


def field_of(head: bytes, name: str) -> str:
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return next((value.strip() for found, _, value in lines if found.lower() == name), "")


def call(method: str = CREATE, *arguments: object, key: str | None = None) -> dict[str, object]:
    made: dict[str, object] = {"method": method, "arguments": arguments or ({"name": "a"},)}
    return made if key is None else {**made, "key": key}


def destination(name: str) -> dict[str, object]:
    """What the second version of Stripe's API takes; sent as JSON."""
    return {"name": name, "type": "webhook_endpoint", "event_payload": "thin", "enabled_events": []}


def plan_of(gateway: stack.Gateway, *calls: dict[str, object], **more: object) -> dict[str, object]:
    return {
        "port": gateway.guarded,
        "secret": SECRET,
        "retries": 0,
        "timeout": 20_000,
        "calls": calls,
        **more,
    }


def new_key() -> str:
    return str(uuid.uuid4())


# Once, and once only.


def test_each_call_has_a_key_of_the_sdks_own_and_is_executed_once(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway)
        results = node("stripe_calls.js", plan_of(gateway, *[call()] * 3))
        assert [result["value"]["id"] for result in results] == ["cus_1", "cus_2", "cus_3"]
        assert [result["replayed"] for result in results] == [None] * 3
        assert api.keys == [key for result in results for key in result["keys"]]
        assert len({*api.keys}) == 3
        assert all(key.startswith("stripe-node-retry-") for key in api.keys)


def test_the_same_key_gets_the_first_answer_marked_as_a_replay(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section(), rate="2/1h", burst="1") as gateway:
        api, key = Api(gateway), new_key()
        results = node("stripe_calls.js", plan_of(gateway, *[call(key=key)] * 5))
        assert {result["value"]["id"] for result in results} == {"cus_1"}
        assert [result["replayed"] for result in results] == [None] + ["true"] * 4
        assert api.keys == [key]


def test_a_call_that_timed_out_finds_its_answer_when_it_is_tried_again(
    pawl: Path, node: Node
) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        tried_again = threading.Event()

        def slow(connection: socket.socket, number: int) -> None:
            tried_again.wait(stack.WAIT_SECONDS)
            created(connection, number)

        api = Api(gateway, slow)
        told = 'pawl_idempotency_total{result="in_flight"}'
        watcher = threading.Thread(target=set_when, args=(tried_again, gateway, told))
        watcher.start()
        [result] = node("stripe_calls.js", plan_of(gateway, call(), retries=5, timeout=500))
        watcher.join()
        assert result["value"]["id"] == "cus_1" and result["replayed"] == "true"
        assert len(result["keys"]) >= 3, "timed out, told that it is in flight, given the answer"
        assert api.keys == [result["keys"][0]] and len({*result["keys"]}) == 1


def set_when(event: threading.Event, gateway: stack.Gateway, metric: str) -> None:
    try:
        stack.wait_for(lambda: gateway.metric(metric) > 0, metric)
    finally:
        event.set()


@pytest.mark.parametrize("on_in_flight", ["conflict", "wait"])
def test_two_at_once_with_one_key_are_executed_once(
    pawl: Path, node: Node, on_in_flight: str
) -> None:
    with stack.running(pawl, idempotency=section(on_in_flight=on_in_flight)) as gateway:
        second_is_here = threading.Event()

        def slow(connection: socket.socket, number: int) -> None:
            second_is_here.wait(1.0 if on_in_flight == "wait" else stack.WAIT_SECONDS)
            created(connection, number)

        api, key = Api(gateway, slow), new_key()
        told = 'pawl_idempotency_total{result="in_flight"}'
        watcher = threading.Thread(target=set_when, args=(second_is_here, gateway, told))
        if on_in_flight == "conflict":
            watcher.start()
        both = plan_of(gateway, *[call(key=key)] * 2, retries=5, parallel=True)
        results = node("stripe_calls.js", both)
        assert {result["value"]["id"] for result in results} == {"cus_1"}
        assert sorted(str(result["replayed"]) for result in results) == ["None", "true"]
        assert api.keys == [key]
        attempts = sum(len(result["keys"]) for result in results)
        assert attempts == 2 if on_in_flight == "wait" else attempts > 2


# What the upstream does to it.


def test_after_a_lost_connection_nothing_is_sent_a_second_time(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway, breaks_off)
        [result] = node("stripe_calls.js", plan_of(gateway, call(), retries=2))
        assert result["error"]["code"] == "ERR_OUTCOME_UNKNOWN"
        assert result["error"]["rawType"] == "idempotency_error"
        assert (result["error"]["type"], result["error"]["status"]) == ("StripeAPIError", 409)
        assert len(result["keys"]) == 3 and len(api.keys) == 1


def test_by_setting_it_is_sent_again_with_the_same_key(pawl: Path, node: Node) -> None:
    """For an upstream that knows the key as well, as Stripe does."""
    with stack.running(pawl, idempotency=section(on_unknown="execute")) as gateway:
        api = Api(gateway, breaks_off)
        [result] = node("stripe_calls.js", plan_of(gateway, call(), retries=2))
        assert result["value"]["id"] == "cus_2" and result["replayed"] is None
        assert api.keys == result["keys"] and len({*api.keys}) == 1


def test_after_a_500_nothing_is_sent_a_second_time(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway, failing("500 Internal Server Error"))
        first, again = node("stripe_calls.js", plan_of(gateway, *[call(key="k")] * 2))
        assert first["error"]["type"] == "StripeAPIError"
        assert first["error"]["code"] == "upstream_says"
        assert again["error"]["code"] == "ERR_OUTCOME_UNKNOWN"
        assert api.keys == ["k"]


def test_a_409_of_the_upstream_leaves_the_key_for_the_next_attempt(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway, failing("409 Conflict", "invalid_request_error", "lock_timeout"))
        [result] = node("stripe_calls.js", plan_of(gateway, call(), retries=1))
        assert result["value"]["id"] == "cus_2"
        assert api.keys == result["keys"] and len(api.keys) == 2


def test_a_declined_card_stays_declined(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway, failing("402 Payment Required", "card_error", "card_declined"))
        results = node("stripe_calls.js", plan_of(gateway, *[call(key="k")] * 2))
        assert [result["error"]["type"] for result in results] == ["StripeCardError"] * 2
        assert [result["error"]["code"] for result in results] == ["card_declined"] * 2
        assert results[1]["error"]["replayed"] == "true"
        assert "replayed" not in results[0]["error"]
        assert len(api.keys) == 1


def test_an_upstream_that_is_not_there_burns_no_key(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section()) as gateway:
        gateway.upstream.close()
        results = node("stripe_calls.js", plan_of(gateway, *[call(key="k")] * 2))
        for result in results:  # the second would be told that the outcome is unknown
            assert (result["error"]["type"], result["error"]["status"]) == ("StripeAPIError", 502)
            assert result["error"]["code"] == "ERR_UPSTREAM_UNREACHABLE"


# What the gateway itself says.


def test_a_key_with_another_body_is_an_idempotency_error(pawl: Path, node: Node) -> None:
    """Of 422 the SDK makes that class in the second version of the API; in the first one the type
    of the error tells it."""
    with stack.running(pawl, idempotency=section()) as gateway:
        api = Api(gateway)
        first, other, first_v2, other_v2 = node(
            "stripe_calls.js",
            plan_of(
                gateway,
                call(CREATE, {"name": "a"}, key="k"),
                call(CREATE, {"name": "b"}, key="k"),
                call(CREATE_V2, destination("a"), key="k"),
                call(CREATE_V2, destination("b"), key="k"),
            ),
        )
        assert first["value"] and first_v2["value"]
        assert other_v2["error"]["type"] == "StripeIdempotencyError"
        assert other["error"]["type"] == "StripeAPIError"
        for result in (other, other_v2):
            assert result["error"]["rawType"] == "idempotency_error"
            assert result["error"]["code"] == "ERR_IDEMPOTENCY_MISMATCH"
            assert result["error"]["status"] == 422
        assert len(api.keys) == 2


def test_a_key_that_is_missing_or_invalid_is_an_idempotency_error(pawl: Path, node: Node) -> None:
    """The SDK gives no key to a DELETE of the first version."""
    with stack.running(pawl, idempotency=section(require="[/v1/**]")) as gateway:
        api = Api(gateway)
        missing, invalid = node(
            "stripe_calls.js",
            plan_of(gateway, call("customers.del", "cus_1"), call(key="k" * 256)),
        )
        assert missing["error"]["code"] == "ERR_IDEMPOTENCY_KEY_MISSING"
        assert invalid["error"]["code"] == "ERR_IDEMPOTENCY_KEY_INVALID"
        for result in (missing, invalid):
            assert result["error"]["type"] == "StripeIdempotencyError"
            assert result["error"]["status"] == 400
        assert api.keys == []


def test_over_a_limit_is_a_rate_limit_error_and_burns_no_key(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section(), rate="1/1s", burst="0") as gateway:
        api = Api(gateway)
        calls = [call(key="first"), call(key="second"), call(CREATE_V2, destination("a"))]
        passed, *refused = node("stripe_calls.js", plan_of(gateway, *calls))
        assert passed["value"]
        for result in refused:
            assert result["error"]["type"] == "StripeRateLimitError"
            assert result["error"]["code"] == "ERR_RATE_LIMIT"
            assert int(result["error"]["retryAfter"]) >= 1
        assert api.keys == ["first"]
        stack.wait_for(lambda: is_created(node, gateway, "second"), "the allowance to come back")
        assert api.keys == ["first", "second"]


def is_created(node: Node, gateway: stack.Gateway, key: str) -> bool:
    [result] = node("stripe_calls.js", plan_of(gateway, call(key=key)))
    assert result["value"] or result["error"]["type"] == "StripeRateLimitError"
    return result["value"] is not None and result["replayed"] is None


def test_the_secret_key_of_an_account_names_its_tenant(pawl: Path, node: Node) -> None:
    secrets = {"sk_test_acme": "acme", "sk_test_globex": "globex"}
    keys = ", ".join(
        f"{{ sha256: {hashlib.sha256(secret.encode()).hexdigest()}, tenant: {tenant} }}"
        for secret, tenant in secrets.items()
    )
    settings = {"missing": "reject", "tenants": f"  api_keys: [{keys}]"}
    with stack.running(pawl, idempotency=section(), **settings) as gateway:
        api = Api(gateway)
        for number, secret in enumerate(secrets, 1):
            plan = plan_of(gateway, *[call(key="k")] * 2, secret=secret)
            results = node("stripe_calls.js", plan)
            assert [result["value"]["id"] for result in results] == [f"cus_{number}"] * 2
            assert [result["replayed"] for result in results] == [None, "true"]
        [stranger] = node("stripe_calls.js", plan_of(gateway, call(), secret="sk_test_other"))
        assert stranger["error"]["type"] == "StripeAuthenticationError"
        assert stranger["error"]["code"] == "ERR_TENANT_UNKNOWN"
        assert api.keys == ["k", "k"], "one for each account"


def test_what_is_too_large_is_an_error_and_no_success(pawl: Path, node: Node) -> None:
    with stack.running(pawl, idempotency=section(body_limit="1KiB")) as gateway:
        api = Api(gateway)
        [result] = node("stripe_calls.js", plan_of(gateway, call(CREATE, {"name": "x" * 2000})))
        assert (result["error"]["type"], result["error"]["status"]) == ("StripeAPIError", 413)
        assert result["error"]["code"] == "ERR_TOO_LARGE"
        assert api.keys == []
