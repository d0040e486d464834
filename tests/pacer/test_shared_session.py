"""Goal: two processes that share one Saxo session through the store never pass one a second.

Method: both send as fast as their pacer lets them; the receiver's clock is what counts.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402

CALLS_EACH = 4
PERIOD_SECONDS = 1.0
# The pace is exact at the store; between there and here lie two processes' ways to the wire.
WAY_SECONDS = 0.1
TIME_LIMIT_SECONDS = 60.0


def arrivals_of_two(store: str) -> list[float]:
    """When the calls of two senders arrived, by the receiver's clock."""
    with socket.create_server(("127.0.0.1", 0)) as receiver:
        receiver.settimeout(TIME_LIMIT_SECONDS)
        port = receiver.getsockname()[1]
        command = [tree.build_folder() / "paced_sender", store, str(port), str(CALLS_EACH)]
        senders = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
        try:
            arrivals = []
            for _ in range(2 * CALLS_EACH):
                connection, _ = receiver.accept()
                arrivals.append(time.monotonic())
                connection.close()
            for sender in senders:
                _, said = sender.communicate(timeout=TIME_LIMIT_SECONDS)
                assert sender.returncode == 0, said.decode()
            return arrivals
        finally:
            for sender in senders:
                sender.kill()
                sender.wait()


def check(arrivals: list[float]) -> None:
    for i, first in enumerate(arrivals):
        for j in range(i + 1, len(arrivals)):
            earliest = (j - i) * PERIOD_SECONDS - WAY_SECONDS
            assert arrivals[j] - first >= earliest, [round(t - arrivals[0], 3) for t in arrivals]
    took = arrivals[-1] - arrivals[0]
    assert took < (len(arrivals) - 1) * PERIOD_SECONDS * 1.5, f"paced, not stuck: {took:.1f} s"


def test_through_a_file(tmp_path: Path) -> None:
    check(arrivals_of_two(f"sqlite:{tmp_path}/session.db"))


@pytest.mark.parametrize("variable", ["PAWL_TEST_REDIS", "PAWL_TEST_REDIS_CLUSTER"])
def test_through_redis(services: dict[str, str], variable: str) -> None:
    check(arrivals_of_two(services[variable]))


def test_the_check_finds_two_in_one_second() -> None:
    with pytest.raises(AssertionError):
        check([0.0, 0.8, 2.0])
