"""Goal: the gateway stays itself when there is too much of anything: bytes, connections, requests,
bodies that are held. It takes what it has room for, tells the others, and keeps its memory.

Method: a real pawl between raw sockets and an upstream of the test's own. What is asserted is
counted, or read from /proc; nothing depends on how quick the machine is.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import own_servers
import pytest
import stack

MIB = 1 << 20
LARGE = (256 if stack.SANITIZED else 1024) * MIB
PROCESS_MIB_MAX = 64
BETWEEN_MIB_MAX = 128  # nearly all in the system's buffers, of up to 36 MiB a connection
BLOCK = bytes(range(256)) * (MIB // 256)
PAUSES = (0, LARGE // 4, LARGE // 2)
GET = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"


def assert_stayed_small(gateway: stack.Gateway) -> None:
    most = gateway.memory_kib("VmHWM") / 1024
    print(f"{most:.1f} MiB at the most")
    assert stack.SANITIZED or most < PROCESS_MIB_MAX


class Counted:
    """How much went by, and its checksum."""

    def __init__(self) -> None:
        self.size = 0
        self.sum = 0

    def add(self, piece: bytes | memoryview) -> None:
        self.sum = zlib.crc32(piece, self.sum)
        self.size += len(piece)  # last: others wait for it, then look at the sum

    def send(self, connection: socket.socket) -> None:
        for _ in range(LARGE // MIB):
            connection.sendall(BLOCK)
            self.add(BLOCK)

    def receive(self, connection: socket.socket, size: int) -> None:
        buffer = memoryview(bytearray(MIB))
        while self.size < size:
            got = connection.recv_into(buffer)
            if got == 0:
                raise ConnectionError(f"closed after {self.size} of {size} bytes")
            self.add(buffer[:got])

    def receive_slowly(self, connection: socket.socket, sent: Counted) -> None:
        """All of it, with rests in which the sender must come to a halt."""
        for reached in PAUSES:
            self.receive(connection, reached)
            before = -1
            while before != sent.size:
                before = sent.size
                time.sleep(0.2)
            assert sent.size - self.size < BETWEEN_MIB_MAX * MIB, "the sender was not held back"
        self.receive(connection, LARGE)


# Large bodies.


def test_a_large_upload_waits_for_a_slow_upstream(pawl: Path) -> None:
    sent, arrived = Counted(), Counted()

    def serve(connection: socket.socket) -> None:
        with connection:
            _, rest = stack.read_head(connection)
            arrived.add(rest)
            arrived.receive_slowly(connection, sent)
            connection.sendall(stack.OK)

    with stack.running(pawl) as gateway:
        gateway.upstream.serve = serve
        with gateway.connect() as client:
            client.sendall(b"PUT /up HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % LARGE)
            sent.send(client)
            assert stack.read_reply(client).status == 200
        assert (arrived.size, arrived.sum) == (sent.size, sent.sum)
        assert_stayed_small(gateway)


def test_a_large_download_waits_for_a_slow_reader(pawl: Path) -> None:
    sent, arrived = Counted(), Counted()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            stack.read_head(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE)
            sent.send(connection)

    with stack.running(pawl) as gateway:
        gateway.upstream.serve = serve
        with gateway.connect() as client:
            client.sendall(GET)
            _, rest = stack.read_head(client)
            arrived.add(rest)
            arrived.receive_slowly(client, sent)
        stack.wait_for(lambda: sent.size == LARGE, "the sender to have counted all")
        assert (arrived.size, arrived.sum) == (sent.size, sent.sum)
        assert_stayed_small(gateway)


def test_many_slow_readers_are_held_back_together(pawl: Path) -> None:
    """What waits for a client is bounded for each of them."""
    readers, size = 100, 8 * MIB

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            stack.read_head(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(size // MIB):
                connection.sendall(BLOCK)

    with stack.running(pawl) as gateway, contextlib.ExitStack() as clients:
        gateway.upstream.serve = serve
        slow = [clients.enter_context(gateway.connect()) for _ in range(readers)]
        for client in slow:
            client.sendall(GET)
        for client in slow:
            assert client.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
        time.sleep(0.5)  # for as much as will go
        most = gateway.memory_kib("VmHWM") / 1024
        print(f"{most:.1f} MiB at the most for {readers} readers")
        assert stack.SANITIZED or most < PROCESS_MIB_MAX + readers * 0.75


# Connections.


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many open files as the system lets us have, for us and for who we start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= IDLE + 500, f"{hard} files may be open, {IDLE + 500} are needed: ulimit -Hn"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


IDLE = 10_000
ADDRESSES = 20
IDLE_KIB_MAX = 8  # with what served their requests


def ask_all(connections: list[socket.socket]) -> None:
    """A request on each; a hundred at a time are under way."""
    for begin in range(0, len(connections), 100):
        some = connections[begin : begin + 100]
        for connection in some:
            connection.sendall(GET)
        for connection in some:
            assert stack.read_reply(connection).status == 200


def test_ten_thousand_idle_connections_are_held_and_served(pawl: Path, many_files: None) -> None:
    lines = f"  connections: {IDLE}\n  connections_per_address: {IDLE}\n  timeouts: {{ idle: 1h }}"
    with stack.running(pawl, server=lines) as gateway, contextlib.ExitStack() as clients:
        assert gateway.get().status == 200
        stack.wait_for(lambda: gateway.metric("pawl_connections") == 0, "the first to leave")
        before = gateway.memory_kib("VmRSS")
        idle = [
            clients.enter_context(gateway.connect(f"127.0.0.{2 + number % ADDRESSES}"))
            for number in range(IDLE)
        ]
        ask_all(idle)
        assert gateway.metric("pawl_connections") == IDLE
        each = (gateway.memory_kib("VmRSS") - before) / IDLE
        print(f"{each:.2f} KiB a connection")
        assert stack.SANITIZED or each < IDLE_KIB_MAX
        with gateway.connect() as beyond:
            assert stack.is_closed(beyond), "there is no place for another"
        stack.wait_for(lambda: refused_connections(gateway) == 1, "that to be counted")
        ask_all(idle)
        assert gateway.metric("pawl_connections") == IDLE, "all of them are still there"
        idle.pop().close()
        stack.wait_for(lambda: gateway.metric("pawl_connections") == IDLE - 1, "one to leave")
        assert gateway.get().status == 200, "its place is free"


def refused_connections(gateway: stack.Gateway) -> float:
    return gateway.metric("pawl_connections_refused_total")


def test_one_address_gets_so_many_connections(pawl: Path) -> None:
    with stack.running(pawl, server="  connections_per_address: 3") as gateway:
        inside = [gateway.connect() for _ in range(3)]
        stack.wait_for(lambda: gateway.metric("pawl_connections") == 3, "three connections")
        with gateway.connect() as fourth:
            assert stack.is_closed(fourth)
        stack.wait_for(lambda: refused_connections(gateway) == 1, "that to be counted")
        stack.wait_for(lambda: gateway.events("connections_refused"), "that to be told")
        assert "connections_per_address" in str(gateway.events("connections_refused")[0]["reason"])
        with gateway.connect("127.0.0.2") as neighbour:
            ask_all([*inside, neighbour])
        inside.pop().close()
        stack.wait_for(lambda: gateway.metric("pawl_connections") == 2, "two to leave")
        assert gateway.get().status == 200
        for connection in inside:
            connection.close()


def test_it_outlives_a_lack_of_open_files(pawl: Path) -> None:
    """Whoever finds no file is not served; whoever is in is, and so is everybody afterwards."""
    with stack.running(pawl) as gateway, gateway.connect() as inside:
        ask_all([inside])
        used = len(list(Path(f"/proc/{gateway.process.pid}/fd").iterdir()))
        # A sanitizer looks at objects through files of its own, and takes those that it cannot look
        # at for broken: it gets enough.
        files = used + (200 if stack.SANITIZED else 20)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (files, files))
        with contextlib.ExitStack() as clients:
            for _ in range(100):
                clients.enter_context(gateway.connect())
            ask_all([inside])
            begun = cpu_seconds(gateway)
            time.sleep(0.5)
            assert cpu_seconds(gateway) - begun < 0.4, "it waits for files without a rest"
        stack.wait_for(lambda: answers(gateway), "room for others")


def cpu_seconds(gateway: stack.Gateway) -> float:
    fields = Path(f"/proc/{gateway.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def answers(gateway: stack.Gateway) -> bool:
    with contextlib.suppress(OSError):
        return gateway.get().status == 200
    return False


# Requests.

CARRIES = 8  # requests at once


def assert_shed(reply: stack.Reply) -> None:
    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    assert json.loads(reply.body)["code"] == "ERR_OVERLOADED"


def ask_on_each(connections: list[socket.socket], request: bytes) -> None:
    for connection in connections:
        connection.sendall(request)


@pytest.mark.parametrize("request_line", [b"GET / HTTP/1.1", b"POST / HTTP/1.1"])
def test_twice_the_load_is_half_shed_at_once(pawl: Path, request_line: bytes) -> None:
    """While the upstream holds all that fits, the rest need not wait for it to be told."""
    turn = threading.Semaphore(0)

    def answer_in_turn(connection: socket.socket, _head: bytes) -> None:
        assert turn.acquire(timeout=stack.WAIT_SECONDS)
        connection.sendall(stack.OK)

    rounds = 20
    asks = request_line + b"\r\nHost: t\r\nContent-Length: 5\r\nIdempotency-Key: %d\r\n\r\nhello"
    with stack.running(pawl, server=f"  requests: {CARRIES}") as gateway:
        gateway.upstream.behave = answer_in_turn
        with contextlib.ExitStack() as clients:
            both = [clients.enter_context(gateway.connect()) for _ in range(2 * CARRIES)]
            first, second = both[:CARRIES], both[CARRIES:]
            for number in range(rounds):
                for index, connection in enumerate(first):
                    connection.sendall(asks % (number * CARRIES + index))
                due = (number + 1) * CARRIES
                stack.wait_for(lambda: len(gateway.upstream.received) == due, "what fits")
                ask_on_each(second, asks % 1_000_000)
                for connection in second:
                    assert_shed(stack.read_reply(connection))
                turn.release(CARRIES)
                for connection in first:
                    assert stack.read_reply(connection).status == 200
                first, second = second, first
        assert len(gateway.upstream.received) == rounds * CARRIES, "what was shed never left"
        turn.release()
        assert gateway.post(key="1000000").status == 200, "and it burnt no key"


def test_what_is_accepted_under_overload_stays_quick_and_memory_small(pawl: Path) -> None:
    takes, seconds = 0.05, 3
    under_way, most = [0], [0]
    lock = threading.Lock()

    def answer_late(connection: socket.socket, _head: bytes) -> None:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(takes)
        with lock:
            under_way[0] -= 1
        connection.sendall(stack.OK)

    served: list[float] = []
    shed = [0]
    request = b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10000\r\n\r\n" + b"x" * 10000
    with stack.running(pawl, server=f"  requests: {CARRIES}") as gateway:
        gateway.upstream.behave = answer_late

        def ask_again_and_again(connection: socket.socket) -> None:
            end = time.monotonic() + seconds
            while (begun := time.monotonic()) < end:
                connection.sendall(request)
                reply = stack.read_reply(connection)
                if reply.status == 200:
                    served.append(time.monotonic() - begun)
                else:
                    assert_shed(reply)
                    shed[0] += 1
                    time.sleep(takes / 5)  # a tenth of what would be polite

        with contextlib.ExitStack() as stay, ThreadPoolExecutor(4 * CARRIES) as clients:
            connections = [stay.enter_context(gateway.connect()) for _ in range(4 * CARRIES)]
            list(clients.map(ask_again_and_again, connections))
        middle = sorted(served)[len(served) // 2]
        print(f"{len(served)} served, {middle:.3f} s the middle one, {shed[0]} shed")
        assert most[0] <= CARRIES, "more was passed on than it carries"
        assert len(served) >= CARRIES and shed[0] >= CARRIES
        assert middle < 10 * takes, "what was accepted waited for what was not"
        assert_stayed_small(gateway)
        assert gateway.get().status == 200, "and then all is well"


def unread_bytes(port: int) -> int:
    """What has come there and is still with the system."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    here = [row for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"]
    return sum(int(row[4].partition(":")[2], 16) for row in here)


def test_bodies_that_are_held_are_bounded_in_all(pawl: Path) -> None:
    """A write with a key is gathered in memory before it leaves; all of them share one room."""
    holds_mib, offered = 256, 600
    lines = "  connections_per_address: 2000\n  requests: 4096"
    with stack.running(pawl, server=lines) as gateway, contextlib.ExitStack() as clients:
        before = gateway.memory_kib("VmRSS") / 1024
        asking = [clients.enter_context(gateway.connect()) for _ in range(offered)]
        served = 0
        for number, connection in enumerate(asking):
            connection.sendall(
                b"POST /%d HTTP/1.1\r\nHost: t\r\nIdempotency-Key: held\r\n"
                b"Content-Length: %d\r\n\r\n" % (number, MIB)
            )
            with contextlib.suppress(OSError):  # who is shed need not be heard
                connection.sendall(BLOCK[:-1])
        stack.wait_for(lambda: unread_bytes(gateway.guarded) == 0, "all to be read")
        most = gateway.memory_kib("VmHWM") / 1024 - before
        for connection in asking:
            with contextlib.suppress(OSError):
                connection.sendall(BLOCK[-1:])
        for connection in asking:
            with contextlib.suppress(ConnectionError):  # that of who sent on, unheard
                reply = stack.read_reply(connection)
                if reply.status == 200:
                    served += 1
                else:
                    assert_shed(reply)
        print(f"{most:.0f} MiB more at the most, {served} of {offered} served")
        assert served <= holds_mib, "more was held than there is room for"
        assert served >= holds_mib // 2, "room was left unused"
        # A buffer that grows may have room for twice what it holds.
        assert stack.SANITIZED or most < 2 * holds_mib + PROCESS_MIB_MAX
        assert gateway.post(key="later").status == 200, "the room is free again"


def test_an_audit_log_that_does_not_keep_up_is_told_and_found_again(
    pawl: Path, tmp_path: Path
) -> None:
    """What cannot be recorded is not sent; nobody is left waiting for that."""
    ahead = 100  # requests sent at once, on each of so many connections
    with own_servers.nats(tmp_path) as server:
        with stack.running(pawl, sinks=server.url) as gateway:
            assert gateway.get().status == 200
            server.signal(signal.SIGSTOP)
            shed = []

            def fill(_number: int) -> None:
                with gateway.connect() as client:
                    while not shed:
                        client.sendall(GET * ahead)
                        data = b""
                        while data.count(b"HTTP/1.1 ") < ahead and not shed:
                            data += stack.receive_some(client)
                            if b"HTTP/1.1 503 " in data:
                                shed.append(data)

            with ThreadPoolExecutor(4) as pool:
                list(pool.map(fill, range(4)))
            assert_shed(gateway.get("/shed"))
            assert not any(b"GET /shed " in request for request in gateway.upstream.received)
            assert_stayed_small_enough(gateway)
            server.signal(signal.SIGCONT)
            stack.wait_for(lambda: gateway.get().status == 200, "the log to take events again")


def assert_stayed_small_enough(gateway: stack.Gateway) -> None:
    """With all that waits for the log: 64 MiB at the most."""
    most = gateway.memory_kib("VmHWM") / 1024
    print(f"{most:.1f} MiB at the most")
    assert stack.SANITIZED or most < 4 * PROCESS_MIB_MAX
