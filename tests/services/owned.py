"""What a test run owns and must give back: ports, processes, folders; and signals that end it.

A process is ended only while it is the one that was started (same pid, same start time), and a
folder is removed only when it carries the marker written at its creation. So a stale or edited
state file can never hit a stranger's process or folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PORTS = range(10_000, 22_000)  # below the range the kernel hands out to clients
STOP_SECONDS = 10.0
MARKER = ".pawl-test-folder"
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ports:
    """Free loopback ports, kept until the servers that asked for them have bound them.

    A socket bound without SO_REUSEADDR proves that the port is free and keeps a second run off it.
    Setting the option afterwards lets the server bind the same port beside it.
    """

    def __init__(self) -> None:
        self._kept: list[socket.socket] = []

    def take(self, *offsets: int) -> int:
        """A free port whose neighbours at these offsets are free too."""
        for port in random.sample(PORTS, 1000):
            with contextlib.suppress(OSError):
                self._keep([port, *(port + offset for offset in offsets)])
                return port
        raise OSError(f"no free port on 127.0.0.1 between {PORTS.start} and {PORTS.stop}")

    def _keep(self, ports: Sequence[int]) -> None:
        with contextlib.ExitStack() as undo:
            keepers = [undo.enter_context(socket.socket()) for _ in ports]
            for keeper, port in zip(keepers, ports):
                keeper.bind(("127.0.0.1", port))
                keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._kept += keepers
            undo.pop_all()

    def release(self) -> None:
        while self._kept:
            self._kept.pop().close()


def free_port() -> int:
    ports = Ports()
    try:
        return ports.take()
    finally:
        ports.release()


def start_ticks(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None if there is none, or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@dataclasses.dataclass
class Process:
    """One started process, as it stands in a state file."""

    program: str
    pid: int
    start_ticks: int  # tells it from a later process with the same pid
    stop_signal: str

    def is_alive(self) -> bool:
        return start_ticks(self.pid) == self.start_ticks


def stop(processes: Sequence[Process]) -> None:
    """Signals all of them, then waits for each; who is not gone in time is killed."""
    handles = [(process, _signal(process)) for process in processes]
    deadline = time.monotonic() + STOP_SECONDS
    for process, handle in handles:
        if handle is None:
            continue
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        if not ended.poll(max(0.0, deadline - time.monotonic()) * 1000):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            ended.poll(STOP_SECONDS * 1000)
        os.close(handle)
        with contextlib.suppress(ChildProcessError):  # a child only where this process started it
            os.waitpid(process.pid, os.WNOHANG)


def _signal(process: Process) -> int | None:
    """Sends the stop signal. The handle comes before the check: the pid cannot change hands."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if not process.is_alive():
        os.close(handle)
        return None
    signal.pidfd_send_signal(handle, signal.Signals[process.stop_signal])
    return handle


@dataclasses.dataclass
class Folder:
    """A fresh folder below the system's temporary one, as it stands in a state file."""

    path: str
    token: str

    @staticmethod
    def make(name: str) -> Folder:
        folder = Folder(tempfile.mkdtemp(prefix=f"pawl-test-{name}-"), uuid.uuid4().hex)
        (Path(folder.path) / MARKER).write_text(folder.token, encoding="utf-8")
        return folder

    def remove(self) -> bool:
        """False if something is left. A process just killed may still write: try again then."""
        path = Path(self.path)
        if not self._is_ours(path):
            if path.exists():
                print(f"left alone, since this run did not make it: {path}", file=sys.stderr)
            return True
        deadline = time.monotonic() + STOP_SECONDS
        while True:
            try:
                self._empty(path)
                (path / MARKER).unlink(missing_ok=True)
                path.rmdir()
                return True
            except OSError as error:
                if time.monotonic() > deadline:
                    print(f"could not remove {path}: {error}", file=sys.stderr)
                    return False
            time.sleep(0.02)

    @staticmethod
    def _empty(path: Path) -> None:
        """All but the marker, which goes last: whoever finishes the work must know the folder."""
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != MARKER:
                entry.unlink(missing_ok=True)

    def _is_ours(self, path: Path) -> bool:
        try:
            marked = (path / MARKER).read_text(encoding="utf-8") == self.token
        except OSError:
            return False
        return marked and not path.is_symlink()


class Interrupted(KeyboardInterrupt):
    """A signal asked this process to end. A KeyboardInterrupt, so that pytest tears down too."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _handling(numbers: Sequence[int], handler: Any) -> Iterator[None]:
    """Signal handlers for the length of a block (only the main thread may set them)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A shell starts background jobs with SIGINT ignored, and what they start inherits that; then
    # nothing could be interrupted. nohup's ignored SIGHUP, though, is somebody's wish.
    heard = [n for n in numbers if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def interruptible() -> contextlib.AbstractContextManager[None]:
    """A signal that asks for the end becomes an exception, so that what was started is stopped."""

    def interrupt(number: int, _frame: object) -> None:
        raise Interrupted(number)

    return _handling(ENDINGS, interrupt)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """A signal that comes meanwhile is raised at the end of the block: an exception in the middle
    of starting a process or a thread may be swallowed there."""
    heard: list[int] = []
    with _handling(ENDINGS, lambda number, _frame: heard.append(number)):
        yield
    if heard:
        raise Interrupted(heard[0])


def undisturbed() -> contextlib.AbstractContextManager[None]:
    """A second Ctrl-C must not cut a clean-up short; it is bounded in time anyway."""
    return _handling(ENDINGS, signal.SIG_IGN)
