"""Runs Node for the panel's tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

RUN_SECONDS = 300.0


def run_node(
    words: Sequence[object], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """To its end, which must be a good one; else all it said is told."""
    ran = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
