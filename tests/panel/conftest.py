"""The panel's own tests: its logic and its pages are tested by Node's test runner."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import npm  # noqa: E402
from panel_node import run_node  # noqa: E402


@pytest.fixture(scope="session")
def in_browser(pawl: Path) -> Callable[[Path], None]:
    """Runs a file of tests against a pawl of its own, in a real browser."""
    modules = npm.install(HERE, ROOT / "build" / "panel-tests", print)
    browser = shutil.which("chromium")
    if browser is None:
        pytest.fail("chromium is not there: run `make setup`")
    env = {
        **os.environ,
        "NODE_PATH": str(modules),
        "PAWL_BINARY": str(pawl),
        "CHROMIUM": browser,
    }
    return lambda file: run_node(["node", "--test", file], env=env)


@pytest.fixture(scope="session")
def panel_place() -> Path:
    """Where the panel is built: its packages, and its files beside them."""
    run_node([sys.executable, ROOT / "tools" / "panel", "--install"])
    return ROOT / "build" / "panel"
