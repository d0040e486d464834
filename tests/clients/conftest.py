"""Client libraries that others wrote, as their users have them: from npm, run by Node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import npm  # noqa: E402

CLIENT_SECONDS = 40.0


@pytest.fixture(scope="session")
def node() -> Callable[[str, object], Any]:
    """Runs a script of this folder with a plan (JSON) on its standard input; gives what it told."""
    modules = npm.install(HERE, ROOT / "build" / "clients", print)

    def run(script: str, plan: object) -> Any:
        ran = subprocess.run(
            ["node", HERE / script],
            input=json.dumps(plan),
            env={**os.environ, "NODE_PATH": str(modules)},
            capture_output=True,
            text=True,
            timeout=CLIENT_SECONDS,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout)

    return run
