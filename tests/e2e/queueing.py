"""A queue in a folder of the test's own, or in a bucket, and the verbs as a user types them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TIME_LIMIT_SECONDS = 120.0
ID_DIGITS = 24


class Said:
    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def json(self) -> Any:
        return json.loads(self.out)

    def fields(self) -> dict[str, str]:
        """Of `name: value` lines."""
        return dict(line.split(": ", 1) for line in self.lines)


class Queue:
    def __init__(
        self,
        pawl: Path,
        folder: Path,
        url: str = "dir:queue",
        more: str = "",
        env: dict[str, str] | None = None,
    ) -> None:
        self.pawl, self.folder = pawl, folder
        self.env = {**os.environ, **(env or {})}
        self.configure(url, more)

    def configure(self, url: str = "dir:queue", more: str = "") -> None:
        """`more`: further lines of the section."""
        (self.folder / "pawl.yaml").write_text(f'queue:\n  url: "{url}"\n{more}')

    def try_run(self, *words: str, stdin: str | None = None) -> Said:
        done = subprocess.run(
            [self.pawl, *words],
            cwd=self.folder,
            env=self.env,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
        )
        return Said(done)

    def run(self, *words: str, stdin: str | None = None) -> Said:
        """Of a verb that must end well."""
        said = self.try_run(*words, stdin=stdin)
        assert said.code == 0, f"{words}: {said.code}\n{said.out}\n{said.err}"
        return said

    def submit(self, *words: str, type_: str = "t") -> str:
        (line,) = self.run("submit", "-t", type_, *words).lines
        assert len(line) == ID_DIGITS, line
        return line

    def task(self, id_: str) -> dict[str, Any]:
        return self.run("get", "--json", id_).json()

    @contextlib.contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [self.pawl, *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stdout
            process.stdout.close()

    def on_a_terminal(
        self,
        *words: str,
        size: tuple[int, int] | None = None,
        meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None,
    ) -> str:
        """What stands on a terminal, of so many lines and columns, when it is run there."""
        master, slave = pty.openpty()
        if size is not None:
            termios.tcsetwinsize(slave, size)
        process = subprocess.Popen(
            [self.pawl, *words],
            cwd=self.folder,
            stdout=slave,
            stderr=slave,
            env={**self.env, "TERM": "xterm", "NO_COLOR": ""},
        )
        os.close(slave)
        if meanwhile is not None:
            meanwhile(process)
        seen = b""
        with contextlib.suppress(OSError), open(master, "rb", buffering=0) as screen:
            while piece := screen.read(4096):
                seen += piece
        process.wait(TIME_LIMIT_SECONDS)
        return seen.decode()
