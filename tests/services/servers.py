"""How each test server is started and when it is ready; services.py is the command around it."""

from __future__ import annotations

import dataclasses
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from owned import Folder, Ports, Process, start_ticks

CEPH_CONF = Path(__file__).resolve().with_name("ceph.conf.in")
START_SECONDS = 60.0  # generous: the machine may be compiling at the same time

CLUSTER_BUS = 10_000  # a cluster node also listens on its port + 10000
CLUSTER_SLOTS = ((0, 5460), (5461, 10922), (10923, 16383))
S3_KEY, S3_SECRET, S3_BUCKET = "PAWLTESTKEY", "pawl-test-secret", "pawl-test"

# What each service runs, and the Debian package that holds it.
PROGRAMS: dict[str, dict[str, str]] = {
    "redis": {"redis-server": "redis-server"},
    "cluster": {"redis-server": "redis-server", "redis-cli": "redis-tools"},
    "nats": {"nats-server": "nats-server"},
    "postgres": {"initdb": "postgresql", "postgres": "postgresql"},
    "s3": {
        "monmaptool": "ceph-mon",
        "ceph-mon": "ceph-mon",
        "ceph-osd": "ceph-osd",
        "ceph": "ceph-common",
        "radosgw": "radosgw",
        "radosgw-admin": "ceph-common",
        "curl": "curl",
    },
}
ALL = tuple(PROGRAMS)
# What each tells its users; the first says where it is.
VARIABLES: dict[str, tuple[str, ...]] = {
    "redis": ("PAWL_TEST_REDIS",),
    "cluster": ("PAWL_TEST_REDIS_CLUSTER",),
    "nats": ("PAWL_TEST_NATS",),
    "postgres": ("PAWL_TEST_POSTGRES",),
    "s3": ("PAWL_TEST_S3", "PAWL_TEST_S3_BUCKET", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
}


class ServiceError(Exception):
    """A server is missing or did not come up; the text says which and what to do."""


@dataclasses.dataclass
class Service:
    """What was started under one name, and what a test needs to reach it."""

    folder: Folder
    processes: list[Process] = dataclasses.field(default_factory=list)
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0


def find_program(program: str) -> str | None:
    """Looks in PATH, and in the folders beside it where Debian keeps servers."""
    folders: list[str] = []
    for entry in filter(None, os.environ.get("PATH", "").split(os.pathsep)):
        prefix = Path(entry).parent
        postgres = sorted(prefix.glob("lib/postgresql/*/bin"), reverse=True)
        folders += [entry, str(prefix / "sbin"), *map(str, postgres)]
    return shutil.which(program, path=os.pathsep.join(folders))


def check_programs(names: Sequence[str]) -> None:
    wanted = {program: name for name in names for program in PROGRAMS[name]}
    missing = {
        program: PROGRAMS[name][program]
        for program, name in wanted.items()
        if find_program(program) is None
    }
    if missing:
        found = "\n".join(f"  {program} (Debian package {missing[program]})" for program in missing)
        install = " ".join(sorted(set(missing.values())))
        raise ServiceError(
            f"not found in PATH:\n{found}\n"
            f"run `make setup`, or: apt-get install --no-install-recommends {install}"
        )


class Start:
    """The start of one service: processes in its folder, and waits bounded by one deadline.

    Every process is written down (save) before it may begin, so that it can be stopped even when
    this one is killed.
    """

    def __init__(
        self, service: Service, save: Callable[[], None], cancelled: threading.Event
    ) -> None:
        self._service = service
        self._save = save
        self._cancelled = cancelled
        self._deadline = time.monotonic() + START_SECONDS
        self._children: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.folder = Path(service.folder.path)
        self.ports = Ports()

    def spawn(
        self,
        program: str,
        *arguments: object,
        stop_signal: str = "SIGKILL",  # the data is thrown away, so this is a fine end
        user: str | None = None,
    ) -> None:
        """Starts a server in a session of its own, held back until its pid is written down."""
        with (self.folder / f"{program}-{len(self._children)}.log").open("wb") as log:
            child = subprocess.Popen(
                ["/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "sh"]
                + self._command(program, arguments),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                **self._surroundings(user),
            )
        self._children.append((program, child))
        ticks = start_ticks(child.pid)
        assert ticks is not None and child.stdin is not None
        self._service.processes.append(Process(program, child.pid, ticks, stop_signal))
        self._save()
        with child.stdin as gate:
            gate.write(b"go\n")
        self._check(f"{program} to start")

    def call(self, program: str, *arguments: object, user: str | None = None) -> str:
        """Runs a short command to its end and returns its output."""
        command = self._command(program, arguments)
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **self._surroundings(user),
        ) as child:
            output = self._output_of(child, program)
        if child.returncode != 0:
            ended = f"`{shlex.join(command)}` ended with {child.returncode}"
            raise ServiceError(f"{ended}:\n{output.strip()}")
        return output

    def _output_of(self, child: subprocess.Popen[str], program: str) -> str:
        while True:
            try:
                return child.communicate(timeout=0.1)[0]
            except subprocess.TimeoutExpired:
                try:
                    self._check(f"{program} to finish")
                except ServiceError:
                    os.killpg(child.pid, signal.SIGKILL)  # initdb, for one, has children
                    raise

    def until(self, ready: Callable[[], bool], what: str) -> None:
        while not ready():
            self._check(what)
            time.sleep(0.02)

    def log_tails(self) -> str:
        """The last words of every server, for the error message."""
        tails = ""
        for log in sorted(self.folder.glob("*.log")):
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
            if lines:
                tails += "\n".join([f"--- end of {log.name}", *lines, ""])
        return tails

    def _check(self, what: str) -> None:
        if self._cancelled.is_set():
            raise ServiceError("cancelled")
        for program, child in self._children:
            if child.poll() is not None:
                raise ServiceError(f"{program} ended with {child.returncode} while starting")
        if time.monotonic() > self._deadline:
            raise ServiceError(f"waited {START_SECONDS:.0f} s in vain for {what}")

    def _command(self, program: str, arguments: Sequence[object]) -> list[str]:
        return [find_program(program) or program, *map(str, arguments)]

    def _surroundings(self, user: str | None) -> dict[str, Any]:
        """No variable of the caller's (PGDATA, CEPH_ARGS, http_proxy, …) reaches a server."""
        options: dict[str, Any] = {
            "cwd": self.folder,
            "env": {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.folder)},
            "start_new_session": True,
        }
        if user is not None:
            entry = pwd.getpwnam(user)
            options |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        return options


def answers(port: int, question: bytes, *expected: bytes) -> bool:
    """Whether the server on this port, asked so, says all of this."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(question)
            answer = connection.recv(4096)
    except OSError:
        return False
    return all(part in answer for part in expected)


def answers_http(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(f"http://127.0.0.1:{port}/", timeout=1).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def spawn_redis(start: Start, port: int, *more: object) -> None:
    folder = start.folder / str(port)
    folder.mkdir()
    where = ("--port", port, "--bind", "127.0.0.1", "--dir", folder)
    # It never forks: no snapshots, and an append-only file that is not rewritten.
    durable = ("--appendonly", "yes", "--auto-aof-rewrite-percentage", 0, "--save", "")
    start.spawn("redis-server", *where, *durable, *more)


def start_redis(start: Start) -> tuple[str, ...]:
    port = start.ports.take()
    spawn_redis(start, port, "--appendfsync", "always")
    start.until(lambda: answers(port, b"PING\r\n", b"+PONG"), "Redis to answer PING")
    return (f"redis://127.0.0.1:{port}/0",)


def start_cluster(start: Start) -> tuple[str, ...]:
    ports = [start.ports.take(CLUSTER_BUS) for _ in CLUSTER_SLOTS]
    for port in ports:
        cluster = ("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")
        spawn_redis(start, port, *cluster, "--cluster-node-timeout", 2000)
    for port in ports:
        start.until(lambda p=port: answers(p, b"PING\r\n", b"+PONG"), f"node {port} to answer PING")
    # By hand what `redis-cli --cluster create` does, in half its time.
    for epoch, (port, slots) in enumerate(zip(ports, CLUSTER_SLOTS), start=1):
        start.call("redis-cli", "-p", port, "cluster", "addslotsrange", *slots)
        start.call("redis-cli", "-p", port, "cluster", "set-config-epoch", epoch)
        if port != ports[0]:
            start.call("redis-cli", "-p", port, "cluster", "meet", "127.0.0.1", ports[0])
    joined = (b"cluster_state:ok", b"cluster_slots_ok:16384", b"cluster_known_nodes:3")
    for port in ports:
        start.until(
            lambda p=port: answers(p, b"CLUSTER INFO\r\n", *joined),
            f"node {port} to see the whole cluster",
        )
    return ("redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports),)


def start_nats(start: Start) -> tuple[str, ...]:
    port = start.ports.take()
    start.spawn("nats-server", "-a", "127.0.0.1", "-p", port, "-js", "-sd", start.folder / "data")
    start.until(lambda: answers(port, b"", b'"jetstream":true'), "NATS to offer JetStream")
    return (f"nats://127.0.0.1:{port}",)


def start_postgres(start: Start) -> tuple[str, ...]:
    """PostgreSQL refuses to run as root: then it runs as the user its package made."""
    data = start.folder / "data"
    data.mkdir()
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(data, user)
        start.folder.chmod(0o711)
    port = start.ports.take()
    cluster = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
    start.call("initdb", "-D", data, *cluster, user=user)
    settings = ("listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={data}")
    options = (word for setting in settings for word in ("-c", setting))
    # SIGINT ends its children and frees its shared memory; SIGKILL would leave the latter behind.
    start.spawn("postgres", "-D", data, *options, stop_signal="SIGINT", user=user)
    start.until(lambda: is_postgres_ready(data / "postmaster.pid"), "PostgreSQL to be ready")
    return (f"postgresql://postgres@127.0.0.1:{port}/postgres",)


def is_postgres_ready(status: Path) -> bool:
    """The server writes its state into the eighth line of this file; pg_ctl reads it there too."""
    try:
        return status.read_text(encoding="utf-8").splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def start_s3(start: Start) -> tuple[str, ...]:
    mon, port = start.ports.take(), start.ports.take()
    start_object_store(start, mon, port)
    ceph = ("-c", start.folder / "ceph.conf")
    start.spawn("radosgw", *ceph, "-n", "client.rgw.a", "-f")
    start.until(lambda: answers_http(port), "radosgw to answer HTTP")
    user = ("--uid=pawl", "--display-name=pawl", f"--access-key={S3_KEY}", f"--secret={S3_SECRET}")
    start.call("radosgw-admin", *ceph, "user", "create", *user)
    signed = ("--user", f"{S3_KEY}:{S3_SECRET}", "--aws-sigv4", "aws:amz:us-east-1:s3")
    hashed = ("-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD")
    bucket = f"http://127.0.0.1:{port}/{S3_BUCKET}"
    start.call("curl", "-sS", "--fail-with-body", *signed, *hashed, "-X", "PUT", bucket)
    return (f"http://127.0.0.1:{port}", S3_BUCKET, S3_KEY, S3_SECRET)


def start_object_store(start: Start, mon: int, port: int) -> None:
    """The part of Ceph behind the gateway: one monitor and one store that keeps all in memory."""
    folder, conf, monmap = start.folder, start.folder / "ceph.conf", start.folder / "monmap"
    fsid, osd = uuid.uuid4(), uuid.uuid4()
    template = CEPH_CONF.read_text(encoding="utf-8")
    filled = template.format(folder=folder, fsid=fsid, mon=mon, port=port)
    conf.write_text(filled, encoding="utf-8")
    for name in ("mon", "osd", "rgw"):
        (folder / name).mkdir()
    address = f"[v2:127.0.0.1:{mon}]"
    start.call("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, monmap)
    start.call("ceph-mon", "-c", conf, "-i", "a", "--mkfs", "--monmap", monmap)
    start.spawn("ceph-mon", "-c", conf, "-i", "a", "-f")
    start.call("ceph", "-c", conf, "--connect-timeout", 20, "osd", "new", osd)
    start.call("ceph-osd", "-c", conf, "-i", 0, "--mkfs", "--osd-uuid", osd)
    start.spawn("ceph-osd", "-c", conf, "-i", 0, "-f")
    start.until(lambda: "1 up" in start.call("ceph", "-c", conf, "osd", "stat"), "the OSD to be up")


# Each starts one service and gives the values of its VARIABLES.
STARTERS: dict[str, Callable[[Start], tuple[str, ...]]] = {
    "redis": start_redis,
    "cluster": start_cluster,
    "nats": start_nats,
    "postgres": start_postgres,
    "s3": start_s3,
}
