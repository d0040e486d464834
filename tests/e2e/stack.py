"""A running pawl with an upstream of the test's own behind it, on ports of the system's choice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

WAIT_SECONDS = 60.0
SANITIZED = any(name in os.environ.get("PAWL_BUILD", "") for name in ("asan", "tsan"))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Until the condition holds; a test that waits in vain says for what."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {WAIT_SECONDS:.0f} s in vain for {what}")
        time.sleep(0.01)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes
    rest: bytes = b""  # what came behind it on the same connection


def read_reply(connection: socket.socket, to_head: bool = False) -> Reply:
    """One HTTP answer, read as a strict client would."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {data!r}")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1])
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
    if status == 100:
        return read_reply(connection) if not rest else Reply(status, headers, b"", rest)
    length = 0 if to_head else int(headers.get("content-length", "0"))
    while len(rest) < length:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("closed within the body")
        rest += piece
    return Reply(status, headers, rest[:length], rest[length:])


class Upstream:
    """Answers every request with 200 and keeps the bytes it got; `behave` may do something else."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.accepted = 0  # connections
        self.behave: Callable[[socket.socket, bytes], None] = answer_ok
        self.serve: Callable[[socket.socket], None] = self._serve  # the whole connection
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._start, args=(connection,), daemon=True).start()

    def _start(self, connection: socket.socket) -> None:
        with contextlib.suppress(ConnectionError):  # who only looks whether we are well
            self.serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    data += piece
                head, _, data = data.partition(b"\r\n\r\n")
                body, data = self._body(connection, head, data)
                self.received.append(head + b"\r\n\r\n" + body)
                self.behave(connection, head)

    @staticmethod
    def _body(connection: socket.socket, head: bytes, data: bytes) -> tuple[bytes, bytes]:
        lower = head.lower()
        if b"\r\ntransfer-encoding: chunked" in lower:
            while not data.endswith(b"0\r\n\r\n"):
                data += receive_some(connection)
            return data, b""
        length = 0
        for line in lower.split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(data) < length:
            data += receive_some(connection)
        return data[:length], data[length:]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the accept that holds it open
        self._listener.close()


def receive_some(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ConnectionError("closed within a request")
    return piece


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """A head without its blank line, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += receive_some(connection)
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def field_of(head: bytes, name: str) -> str:
    """The value of the first field of that name; empty: there is none."""
    for line in head.decode("latin-1").split("\r\n")[1:]:
        if line.lower().startswith(name.lower() + ":"):
            return line.partition(":")[2].strip()
    return ""


def is_closed(connection: socket.socket) -> bool:
    """Whether nothing comes any more but the end; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def answer_ok(connection: socket.socket, _head: bytes) -> None:
    connection.sendall(OK)


@dataclass
class Gateway:
    process: subprocess.Popen[bytes]
    folder: Path
    upstream: Upstream
    guarded: int = 0
    admin: int = 0
    log: list[dict[str, object]] = field(default_factory=list)

    def connect(self, source: str = "") -> socket.socket:
        """`source` may be any address of 127.0.0.0/8: each is a client of its own."""
        address = ("127.0.0.1", self.guarded)
        return socket.create_connection(address, WAIT_SECONDS, (source, 0) if source else None)

    def memory_kib(self, name: str) -> int:
        """A line of /proc/PID/status: VmRSS is what it holds now, VmHWM the most it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition(name + ":")[2].split()[0])

    def exchange(self, request: bytes, to_head: bool = False) -> Reply:
        with self.connect() as connection:
            connection.sendall(request)
            return read_reply(connection, to_head)

    def get(self, path: str = "/", tenant: str = "acme", extra: str = "") -> Reply:
        head = f"GET {path} HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: {tenant}\r\n{extra}\r\n"
        return self.exchange(head.encode())

    def post(self, body: bytes = b"a", key: str = "k1", **more: str) -> Reply:
        """A write with a key; `more` may name path, tenant, method and extra header lines."""
        head = (
            f"{more.get('method', 'POST')} {more.get('path', '/orders')} HTTP/1.1\r\nHost: test\r\n"
            f"X-Tenant-Id: {more.get('tenant', 'acme')}\r\nIdempotency-Key: {key}\r\n"
            f"Content-Length: {len(body)}\r\n{more.get('extra', '')}\r\n"
        )
        return self.exchange(head.encode() + body)

    def ask_admin(self, path: str, extra: str = "") -> Reply:
        with socket.create_connection(("127.0.0.1", self.admin), timeout=WAIT_SECONDS) as c:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{extra}\r\n".encode())
            return read_reply(c)

    def metric(self, name: str) -> float:
        for line in self.ask_admin("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no metric {name}")

    def events(self, name: str) -> list[dict[str, object]]:
        return [line for line in list(self.log) if line["event"] == name]

    def audited(self, kind: str) -> list[dict[str, object]]:
        """The audit log's records of this kind, once the process has ended."""
        records = [json.loads(line) for line in self.audit().read_text().splitlines()]
        return [record for record in records if record["event_type"] == kind]

    def audit(self) -> Path:
        return self.folder / "audit.jsonl"

    def reload(self, event: str = "config_reloaded", **settings: str) -> None:
        """With these settings; until it has told of the event."""
        before = len(self.events(event))
        write_config(self.folder, self.upstream.port, **settings)
        self.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(self.events(event)) > before, event)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=WAIT_SECONDS * 2)


def write_config(folder: Path, upstream_port: int, **settings: str) -> Path:
    """A configuration with small limits; `settings` replace lines of it."""
    values = {
        "listen": "127.0.0.1:0",
        "upstreams": f"http://127.0.0.1:{upstream_port}",
        "admin_listen": "127.0.0.1:0",
        "token": "",
        "threads": "2",
        "rate": "100000/1s",
        "burst": "100000",
        "missing": "anonymous",
        "tenants": "",  # further lines of that section
        "plans": "{}",
        "headers": "[ratelimit, legacy]",
        "stores": "",  # further lines of the section limits
        "server": "",  # of the section server
        "idempotency": "{ store: memory, durability: none }",
        "more": "",  # further sections
        "level": "info",
        "sinks": f"file:{folder}/audit.jsonl",
        "on_full": "block",
        **settings,
    }
    values.setdefault(
        "buckets",
        f"""
    - {{ name: global, scope: tenant, algorithm: token_bucket, rate: {values["rate"]},
        burst: {values["burst"]} }}""",
    )
    path = folder / "pawl.yaml"
    path.write_text(
        f"""server:
  listen: {values["listen"]}
  upstream: {values["upstreams"]}
  threads: {values["threads"]}
{values["server"]}
  admin: {{ listen: "{values["admin_listen"]}", token: "{values["token"]}" }}
tenants:
  missing: {values["missing"]}
{values["tenants"]}
plans: {values["plans"]}
limits:
{values["stores"]}
  headers: {values["headers"]}
  buckets: {values["buckets"]}
idempotency: {values["idempotency"]}
{values["more"]}
audit: {{ sinks: ["{values["sinks"]}"], on_full: {values["on_full"]} }}
log: {{ level: {values["level"]}, format: json }}
"""
    )
    return path


def follow_log(gateway: Gateway) -> None:
    assert gateway.process.stderr is not None
    for line in gateway.process.stderr:
        try:
            gateway.log.append(json.loads(line))
        except ValueError:
            gateway.log.append({"event": "not_json", "text": line.decode(errors="replace")})


@contextlib.contextmanager
def running(pawl: Path, **settings: str) -> Iterator[Gateway]:
    """pawl serve, ready to be used; ended, and its end checked, on the way out."""
    upstream = Upstream()
    try:
        with tempfile.TemporaryDirectory() as name, serving(
            pawl, Path(name), upstream, **settings
        ) as gateway:
            yield gateway
    finally:
        upstream.close()


@contextlib.contextmanager
def serving(pawl: Path, folder: Path, upstream: Upstream, **settings: str) -> Iterator[Gateway]:
    """The same in a folder that is there already, for what must outlive a process."""
    config = write_config(folder, upstream.port, **settings)
    process = subprocess.Popen(
        [pawl, "serve", "--config", config],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PAWL_ADMIN_TOKEN": ""},
    )
    gateway = Gateway(process, folder, upstream)
    reader = threading.Thread(target=follow_log, args=(gateway,), daemon=True)
    reader.start()
    try:
        wait_for(lambda: gateway.events("serving") or process.poll() is not None, "pawl to serve")
        assert process.poll() is None, f"pawl ended at once: {gateway.log}"
        told = gateway.events("serving")[0]
        gateway.guarded = int(str(told["guarded"]).rpartition(":")[2])
        gateway.admin = int(str(told["admin"]).rpartition(":")[2])
        yield gateway
        if process.poll() is None:
            code = gateway.stop()
            reader.join(timeout=WAIT_SECONDS)
            text = [line for line in gateway.log if line["event"] == "not_json"]
            assert code == 0, f"pawl ended with {code}: {text}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
