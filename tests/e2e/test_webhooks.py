"""Goal: over a real network, and whenever the sender dies, an event reaches its endpoint, signed so
that the receiver of the documentation believes it, and never again once that is on record.

Method: a receiver of the test's own that answers as each test wants; the sender is a small program
on real stores, told what to do by lines, and killed; and then pawl serve, whose own events are the
ones that are sent. The code that docs/webhooks.md shows to receivers is taken from there and run.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import http.client
import http.server
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stack

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402

ROOT = tree.ROOT
SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes, no less").decode()


def documented_code() -> dict[str, object]:
    """What the documentation gives to receivers."""
    text = (ROOT / "docs/webhooks.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1, "docs/webhooks.md shows one receiver in Python"
    names: dict[str, object] = {"__name__": "receiver"}
    exec(compile(blocks[0], "docs/webhooks.md", "exec"), names)
    return names


class Receiver:
    """Keeps what arrives; `answer` says what is said to the n-th message (from 1)."""

    def __init__(self) -> None:
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[int], tuple[int, dict[str, str]]] = lambda _: (204, {})
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.messages.append((headers, body))
                status, fields = receiver.answer(len(receiver.messages))
                with contextlib.suppress(OSError):  # who asked may have been killed
                    self.send_response(status)
                    for name, value in fields.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/in"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in list(self.messages)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Sender:
    def __init__(self, program: Path, folder: Path, url: str, records: str = "") -> None:
        words = [folder / "outbox.db", records or f"sqlite:{folder}/records.db", "billing", url]
        self.process = subprocess.Popen(
            [program, *words, SECRET],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        return self.process.stdout.readline().strip()

    def emit(self, event_id: str, data: str = "{}") -> str:
        return self.ask(f"emit {event_id} invoice.paid acme {data}")

    def deliveries(self) -> dict[str, dict[str, object]]:
        return {str(one["event_id"]): one for one in json.loads(self.ask("list"))}

    def is_acknowledged(self, event_id: str) -> bool:
        return self.deliveries()[event_id]["state"] == "acknowledged"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate("quit\n", timeout=stack.WAIT_SECONDS)
        return self.process.returncode


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def program() -> Path:
    return tree.build_folder() / "webhook_sender"


@contextlib.contextmanager
def sending(program: Path, folder: Path, url: str, records: str = "") -> Iterator[Sender]:
    sender = Sender(program, folder, url, records)
    try:
        yield sender
        if sender.process.poll() is None:
            assert sender.stop() == 0
    finally:
        if sender.process.poll() is None:
            sender.kill()


def test_a_receiver_that_follows_the_documentation_believes_the_message(
    program: Path, tmp_path: Path, receiver: Receiver
):
    with sending(program, tmp_path, receiver.url) as sender:
        assert sender.emit("evt_1", '{"amount":10.10,"name":"Zoë"}') == "ok"
        stack.wait_for(lambda: sender.is_acknowledged("evt_1"), "the acknowledgement")
        assert sender.emit("evt_1") == "known"
    [(headers, body)] = receiver.messages
    assert headers["content-type"] == "application/json"
    verify = documented_code()["verify"]
    assert callable(verify)
    event = verify(SECRET, headers, body)
    assert event["id"] == "evt_1" and event["type"] == "invoice.paid"
    assert event["tenant"] == "acme" and event["data"]["name"] == "Zoë"
    assert b'"amount":10.10' in body, "the digits are kept"
    for changed in (
        {**headers, "webhook-id": "evt_2"},
        {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)},
        {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 400)},
        {**headers, "webhook-signature": "v1,AAAA"},
    ):
        with pytest.raises(ValueError):
            verify(SECRET, changed, body)
    with pytest.raises(ValueError):
        verify(SECRET, headers, body + b" ")
    with pytest.raises(ValueError):
        verify("whsec_" + base64.b64encode(b"x" * 32).decode(), headers, body)


def test_what_an_endpoint_answers_decides_what_comes_next(
    program: Path, tmp_path: Path, receiver: Receiver
):
    answers = {"evt_again": iter([503, 500, 200]), "evt_gone": iter([410]), "evt_no": iter([404])}

    def answer(number: int) -> tuple[int, dict[str, str]]:
        return next(answers[receiver.ids()[number - 1]]), {}

    receiver.answer = answer
    with sending(program, tmp_path, receiver.url) as sender:
        for event_id in answers:
            assert sender.emit(event_id) == "ok"
        stack.wait_for(
            lambda: all(one["state"] != "pending" for one in sender.deliveries().values()),
            "every delivery to end",
        )
        found = sender.deliveries()
    assert found["evt_again"]["state"] == "acknowledged" and found["evt_again"]["attempts"] == 3
    assert found["evt_gone"]["state"] == "given_up" and found["evt_gone"]["last_status"] == 410
    assert found["evt_no"]["state"] == "given_up" and found["evt_no"]["last_status"] == 404
    assert sorted(receiver.ids()) == ["evt_again"] * 3 + ["evt_gone", "evt_no"]


def test_an_endpoint_says_when_to_come_again(program: Path, tmp_path: Path, receiver: Receiver):
    times: list[float] = []

    def answer(number: int) -> tuple[int, dict[str, str]]:
        times.append(time.monotonic())
        return (429, {"Retry-After": "2"}) if number == 1 else (200, {})

    receiver.answer = answer
    with sending(program, tmp_path, receiver.url) as sender:
        sender.emit("evt_1")
        stack.wait_for(lambda: sender.is_acknowledged("evt_1"), "the acknowledgement")
    assert times[1] - times[0] >= 2.0


def test_nothing_goes_to_a_private_address_behind_a_name(
    program: Path, tmp_path: Path, receiver: Receiver
):
    """127.1 is no address to us, and loopback to those who resolve it."""
    url = receiver.url.replace("127.0.0.1", "127.1")
    with sending(program, tmp_path, url) as sender:
        sender.emit("evt_1")
        stack.wait_for(lambda: sender.deliveries()["evt_1"]["attempts"], "an attempt")
        assert "may not be called" in str(sender.deliveries()["evt_1"]["last_error"])
    assert receiver.messages == []


def test_what_was_taken_survives_the_death_of_the_sender(
    program: Path, tmp_path: Path, receiver: Receiver
):
    """Killed at once behind each `ok`, again and again, while messages are under way."""
    receiver.answer = lambda number: (200 if number % 3 else 503, {})
    events = [f"evt_{number}" for number in range(12)]
    for event_id in events:
        sender = Sender(program, tmp_path, receiver.url)
        assert sender.emit(event_id) == "ok"
        sender.kill()
    receiver.answer = lambda _: (200, {})
    with sending(program, tmp_path, receiver.url) as sender:
        stack.wait_for(
            lambda: all(sender.is_acknowledged(event_id) for event_id in events), "every event"
        )
        before = len(receiver.messages)
    with sending(program, tmp_path, receiver.url) as sender:
        assert [sender.emit(event_id) for event_id in events] == ["known"] * len(events)
        sender.emit("evt_last")
        stack.wait_for(lambda: sender.is_acknowledged("evt_last"), "the last event")
    assert set(receiver.ids()) == {*events, "evt_last"}
    assert len(receiver.messages) == before + 1, "nothing is sent after it was acknowledged"


def test_an_acknowledgement_on_record_is_not_repeated_when_the_outbox_is_lost(
    program: Path, tmp_path: Path, receiver: Receiver
):
    with sending(program, tmp_path, receiver.url) as sender:
        sender.emit("evt_1")
        stack.wait_for(lambda: sender.is_acknowledged("evt_1"), "the acknowledgement")
    for path in tmp_path.glob("outbox.db*"):
        path.unlink()
    with sending(program, tmp_path, receiver.url) as sender:
        assert sender.emit("evt_1") == "ok", "this outbox does not know it"
        stack.wait_for(lambda: sender.is_acknowledged("evt_1"), "the acknowledgement")
    assert receiver.ids() == ["evt_1"]


def test_senders_that_share_a_store_send_an_event_once(
    program: Path, tmp_path: Path, receiver: Receiver
):
    records = f"sqlite:{tmp_path}/shared.db"
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    events = [f"evt_{number}" for number in range(10)]
    with (
        sending(program, folders[0], receiver.url, records) as one,
        sending(program, folders[1], receiver.url, records) as two,
    ):
        for event_id in events:
            assert one.emit(event_id) == "ok"
            assert two.emit(event_id) == "ok"
        for sender in (one, two):
            stack.wait_for(
                lambda sender=sender: all(sender.is_acknowledged(each) for each in events),
                "every event",
            )
    assert sorted(receiver.ids()) == events


# ---- pawl serve

FIVE = "\n    - { name: orders, rate: 5/1m, algorithm: sliding_window }"


def hooks(*endpoints: tuple[str, str]) -> str:
    """The section of the configuration, for (name, url)."""
    line = '    - {{ name: {}, url: "{}", secret: "{}" }}'
    lines = [line.format(name, url, SECRET) for name, url in endpoints]
    return "\n".join(["webhooks:", "  endpoints:", *lines]) if lines else ""


def deliveries(gateway: stack.Gateway, query: str = "") -> list[dict[str, object]]:
    reply = gateway.ask_admin(f"/v1/webhooks/deliveries{query}")
    assert reply.status == 200, reply.body
    found: list[dict[str, object]] = json.loads(reply.body)["deliveries"]
    return found


def states(gateway: stack.Gateway) -> list[object]:
    return [one["state"] for one in deliveries(gateway)]


def come_near(gateway: stack.Gateway, tenant: str = "acme") -> None:
    for _ in range(4):
        assert gateway.get(tenant=tenant).status == 200


def reload(gateway: stack.Gateway, **settings: str) -> None:
    before = len(gateway.events("config_reloaded"))
    stack.write_config(gateway.folder, gateway.upstream.port, **settings)
    gateway.process.send_signal(signal.SIGHUP)
    stack.wait_for(
        lambda: len(gateway.events("config_reloaded")) > before, f"a reload: {gateway.log[-3:]}"
    )


def test_a_tenant_near_its_limit_is_told_of_once_in_every_way(pawl: Path, receiver: Receiver):
    more = hooks(("billing", receiver.url))
    upgrades = "  upgrades: { free: pro }"
    with stack.running(
        pawl, buckets=FIVE, more=more, tenants=upgrades, plans="{ pro: { orders: 50/1m } }"
    ) as gateway:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", gateway.admin)) as stream:
            stream.timeout = stack.WAIT_SECONDS
            stream.request("GET", "/v1/events?type=limit_near")
            lines = stream.getresponse()
            come_near(gateway)
            streamed = b""
            deadline = time.monotonic() + stack.WAIT_SECONDS
            while not streamed.startswith(b"data: "):
                assert time.monotonic() < deadline, "the stream says nothing of it"
                streamed = lines.readline()
        stack.wait_for(lambda: states(gateway) == ["acknowledged"], "the acknowledgement")
        assert [gateway.get().status for _ in range(3)] == [200, 429, 429]
        assert gateway.metric("pawl_limit_near_total") == 1
        assert len(gateway.events("limit_near")) == 1
        [delivery] = deliveries(gateway, "?state=acknowledged")
        assert deliveries(gateway, "?state=pending") == []
        assert gateway.stop() == 0
        [record] = gateway.audited("limit_near")
    assert record["tenant_id"] == "acme" and record["bucket"] == "orders"
    assert (record["used"], record["limit"]) == (4, 5)
    assert (record["plan"], record["next_plan"]) == ("free", "pro")
    assert json.loads(streamed.removeprefix(b"data: ")) == record
    [(headers, body)] = receiver.messages
    verify = documented_code()["verify"]
    assert callable(verify)
    event = verify(SECRET, headers, body)
    assert event["type"] == "limit.near" and event["tenant"] == "acme"
    assert event["data"]["bucket"] == "orders" and event["data"]["next_plan"] == "pro"
    assert event["id"] == delivery["event_id"] == record["correlation_id"]
    assert delivery["endpoint"] == "billing" and delivery["attempts"] == 1


def test_a_program_that_asks_comes_near_as_a_request_does(pawl: Path, receiver: Receiver):
    with stack.running(pawl, buckets=FIVE, more=hooks(("billing", receiver.url))) as gateway:
        body = b'{"tenant":"prog","bucket":"orders","cost":1}'
        head = f"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        for _ in range(6):
            with socket.create_connection(("127.0.0.1", gateway.admin), timeout=20) as connection:
                connection.sendall(head.encode() + body)
                assert stack.read_reply(connection).status == 200
        for _ in range(4):
            uri = "X-Original-URI: /orders\r\nX-Tenant-Id: proxied\r\n"
            assert gateway.ask_admin("/v1/authorize", uri).status == 200
        stack.wait_for(lambda: states(gateway) == ["acknowledged"] * 2, "both acknowledgements")
        assert gateway.metric('pawl_limit_decisions_total{decision="allowed"}') == 9
        assert gateway.metric('pawl_limit_decisions_total{decision="refused"}') == 1
        tenants = json.loads(gateway.ask_admin("/v1/tenants").body)["tenants"]
        assert [each["tenant"] for each in tenants] == ["prog", "proxied"]
    told = sorted(json.loads(message)["tenant"] for _, message in receiver.messages)
    assert told == ["prog", "proxied"]


def test_a_message_that_failed_is_sent_again_after_the_gateway_was_killed(
    pawl: Path, tmp_path: Path, receiver: Receiver
):
    receiver.answer = lambda number: (500 if number == 1 else 204, {})
    settings = {"buckets": FIVE, "more": hooks(("billing", receiver.url))}
    upstream = stack.Upstream()
    with contextlib.closing(upstream):
        with stack.serving(pawl, tmp_path, upstream, **settings) as gateway:
            come_near(gateway)
            stack.wait_for(lambda: deliveries(gateway)[0]["last_status"] == 500, "the failure")
            [failed] = deliveries(gateway)
            assert failed["state"] == "pending" and failed["attempts"] == 1
            gateway.process.kill()
            gateway.process.wait()
        with stack.serving(pawl, tmp_path, upstream, **settings) as gateway:
            stack.wait_for(lambda: states(gateway) == ["acknowledged"], "the acknowledgement")
            [delivery] = deliveries(gateway)
            assert delivery["event_id"] == failed["event_id"] and delivery["attempts"] == 2
            assert delivery["last_status"] == 204
        with stack.serving(pawl, tmp_path, upstream, **settings) as gateway:
            assert states(gateway) == ["acknowledged"]
    assert receiver.ids() == [failed["event_id"]] * 2, "once acknowledged, never again"


def test_a_write_whose_end_nobody_knows_is_told_of_once(pawl: Path, receiver: Receiver):
    def hang_up(connection: socket.socket, _head: bytes) -> None:
        connection.shutdown(socket.SHUT_RDWR)

    with stack.running(pawl, more=hooks(("ops", receiver.url))) as gateway:
        gateway.upstream.behave = hang_up
        assert gateway.post(key="k1", extra="X-Request-Id: r1\r\n").status == 502
        stack.wait_for(lambda: states(gateway) == ["acknowledged"], "the acknowledgement")
        again = gateway.post(key="k1")
        assert again.status == 409 and b"ERR_OUTCOME_UNKNOWN" in again.body
        assert states(gateway) == ["acknowledged"], "who comes later has not ended so itself"
    [(_, body)] = receiver.messages
    event = json.loads(body)
    assert event["type"] == "idempotency.unknown" and event["tenant"] == "acme"
    assert event["data"] == {
        "method": "POST", "path": "/orders", "idempotency_key": "k1", "request_id": "r1",
    }  # fmt: skip


def test_the_first_endpoint_comes_with_a_reload(pawl: Path, receiver: Receiver):
    with stack.running(pawl, buckets=FIVE) as gateway:
        come_near(gateway, "before")
        assert gateway.ask_admin("/v1/webhooks/deliveries").status == 404
        assert not (gateway.folder / "data/webhooks.db").exists(), "nobody needs it yet"
        reload(gateway, buckets=FIVE, more=hooks(("billing", receiver.url)))
        come_near(gateway, "after")
        stack.wait_for(lambda: states(gateway) == ["acknowledged"], "the acknowledgement")
        reload(gateway, buckets=FIVE)
        assert gateway.ask_admin("/v1/webhooks/deliveries").status == 404
        come_near(gateway, "unheard")
    assert [json.loads(body)["tenant"] for _, body in receiver.messages] == ["after"]


def test_what_waits_for_an_endpoint_that_is_gone_goes_on_when_it_is_back(
    pawl: Path, tmp_path: Path, receiver: Receiver
):
    receiver.answer = lambda number: (503 if number == 1 else 204, {})
    before = hooks(("gone", receiver.url))
    both = hooks(("gone", receiver.url), ("stays", receiver.url + "?other"))
    one = hooks(("stays", receiver.url + "?other"))
    upstream = stack.Upstream()

    def of_gone(gateway: stack.Gateway) -> dict[str, object]:
        [found] = [each for each in deliveries(gateway) if each["endpoint"] == "gone"]
        return found

    with contextlib.closing(upstream):
        with stack.serving(pawl, tmp_path, upstream, buckets=FIVE, more=before) as gateway:
            come_near(gateway)
            stack.wait_for(lambda: of_gone(gateway)["last_status"] == 503, "the failure")
            reload(gateway, buckets=FIVE, more=one)
            assert of_gone(gateway)["state"] == "pending", "it is kept, and listed"
        with stack.serving(pawl, tmp_path, upstream, buckets=FIVE, more=one) as gateway:
            due = datetime.datetime.fromisoformat(str(of_gone(gateway)["next_at"]))
            late = due + datetime.timedelta(seconds=1)
            stack.wait_for(lambda: datetime.datetime.now(datetime.UTC) > late, "its time to pass")
            assert of_gone(gateway)["state"] == "pending" and len(receiver.messages) == 1
            reload(gateway, buckets=FIVE, more=both)
            stack.wait_for(lambda: of_gone(gateway)["state"] == "acknowledged", "what had waited")
    assert len(set(receiver.ids())) == 1 and len(receiver.messages) == 2
