"""Goal: `make run` shows a stranger pawl at work, and leaves nothing behind.

Method: tools/run, which is behind it, with free ports and the binary under test.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT_SECONDS = 60


@pytest.fixture
def environment(pawl: Path, tmp_path: Path, free_port: Callable[[], int]) -> dict[str, str]:
    ports = {name: str(free_port()) for name in ("PAWL_PORT", "PAWL_ADMIN_PORT")}
    return {
        **os.environ,
        **ports,
        "PAWL_UPSTREAM_PORT": str(free_port()),
        "PAWL_BINARY": str(pawl),
        "PAWL_AUDIT": str(tmp_path / "audit.jsonl"),
    }


def read_until(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    heard = b""
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    while wanted not in heard:
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([process.stdout], [], [], left)
        assert ready, f"waited for {wanted!r} and saw {heard!r}"
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, f"it ended: {heard!r}"
        heard += piece
    return heard


def test_run_shows_what_to_try_and_ends_with_ctrl_c(environment: dict[str, str]):
    with subprocess.Popen(
        [ROOT / "tools" / "run"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            shown = read_until(process, b"Ctrl-C ends both").decode()
            # What it tells people to try does what it says.
            commands = shown.split("In another terminal:")[1].split("Ctrl-C")[0]
            tried = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_SECONDS,
            )
            assert tried.returncode == 0, tried.stdout + tried.stderr
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            assert process.wait(TIME_LIMIT_SECONDS) == 0
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert "X-RateLimit-Remaining: " in tried.stdout
    assert re.search(r"^200  Retry-After: $", tried.stdout, re.MULTILINE)
    assert re.search(r"^429  Retry-After: [1-9][0-9]?$", tried.stdout, re.MULTILINE)
    assert re.search(r"^pawl_\w+", tried.stdout, re.MULTILINE)
    assert "audit.jsonl: ok, " in tried.stdout and ", 0 failed" in tried.stdout
    for name in ("PAWL_PORT", "PAWL_ADMIN_PORT", "PAWL_UPSTREAM_PORT"):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", int(environment[name]))) != 0, name


def test_run_names_the_port_that_is_taken(environment: dict[str, str]):
    for name in ("PAWL_PORT", "PAWL_ADMIN_PORT", "PAWL_UPSTREAM_PORT"):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            refused = subprocess.run(
                [ROOT / "tools" / "run"],
                env={**environment, name: str(port)},
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_SECONDS,
            )
        assert refused.returncode == 6
        assert refused.stderr == (
            f"run: port {port} is taken; choose another, as in: {name}={port + 10} make run\n"
        )


def test_run_says_when_a_program_does_not_start(environment: dict[str, str]):
    failed = subprocess.run(
        [ROOT / "tools" / "run"],
        env={**environment, "PAWL_BINARY": "/bin/false"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    assert failed.returncode == 6 and "did not start" in failed.stderr
