"""Servers that a test may stop, kill and start again, each with a port of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import owned
import stack


class OwnServer:
    def __init__(self, url: str, command: Sequence[str], port: int) -> None:
        self.url, self._command, self.port = url, command, port
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        stack.wait_for(self._answers, "the server to answer")

    def _answers(self) -> bool:
        address = ("127.0.0.1", self.port)
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=1) as c:
            c.sendall(b"PING\r\n")
            heard = b""
            while b"PONG" not in heard:  # NATS introduces itself first
                piece = c.recv(4096)
                if not piece:
                    return False
                heard += piece
            return True
        return False

    def signal(self, which: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(which)
        if which == signal.SIGSTOP:  # its threads go on until each has heard of it
            os.waitpid(self.process.pid, os.WUNTRACED)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextlib.contextmanager
def redis(folder: Path) -> Iterator[OwnServer]:
    port = owned.free_port()
    command = ["/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1"]
    command += ["--dir", str(folder), "--save", "", "--appendonly", "yes"]
    command += ["--appendfsync", "always"]
    with _running(OwnServer(f"redis://127.0.0.1:{port}/0", command, port)) as server:
        yield server


@contextlib.contextmanager
def nats(folder: Path) -> Iterator[OwnServer]:
    port = owned.free_port()
    command = ["/usr/sbin/nats-server", "-a", "127.0.0.1", "-p", str(port), "-js"]
    command += ["-sd", str(folder / "nats")]
    with _running(OwnServer(f"nats://127.0.0.1:{port}/writes", command, port)) as server:
        yield server


@contextlib.contextmanager
def _running(server: OwnServer) -> Iterator[OwnServer]:
    try:
        yield server
    finally:
        if server.process is not None:
            server.signal(signal.SIGCONT)
        server.kill()
