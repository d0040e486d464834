"""The servers that tools/compare measures, each with its configuration, and the load on them.

The server that is measured has one core to itself, and whatever else there is (load, upstream,
Redis) shares the others: so its rate is its own, and its CPU time is not the scheduler's.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from owned import free_port
from programs import BUILD, INSTALLED, PEERS, BenchError, run

PAWL = Path(os.environ.get("PAWL_BINARY", BUILD / "pawl")).absolute()
TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS, STOP_SECONDS = 20.0, 20.0
TENANT = "acme"
MEMORY_FOLDER = Path("/dev/shm")
AUDIT_BYTES = 2 << 30  # what a run leaves in the log, at the most

UPSTREAM = """worker_processes 1; pid {folder}/upstream.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello world\\n"; }} }} }}
"""
NGINX = """worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; limit_req_status 429;
  limit_req_zone $http_x_tenant_id zone=t:10m rate={rate};
  upstream u {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port}; location / {{ limit_req zone=t burst={burst} nodelay;
    proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://u; }} }} }}
"""
HAPROXY = """global
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-keep-alive
frontend f
  bind 127.0.0.1:{port}
  stick-table type string size 100k expire 60s store http_req_rate(1s)
  http-request track-sc0 req.hdr(X-Tenant-Id)
  http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {rate} }}
  default_backend b
backend b
  http-reuse always
  server s 127.0.0.1:{upstream}
"""
GATEWAY = """server:
  listen: 127.0.0.1:{port}
  upstream: http://127.0.0.1:{upstream}
  threads: 1
  admin: {{ listen: "127.0.0.1:0" }}
limits:
  buckets:
    - {{ name: global, scope: tenant, algorithm: token_bucket, rate: {rate}, burst: {burst} }}
idempotency: {idempotency}
audit: {{ sinks: ["file:{audit}/audit.jsonl"] }}
log: {{ level: warn }}
"""
# What lets everything through, and what refuses nearly everything.
RATES = {
    "nginx": ("1000000r/s", "1r/m"),
    "HAProxy": ("100000000", "1"),
    "pawl": ("1000000/1s", "1/1h"),
    "NestJS": ("1000000000", "1"),
    "express": ("1000000000", "1"),
}
WRITE = (
    "POST / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nX-Tenant-Id: {tenant}\\r\\n"
    "Content-Type: text/plain\\r\\nContent-Length: 5\\r\\nIdempotency-Key: "
)
TENANTS = "GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nX-Tenant-Id: "
SCRIPT = """local count = 0
request = function()
  count = count + 1
  return "{head}{prefix}" .. count % {most} .. "\\r\\n\\r\\n{body}"
end
"""


TENANTS_MAX = 900_000  # pawl's store in memory has room for a million

MEASURED, *OTHERS = sorted(os.sched_getaffinity(0))


def confine() -> None:
    """This process, and all it starts but the server that is measured, leave that one's core."""
    if OTHERS:
        os.sched_setaffinity(0, OTHERS)


@dataclasses.dataclass(frozen=True)
class Setup:
    """One server as it is to be started."""

    name: str
    refuses: bool = False
    upstream: int = 0
    idempotency: str = "{ store: memory, durability: none }"  # pawl's
    audit_in_memory: bool = False  # pawl's


@dataclasses.dataclass
class Server:
    pid: int
    port: int


@dataclasses.dataclass(frozen=True)
class Load:
    """Of wrk with one thread: GETs, each of a tenant of its own where wanted, or POSTs each with a
    key of its own.
    """

    connections: int
    seconds: int
    tenants: bool = False
    writes: bool = False
    refused: bool = False


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a load found: CPU in microseconds a request, latency in milliseconds."""

    rate: float
    user: float
    system: float
    p50: float
    p99: float

    def figures(self, name: str) -> dict[str, float]:
        return {
            f"{name} cpu": self.user + self.system,
            **{f"{name} {part}": value for part, value in dataclasses.asdict(self).items()},
        }


@contextlib.contextmanager
def upstream() -> Iterator[int]:
    """What all proxies stand before; gives its port."""
    with tempfile.TemporaryDirectory() as name:
        port = free_port()
        command = nginx(Path(name), UPSTREAM.format(folder=name, port=port))
        with started(command, port, Path(name)):
            yield port


@contextlib.contextmanager
def serving(setup: Setup) -> Iterator[Server]:
    """The server that is measured, with a core to itself."""
    with contextlib.ExitStack() as folders:
        folder = Path(folders.enter_context(tempfile.TemporaryDirectory()))
        audit = folder
        if setup.audit_in_memory:
            audit = Path(folders.enter_context(tempfile.TemporaryDirectory(dir=MEMORY_FOLDER)))
        port = free_port()
        command = ["taskset", "-c", str(MEASURED), *command_of(setup, folder, audit, port)]
        with started(command, port, folder) as pid:
            yield Server(pid, port)


def command_of(setup: Setup, folder: Path, audit: Path, port: int) -> list[str]:
    rate = RATES[setup.name][setup.refuses]
    values = {
        "folder": folder, "port": port, "upstream": setup.upstream, "rate": rate,
        # nginx counts by the millisecond: what comes within one is a burst.
        "burst": 1 if setup.refuses else 1_000_000,
    }  # fmt: skip
    if setup.name == "nginx":
        return nginx(folder, NGINX.format(**values))
    if setup.name in ("NestJS", "express"):
        script = {"NestJS": "nest_service.js", "express": "express_service.js"}[setup.name]
        return ["node", str(PEERS / script), str(port), rate]
    config = folder / "server.conf"
    if setup.name == "HAProxy":
        config.write_text(HAPROXY.format(**values))
        return ["haproxy", "-db", "-f", str(config)]
    config.write_text(GATEWAY.format(**values, audit=audit, idempotency=setup.idempotency))
    return [str(PAWL), "serve", "--config", str(config)]


def nginx(folder: Path, text: str) -> list[str]:
    config = folder / "nginx.conf"
    config.write_text(text)
    return ["nginx", "-p", str(folder), "-c", str(config), "-g", "daemon off;"]


@contextlib.contextmanager
def started(command: Sequence[str], port: int, folder: Path) -> Iterator[int]:
    variables = {
        "NODE_PATH": str(INSTALLED / "node_modules"),
        "NODE_ENV": "production",
        "PAWL_ADMIN_TOKEN": "",
    }
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said,
        )  # fmt: skip
    try:
        wait_for_port(child, port, folder)
        yield child.pid
    finally:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_for_port(child: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    said = (folder / "said").read_text(errors="replace")
    raise BenchError(f"{child.args} does not listen on port {port}; it said:\n{said}")


def load(server: Server, wanted: Load) -> Reading:
    before = cpu_seconds(server.pid)
    text = wrk(server.port, wanted)
    user, system = (after - b for after, b in zip(cpu_seconds(server.pid), before, strict=True))
    return reading(text, wanted.refused, (user, system))


def reading(text: str, refused: bool, cpu: tuple[float, float]) -> Reading:
    """Of what wrk said, and the CPU seconds it took."""
    count = answered(text, refused)
    user, system = cpu
    return Reading(
        rate=float(found(r"Requests/sec:\s+([\d.]+)", text)),
        user=user / count * 1e6,
        system=system / count * 1e6,
        p50=to_ms(found(r"^ +50% +(\S+)", text)),
        p99=to_ms(found(r"^ +99% +(\S+)", text)),
    )


def answered(text: str, refused: bool) -> int:
    """How many; BenchError where the server did not do to all of them what it should."""
    count = int(found(r"(\d+) requests in", text))
    told = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    others = int(told[1]) if told else 0
    # A limit that refuses lets the first few through.
    is_right = others > 0.99 * count if refused else others == 0
    if not is_right or count == 0 or "Socket errors" in text:
        raise BenchError(f"the server did not answer as it should:\n{text}")
    return count


def wrk(port: int, wanted: Load) -> str:
    command = ("wrk", "-t1", f"-c{wanted.connections}", f"-d{wanted.seconds}s", "--latency")
    target = f"http://127.0.0.1:{port}/"
    if not (wanted.writes or wanted.tenants):
        return run((*command, "-H", f"X-Tenant-Id: {TENANT}", target))
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if wanted.writes:
            head = WRITE.format(tenant=TENANT)
            prefix = uuid.uuid4().hex
            script.write(SCRIPT.format(head=head, prefix=prefix, most="1e15", body="hello"))
        else:
            script.write(SCRIPT.format(head=TENANTS, prefix="t-", most=TENANTS_MAX, body=""))
        script.flush()
        return run((*command, "-s", script.name, target))


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise BenchError(f"wrk said nothing like {pattern}:\n{text}")
    return match[1]


def to_ms(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}[unit]


def bytes_a_tenant(server: Server, seconds: int) -> float:
    """What the process has in memory, beyond what it has for one, over the number of tenants."""
    wrk(server.port, Load(64, 1))  # what a load takes by itself is there before
    before = resident_bytes(server.pid)
    requests = answered(wrk(server.port, Load(64, seconds, tenants=True)), refused=False)
    return (resident_bytes(server.pid) - before) / min(requests, TENANTS_MAX)


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> tuple[float, float]:
    """User and system, of the process and all it started."""
    user = system = 0
    for one in descendants(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        user += int(fields[11])
        system += int(fields[12])
    return user / TICKS, system / TICKS


def descendants(pid: int) -> list[int]:
    all_of_them = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            all_of_them += descendants(int(child))
    return all_of_them
