"""What every black-box test may ask for: the binary, real servers, a free port."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "services"))

import owned  # noqa: E402
import servers  # noqa: E402
import services as test_services  # noqa: E402


@pytest.fixture(scope="session")
def pawl() -> Path:
    """The binary under test: PAWL_BINARY, else build/pawl."""
    binary = Path(os.environ.get("PAWL_BINARY", ROOT / "build" / "pawl")).absolute()
    if not os.access(binary, os.X_OK):
        pytest.fail(f"{binary} is not there; build it with `make build`, or set PAWL_BINARY")
    return binary


@pytest.fixture(scope="session")
def services() -> Iterator[dict[str, str]]:
    """The variables that tell where the real servers are (see tests/services/services.py).

    Servers named in the environment are used; the others are started, once, by the first test that
    asks.
    """
    absent = [name for name in servers.ALL if not os.environ.keys() >= {*servers.VARIABLES[name]}]
    given = {
        key: os.environ[key]
        for name, keys in servers.VARIABLES.items()
        if name not in absent
        for key in keys
    }
    if not absent:
        yield given
        return
    with test_services.running(absent) as started:
        yield {**given, **started}


@pytest.fixture
def free_port() -> Callable[[], int]:
    return owned.free_port
