"""An emulated venue as a process of its own, and its control port."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TIME_LIMIT_SECONDS = 30.0


class Emulator:
    """Keeps its book, its log and its ports over a restart."""

    def __init__(self, pawl: Path, venue: str, folder: Path, script: dict | None = None) -> None:
        self.pawl, self.venue, self.folder = pawl, venue, folder
        self.book = folder / f"{venue}-book.jsonl"
        self.log_file = folder / f"{venue}-calls.jsonl"
        self.script = folder / f"{venue}-faults.json"
        self.script.write_text(json.dumps(script or {}))
        self.address = self.control_address = "127.0.0.1:0"
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        words = [
            *(str(self.pawl), "emulate", self.venue, "--listen", self.address),
            *("--control", self.control_address, "--faults", str(self.script)),
            *("--log", str(self.log_file), "--book", str(self.book)),
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.address = self.process.stdout.readline().removeprefix("listening on ").strip()
        self.control_address = self.process.stdout.readline().removeprefix("control on ").strip()
        assert self.address and self.control_address, "the emulator did not start"

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process
        self.process.send_signal(number)
        code = self.process.wait(TIME_LIMIT_SECONDS)
        if self.process.stdout:
            self.process.stdout.close()
        self.process = None
        return code

    def restart(self, number: int = signal.SIGKILL) -> None:
        self.stop(number)
        self.start()

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, timeout=TIME_LIMIT_SECONDS)

    def control(self, method: str, path: str, body: object = None) -> Any:
        connection = http.client.HTTPConnection(self.control_address, timeout=TIME_LIMIT_SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            told = json.loads(answer.read())
        assert answer.status == 200, f"{method} {path}: {told}"
        return told

    def faults(self, script: dict) -> None:
        self.control("POST", "/faults", script)

    def log(self) -> list[dict]:
        return self.control("GET", "/log")["log"]

    def orders(self) -> list[dict]:
        return self.control("GET", "/orders")["orders"]

    def stats(self) -> dict:
        return self.control("GET", "/stats")

    def accepted(self, reference: str) -> int:
        return int(self.stats()["accepted"].get(reference, 0))

    def act(self, order_id: str, verb: str) -> None:
        self.control("POST", f"/orders/{order_id}/{verb}")

    def advance(self, time: str) -> None:
        self.control("POST", "/clock", {"advance": time})

    def skew(self, milliseconds: int) -> None:
        self.control("POST", "/clock", {"skew_ms": milliseconds})


@contextlib.contextmanager
def emulator(
    pawl: Path, venue: str, folder: Path, script: dict | None = None
) -> Iterator[Emulator]:
    one = Emulator(pawl, venue, folder, script)
    try:
        yield one
    finally:
        if one.process:
            one.stop(signal.SIGKILL)
