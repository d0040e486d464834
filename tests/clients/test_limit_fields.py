"""Goal: what an answer says of the limit is read back by others as it was meant, in each dialect
that has a reader.

Method: `ratelimit-header-parser` of npm before a real pawl: each ask uses one of a known allowance.
The library knows the legacy fields and the drafts up to 7; draft 10 has no reader yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stack

Node = Callable[[str, object], Any]

CLOCK = 2.5  # whole seconds, rounded up, and the time it took to ask
DIALECTS = {
    "legacy": {"headers": "[legacy]", "reset": "unix"},
    "draft6": {"headers": "[draft6]", "reset": "seconds"},
    "draft7": {"headers": "[draft7]"},
    "draft6 and legacy": {"headers": "[draft6, legacy]", "reset": "seconds"},
    "legacy beside draft 10": {
        "headers": "[ratelimit, legacy]",
        "reset": "unix",
        "without": ["ratelimit", "ratelimit-policy"],
    },
}


def asked(node: Node, gateway: stack.Gateway, asks: int, dialect: dict[str, Any]) -> Any:
    options = {name: value for name, value in dialect.items() if name != "headers"}
    return node(
        "read_limits.js", {"port": gateway.guarded, "tenant": "acme", "asks": asks, **options}
    )


def bucket(name: str, algorithm: str, rate: str, more: str = "") -> str:
    return f"\n    - {{ name: {name}, algorithm: {algorithm}, rate: {rate}{more} }}"


# Five an hour, and in how many seconds nothing is used any more, after the first and after the
# last: at the earliest and at the latest. A sliding window fades out in the next of its windows.
BUCKETS = {
    "sliding_window": (bucket("global", "sliding_window", "5/1h"), (0, 7200), (3600, 7200)),
    "sliding_log": (bucket("global", "sliding_log", "5/1h"), (3600, 3600), (3600, 3600)),
    "token_bucket": (
        bucket("global", "token_bucket", "5/1h", ", burst: 4"), (720, 720), (3600, 3600)
    ),
}


@pytest.mark.parametrize("algorithm", BUCKETS)
@pytest.mark.parametrize("name", DIALECTS)
def test_each_ask_is_seen_to_be_used(pawl: Path, node: Node, name: str, algorithm: str) -> None:
    dialect, (own, first_reset, last_reset) = DIALECTS[name], BUCKETS[algorithm]
    with stack.running(pawl, headers=dialect["headers"], buckets=own) as gateway:
        told = asked(node, gateway, 7, dialect)
    assert [one["status"] for one in told] == [200] * 5 + [429] * 2
    assert [one["limit"] for one in told] == [5] * 7
    assert [one["remaining"] for one in told] == [4, 3, 2, 1, 0, 0, 0]
    assert [one["used"] for one in told] == [1, 2, 3, 4, 5, 5, 5]
    for one, (earliest, latest) in ((told[0], first_reset), (told[-1], last_reset)):
        assert earliest - CLOCK < one["resetIn"] < latest + CLOCK
    assert [one["retryAfter"] > 0 for one in told] == [False] * 5 + [True] * 2


@pytest.mark.parametrize("name", ["legacy", "draft6", "draft7"])
def test_the_tightest_of_several_is_told(pawl: Path, node: Node, name: str) -> None:
    dialect = DIALECTS[name]
    both = bucket("wide", "sliding_log", "100/1h") + bucket("tight", "sliding_log", "3/1m")
    with stack.running(pawl, headers=dialect["headers"], buckets=both) as gateway:
        told = asked(node, gateway, 4, dialect)
    assert [(one["limit"], one["remaining"]) for one in told] == [(3, 2), (3, 1), (3, 0), (3, 0)]
    assert told[-1]["status"] == 429


@pytest.mark.parametrize("name", ["legacy", "draft6", "draft7"])
def test_whoever_comes_back_at_the_reset_is_let_through(
    pawl: Path, node: Node, name: str
) -> None:
    dialect = DIALECTS[name]
    own = bucket("global", "sliding_log", "2/1s")
    with stack.running(pawl, headers=dialect["headers"], buckets=own) as gateway:
        refused = asked(node, gateway, 3, dialect)[-1]
        assert refused["status"] == 429
        time.sleep(max(0.0, refused["resetIn"]))
        again = asked(node, gateway, 1, dialect)[0]
        assert (again["status"], again["remaining"]) == (200, 1)
