"""The Python package that was built, and queues for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = (ROOT / os.environ.get("PAWL_BUILD", "build/release")).absolute() / "python"
if not list(PACKAGE.glob("pawl/_pawl.*.so")):
    pytest.exit(f"{PACKAGE} holds no package; build it with `make build`, or set PAWL_BUILD", 1)
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests" / "e2e")]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A queue in a folder of the test's own."""
    return f"dir:{tmp_path}/queue"


@pytest.fixture
def python_environment() -> Iterator[dict[str, str]]:
    """For a program that imports the package."""
    yield {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
