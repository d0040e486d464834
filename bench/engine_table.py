"""The execution engine beside its peers: cockatiel, opossum, a plain call, and a store that syncs
for every call. How it is measured stands in docs/performance.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from programs import Effort, Programs, Steps, versions
from tables import NS, RATE, Row

SUCCESS, PLAIN = "BM_RetrySucceeds", "BM_PlainCall"
AUDITED, EXECUTOR = "BM_RetrySucceedsAudited/real_time", "BM_ExecutorSucceeds"
REFUSED, REFUSED_PURELY = "BM_RetryBreakerOpen", "BM_BreakerOpen"
DELAY = "BM_Backoff/1/3"
DECISIONS, LINES = "BM_ReplayRetry/real_time", "BM_ReplayLine/real_time"
RETRY_EVENTS = "BM_AuditFile/real_time"
SHORT_EVENTS = "audit/append_and_flush/threads:1/events:100000/real_time"
RECORDS = "records/begin_and_complete/callers:64/real_time"
SYNC_A_CALL = "records/a_sync_a_call/real_time"

ROWS = (
    Row("success", NS, SUCCESS, "a plain call", PLAIN, 25),
    Row("success", NS, SUCCESS, "cockatiel", "cockatiel"),
    Row("success", NS, SUCCESS, "opossum", "opossum"),
    Row("success, audited", NS, AUDITED, "pawl, not audited", SUCCESS, 80),
    Row("success, whole executor", NS, EXECUTOR),
    Row("breaker open, decided", NS, REFUSED_PURELY, target=15),
    Row("breaker open, returned", NS, REFUSED, target=15),
    Row("delay", NS, DELAY, target=10),
    Row("replay, records read", RATE, DECISIONS, target=5_000_000),
    Row("replay, lines of a log", RATE, LINES, target=5_000_000),
    Row("audit file, retries", RATE, RETRY_EVENTS, target=300_000),
    Row("audit file, short events", RATE, SHORT_EVENTS, target=300_000),
    Row("SQLite, 64 callers", RATE, RECORDS, "one sync a call", SYNC_A_CALL, 8,
        target_is_ratio=True),
)  # fmt: skip


class Engine(Programs):
    def steps(self) -> Steps:
        return {
            **self.times(PLAIN, SUCCESS),
            **{name: lambda name=name: self._peer(name) for name in ("cockatiel", "opossum")},
            **self.times(AUDITED, EXECUTOR, REFUSED_PURELY, REFUSED, DELAY),
            **self.rates(DECISIONS, LINES, RETRY_EVENTS, SHORT_EVENTS, RECORDS, SYNC_A_CALL),
        }

    def _peer(self, name: str) -> dict[str, float]:
        return {name: 1e9 / self.node("retry_and_breaker.js", name)["per_second"]}


@contextlib.contextmanager
def steps(effort: Effort) -> Iterator[Steps]:
    yield Engine(effort).steps()


def made_with() -> tuple[str, ...]:
    return versions("cockatiel", "opossum")
